// The compute threads of a worker. Each runs one task at a time; libraries under the kernels use
// the thread they are called on and no other. Thread-safe.
//
// A task that goes on for long (a loop with many trips, a large call) does not hold up those behind
// it: it does not count as one of the threads any more, so that another one takes its place, and
// the system shares the CPUs among them. So whoever comes later waits for a moment, and never for a
// slow run to end.
#ifndef WEIR_WORKER_EXECUTOR_COMPUTE_POOL_H_
#define WEIR_WORKER_EXECUTOR_COMPUTE_POOL_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "worker/device/cpu/compute_thread.h"

namespace weir {

class ComputePool {
 public:
  // How many tasks may go on for long at the same time before those behind them wait.
  static constexpr int kMostSlow = 64;

  // REQUIRES: threads >= 1. The threads stay on `cpus`; empty: any that the process may use.
  explicit ComputePool(int threads, cpu::CpuSet cpus = {});
  // Runs what was submitted so far, then joins.
  ~ComputePool();

  // How many tasks run at the same time, besides slow ones.
  int threads() const { return threads_; }
  // Tasks start in the order submitted.
  void Submit(std::function<void()> task);

 private:
  using Clock = std::chrono::steady_clock;
  struct Worker {
    std::optional<Clock::time_point> began;  // its task
    std::thread thread;
  };

  void AddWorker();
  void Loop(Worker* self);
  // Sees to it that tasks begin although all threads are at slow ones.
  void Watch();
  // Returns: how many more tasks may be under way, besides slow ones.
  int Places() const;
  bool MayTake() const { return !tasks_.empty() && Places() > 0; }
  // Returns once there may be a task, or after a short time.
  void AwaitTask() const;

  const int threads_;
  const cpu::CpuSet cpus_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable watch_;
  std::deque<std::function<void()>> tasks_;
  std::atomic<bool> has_tasks_{false};  // what tasks_ says, to look at without the mutex
  std::deque<Worker> workers_;          // never fewer
  int waiting_ = 0;                     // of those, without a task
  bool ending_ = false;
  bool is_watching_ = false;  // it looks again before long
  std::thread watcher_;       // from when on tasks have waited
};

}  // namespace weir

#endif  // WEIR_WORKER_EXECUTOR_COMPUTE_POOL_H_
