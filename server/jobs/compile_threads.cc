#include "server/jobs/compile_threads.h"

#include <utility>

namespace weir {

CompileThreads::CompileThreads(int count) {
  for (int i = 0; i < count; ++i) threads_.emplace_back([this] { Run(); });
}

CompileThreads::~CompileThreads() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void CompileThreads::Submit(std::function<void()> work) {
  {
    std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(work));
  }
  changed_.notify_one();
}

void CompileThreads::Run() {
  while (true) {
    std::function<void()> work;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (stopping_) return;
      work = std::move(waiting_.front());
      waiting_.pop_front();
    }
    work();
  }
}

}  // namespace weir
