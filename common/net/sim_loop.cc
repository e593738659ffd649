#include "common/net/sim_loop.h"

#include <algorithm>

namespace weir {

void SimLoop::PostAfter(absl::Duration delay, std::function<void()> task) {
  PostAt(clock_.Now() + delay, std::move(task));
}

void SimLoop::PostAt(absl::Time when, std::function<void()> task) {
  const absl::Time shown = absl::FromUnixNanos(absl::ToUnixNanos(when));  // by the clock
  tasks_.emplace(std::pair(std::max(shown, clock_.Now()), posted_++), std::move(task));
}

bool SimLoop::RunOne() {
  if (tasks_.empty()) return false;
  auto first = tasks_.extract(tasks_.begin());
  clock_.AdvanceTo(first.key().first);
  first.mapped()();
  return true;
}

bool SimLoop::RunUntil(const std::function<bool()>& done, absl::Duration limit) {
  const absl::Time end = clock_.Now() + limit;
  while (!done()) {
    if (tasks_.empty() || tasks_.begin()->first.first > end) return false;
    RunOne();
  }
  return true;
}

void SimLoop::RunFor(absl::Duration duration) {
  const absl::Time end = clock_.Now() + duration;
  while (!tasks_.empty() && tasks_.begin()->first.first <= end) RunOne();
  clock_.AdvanceTo(end);
}

}  // namespace weir
