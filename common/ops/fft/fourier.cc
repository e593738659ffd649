#include "common/ops/fft/fourier.h"

#include "common/ops/linalg/accumulate.h"
#include "common/ops/scalar/gamma.h"

namespace weir {
namespace {

using Complex = std::complex<double>;

constexpr int64_t kLargestRadix = 31;

Complexes RootsOfUnity(int64_t n) {
  Complexes roots(n);
  for (int64_t k = 0; k < n; ++k) roots[k] = RootOfUnity(k, n);
  return roots;
}

// Prime factors in ascending order.
std::vector<int64_t> FactorsOf(int64_t n) {
  std::vector<int64_t> factors;
  for (int64_t p = 2; p * p <= n; ++p) {
    for (; n % p == 0; n /= p) factors.push_back(p);
  }
  if (n > 1) factors.push_back(n);
  return factors;
}

}  // namespace

Complex RootOfUnity(int64_t k, int64_t n) {
  const bool lower = 2 * k > n;
  const int64_t half = lower ? n - k : k;
  const bool left = 4 * half > n;
  const int64_t turns = left ? n - 2 * half : 2 * half;  // in units of pi / n
  const scalar::SinCos s = scalar::SinCosPi(static_cast<double>(turns) / static_cast<double>(n));
  return {left ? -s.cos : s.cos, lower ? s.sin : -s.sin};
}

Fourier::Fourier(int64_t length) : length_(length), factors_(FactorsOf(length)) {
  if (factors_.empty() || factors_.back() <= kLargestRadix) {
    roots_ = RootsOfUnity(length);
    lengths_ = {length};
    for (int64_t factor : factors_) lengths_.push_back(lengths_.back() / factor);
    return;
  }
  int64_t padded = 1;
  while (padded < 2 * length - 1) padded *= 2;
  padded_ = std::make_unique<Fourier>(padded);
  Complexes line(padded);
  for (int64_t k = 0; k < length; ++k) {
    chirp_.push_back(RootOfUnity(k * k % (2 * length), 2 * length));
    line[k] = line[(padded - k) % padded] = std::conj(chirp_[k]);
  }
  kernel_ = padded_->Forward(line);
}

Complexes Fourier::Forward(const Complexes& line) const {
  if (padded_ != nullptr) return Convolve(line);
  Complexes out(length_);
  if (length_ > 0) Recurse(line.data(), 1, 0, out.data());
  return out;
}

Complexes Fourier::Inverse(const Complexes& line) const {
  Complexes mirrored = line;
  for (Complex& value : mirrored) value = std::conj(value);
  Complexes out = Forward(mirrored);
  const double count = static_cast<double>(length_);
  for (Complex& value : out) value = {value.real() / count, -value.imag() / count};
  return out;
}

void Fourier::Recurse(const Complex* in, int64_t stride, size_t level, Complex* out) const {
  if (level == factors_.size()) {
    *out = *in;
    return;
  }
  const int64_t radix = factors_[level];
  const int64_t part = lengths_[level + 1];
  for (int64_t i = 0; i < radix; ++i) {
    Recurse(in + i * stride, stride * radix, level + 1, out + i * part);
  }
  Butterflies(radix, part, out);
}

// A root of 1 multiplies nothing, so that what is infinite stays so.
Complex Fourier::Turned(Complex x, int64_t root) const {
  return root == 0 ? x : WideProduct(x, roots_[root]);
}

// Joins the transforms of `radix` interleaved parts.
void Fourier::Butterflies(int64_t radix, int64_t part, Complex* out) const {
  const int64_t step = length_ / (radix * part);
  Complex terms[kLargestRadix];
  for (int64_t k = 0; k < part; ++k) {
    for (int64_t i = 0; i < radix; ++i) {
      terms[i] = Turned(out[i * part + k], i * k * step);
    }
    if (radix == 2) {
      out[k] = terms[0] + terms[1];
      out[part + k] = terms[0] - terms[1];
      continue;
    }
    for (int64_t row = 0; row < radix; ++row) {
      Complex sum = terms[0];
      for (int64_t i = 1; i < radix; ++i) {
        sum += Turned(terms[i], i * row % radix * (length_ / radix));
      }
      out[row * part + k] = sum;
    }
  }
}

Complexes Fourier::Convolve(const Complexes& line) const {
  Complexes padded(padded_->length());
  for (int64_t k = 0; k < length_; ++k) padded[k] = WideProduct(line[k], chirp_[k]);
  Complexes product = padded_->Forward(padded);
  for (size_t k = 0; k < product.size(); ++k) product[k] = WideProduct(product[k], kernel_[k]);
  Complexes out = padded_->Inverse(product);
  out.resize(length_);
  for (int64_t k = 0; k < length_; ++k) out[k] = WideProduct(out[k], chirp_[k]);
  return out;
}

}  // namespace weir
