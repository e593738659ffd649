// SimLoop: an event loop of simulated time on the caller's thread. Equal programs run equally:
// tasks run in the order of (time, posting), and time jumps to the next task. Thread-compatible:
// one thread posts and runs.
//
//   SimLoop loop;
//   loop.PostAfter(absl::Seconds(3), [&] { expired = true; });
//   loop.RunFor(absl::Seconds(5));   // takes no time
#ifndef WEIR_COMMON_NET_SIM_LOOP_H_
#define WEIR_COMMON_NET_SIM_LOOP_H_

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/net/event_loop.h"

namespace weir {

class SimLoop : public EventLoop {
 public:
  void Post(std::function<void()> task) override {
    PostAfter(absl::ZeroDuration(), std::move(task));
  }
  void PostAfter(absl::Duration delay, std::function<void()> task) override;
  void PostAt(absl::Time when, std::function<void()> task);
  ManualClock* clock() override { return &clock_; }

  // Runs the next task, moving the clock to its time. Returns: whether there was one.
  bool RunOne();

  // Runs until `done` holds. Returns: false when no task is left or `limit` of simulated time
  // passed first.
  bool RunUntil(const std::function<bool()>& done, absl::Duration limit);

  // Runs every task due within `duration` and leaves the clock at its end.
  void RunFor(absl::Duration duration);

  bool idle() const { return tasks_.empty(); }

 private:
  ManualClock clock_;
  uint64_t posted_ = 0;
  std::map<std::pair<absl::Time, uint64_t>, std::function<void()>> tasks_;
};

}  // namespace weir

#endif  // WEIR_COMMON_NET_SIM_LOOP_H_
