#include "worker/device/cpu/fft/line_plans.h"

#include "common/ops/fft/fourier.h"

namespace weir::cpu {
namespace {

bool IsPacked(Transformation transformation, int64_t length) {
  const bool real = transformation == Transformation::kRealToHalf ||
                    transformation == Transformation::kHalfToReal;
  return real && length % 2 == 0;
}

}  // namespace

template <class T>
LinePlan<T>::LinePlan(Transformation transformation, int64_t length)
    : transformation(transformation),
      length(length),
      packed(IsPacked(transformation, length)),
      plan(packed ? length / 2 : length) {
  for (int64_t k = 0; k < half() && packed; ++k) {
    roots.push_back(std::complex<T>(RootOfUnity(k, length)));
  }
}

template <class T>
std::shared_ptr<const LinePlan<T>> LinePlans<T>::Get(Transformation transformation,
                                                     int64_t length) {
  absl::MutexLock lock(&mutex_);
  const Key key(transformation, length);
  const auto found = plans_.find(key);
  if (found != plans_.end()) return found->second;
  if (plans_.size() == kMost) plans_.clear();
  return plans_[key] = std::make_shared<const LinePlan<T>>(transformation, length);
}

template struct LinePlan<float>;
template struct LinePlan<double>;
template class LinePlans<float>;
template class LinePlans<double>;

}  // namespace weir::cpu
