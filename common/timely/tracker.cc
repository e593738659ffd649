#include "common/timely/tracker.h"

#include <algorithm>
#include <utility>

#include "common/base/str_cat.h"

namespace weir {

Tracker::Tracker(std::shared_ptr<const Topology> topology)
    : topology_(std::move(topology)), places_(topology_->num_locations()) {
  for (int64_t l = 0; l < topology_->num_locations(); ++l) {
    places_[l].is_followed =
        topology_->location(LocationId(l)).kind != PortLocation::Kind::kRequest;
  }
}

Tracker::Tracker(std::shared_ptr<const Topology> topology, absl::Span<const int> part_of)
    : Tracker(std::move(topology)) {
  for (int64_t l = 0; l < topology_->num_locations(); ++l) {
    places_[l].part = part_of[topology_->location(LocationId(l)).port.vertex.value()];
  }
}

void Tracker::Update(LocationId location, const Timestamp& time, int64_t delta) {
  Place& place = places_[location.value()];
  place.noted.Add(time, delta);
  if (std::exchange(place.is_noted, true)) return;
  noted_.push_back(location);
}

absl::Span<const Change> Tracker::Propagate(absl::Time now) {
  updates_.clear();
  overdrawn_.clear();
  CountNoted(now);
  while (!heap_.empty()) {
    Work work = Pop();
    while (!heap_.empty() && heap_.front().location == work.location &&
           heap_.front().time == work.time) {
      work.delta += Pop().delta;
    }
    changes_.Clear();
    places_[work.location.value()].implied.Update(work.time, work.delta, &changes_);
    Spread(work.location, changes_.Merge());
  }
  CollectTold();
  return updates_;
}

void Tracker::CountNoted(absl::Time now) {
  for (const LocationId location : noted_) {
    Place& place = places_[location.value()];
    place.is_noted = false;
    changes_.Clear();
    // What comes first, so that a time that takes the place of another never leaves a gap.
    const absl::Span<const ChangeBatch<Timestamp>::Entry> noted = place.noted.Merge();
    for (const bool comes : {true, false}) {
      for (const auto& [time, delta] : noted) {
        if ((delta > 0) != comes) continue;
        const int64_t before = place.outstanding.count(time);
        place.outstanding.Update(time, delta, &changes_, now);
        active_ += (before + delta > 0 ? 1 : 0) - (before > 0 ? 1 : 0);
      }
    }
    place.noted.Clear();
    for (const auto& [time, delta] : changes_.Merge()) Push(location, time, delta);
    if (place.outstanding.negative() > 0 && !std::exchange(place.is_told, true)) {
      told_.push_back(location);
    }
  }
  noted_.clear();
}

void Tracker::Spread(LocationId from, absl::Span<const ChangeBatch<Timestamp>::Entry> changes) {
  if (changes.empty()) return;
  Place& place = places_[from.value()];
  if (!std::exchange(place.is_told, true)) told_.push_back(from);
  const bool is_input = topology_->location(from).kind == PortLocation::Kind::kInput;
  for (const auto& [time, delta] : changes) {
    if (is_input) place.told.Add(time, delta);
    for (const Hop& hop : topology_->hops(from)) {
      const Place& to = places_[hop.to.value()];
      if (!to.is_followed || to.part != place.part) continue;
      if (hop.keeps_time) {
        Push(hop.to, time, delta);
      } else if (const std::optional<Timestamp> later = hop.summary.Apply(time)) {
        Push(hop.to, *later, delta);
      }
    }
  }
}

void Tracker::Push(LocationId location, const Timestamp& time, int64_t delta) {
  heap_.push_back({location, time, delta});
  std::push_heap(heap_.begin(), heap_.end(), [this](const Work& a, const Work& b) {
    return topology_->ComesBefore(b.location, b.time, a.location, a.time);
  });
}

Tracker::Work Tracker::Pop() {
  ++pops_;
  std::pop_heap(heap_.begin(), heap_.end(), [this](const Work& a, const Work& b) {
    return topology_->ComesBefore(b.location, b.time, a.location, a.time);
  });
  Work work = std::move(heap_.back());
  heap_.pop_back();
  return work;
}

void Tracker::CollectTold() {
  std::sort(told_.begin(), told_.end());
  for (const LocationId location : told_) {
    for (const auto& [time, delta] : places_[location.value()].told.Merge()) {
      if (delta > 0) updates_.push_back({{location, time}, delta});
    }
  }
  for (const LocationId location : told_) {
    Place& place = places_[location.value()];
    for (const auto& [time, delta] : place.told.Merge()) {
      if (delta < 0) updates_.push_back({{location, time}, delta});
    }
    place.told.Clear();
    place.is_told = false;
    if (place.outstanding.negative() > 0) FindOverdrawn(location);
  }
  told_.clear();
}

void Tracker::FindOverdrawn(LocationId location) {
  const Place& place = places_[location.value()];
  for (const auto& [time, count, since] : place.outstanding.counts()) {
    if (count < 0 && !place.implied.frontier().Covers(time)) overdrawn_.push_back({location, time});
  }
}

std::vector<Change> Tracker::Frontiers() const {
  std::vector<Change> all;
  for (int64_t l = 0; l < topology_->num_locations(); ++l) {
    if (topology_->location(LocationId(l)).kind != PortLocation::Kind::kInput) continue;
    for (const Timestamp& time : frontier(LocationId(l))) all.push_back({{LocationId(l), time}, 1});
  }
  return all;
}

absl::Status Tracker::CheckCounts() const {
  if (overdrawn_.empty()) return absl::OkStatus();
  const auto& [location, time] = overdrawn_.front();
  return InvalidArgument(
      "the count of ", topology_->Describe(location), " at ", ToString(time), " is ",
      outstanding(location).count(time),
      ", and nothing is outstanding that could still make up for it: a frame was consumed that",
      " nobody sent, or twice");
}

}  // namespace weir
