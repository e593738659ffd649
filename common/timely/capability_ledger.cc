#include "common/timely/capability_ledger.h"

#include "common/base/str_cat.h"

namespace weir {
namespace {

// More of one kind at once is a defect of the sender, and sums stay far from overflow.
constexpr int64_t kMostAtOnce = int64_t{1} << 32;

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
  ForgetEmptyPlaces();
  return absl::OkStatus();
}

std::vector<Change> CapabilityLedger::held() const {
  std::vector<Change> all;
  for (const auto& [location, place] : places_) {
    for (const auto& [time, count, since] : place.counts())
      all.push_back({{location, time}, count});
  }
  return all;
}

const MutableAntichain* CapabilityLedger::HeldAt(LocationId location) const {
  const auto at = places_.find(location);
  return at == places_.end() || at->second.counts().empty() ? nullptr : &at->second;
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
  const auto held = [this](LocationId location) {
    const MutableAntichain* const place = HeldAt(location);
    return place == nullptr ? nullptr : &place->frontier();
  };
  reachability_.SetCauses(changes);
  const Pointstamp* before = nullptr;  // that has a cause
  for (const auto& [pointstamp, delta] : changes) {
    if (delta < 0) continue;
    const bool is_later = before != nullptr && before->location == pointstamp.location &&
                          LessEqual(before->time, pointstamp.time);
    if (is_later) continue;
    if (!reachability_.HasCause(pointstamp, held)) {
      return InvalidArgument(ToString(Change{pointstamp, delta}, reachability_.topology()),
                             ": nothing that is held or consumed could result in it");
    }
    before = &pointstamp;
  }
  return absl::OkStatus();
}

bool CapabilityLedger::MayBeHeldAt(LocationId location) const {
  return reachability_.topology().location(location).kind != PortLocation::Kind::kInput;
}

void CapabilityLedger::Add(const Change& change, absl::Time now) {
  MutableAntichain& place = places_[change.key.location];
  const bool was_empty = place.counts().empty();
  moves_.Clear();
  place.Update(change.key.time, change.delta, &moves_, now);
  if (was_empty) ++in_use_;
  if (place.counts().empty()) --in_use_;
}

void CapabilityLedger::ForgetEmptyPlaces() {
  constexpr size_t kSpare = 16;
  if (places_.size() <= 2 * in_use_ + kSpare) return;
  absl::erase_if(places_, [](const auto& item) { return item.second.counts().empty(); });
}

std::string ToString(const Change& change, const Topology& topology) {
  return StrCat(change.delta > 0 ? "+" : "", change.delta, " ", ToString(change.key.time), " at ",
                topology.Describe(change.key.location));
}

}  // namespace weir
