#include "common/timely/reachability.h"

#include <deque>
#include <utility>

namespace weir {

Reachability::Reachability(std::shared_ptr<const Topology> topology)
    : topology_(std::move(topology)),
      rows_(topology_->num_locations()),
      numbers_({{{}, 0}}),
      antichains_(1),
      adds_nothing_(1, false) {}

const Antichain<PathSummary>& Reachability::Between(LocationId from, LocationId to) {
  return antichains_[RowOf(from)[to.value()]];
}

bool Reachability::CouldResultIn(LocationId from, const Timestamp& time, const Pointstamp& to) {
  const int32_t number = RowOf(from)[to.location.value()];
  if (adds_nothing_[number] && time.size() == to.time.size()) return LessEqual(time, to.time);
  for (const PathSummary& summary : antichains_[number]) {
    const std::optional<Timestamp> later = summary.Apply(time);
    if (later.has_value() && LessEqual(*later, to.time)) return true;
  }
  return false;
}

const Reachability::Row& Reachability::RowOf(LocationId from) {
  Row& row = rows_[from.value()];
  if (row.empty()) row = ComputeRow(from);
  return row;
}

Reachability::Row Reachability::ComputeRow(LocationId from) {
  const int depth = topology_->location(from).depth;
  const PathSummary same = PathSummary::Identity(depth);
  std::vector<Antichain<PathSummary>> reached(topology_->num_locations());
  reached[from.value()].Insert(same);
  // Ends, as every cycle adds to what it keeps: going round once more gives nothing less.
  std::deque<std::pair<LocationId, PathSummary>> waiting = {{from, same}};
  while (!waiting.empty()) {
    const auto [location, summary] = std::move(waiting.front());
    waiting.pop_front();
    if (!reached[location.value()].Contains(summary)) continue;
    for (const Hop& hop : topology_->hops(location)) {
      const std::optional<PathSummary> further = summary.Then(hop.summary);
      if (further.has_value() && reached[hop.to.value()].Insert(*further)) {
        waiting.emplace_back(hop.to, *further);
      }
    }
  }
  Row row(topology_->num_locations(), 0);
  for (size_t to = 0; to < reached.size(); ++to) {
    const Antichain<PathSummary>& summaries = reached[to];
    const auto [number, is_new] = numbers_.try_emplace({summaries.begin(), summaries.end()},
                                                       static_cast<int32_t>(antichains_.size()));
    if (is_new) {
      antichains_.push_back(summaries);
      const PathSummary& first = *summaries.begin();
      adds_nothing_.push_back(summaries.size() == 1 && first.append().empty() &&
                              first.adds_nothing());
    }
    row[to] = number->second;
  }
  return row;
}

}  // namespace weir
