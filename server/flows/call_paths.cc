#include "server/flows/call_paths.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "common/base/status.h"
#include "common/flow/vertex_kind.h"

namespace weir {
namespace {

// Whether records that come out have the origins of those that come to this input.
bool KeepsOriginsOf(const FlowVertex& vertex, size_t input) {
  return input == 0 || FindVertexKind(vertex.kind)->origins == VertexKind::Origins::kAllInputs;
}

// Returns: the vertex and all that it follows from, by ways that `is_followed` says.
template <class IsFollowed>
std::set<VertexId> VerticesBefore(const Flow& flow, VertexId vertex, IsFollowed is_followed) {
  std::set<VertexId> found = {vertex};
  std::vector<VertexId> left = {vertex};
  while (!left.empty()) {
    const FlowVertex& at = flow.vertex(left.back());
    left.pop_back();
    for (size_t i = 0; i < at.inputs.size(); ++i) {
      if (!is_followed(at, i)) continue;
      if (found.insert(at.inputs[i].vertex).second) left.push_back(at.inputs[i].vertex);
    }
  }
  return found;
}

// All ways to a place.
class WaysTo {
 public:
  WaysTo(const JobProgress& job, LocationId to) : ways_(job.reachability().WaysTo(to)) {}

  // Whether what is outstanding could result in something at that time there.
  bool Lead(const Pointstamp& from, const Timestamp& time) const {
    const Antichain<PathSummary>& ways = ways_[from.location.value()];
    return std::any_of(ways.begin(), ways.end(), [&](const PathSummary& way) {
      const std::optional<Timestamp> there = way.Apply(from.time);
      return there.has_value() && LessEqual(*there, time);
    });
  }

 private:
  const std::vector<Antichain<PathSummary>> ways_;  // from each place
};

}  // namespace

absl::StatusOr<std::vector<VertexId>> OtherInputsOf(const Flow& flow, VertexId input,
                                                    VertexId output) {
  const std::set<VertexId> before =
      VerticesBefore(flow, output, [](const FlowVertex&, size_t) { return true; });
  const std::set<VertexId> origins = VerticesBefore(flow, output, KeepsOriginsOf);
  const std::string& to = flow.vertex(output).name;
  if (!origins.contains(input)) {
    return InvalidArgument("no record that comes out of output '", to, "' comes of one of input '",
                           flow.vertex(input).name, "': calls would have no answer");
  }
  for (const VertexId source : origins) {
    const FlowVertex& vertex = flow.vertex(source);
    if (source == input || !vertex.inputs.empty()) continue;
    return InvalidArgument(
        "records of '", vertex.name, "' (", vertex.kind, ") come out of output '", to,
        "' too, and cannot be told from answers to calls of input '", flow.vertex(input).name, "'");
  }
  std::vector<VertexId> others;
  for (const VertexId source : before) {
    if (source != input && flow.vertex(source).kind == "input") others.push_back(source);
  }
  return others;
}

std::vector<VertexId> HeldUpBy(const JobProgress& job, absl::Span<const VertexId> others,
                               VertexId output, int64_t epoch) {
  const Topology& topology = job.topology();
  const WaysTo ways(job, topology.input(output, 0));
  std::vector<Pointstamp> open;   // at other inputs
  std::vector<Pointstamp> waits;  // until a time is complete
  for (int i = 0; i < topology.num_locations(); ++i) {
    const LocationId location(i);
    const PortLocation& place = topology.location(location);
    const bool is_other = place.kind == PortLocation::Kind::kOutput &&
                          std::count(others.begin(), others.end(), place.port.vertex) > 0;
    for (const auto& [time, count, since] : job.tracker().outstanding(location).counts()) {
      if (count <= 0 || !ways.Lead({location, time}, Timestamp{epoch})) continue;
      if (is_other) {
        open.push_back({location, time});
      } else if (place.kind == PortLocation::Kind::kRequest) {
        waits.push_back({location, time});
      } else {
        return {};
      }
    }
  }
  // A vertex acts at a time once it is complete at all of its inputs.
  const auto is_held = [&](const Pointstamp& wait) {
    const VertexId vertex = topology.location(wait.location).port.vertex;
    const auto inputs = static_cast<int>(topology.graph().vertex(vertex).inputs.size());
    for (int i = 0; i < inputs; ++i) {
      const WaysTo there(job, topology.input(vertex, i));
      if (std::any_of(open.begin(), open.end(),
                      [&](const Pointstamp& from) { return there.Lead(from, wait.time); })) {
        return true;
      }
    }
    return false;
  };
  if (!std::all_of(waits.begin(), waits.end(), is_held)) return {};
  std::set<VertexId> held_by;
  for (const Pointstamp& from : open) {
    held_by.insert(topology.location(from.location).port.vertex);
  }
  return {held_by.begin(), held_by.end()};
}

}  // namespace weir
