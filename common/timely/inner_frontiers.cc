#include "common/timely/inner_frontiers.h"

#include <utility>

namespace weir {
namespace {

std::vector<LocationId> LocationsOf(const Topology& topology, absl::Span<const VertexId> vertices) {
  std::vector<bool> is_chosen(topology.graph().vertices().size(), false);
  for (const VertexId vertex : vertices) is_chosen[vertex.value()] = true;
  std::vector<LocationId> locations;
  for (int64_t l = 0; l < topology.num_locations(); ++l) {
    if (is_chosen[topology.location(LocationId(l)).port.vertex.value()]) {
      locations.push_back(LocationId(l));
    }
  }
  return locations;
}

}  // namespace

InnerFrontiers::InnerFrontiers(std::shared_ptr<const Topology> topology,
                               absl::Span<const VertexId> vertices)
    : is_inside_(topology->num_locations(), false),
      is_entry_(topology->num_locations(), false),
      tracker_(topology, LocationsOf(*topology, vertices)) {
  for (const LocationId location : LocationsOf(*topology, vertices)) {
    is_inside_[location.value()] = true;
  }
  for (const LogicalGraph::Edge& edge : topology->graph().edges()) {
    const LocationId to = topology->input(edge.to.vertex, edge.to.number);
    const LocationId from = topology->output(edge.from.vertex, edge.from.number);
    if (!is_inside_[to.value()] || is_inside_[from.value()]) continue;
    is_entry_[to.value()] = true;
    entries_.push_back(to);
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
