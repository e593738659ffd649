#include "worker/device/cpu/fft/plan.h"

#include "common/ops/fft/fourier.h"

namespace weir::cpu {
namespace {

constexpr int64_t kLargestRadix = 31;

// Fours, then prime factors in ascending order.
std::vector<int64_t> RadicesOf(int64_t n) {
  std::vector<int64_t> radices;
  for (; n % 4 == 0; n /= 4) radices.push_back(4);
  for (int64_t p = 2; p * p <= n; ++p) {
    for (; n % p == 0; n /= p) radices.push_back(p);
  }
  if (n > 1) radices.push_back(n);
  return radices;
}

template <class T>
std::complex<T> Root(int64_t k, int64_t n) {
  return std::complex<T>(RootOfUnity(k, n));
}

template <class T>
FourierPass<T> PassOf(int64_t length, int64_t radix, int64_t before) {
  FourierPass<T> pass{radix, before, length / before / radix, {}, {}, {}};
  for (int64_t j = 1; j < radix; ++j) {
    for (int64_t i = 0; i < pass.inside; ++i) {
      const std::complex<T> twiddle = Root<T>(before * i * j, length);
      pass.cosines.push_back(twiddle.real());
      pass.sines.push_back(twiddle.imag());
    }
  }
  for (int64_t m = 0; m < radix; ++m) pass.roots.push_back(Root<T>(m, radix));
  return pass;
}

}  // namespace

template <class T>
FourierPlan<T>::FourierPlan(int64_t length) : length_(length) {
  const std::vector<int64_t> radices = RadicesOf(length);
  if (!radices.empty() && radices.back() > kLargestRadix) {
    PlanConvolution();
    return;
  }
  int64_t before = 1;
  for (int64_t radix : radices) {
    passes_.push_back(PassOf<T>(length, radix, before));
    before *= radix;
  }
}

template <class T>
void FourierPlan<T>::PlanConvolution() {
  int64_t padded = 1;
  while (padded < 2 * length_ - 1) padded *= 2;
  padded_ = std::make_unique<FourierPlan>(padded);
  Complexes line(padded);
  for (int64_t k = 0; k < length_; ++k) {
    const std::complex<double> root = RootOfUnity(k * k % (2 * length_), 2 * length_);
    chirp_.push_back(std::complex<T>(root));
    line[k] = line[(padded - k) % padded] = std::conj(root);
  }
  for (const std::complex<double>& value : Fourier(padded).Forward(line)) {
    kernel_.push_back(std::complex<T>(value / static_cast<double>(padded)));
  }
}

template class FourierPlan<float>;
template class FourierPlan<double>;

}  // namespace weir::cpu
