// The compute threads of a worker. Each runs one task at a time; libraries under the kernels use
// the thread they are called on and no other. Thread-safe.
#ifndef WEIR_WORKER_EXECUTOR_COMPUTE_POOL_H_
#define WEIR_WORKER_EXECUTOR_COMPUTE_POOL_H_

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "worker/device/cpu/compute_thread.h"

namespace weir {

class ComputePool {
 public:
  // REQUIRES: threads >= 1. The threads stay on `cpus`; empty: any that the process may use.
  explicit ComputePool(int threads, cpu::CpuSet cpus = {});
  // Runs what was submitted so far, then joins.
  ~ComputePool();

  int threads() const { return static_cast<int>(threads_.size()); }
  // Tasks start in the order submitted.
  void Submit(std::function<void()> task);

 private:
  void Loop();
  // Returns once there is a task, or after a short time.
  void AwaitTask() const;

  const cpu::CpuSet cpus_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  std::atomic<bool> has_tasks_{false};  // what tasks_ says, to look at without the mutex
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace weir

#endif  // WEIR_WORKER_EXECUTOR_COMPUTE_POOL_H_
