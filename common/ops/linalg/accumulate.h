// The arithmetic of reference sums and products over many elements: floating point in double (so
// that the reference is closer to the exact result than any kernel), integers modulo 2^64. A sum is
// taken one by one in the order that its op documents. Pure functions; usable from any thread.
#ifndef WEIR_COMMON_OPS_LINALG_ACCUMULATE_H_
#define WEIR_COMMON_OPS_LINALG_ACCUMULATE_H_

#include <complex>
#include <cstdint>
#include <type_traits>

#include "common/tensor/dtype.h"

namespace weir {

template <class T>
struct WideOf {
  using type = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;
};
template <class T>
struct WideOf<std::complex<T>> {
  using type = std::complex<double>;
};
template <class T>
using Wide = typename WideOf<T>::type;

template <class T>
WEIR_ALWAYS_INLINE Wide<T> ToWide(T x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return static_cast<float>(x);
  } else if constexpr (std::is_same_v<T, std::complex<float>>) {
    return {x.real(), x.imag()};
  } else {
    return static_cast<Wide<T>>(x);
  }
}

template <class T>
WEIR_ALWAYS_INLINE T FromWide(Wide<T> x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return T(static_cast<float>(x));
  } else if constexpr (std::is_same_v<T, std::complex<float>>) {
    return {static_cast<float>(x.real()), static_cast<float>(x.imag())};
  } else {
    return static_cast<T>(x);
  }
}

// x * y by the schoolbook formula for complex numbers, which recovers no infinities from NaN.
template <class W>
WEIR_ALWAYS_INLINE W WideProduct(W x, W y) {
  if constexpr (std::is_same_v<W, std::complex<double>>) {
    return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
  } else {
    return x * y;
  }
}

// Calls visitor(TypeTag<T>{}) for a number type. REQUIRES: dtype is not bool.
template <class Visitor>
void VisitNumber(DType dtype, Visitor&& visitor) {
  VisitDType(dtype, [&]<class T>(TypeTag<T> tag) {
    if constexpr (!std::is_same_v<T, bool>) visitor(tag);
  });
}

}  // namespace weir

#endif  // WEIR_COMMON_OPS_LINALG_ACCUMULATE_H_
