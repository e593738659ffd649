#include "client/embedded/direct_pace.h"

#include <algorithm>

namespace weir {

bool DirectPace::IsGood() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return expected_.has_value() && *expected_ <= longest_;
}

bool DirectPace::IsDue() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (calls_to_wait_ > 0) {
    --calls_to_wait_;
    return false;
  }
  calls_to_wait_ = next_wait_;
  next_wait_ = std::min(2 * next_wait_, kLongestWait);
  return true;
}

void DirectPace::Took(std::chrono::nanoseconds time) {
  std::lock_guard<std::mutex> lock(mutex_);
  expected_ = expected_.has_value() ? std::min(time, *expected_ * 5 / 4) : time;
  if (*expected_ > longest_) return;
  calls_to_wait_ = 0;
  next_wait_ = 1;
}

}  // namespace weir
