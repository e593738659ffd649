// The basic operations under one name for every element type. Pure functions; usable from any
// thread.
#ifndef WEIR_COMMON_OPS_SCALAR_ARITHMETIC_H_
#define WEIR_COMMON_OPS_SCALAR_ARITHMETIC_H_

#include "common/ops/scalar/base.h"
#include "common/ops/scalar/complex.h"
#include "common/ops/scalar/integer.h"
#include "common/ops/scalar/rounding.h"

namespace weir::scalar {

template <class T>
struct IsComplexT : std::false_type {};
template <Real T>
struct IsComplexT<std::complex<T>> : std::true_type {};
template <class T>
concept Complex = IsComplexT<T>::value;
template <class T>
concept RealOrComplex = Real<T> || Complex<T>;

template <RealOrComplex T>
WEIR_ALWAYS_INLINE T Add(T x, T y) {
  return x + y;
}
template <RealOrComplex T>
WEIR_ALWAYS_INLINE T Subtract(T x, T y) {
  return x - y;
}
template <RealOrComplex T>
WEIR_ALWAYS_INLINE T Negate(T x) {
  return -x;
}
template <Real T>
WEIR_ALWAYS_INLINE T Multiply(T x, T y) {
  return x * y;
}
template <Real T>
WEIR_ALWAYS_INLINE T Divide(T x, T y) {
  return x / y;
}
template <Real T>
WEIR_ALWAYS_INLINE T Reciprocal(T x) {
  return T{1} / x;
}

// Bool is the ring of one bit with "or" as its sum.
WEIR_ALWAYS_INLINE bool Add(bool x, bool y) { return x | y; }
WEIR_ALWAYS_INLINE bool Multiply(bool x, bool y) { return x & y; }
WEIR_ALWAYS_INLINE bool Maximum(bool x, bool y) { return x | y; }
WEIR_ALWAYS_INLINE bool Minimum(bool x, bool y) { return x & y; }

// Bitwise; the small types go through int.
template <std::integral T>
WEIR_ALWAYS_INLINE T And(T x, T y) {
  return static_cast<T>(x & y);
}
template <std::integral T>
WEIR_ALWAYS_INLINE T Or(T x, T y) {
  return static_cast<T>(x | y);
}
template <std::integral T>
WEIR_ALWAYS_INLINE T Xor(T x, T y) {
  return static_cast<T>(x ^ y);
}
template <Integer T>
WEIR_ALWAYS_INLINE T Not(T x) {
  return static_cast<T>(~x);
}
WEIR_ALWAYS_INLINE bool Not(bool x) { return !x; }

// Between the bounds; NaN if any operand is. REQUIRES: low <= high, for a meaningful result.
template <class T>
WEIR_ALWAYS_INLINE T Clamp(T low, T x, T high) {
  return Minimum(Maximum(low, x), high);
}
template <class T>
WEIR_ALWAYS_INLINE T Square(T x) {
  return Multiply(x, x);
}

}  // namespace weir::scalar

#endif  // WEIR_COMMON_OPS_SCALAR_ARITHMETIC_H_
