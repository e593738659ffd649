#include "common/plan/printed.h"

#include <algorithm>

namespace weir {

void AddPrinted(const PrintedLines& lines, v1::RunFinished* finished) {
  for (const auto& [place, text] : lines.lines()) {
    v1::PrintedLine* line = finished->add_printed();
    line->mutable_place()->Add(place.begin(), place.end());
    line->set_text(text);
  }
  finished->set_dropped_lines(lines.dropped());
}

void TakePrinted(const v1::RunFinished& finished, PrintedLines* lines) {
  for (const v1::PrintedLine& line : finished.printed()) {
    lines->Add(LinePlace(line.place().begin(), line.place().end()), line.text());
  }
  lines->NoteDropped(std::max<int64_t>(0, finished.dropped_lines()));
}

}  // namespace weir
