#include "common/timely/inner_frontiers.h"

#include <utility>

namespace weir {

InnerFrontiers::InnerFrontiers(std::shared_ptr<const Topology> topology,
                               absl::Span<const int> part_of)
    : is_inside_(topology->num_locations(), false),
      is_entry_(topology->num_locations(), false),
      tracker_(topology, part_of) {
  for (int64_t l = 0; l < topology->num_locations(); ++l) {
    is_inside_[l] = part_of[topology->location(LocationId(l)).port.vertex.value()] >= 0;
  }
  for (const LogicalGraph::Edge& edge : topology->graph().edges()) {
    const int part = part_of[edge.to.vertex.value()];
    if (part < 0 || part == part_of[edge.from.vertex.value()]) continue;
    entries_.push_back(topology->input(edge.to.vertex, edge.to.number));
    is_entry_[entries_.back().value()] = true;
  }
}

void InnerFrontiers::Update(LocationId location, const Timestamp& time, int64_t delta) {
  if (is_inside_[location.value()]) tracker_.Update(location, time, delta);
}

void InnerFrontiers::Apply(const FrontierUpdate& update) {
  is_known_ = true;
  for (const Change& change : update.changes) {
    if (is_entry_[change.key.location.value()]) {
      tracker_.Update(change.key.location, change.key.time, change.delta);
    }
  }
}

absl::Span<const Change> InnerFrontiers::Propagate() { return tracker_.Propagate(); }

}  // namespace weir
