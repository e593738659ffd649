#include "common/net/event_loop.h"

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace weir {
namespace {

class ThreadEventLoop : public EventLoop {
 public:
  explicit ThreadEventLoop(const std::string& name) : shared_(std::make_shared<Shared>()) {
    thread_ = std::thread([shared = shared_] { shared->Run(); });
    pthread_setname_np(thread_.native_handle(), name.substr(0, 15).c_str());
  }

  ~ThreadEventLoop() override {
    {
      std::lock_guard lock(shared_->mutex);
      shared_->stopping = true;
    }
    shared_->changed.notify_one();
    if (std::this_thread::get_id() == thread_.get_id()) {
      thread_.detach();
    } else {
      thread_.join();
    }
  }

  void Post(std::function<void()> task) override {
    bool wake;
    {
      std::lock_guard lock(shared_->mutex);
      wake = shared_->asleep;
      shared_->asleep = false;
      shared_->ready.push_back(std::move(task));
    }
    if (wake) shared_->changed.notify_one();
  }

  void PostAfter(absl::Duration delay, std::function<void()> task) override {
    const absl::Time when = clock()->Now() + delay;
    bool wake;
    {
      std::lock_guard lock(shared_->mutex);
      wake = shared_->asleep;
      shared_->asleep = false;
      shared_->timed.emplace(when, std::move(task));
    }
    if (wake) shared_->changed.notify_one();
  }

  Clock* clock() override { return RealClock(); }

 private:
  // Outlives the loop when the loop is destroyed on its own thread.
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    bool stopping = false;
    bool asleep = false;  // a waiter that has to be woken
    std::vector<std::function<void()>> ready;
    std::multimap<absl::Time, std::function<void()>> timed;

    void Run() {
      std::vector<std::function<void()>> batch;
      std::unique_lock lock(mutex);
      while (true) {
        TakeDue();
        if (!ready.empty()) {
          batch.swap(ready);
          lock.unlock();
          for (std::function<void()>& task : batch) std::exchange(task, nullptr)();
          batch.clear();
          lock.lock();
          continue;
        }
        if (stopping) return;
        Sleep(lock);
      }
    }

    void TakeDue() {
      if (timed.empty()) return;
      const absl::Time now = RealClock()->Now();
      while (!timed.empty() && timed.begin()->first <= now) {
        ready.push_back(std::move(timed.begin()->second));
        timed.erase(timed.begin());
      }
    }

    void Sleep(std::unique_lock<std::mutex>& lock) {
      asleep = true;
      if (timed.empty()) {
        changed.wait(lock);
      } else {
        changed.wait_for(lock,
                         absl::ToChronoNanoseconds(timed.begin()->first - RealClock()->Now()));
      }
      asleep = false;
    }
  };

  const std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<EventLoop> MakeThreadEventLoop(const std::string& name) {
  return std::make_unique<ThreadEventLoop>(name);
}

}  // namespace weir
