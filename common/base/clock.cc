#include "common/base/clock.h"

#include <ctime>

#include "absl/time/clock.h"

namespace weir {
namespace {

class MachineClock : public Clock {
 public:
  absl::Time Now() const override {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return absl::TimeFromTimespec(now);
  }
  absl::Time WallNow() const override { return absl::Now(); }
};

}  // namespace

Clock* RealClock() {
  static MachineClock* const clock = new MachineClock;
  return clock;
}

absl::Duration ManualClock::elapsed() const {
  return absl::Nanoseconds(nanoseconds_.load(std::memory_order_acquire));
}

absl::Time ManualClock::Now() const { return absl::UnixEpoch() + elapsed(); }

absl::Time ManualClock::WallNow() const { return wall_start_ + elapsed(); }

void ManualClock::Advance(absl::Duration step) {
  nanoseconds_.fetch_add(absl::ToInt64Nanoseconds(step), std::memory_order_acq_rel);
}

void ManualClock::AdvanceTo(absl::Time time) {
  const int64_t target = absl::ToUnixNanos(time);
  int64_t current = nanoseconds_.load(std::memory_order_acquire);
  while (current < target && !nanoseconds_.compare_exchange_weak(current, target)) {
  }
}

}  // namespace weir
