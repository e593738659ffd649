#include "common/timely/capability_ledger.h"

#include <algorithm>

#include "common/base/str_cat.h"

namespace weir {
namespace {

// More of one kind at once is a defect of the sender, and sums stay far from overflow.
constexpr int64_t kMostAtOnce = int64_t{1} << 32;

// Returns: the first of `places` that is not before the location.
template <class Places>
auto FirstFrom(Places& places, LocationId location) {
  return std::lower_bound(places.begin(), places.end(), location,
                          [](const auto& place, LocationId to) { return place.location < to; });
}

}  // namespace

void CapabilityLedger::Grant(const Pointstamp& pointstamp, int64_t count, absl::Time now) {
  Add({pointstamp, count}, now);
}

absl::Status CapabilityLedger::Apply(absl::Span<const Change> changes, absl::Time now) {
  WEIR_RETURN_IF_ERROR(CheckForm(changes));
  WEIR_RETURN_IF_ERROR(CheckReleased(changes));
  WEIR_RETURN_IF_ERROR(CheckJustified(changes));
  for (const Change& change : changes) {
    if (MayBeHeldAt(change.key.location)) Add(change, now);
  }
  std::erase_if(places_, [](const Place& place) { return place.held.counts().empty(); });
  return absl::OkStatus();
}

std::vector<Change> CapabilityLedger::held() const {
  std::vector<Change> all;
  for (const Place& place : places_) {
    for (const auto& [time, count, since] : place.held.counts()) {
      all.push_back({{place.location, time}, count});
    }
  }
  return all;
}

const MutableAntichain* CapabilityLedger::HeldAt(LocationId location) const {
  const auto at = FirstFrom(places_, location);
  return at != places_.end() && at->location == location ? &at->held : nullptr;
}

absl::Status CapabilityLedger::CheckForm(absl::Span<const Change> changes) const {
  const Topology& topology = reachability_.topology();
  for (size_t i = 0; i < changes.size(); ++i) {
    const auto& [pointstamp, delta] = changes[i];
    WEIR_RETURN_IF_ERROR(topology.CheckPointstamp(pointstamp.location, pointstamp.time));
    if (delta == 0 || delta > kMostAtOnce || delta < -kMostAtOnce) {
      return InvalidArgument("a count changes by ", delta, ": ", ToString(changes[i], topology));
    }
    if (i > 0 && !(changes[i - 1].key < pointstamp)) {
      return InvalidArgument(
          "changes are not sorted and merged: ", ToString(changes[i - 1], topology), " before ",
          ToString(changes[i], topology));
    }
  }
  return absl::OkStatus();
}

absl::Status CapabilityLedger::CheckReleased(absl::Span<const Change> changes) const {
  for (const Change& change : changes) {
    if (change.delta > 0 || !MayBeHeldAt(change.key.location)) continue;
    const MutableAntichain* const place = HeldAt(change.key.location);
    const int64_t held = place == nullptr ? 0 : place->count(change.key.time);
    if (held + change.delta < 0) {
      return InvalidArgument(ToString(change, reachability_.topology()), " is released, and ", held,
                             " held");
    }
  }
  return absl::OkStatus();
}

absl::Status CapabilityLedger::CheckJustified(absl::Span<const Change> changes) {
  CollectReasons(changes);
  for (const Change& change : changes) {
    if (change.delta < 0 || IsJustified(change.key)) continue;
    return InvalidArgument(ToString(change, reachability_.topology()),
                           ": nothing that is held or consumed could result in it");
  }
  return absl::OkStatus();
}

void CapabilityLedger::CollectReasons(absl::Span<const Change> changes) {
  reasons_.clear();
  size_t first = 0;  // of those at this location
  for (const Change& change : changes) {
    if (change.delta > 0) continue;
    if (first < reasons_.size() && reasons_[first].location != change.key.location) {
      first = reasons_.size();
    }
    const bool is_later =
        std::any_of(reasons_.begin() + first, reasons_.end(),
                    [&](const Reason& reason) { return LessEqual(*reason.time, change.key.time); });
    if (!is_later) reasons_.push_back({change.key.location, &change.key.time});
  }
  for (const Place& place : places_) {
    for (const Timestamp& time : place.held.frontier()) reasons_.push_back({place.location, &time});
  }
}

bool CapabilityLedger::IsJustified(const Pointstamp& pointstamp) {
  for (const Reason& reason : reasons_) {
    ++comparisons_;
    if (reachability_.CouldResultIn(reason.location, *reason.time, pointstamp)) return true;
  }
  return false;
}

bool CapabilityLedger::MayBeHeldAt(LocationId location) const {
  return reachability_.topology().location(location).kind != PortLocation::Kind::kInput;
}

void CapabilityLedger::Add(const Change& change, absl::Time now) {
  auto at = FirstFrom(places_, change.key.location);
  if (at == places_.end() || at->location != change.key.location) {
    at = places_.insert(at, {change.key.location, {}});
  }
  moves_.Clear();
  at->held.Update(change.key.time, change.delta, &moves_, now);
}

std::string ToString(const Change& change, const Topology& topology) {
  return StrCat(change.delta > 0 ? "+" : "", change.delta, " ", ToString(change.key.time), " at ",
                topology.Describe(change.key.location));
}

}  // namespace weir
