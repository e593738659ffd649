#include "worker/executor/compute_pool.h"

#include <chrono>
#include <utility>

namespace weir {
namespace {

// For how long a thread without a task looks for one before it sleeps: waking a thread on a CPU
// that sleeps takes about half of this in a virtual machine, where it goes through the hypervisor.
constexpr auto kSpin = std::chrono::microseconds(100);
constexpr int kLooks = 16;  // between two looks at the clock

}  // namespace

ComputePool::ComputePool(int threads, cpu::CpuSet cpus) : cpus_(std::move(cpus)) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Loop(); });
}

ComputePool::~ComputePool() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ComputePool::Submit(std::function<void()> task) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    tasks_.push_back(std::move(task));
    has_tasks_.store(true, std::memory_order_relaxed);
  }
  wake_.notify_one();
}

void ComputePool::AwaitTask() const {
  const auto end = std::chrono::steady_clock::now() + kSpin;
  while (std::chrono::steady_clock::now() < end) {
    for (int i = 0; i < kLooks; ++i) {
      if (has_tasks_.load(std::memory_order_relaxed)) return;
      __builtin_ia32_pause();
    }
    std::this_thread::yield();
  }
}

void ComputePool::Loop() {
  cpu::EnterComputeThread(cpus_);
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    if (tasks_.empty() && !ending_) {
      lock.unlock();
      AwaitTask();
      lock.lock();
    }
    wake_.wait(lock, [this] { return ending_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    has_tasks_.store(!tasks_.empty(), std::memory_order_relaxed);
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
  }
}

}  // namespace weir
