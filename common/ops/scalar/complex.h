// Arithmetic of complex numbers, without the library's calls for infinite parts. Pure functions;
// usable from any thread.
//
// Differences are written as sums with a flipped sign: GCC 12 makes a contracted vfmaddsub of a
// difference beside a sum in adjacent lanes, whatever -ffp-contract says.
#ifndef WEIR_COMMON_OPS_SCALAR_COMPLEX_H_
#define WEIR_COMMON_OPS_SCALAR_COMPLEX_H_

#include <complex>

#include "common/ops/scalar/base.h"
#include "common/ops/scalar/power.h"

namespace weir::scalar {

template <Real T>
WEIR_ALWAYS_INLINE T Minus(T x) {
  return FlipSign(x, Layout<T>::kSign);
}

template <Real T>
WEIR_ALWAYS_INLINE std::complex<T> Multiply(std::complex<T> x, std::complex<T> y) {
  return {x.real() * y.real() + Minus(x.imag() * y.imag()),
          x.real() * y.imag() + x.imag() * y.real()};
}

// By Smith's method: the smaller part of y over the larger one, so that nothing overflows early.
template <Real T>
WEIR_ALWAYS_INLINE std::complex<T> Divide(std::complex<T> x, std::complex<T> y) {
  const bool swap = Abs(y.real()) < Abs(y.imag());
  const T large = Select(swap, y.imag(), y.real()), small = Select(swap, y.real(), y.imag());
  const T ratio = small / large;
  const T scale = large + small * ratio;
  const T real = Select(swap, x.real() * ratio + x.imag(), x.real() + x.imag() * ratio);
  const T imag =
      Select(swap, x.imag() * ratio + Minus(x.real()), x.imag() + Minus(x.real() * ratio));
  return {real / scale, imag / scale};
}

template <Real T>
WEIR_ALWAYS_INLINE T Abs(std::complex<T> x) {
  return Hypot(x.real(), x.imag());
}

}  // namespace weir::scalar

#endif  // WEIR_COMMON_OPS_SCALAR_COMPLEX_H_
