#include "common/base/printed_lines.h"

#include <iterator>
#include <limits>
#include <utility>

namespace weir {

void PrintedLines::Add(LinePlace place, std::string text) {
  bytes_ += text.size();
  lines_.emplace(std::move(place), std::move(text));
  while (lines_.size() > kMaxLines || bytes_ > kMaxBytes) {
    const auto last = std::prev(lines_.end());
    bytes_ -= last->second.size();
    lines_.erase(last);
    NoteDropped(1);
  }
}

void PrintedLines::Add(PrintedLines&& other) {
  while (!other.lines_.empty()) {
    auto line = other.lines_.extract(other.lines_.begin());
    Add(std::move(line.key()), std::move(line.mapped()));
  }
  NoteDropped(other.dropped_);
  other = PrintedLines();
}

void PrintedLines::NoteDropped(int64_t lines) {
  if (__builtin_add_overflow(dropped_, lines, &dropped_)) {
    dropped_ = std::numeric_limits<int64_t>::max();
  }
}

}  // namespace weir
