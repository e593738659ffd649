#include "server/progress/explain_turns.h"

#include <algorithm>
#include <utility>

#include "common/base/str_cat.h"

namespace weir {
namespace {

// What may still come to the vertex at `time` or before it in the total order, the least of it, and
// to which input; none if it is the turn of `time`.
std::optional<std::pair<int, Timestamp>> BehindWhat(const JobProgress& job, VertexId vertex,
                                                    const Timestamp& time) {
  std::optional<std::pair<int, Timestamp>> least;
  const auto inputs = static_cast<int>(job.topology().graph().vertex(vertex).inputs.size());
  for (int i = 0; i < inputs; ++i) {
    for (const Timestamp& element : job.tracker().frontier(job.topology().input(vertex, i))) {
      if (time < element || (least.has_value() && !(element < least->second))) continue;
      least = {i, element};
    }
  }
  return least;
}

}  // namespace

std::vector<Turn> TurnsOf(const JobProgress& job, std::optional<LocationId> port) {
  std::vector<Turn> turns;
  std::vector<Antichain<PathSummary>> ways;
  if (port.has_value()) ways = job.reachability().WaysTo(*port);
  for (int64_t l = 0; l < job.topology().num_locations(); ++l) {
    const LocationId location(l);
    const PortLocation& place = job.topology().location(location);
    if (place.kind != PortLocation::Kind::kRequest) continue;
    if (port.has_value() && ways[l].empty()) continue;
    for (const auto& [id, worker] : job.workers()) {
      const MutableAntichain* const held = worker.receiver.HeldAt(location);
      if (held == nullptr) continue;
      for (const auto& [time, count, since] : held->counts()) {
        const auto behind = BehindWhat(job, place.port.vertex, time);
        if (count <= 0 || !behind.has_value()) continue;
        turns.push_back({{location, time}, count, since, id, behind->first, behind->second});
      }
    }
  }
  std::stable_sort(turns.begin(), turns.end(),
                   [](const Turn& a, const Turn& b) { return a.since < b.since; });
  return turns;
}

std::string ToString(const Turn& turn, const JobProgress& job, absl::Time now) {
  const Port& port = job.topology().location(turn.request.location).port;
  return StrCat("'", job.topology().graph().vertex(port.vertex).name, "' waits for its turn at ",
                ToString(turn.request.time), ", as ", ToString(turn.behind),
                " may still come to input ", turn.input, ": worker '",
                job.workers().at(turn.worker).name, "' has held ", turn.count,
                turn.count == 1 ? " request" : " requests", " at input ", port.number, " for ",
                absl::FormatDuration(now - turn.since));
}

}  // namespace weir
