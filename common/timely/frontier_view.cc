#include "common/timely/frontier_view.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/str_cat.h"

namespace weir {

FrontierView::FrontierView(std::shared_ptr<const Topology> topology, int64_t first)
    : topology_(std::move(topology)),
      frontiers_(topology_->num_locations()),
      first_(first),
      next_(first) {}

absl::Status FrontierView::Apply(const FrontierUpdate& update) {
  if (update.sequence < next_) {
    return absl::AlreadyExistsError(
        StrCat("frontier update ", update.sequence, " came again; ", next_, " is due"));
  }
  if (update.sequence > next_) {
    return absl::DataLossError(StrCat("frontier update ", update.sequence, " came while ", next_,
                                      " is due: one was lost or overtaken"));
  }
  std::vector<Change> changes = update.changes;
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.key < b.key; });
  std::vector<std::pair<LocationId, Frontier>> later;
  for (size_t first = 0, next; first < changes.size(); first = next) {
    const LocationId location = changes[first].key.location;
    for (next = first; next < changes.size() && changes[next].key.location == location;) ++next;
    WEIR_ASSIGN_OR_RETURN(Frontier frontier,
                          With(absl::MakeConstSpan(changes).subspan(first, next - first)));
    later.emplace_back(location, std::move(frontier));
  }
  for (auto& [location, frontier] : later) frontiers_[location.value()] = std::move(frontier);
  ++next_;
  return absl::OkStatus();
}

absl::StatusOr<Frontier> FrontierView::With(absl::Span<const Change> changes) const {
  const auto refuse = [&](const Change& change, const char* why) {
    return InvalidArgument("frontier of ", topology_->Describe(change.key.location), ": ",
                           ToString(change.key.time), " ", why);
  };
  for (const Change& change : changes) {
    WEIR_RETURN_IF_ERROR(topology_->CheckPointstamp(change.key.location, change.key.time));
    if (topology_->location(change.key.location).kind != PortLocation::Kind::kInput) {
      return refuse(change, "is told of no input");
    }
    if (change.delta != 1 && change.delta != -1) return refuse(change, "neither comes nor goes");
  }
  const Frontier& before = frontier(changes[0].key.location);
  Frontier after = before;
  for (const Change& change : changes) {
    if (change.delta < 0 && !after.Remove(change.key.time)) return refuse(change, "goes unseen");
  }
  for (const Change& change : changes) {
    if (change.delta < 0) continue;
    if (is_known() && !before.Covers(change.key.time))
      return refuse(change, "was complete already");
    const int size = after.size();
    if (!after.Insert(change.key.time) || after.size() != size + 1) {
      return refuse(change, "comes beside an element that it is comparable to");
    }
  }
  return after;
}

bool FrontierView::IsAtFrontier(const Pointstamp& pointstamp) const {
  if (topology_->location(pointstamp.location).kind == PortLocation::Kind::kInput) {
    return frontier(pointstamp.location).Contains(pointstamp.time);
  }
  for (const Hop& hop : topology_->hops(pointstamp.location)) {
    const std::optional<Timestamp> later = hop.summary.Apply(pointstamp.time);
    if (later.has_value() && IsAtFrontier({hop.to, *later})) return true;
  }
  return false;
}

}  // namespace weir
