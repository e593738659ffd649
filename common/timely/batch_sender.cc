#include "common/timely/batch_sender.h"

#include <algorithm>
#include <utility>

namespace weir {

absl::Status BatchSender::Report(std::vector<Change> activation, absl::Time now) {
  ChangeBatch<Pointstamp> sums;
  for (const Change& change : activation) sums.Add(change.key, change.delta);
  const absl::Span<const Change> changes = sums.Merge();
  WEIR_RETURN_IF_ERROR(ledger_.Apply(changes));
  for (const Change& change : changes) noted_.Add(change.key, change.delta);
  if (noted_.empty()) return absl::OkStatus();
  deadline_ = std::min(deadline_, now + delay_);
  return absl::OkStatus();
}

bool BatchSender::IsDue(absl::Time now, const FrontierView& view) {
  if (noted_.empty()) return false;
  if (now >= deadline_) return true;
  for (const Change& change : noted_.Merge()) {
    if (change.delta < 0 && view.IsAtFrontier(change.key)) return true;
  }
  return false;
}

std::optional<ProgressBatch> BatchSender::Flush() {
  const absl::Span<const Change> changes = noted_.Merge();
  deadline_ = absl::InfiniteFuture();
  if (changes.empty()) return std::nullopt;
  ProgressBatch batch = {next_++, {changes.begin(), changes.end()}};
  noted_.Clear();
  return batch;
}

}  // namespace weir
