// How a line of a certain length is transformed: the passes of a mixed-radix transform that sorts
// itself (Stockham), or Bluestein's convolution where a prime factor is large; with the roots of
// unity of each pass, rounded from double. Immutable; usable from any thread.
#ifndef WEIR_WORKER_DEVICE_CPU_FFT_PLAN_H_
#define WEIR_WORKER_DEVICE_CPU_FFT_PLAN_H_

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace weir::cpu {

// Joins `radix` numbers at a time. With e = exp(-2 pi i / length), for i < inside and k < before:
//   out[i + inside (k + before j)] =
//       e^(before i j) sum over m of in[i + inside (m + radix k)] exp(-2 pi i j m / radix)
template <class T>
struct FourierPass {
  int64_t radix = 1;
  int64_t before = 1;
  int64_t inside = 1;
  // e^(before i j) at (j - 1) inside + i, for j > 0.
  std::vector<T> cosines;
  std::vector<T> sines;
  std::vector<std::complex<T>> roots;  // exp(-2 pi i m / radix)
};

template <class T>
class FourierPlan {
 public:
  // REQUIRES: 0 < length < 2^31.
  explicit FourierPlan(int64_t length);

  int64_t length() const { return length_; }
  const std::vector<FourierPass<T>>& passes() const { return passes_; }

  // Bluestein's: null, or the transform of a padded length; the chirp exp(-pi i k^2 / length); the
  // transform of its padded conjugate, divided by the padded length.
  const FourierPlan* padded() const { return padded_.get(); }
  const std::vector<std::complex<T>>& chirp() const { return chirp_; }
  const std::vector<std::complex<T>>& kernel() const { return kernel_; }

  // How many numbers a transform needs beside its line.
  int64_t work() const { return padded_ == nullptr ? length_ : 2 * padded_->length(); }

 private:
  void PlanConvolution();

  int64_t length_;
  std::vector<FourierPass<T>> passes_;
  std::unique_ptr<FourierPlan> padded_;
  std::vector<std::complex<T>> chirp_;
  std::vector<std::complex<T>> kernel_;
};

}  // namespace weir::cpu

#endif  // WEIR_WORKER_DEVICE_CPU_FFT_PLAN_H_
