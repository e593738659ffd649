// Clock: where time comes from, so that state machines can run under a simulated one. Thread-safe.
#ifndef WEIR_COMMON_BASE_CLOCK_H_
#define WEIR_COMMON_BASE_CLOCK_H_

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"

namespace weir {

class Clock {
 public:
  virtual ~Clock() = default;

  // Monotonic: never goes back, keeps running while the wall clock is set. Its zero means nothing,
  // so only differences and comparisons of values of the same clock are useful.
  virtual absl::Time Now() const = 0;

  // Calendar time, for people and for records that outlive the process.
  virtual absl::Time WallNow() const = 0;
};

// Returns: the clock of the machine; lives until the process ends.
Clock* RealClock();

// A clock that moves only when told.
class ManualClock : public Clock {
 public:
  // Wall time is `wall_start` when the clock starts.
  explicit ManualClock(absl::Time wall_start = absl::UnixEpoch()) : wall_start_(wall_start) {}

  absl::Time Now() const override;
  absl::Time WallNow() const override;

  // REQUIRES: `step` is not negative.
  void Advance(absl::Duration step);
  // Does nothing when `time` has passed already.
  void AdvanceTo(absl::Time time);

 private:
  absl::Duration elapsed() const;

  const absl::Time wall_start_;
  std::atomic<int64_t> nanoseconds_{0};
};

}  // namespace weir

#endif  // WEIR_COMMON_BASE_CLOCK_H_
