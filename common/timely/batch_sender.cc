#include "common/timely/batch_sender.h"

#include <algorithm>
#include <utility>

namespace weir {

absl::Status BatchSender::Report(std::vector<Change> activation, absl::Time now) {
  ChangeBatch<Pointstamp> sums;
  for (const Change& change : activation) sums.Add(change.key, change.delta);
  const absl::Span<const Change> changes = sums.Merge();
  WEIR_RETURN_IF_ERROR(ledger_.Apply(changes));
  for (const Change& change : changes) {
    noted_.Add(change.key, change.delta);
    if (change.delta < 0) removed_.push_back(change.key);
  }
  if (noted_.empty()) return absl::OkStatus();
  deadline_ = std::min(deadline_, now + delay_);
  return absl::OkStatus();
}

bool BatchSender::IsDue(absl::Time now, const FrontierView& view) {
  return now >= deadline_ || TouchesFrontier(view);
}

bool BatchSender::TouchesFrontier(const FrontierView& view) {
  const auto is_at_frontier = [&](const Pointstamp& key) { return view.IsAtFrontier(key); };
  const bool may =
      seen_ != view.version() || std::any_of(removed_.begin(), removed_.end(), is_at_frontier);
  removed_.clear();
  seen_ = view.version();
  if (touches_frontier_ || !may) return touches_frontier_;
  // What was removed may have been added before, or since.
  for (const Change& change : noted_.Merge()) {
    touches_frontier_ = touches_frontier_ || (change.delta < 0 && is_at_frontier(change.key));
  }
  return touches_frontier_;
}

std::optional<ProgressBatch> BatchSender::Flush() {
  const absl::Span<const Change> changes = noted_.Merge();
  deadline_ = absl::InfiniteFuture();
  removed_.clear();
  touches_frontier_ = false;
  if (changes.empty()) return std::nullopt;
  ProgressBatch batch = {next_++, {changes.begin(), changes.end()}};
  noted_.Clear();
  return batch;
}

}  // namespace weir
