// Sets of element types, and patterns: the operand and result types of an element-wise op as a
// function of the element type that it is instantiated for. Only op files include this; stateless.
#ifndef WEIR_COMMON_OPS_ELEMENTWISE_PATTERNS_H_
#define WEIR_COMMON_OPS_ELEMENTWISE_PATTERNS_H_

#include <complex>
#include <type_traits>

#include "common/tensor/dtype.h"

namespace weir::elementwise {

template <class... T>
struct Types {};
using Floats = Types<float, double, Half, BFloat16>;
using Complexes = Types<std::complex<float>, std::complex<double>>;
using SignedInts = Types<int8_t, int16_t, int32_t, int64_t>;
using UnsignedInts = Types<uint8_t, uint16_t, uint32_t, uint64_t>;
using Bools = Types<bool>;

template <class... Lists>
struct JoinLists;
template <class... A>
struct JoinLists<Types<A...>> {
  using type = Types<A...>;
};
template <class... A, class... B, class... Rest>
struct JoinLists<Types<A...>, Types<B...>, Rest...> {
  using type = typename JoinLists<Types<A..., B...>, Rest...>::type;
};
template <class... Lists>
using Join = typename JoinLists<Lists...>::type;

template <class T, class... Members>
constexpr bool Contains(Types<Members...>) {
  return (std::is_same_v<T, Members> || ...);
}

using Ints = Join<SignedInts, UnsignedInts>;
using Reals = Join<Floats, Ints>;
using Numbers = Join<Reals, Complexes>;
using Everything = Join<Numbers, Bools>;

// Patterns: operand and result types as a function of the element type T that an op is instantiated
// for.
template <class...>
struct Operands {};

template <int n>
struct Same;  // T, ... -> T
template <>
struct Same<1> {
  template <class T>
  using In = Operands<T>;
  template <class T>
  using Out = T;
};
template <>
struct Same<2> {
  template <class T>
  using In = Operands<T, T>;
  template <class T>
  using Out = T;
};
template <>
struct Same<3> {
  template <class T>
  using In = Operands<T, T, T>;
  template <class T>
  using Out = T;
};
template <int n>
struct Test : Same<n> {  // T, ... -> bool
  template <class T>
  using Out = bool;
};
struct Choose {  // bool, T, T -> T
  template <class T>
  using In = Operands<bool, T, T>;
  template <class T>
  using Out = T;
};
struct Parts {  // complex -> its real type
  template <class T>
  using In = Operands<T>;
  template <class T>
  using Out = typename T::value_type;
};
struct Magnitude {  // T -> T, complex -> its real type
  template <class T>
  struct Length {
    using type = T;
  };
  template <class T>
  struct Length<std::complex<T>> {
    using type = T;
  };
  template <class T>
  using In = Operands<T>;
  template <class T>
  using Out = typename Length<T>::type;
};
struct Assemble {  // real, real -> complex
  template <class T>
  using In = Operands<T, T>;
  template <class T>
  using Out = std::complex<T>;
};

}  // namespace weir::elementwise

#endif  // WEIR_COMMON_OPS_ELEMENTWISE_PATTERNS_H_
