#include "common/timely/explain.h"

#include <optional>

#include "common/base/str_cat.h"

namespace weir {

std::vector<Holder> HoldersOf(LocationId port, const Tracker& tracker,
                              const Reachability& reachability) {
  std::vector<Holder> holders;
  const std::vector<Antichain<PathSummary>> ways = reachability.WaysTo(port);
  const Frontier& frontier = tracker.frontier(port);
  for (int64_t l = 0; l < tracker.topology().num_locations(); ++l) {
    const LocationId from(l);
    for (const auto& [time, count, since] : tracker.outstanding(from).counts()) {
      if (count <= 0) continue;
      for (const PathSummary& summary : ways[l]) {
        const std::optional<Timestamp> element = summary.Apply(time);
        if (!element.has_value() || !frontier.Contains(*element)) continue;
        holders.push_back({{from, time}, count, since, *element});
      }
    }
  }
  return holders;
}

std::vector<Root> RootsOf(const Tracker& tracker) {
  const Topology& topology = tracker.topology();
  // The least times at which something comes from elsewhere, by location.
  std::vector<Frontier> coming(topology.num_locations());
  for (int64_t l = 0; l < topology.num_locations(); ++l) {
    for (const Hop& hop : topology.hops(LocationId(l))) {
      for (const Timestamp& time : tracker.frontier(LocationId(l))) {
        const std::optional<Timestamp> later = hop.summary.Apply(time);
        if (later.has_value()) coming[hop.to.value()].Insert(*later);
      }
    }
  }
  std::vector<Root> roots;
  for (int64_t l = 0; l < topology.num_locations(); ++l) {
    const MutableAntichain& outstanding = tracker.outstanding(LocationId(l));
    for (const auto& [time, count, since] : outstanding.counts()) {
      if (count <= 0 || !outstanding.frontier().Contains(time) || coming[l].Covers(time)) continue;
      roots.push_back({{LocationId(l), time}, count, since});
    }
  }
  return roots;
}

std::string ToString(absl::Span<const Holder> holders, LocationId port, const Topology& topology) {
  std::string text;
  for (const Holder& holder : holders) {
    StrAppend(&text, ToString(holder.element), " at ", topology.Describe(port), " waits for ",
              holder.count, " at ", topology.Describe(holder.outstanding.location), " of ",
              ToString(holder.outstanding.time), "\n");
  }
  return text;
}

}  // namespace weir
