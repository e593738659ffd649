// The discrete Fourier transform of one line of complex numbers, for any length: mixed radix where
// all prime factors are small, else Bluestein's convolution. Twiddle factors come from the scalar
// library, so the bits do not depend on a machine's libm. Immutable; usable from any thread.
#ifndef WEIR_COMMON_OPS_FFT_FOURIER_H_
#define WEIR_COMMON_OPS_FFT_FOURIER_H_

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace weir {

using Complexes = std::vector<std::complex<double>>;

// Returns: exp(-2 pi i k / n), from an angle of at most a quarter turn. REQUIRES: 0 <= k < n.
std::complex<double> RootOfUnity(int64_t k, int64_t n);

class Fourier {
 public:
  // REQUIRES: 0 <= length < 2^31.
  explicit Fourier(int64_t length);

  int64_t length() const { return length_; }
  // Returns: sum over j of line[j] exp(-2 pi i j k / length). REQUIRES: line has the length.
  Complexes Forward(const Complexes& line) const;
  // Returns: the inverse of Forward, 1 / length included.
  Complexes Inverse(const Complexes& line) const;

 private:
  void Recurse(const std::complex<double>* in, int64_t stride, size_t level,
               std::complex<double>* out) const;
  void Butterflies(int64_t radix, int64_t part, std::complex<double>* out) const;
  std::complex<double> Turned(std::complex<double> x, int64_t root) const;
  Complexes Convolve(const Complexes& line) const;

  int64_t length_;
  std::vector<int64_t> factors_;
  std::vector<int64_t> lengths_;  // what is left to transform at each level
  Complexes roots_;               // exp(-2 pi i k / length)
  // Bluestein's: the chirp exp(-pi i k^2 / length) and the transform of its padded conjugate.
  std::unique_ptr<Fourier> padded_;
  Complexes chirp_;
  Complexes kernel_;
};

}  // namespace weir

#endif  // WEIR_COMMON_OPS_FFT_FOURIER_H_
