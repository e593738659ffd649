// Decides before each call of a program whether it runs on the caller's thread, from how long such
// runs took. One that took too long is tried again, each time after twice as many calls, since it
// may have been the first one, or another process had the CPU. Thread-safe.
#ifndef WEIR_CLIENT_EMBEDDED_DIRECT_PACE_H_
#define WEIR_CLIENT_EMBEDDED_DIRECT_PACE_H_

#include <chrono>
#include <mutex>
#include <optional>

namespace weir {

class DirectPace {
 public:
  // Runs that take up to `longest` are worth it.
  explicit DirectPace(std::chrono::nanoseconds longest) : longest_(longest) {}

  std::chrono::nanoseconds longest() const { return longest_; }
  // Whether the runs so far were worth it.
  bool IsGood() const;
  // Where they were not: whether this call is to try it (again).
  bool IsDue();
  // A run that took longer than those before raises what is expected by a quarter only.
  void Took(std::chrono::nanoseconds time);

 private:
  static constexpr int kLongestWait = 1024;

  const std::chrono::nanoseconds longest_;
  mutable std::mutex mutex_;  // guards what follows
  std::optional<std::chrono::nanoseconds> expected_;
  int calls_to_wait_ = 0;
  int next_wait_ = 1;
};

}  // namespace weir

#endif  // WEIR_CLIENT_EMBEDDED_DIRECT_PACE_H_
