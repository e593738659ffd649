#include "common/timely/explain.h"

#include <optional>

#include "common/base/str_cat.h"

namespace weir {

std::vector<Holder> HoldersOf(LocationId port, const Tracker& tracker, Reachability* reachability) {
  std::vector<Holder> holders;
  const Frontier& frontier = tracker.frontier(port);
  for (int64_t l = 0; l < tracker.topology().num_locations(); ++l) {
    const LocationId from(l);
    for (const auto& [time, count] : tracker.outstanding(from).counts()) {
      if (count <= 0) continue;
      for (const PathSummary& summary : reachability->Between(from, port)) {
        const std::optional<Timestamp> element = summary.Apply(time);
        if (!element.has_value() || !frontier.Contains(*element)) continue;
        holders.push_back({{from, time}, count, *element});
      }
    }
  }
  return holders;
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
