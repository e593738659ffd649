#include "worker/executor/compute_pool.h"

#include <algorithm>
#include <utility>

namespace weir {
namespace {

// For how long a thread without a task looks for one before it sleeps: waking a thread on a CPU
// that sleeps takes about half of this in a virtual machine, where it goes through the hypervisor.
constexpr auto kSpin = std::chrono::microseconds(100);
constexpr int kLooks = 16;  // between two looks at the clock
// From when on a task is slow: many times what a chunk is meant to take.
constexpr auto kSlow = std::chrono::milliseconds(20);

}  // namespace

ComputePool::ComputePool(int threads, cpu::CpuSet cpus)
    : threads_(threads), cpus_(std::move(cpus)) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (int i = 0; i < threads; ++i) AddWorker();
}

ComputePool::~ComputePool() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  watch_.notify_all();
  // First, as it is who makes more of the others.
  if (watcher_.joinable()) watcher_.join();
  for (Worker& worker : workers_) worker.thread.join();
}

void ComputePool::AddWorker() {
  Worker* const worker = &workers_.emplace_back();
  worker->thread = std::thread([this, worker] { Loop(worker); });
}

void ComputePool::Submit(std::function<void()> task) {
  bool needs_watch;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    tasks_.push_back(std::move(task));
    has_tasks_.store(true, std::memory_order_relaxed);
    // Those that wait may not have come to the tasks before this one yet.
    const int begin_now = std::min(waiting_, Places());
    needs_watch = !is_watching_ && !ending_ && static_cast<int>(tasks_.size()) > begin_now;
    if (needs_watch && !watcher_.joinable()) watcher_ = std::thread([this] { Watch(); });
  }
  wake_.notify_one();
  if (needs_watch) watch_.notify_one();
}

int ComputePool::Places() const {
  const Clock::time_point slow = Clock::now() - kSlow;
  int under_way = 0;
  for (const Worker& worker : workers_) {
    if (worker.began.has_value() && *worker.began > slow) ++under_way;
  }
  return threads_ - under_way;
}

void ComputePool::AwaitTask() const {
  const auto end = Clock::now() + kSpin;
  while (Clock::now() < end) {
    for (int i = 0; i < kLooks; ++i) {
      if (has_tasks_.load(std::memory_order_relaxed)) return;
      __builtin_ia32_pause();
    }
    std::this_thread::yield();
  }
}

void ComputePool::Loop(Worker* self) {
  cpu::EnterComputeThread(cpus_);
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    if (tasks_.empty() && !ending_) {
      ++waiting_;
      lock.unlock();
      AwaitTask();
      lock.lock();
      --waiting_;
    }
    ++waiting_;
    wake_.wait(lock, [this] { return MayTake() || (ending_ && tasks_.empty()); });
    --waiting_;
    if (tasks_.empty()) return;
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    has_tasks_.store(!tasks_.empty(), std::memory_order_relaxed);
    if (ending_ && tasks_.empty()) wake_.notify_all();
    self->began = Clock::now();
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
    self->began.reset();
  }
}

void ComputePool::Watch() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    watch_.wait(lock, [this] { return ending_ || !tasks_.empty(); });
    // Even at the end: a task may wait for one that is behind it.
    if (ending_ && tasks_.empty()) return;
    is_watching_ = true;
    watch_.wait_for(lock, kSlow, [this] { return tasks_.empty(); });
    is_watching_ = false;
    if (!MayTake()) continue;
    const bool has_room = workers_.size() < static_cast<size_t>(threads_ + kMostSlow);
    if (waiting_ == 0 && has_room) AddWorker();
    wake_.notify_one();
  }
}

}  // namespace weir
