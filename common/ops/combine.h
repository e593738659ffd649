// The combiners that stand in place of StableHLO's regions of two arguments: of scatters and
// reductions (reference evaluation). Pure functions; usable from any thread.
//
// Integers wrap; for bool, add and max are "or", mul and min are "and". Maximum and minimum give
// NaN if either side is NaN, and order -0 before +0 (StableHLO maximum, minimum).
#ifndef WEIR_COMMON_OPS_COMBINE_H_
#define WEIR_COMMON_OPS_COMBINE_H_

#include <cmath>
#include <complex>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>

#include "common/tensor/dtype.h"

namespace weir {

enum class Combiner { kSet, kAdd, kMul, kMin, kMax, kAnd, kOr };

// Reads: set add mul min max and or.
std::optional<Combiner> ParseCombiner(std::string_view name);
std::string_view CombinerName(Combiner combiner);
// Complex numbers have no order and no bits, floats have no bits.
bool IsDefined(Combiner combiner, DType dtype);

template <class T>
inline constexpr bool kIsComplex = false;
template <class T>
inline constexpr bool kIsComplex<std::complex<T>> = true;
template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

// The arithmetic of T[...] where T is an arithmetic or complex type. REQUIRES: IsDefined.
template <Combiner combiner, class T>
T Combine(T a, T b) {
  if constexpr (combiner == Combiner::kSet) {
    return b;
  } else if constexpr (std::is_same_v<T, bool>) {
    constexpr bool any =
        combiner == Combiner::kAdd || combiner == Combiner::kMax || combiner == Combiner::kOr;
    return any ? (a || b) : (a && b);
  } else if constexpr (combiner == Combiner::kAdd) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    } else {
      return a + b;
    }
  } else if constexpr (combiner == Combiner::kMul) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    } else {
      return a * b;
    }
  } else if constexpr (combiner == Combiner::kAnd || combiner == Combiner::kOr) {
    if constexpr (std::is_integral_v<T>) {
      return combiner == Combiner::kAnd ? static_cast<T>(a & b) : static_cast<T>(a | b);
    } else {
      return a;
    }
  } else if constexpr (kIsComplex<T>) {
    return a;
  } else {
    constexpr bool larger = combiner == Combiner::kMax;
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a)) return a;
      if (std::isnan(b)) return b;
      if (a == b) return std::signbit(a) == larger ? b : a;
    }
    return (larger ? a > b : a < b) ? a : b;
  }
}

// The same for elements as they are stored: f16 and bf16 by way of f32.
template <Combiner combiner, class T>
T CombineStored(T a, T b) {
  if constexpr (kIsHalf<T>) {
    return T(Combine<combiner, float>(static_cast<float>(a), static_cast<float>(b)));
  } else {
    return Combine<combiner, T>(a, b);
  }
}

// The value that leaves others alone: what a reduction of nothing gives. REQUIRES: not kSet.
template <Combiner combiner, class T>
T Identity() {
  if constexpr (combiner == Combiner::kMul) {
    return T(1);
  } else if constexpr (std::is_same_v<T, bool>) {
    return combiner == Combiner::kAnd || combiner == Combiner::kMin;
  } else if constexpr (combiner == Combiner::kAnd) {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(~T(0));
    return T();
  } else if constexpr (combiner == Combiner::kMin || combiner == Combiner::kMax) {
    if constexpr (kIsComplex<T>) {
      return T();
    } else {
      using Limits = std::numeric_limits<T>;
      constexpr bool least = combiner == Combiner::kMax;
      if constexpr (Limits::has_infinity) return least ? -Limits::infinity() : Limits::infinity();
      return least ? Limits::lowest() : Limits::max();
    }
  } else {
    return T();
  }
}

template <Combiner combiner>
struct CombinerTag {
  static constexpr Combiner value = combiner;
};

// Calls visitor(CombinerTag<combiner>{}).
template <class Visitor>
auto VisitCombiner(Combiner combiner, Visitor&& visitor) {
  switch (combiner) {
    case Combiner::kSet:
      return visitor(CombinerTag<Combiner::kSet>{});
    case Combiner::kAdd:
      return visitor(CombinerTag<Combiner::kAdd>{});
    case Combiner::kMul:
      return visitor(CombinerTag<Combiner::kMul>{});
    case Combiner::kMin:
      return visitor(CombinerTag<Combiner::kMin>{});
    case Combiner::kMax:
      return visitor(CombinerTag<Combiner::kMax>{});
    case Combiner::kAnd:
      return visitor(CombinerTag<Combiner::kAnd>{});
    case Combiner::kOr:
      return visitor(CombinerTag<Combiner::kOr>{});
  }
  __builtin_unreachable();
}

}  // namespace weir

#endif  // WEIR_COMMON_OPS_COMBINE_H_
