#include "common/timely/reachability.h"

#include <deque>
#include <limits>
#include <optional>
#include <utility>

namespace weir {
namespace {

// As many hops from what an activation makes to what it took.
constexpr int kNear = 2;
// Of a counter that is dropped on the way.
constexpr int64_t kNoBound = std::numeric_limits<int64_t>::max();

// Whether something falls, from the first change of a location on, at an epoch up to `latest` and
// at a time that is early enough.
template <class IsEarly>
bool AnyFalls(absl::Span<const Change> changes, LocationId location, int64_t latest,
              const IsEarly& is_early) {
  for (const auto& [at, delta] : changes) {
    // They are sorted: whatever follows has a later epoch, too.
    if (at.location != location || at.time[0] > latest) return false;
    if (delta < 0 && is_early(at.time)) return true;
  }
  return false;
}

}  // namespace

Reachability::Reachability(std::shared_ptr<const Topology> topology)
    : topology_(std::move(topology)), marks_(topology_->num_locations()) {}

std::vector<Antichain<PathSummary>> Reachability::WaysTo(LocationId to) const {
  const PathSummary same = PathSummary::Identity(topology_->location(to).depth);
  std::vector<Antichain<PathSummary>> ways(topology_->num_locations());
  ways[to.value()].Insert(same);
  // Ends, as every cycle adds to what it keeps: going round once more gives nothing less.
  std::deque<std::pair<LocationId, PathSummary>> waiting = {{to, same}};
  while (!waiting.empty()) {
    const auto [location, summary] = std::move(waiting.front());
    waiting.pop_front();
    if (!ways[location.value()].Contains(summary)) continue;
    for (const BackHop& back : topology_->hops_to(location)) {
      const std::optional<PathSummary> longer = topology_->hop(back).summary.Then(summary);
      if (longer.has_value() && ways[back.from.value()].Insert(*longer)) {
        waiting.emplace_back(back.from, *longer);
      }
    }
  }
  return ways;
}

bool Reachability::CouldResultIn(const Pointstamp& from, const Pointstamp& to) {
  const Change gone = {from, -1};
  SetCauses({&gone, 1});
  const bool has = HasCause(to, [](LocationId) -> const Frontier* { return nullptr; });
  SetCauses({});
  return has;
}

void Reachability::SetCauses(absl::Span<const Change> changes) {
  causes_ = changes;
  ++cause_sets_;
  for (size_t i = 0; i < changes.size(); ++i) {
    Mark& mark = marks_[changes[i].key.location.value()];
    if (changes[i].delta > 0 || mark.causes == cause_sets_) continue;
    mark.causes = cause_sets_;
    mark.cause = static_cast<int64_t>(i);
  }
}

bool Reachability::HasCause(const Pointstamp& to, HeldAt held) {
  if (FallsNear(to.location, to.time, kNear)) return true;
  ++searches_;
  entries_.clear();
  bounds_.assign(to.time.coordinates().begin(), to.time.coordinates().end());
  Reach(to.location, 0);
  // Ends, as every cycle lowers a bound that it keeps: going round once more reaches nothing more.
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry entry = entries_[i];
    ++steps_;
    if (Falls(entry) || IsHeld(entry, held)) return true;
    for (const BackHop& back : topology_->hops_to(entry.location)) {
      const Hop& hop = topology_->hop(back);
      const int64_t bound = hop.keeps_time ? entry.bound
                                           : BoundBefore(hop.summary, entry.bound,
                                                         topology_->location(back.from).depth + 1);
      if (bound >= 0) Reach(back.from, bound);
    }
  }
  return false;
}

void Reachability::Reach(LocationId location, int64_t bound) {
  Mark& mark = marks_[location.value()];
  const int size = topology_->location(location).depth + 1;
  const int64_t last = mark.search == searches_ ? mark.entry : -1;
  for (int64_t e = last; e >= 0; e = entries_[e].next) {
    int i = 0;
    while (i < size && bounds_[bound + i] <= bounds_[entries_[e].bound + i]) ++i;
    if (i == size) return;
  }
  mark.search = searches_;
  mark.entry = static_cast<int64_t>(entries_.size());
  entries_.push_back({location, bound, last});
}

int64_t Reachability::BoundBefore(const PathSummary& summary, int64_t bound, int size) {
  const int kept = summary.kept();
  for (size_t i = 0; i < summary.append().size(); ++i) {
    if (summary.append()[i] > bounds_[bound + kept + static_cast<int64_t>(i)]) return -1;
  }
  const int64_t before = static_cast<int64_t>(bounds_.size());
  bounds_.resize(bounds_.size() + size, kNoBound);
  for (int i = 0; i < kept; ++i) {
    const int64_t after = bounds_[bound + i];
    if (after == kNoBound) continue;
    if (after < summary.add()[i]) return -1;
    bounds_[before + i] = after - summary.add()[i];
  }
  return before;
}

bool Reachability::FallsNear(LocationId location, const Timestamp& time, int hops) {
  ++steps_;
  const Mark& mark = marks_[location.value()];
  const auto is_early = [&](const Timestamp& cause) { return LessEqual(cause, time); };
  if (mark.causes == cause_sets_ &&
      AnyFalls(causes_.subspan(mark.cause), location, time[0], is_early)) {
    return true;
  }
  if (hops == 0) return false;
  for (const BackHop& back : topology_->hops_to(location)) {
    if (topology_->hop(back).keeps_time && FallsNear(back.from, time, hops - 1)) return true;
  }
  return false;
}

bool Reachability::Falls(const Entry& entry) {
  const Mark& mark = marks_[entry.location.value()];
  const auto is_early = [&](const Timestamp& cause) { return IsWithin(cause, entry.bound); };
  return mark.causes == cause_sets_ &&
         AnyFalls(causes_.subspan(mark.cause), entry.location, bounds_[entry.bound], is_early);
}

bool Reachability::IsHeld(const Entry& entry, HeldAt held) {
  if (topology_->location(entry.location).kind == PortLocation::Kind::kInput) return false;
  const Frontier* const least = held(entry.location);
  if (least == nullptr) return false;
  for (const Timestamp& time : *least) {
    if (IsWithin(time, entry.bound)) return true;
  }
  return false;
}

bool Reachability::IsWithin(const Timestamp& time, int64_t bound) {
  ++steps_;
  for (int i = 0; i < time.size(); ++i) {
    if (time[i] > bounds_[bound + i]) return false;
  }
  return true;
}

}  // namespace weir
