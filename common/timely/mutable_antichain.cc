#include "common/timely/mutable_antichain.h"

#include <algorithm>

namespace weir {
namespace {

bool IsBefore(const MutableAntichain::Entry& entry, const Timestamp& time) {
  return entry.time < time;
}

}  // namespace

int64_t MutableAntichain::count(const Timestamp& time) const {
  const auto at = std::lower_bound(counts_.begin(), counts_.end(), time, IsBefore);
  return at != counts_.end() && at->time == time ? at->count : 0;
}

void MutableAntichain::Update(const Timestamp& time, int64_t delta, ChangeBatch<Timestamp>* changes,
                              absl::Time now) {
  if (delta == 0) return;
  auto at = std::lower_bound(counts_.begin(), counts_.end(), time, IsBefore);
  if (at == counts_.end() || at->time != time) at = counts_.insert(at, Entry{time, 0, now});
  const int64_t before = at->count;
  const int64_t after = before + delta;
  at->count = after;
  if (before <= 0) at->since = now;
  if (after == 0) counts_.erase(at);
  negative_ += (after < 0 ? 1 : 0) - (before < 0 ? 1 : 0);
  if (before <= 0 && after > 0) Raise(time, changes);
  if (before > 0 && after <= 0) Lower(time, changes);
}

void MutableAntichain::Raise(const Timestamp& time, ChangeBatch<Timestamp>* changes) {
  if (frontier_.Covers(time)) return;
  for (const Timestamp& other : frontier_) {
    if (LessEqual(time, other)) changes->Add(other, -1);
  }
  frontier_.Insert(time);
  changes->Add(time, 1);
}

void MutableAntichain::Lower(const Timestamp& time, ChangeBatch<Timestamp>* changes) {
  if (!frontier_.Remove(time)) return;
  changes->Add(time, -1);
  // What it held back is later in the total order too, and there the least come first.
  const auto first = std::lower_bound(counts_.begin(), counts_.end(), time, IsBefore);
  for (auto entry = first; entry != counts_.end(); ++entry) {
    if (entry->count <= 0 || !LessEqual(time, entry->time)) continue;
    if (frontier_.Insert(entry->time)) changes->Add(entry->time, 1);
    if (time.depth() == 0) return;  // all others are later than this one
  }
}

}  // namespace weir
