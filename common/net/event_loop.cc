#include "common/net/event_loop.h"

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace weir {
namespace {

// Rounds of tasks after which a visitor leaves the rest to the loop's own thread.
constexpr int kVisitRounds = 64;

// The tasks of a loop, and the right to run them, which one thread has at a time: the loop's own or
// a visitor. Outlives the loop when a task destroys it.
class TaskQueue {
 public:
  void Post(std::function<void()> task) {
    std::unique_lock lock(mutex_);
    ready_.push_back(std::move(task));
    WakeOwner(lock);
  }

  void PostAt(absl::Time when, std::function<void()> task) {
    std::unique_lock lock(mutex_);
    timed_.emplace(when, std::move(task));
    WakeOwner(lock);
  }

  // On the loop's own thread: returns once stopped.
  void Run() {
    std::unique_lock lock(mutex_);
    while (true) {
      if (idle()) {
        runner_ = std::this_thread::get_id();
        RunReady(lock, std::numeric_limits<int>::max());
        if (stopping_) return;
      }
      Sleep(lock);
    }
  }

  void Visit(const std::function<void()>& work) {
    std::unique_lock lock(mutex_);
    if (!idle() || stopping_) {
      lock.unlock();
      return work();
    }
    runner_ = std::this_thread::get_id();
    lock.unlock();
    work();
    lock.lock();
    RunReady(lock, kVisitRounds);
    const bool sooner = !timed_.empty() && timed_.begin()->first < wakes_at_;
    if (!ready_.empty() || sooner || stopping_) WakeOwner(lock);
  }

  // Returns: whether the caller runs tasks.
  bool Stop() {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    const bool from_within = runner_ == std::this_thread::get_id();
    WakeOwner(lock);
    return from_within;
  }

 private:
  bool idle() const { return runner_ == std::thread::id(); }

  // Whoever runs tasks looks for more at the end, and wakes the owner if there is a need.
  void WakeOwner(std::unique_lock<std::mutex>& lock) {
    const bool wake = asleep_ && idle();
    if (wake) asleep_ = false;
    lock.unlock();
    if (wake) changed_.notify_one();
  }

  // REQUIRES: this thread is the runner, which it is no longer afterwards.
  void RunReady(std::unique_lock<std::mutex>& lock, int rounds) {
    for (; rounds > 0; --rounds) {
      TakeDue();
      if (ready_.empty()) break;
      running_.swap(ready_);
      lock.unlock();
      for (std::function<void()>& task : running_) std::exchange(task, nullptr)();
      running_.clear();
      lock.lock();
    }
    runner_ = {};
  }

  void TakeDue() {
    if (timed_.empty()) return;
    const absl::Time now = RealClock()->Now();
    while (!timed_.empty() && timed_.begin()->first <= now) {
      ready_.push_back(std::move(timed_.begin()->second));
      timed_.erase(timed_.begin());
    }
  }

  void Sleep(std::unique_lock<std::mutex>& lock) {
    asleep_ = true;
    wakes_at_ = idle() && !timed_.empty() ? timed_.begin()->first : absl::InfiniteFuture();
    if (wakes_at_ == absl::InfiniteFuture()) {
      changed_.wait(lock);
    } else {
      changed_.wait_for(lock, absl::ToChronoNanoseconds(wakes_at_ - RealClock()->Now()));
    }
    asleep_ = false;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread::id runner_;
  bool stopping_ = false;
  bool asleep_ = false;  // the owner has to be woken
  absl::Time wakes_at_ = absl::InfiniteFuture();
  std::vector<std::function<void()>> ready_;
  std::vector<std::function<void()>> running_;  // of the runner
  std::multimap<absl::Time, std::function<void()>> timed_;
};

class ThreadEventLoop : public EventLoop {
 public:
  explicit ThreadEventLoop(const std::string& name) : tasks_(std::make_shared<TaskQueue>()) {
    thread_ = std::thread([tasks = tasks_] { tasks->Run(); });
    pthread_setname_np(thread_.native_handle(), name.substr(0, 15).c_str());
  }

  ~ThreadEventLoop() override {
    if (tasks_->Stop()) {
      thread_.detach();
    } else {
      thread_.join();
    }
  }

  void Post(std::function<void()> task) override { tasks_->Post(std::move(task)); }

  void PostAfter(absl::Duration delay, std::function<void()> task) override {
    tasks_->PostAt(clock()->Now() + delay, std::move(task));
  }

  void Visit(const std::function<void()>& work) override {
    const std::shared_ptr<TaskQueue> tasks = tasks_;
    tasks->Visit(work);
  }

  Clock* clock() override { return RealClock(); }

 private:
  const std::shared_ptr<TaskQueue> tasks_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<EventLoop> MakeThreadEventLoop(const std::string& name) {
  return std::make_unique<ThreadEventLoop>(name);
}

}  // namespace weir
