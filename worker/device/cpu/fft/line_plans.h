// What a line of a certain length needs in one direction, and the plans that a kernel keeps.
#ifndef WEIR_WORKER_DEVICE_CPU_FFT_LINE_PLANS_H_
#define WEIR_WORKER_DEVICE_CPU_FFT_LINE_PLANS_H_

#include <algorithm>
#include <complex>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "worker/device/cpu/fft/plan.h"

namespace weir::cpu {

enum class Transformation { kForward, kInverse, kRealToHalf, kHalfToReal };

// Immutable; usable from any thread.
template <class T>
struct LinePlan {
  // REQUIRES: length > 0.
  LinePlan(Transformation transformation, int64_t length);

  int64_t half() const { return length / 2; }
  // How many numbers each of two buffers holds.
  int64_t numbers() const { return std::max(plan.length() + 1, plan.work()); }

  Transformation transformation;
  int64_t length;  // of the line of real numbers where there is one
  // Real lines of even length are taken as complex ones of half of it.
  bool packed;
  FourierPlan<T> plan;
  std::vector<std::complex<T>> roots;  // exp(-2 pi i k / length) if packed
};

// The plans that were asked for last. Thread-safe.
template <class T>
class LinePlans {
 public:
  // Returns: the plan for a length, made now if it is not kept.
  std::shared_ptr<const LinePlan<T>> Get(Transformation transformation, int64_t length);

 private:
  using Key = std::pair<Transformation, int64_t>;
  static constexpr size_t kMost = 16;

  absl::Mutex mutex_;
  std::map<Key, std::shared_ptr<const LinePlan<T>>> plans_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace weir::cpu

#endif  // WEIR_WORKER_DEVICE_CPU_FFT_LINE_PLANS_H_
