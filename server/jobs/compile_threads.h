// Threads that compile, so that nobody else waits for a compilation. Thread-safe.
#ifndef WEIR_SERVER_JOBS_COMPILE_THREADS_H_
#define WEIR_SERVER_JOBS_COMPILE_THREADS_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace weir {

class CompileThreads {
 public:
  explicit CompileThreads(int count);
  // Drops what has not begun and waits for the rest.
  ~CompileThreads();

  // Runs `work` on one of the threads, in the order of the calls.
  void Submit(std::function<void()> work);

 private:
  void Run();

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::deque<std::function<void()>> waiting_;
  std::vector<std::thread> threads_;
};

}  // namespace weir

#endif  // WEIR_SERVER_JOBS_COMPILE_THREADS_H_
