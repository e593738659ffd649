#include <immintrin.h>

#include <type_traits>
#include <utility>

#include "worker/device/cpu/contraction/tile_loops.h"

namespace weir::cpu::avx2 {
namespace {

#define WEIR_TARGET __attribute__((target("avx2,fma")))
constexpr int kBytes = 32;
constexpr int kRows = 6;
constexpr int kVectors = 2;
constexpr int kRowVectors = 8;

template <class V>
WEIR_TARGET inline __attribute__((always_inline)) V Fma(V a, V b, V c) {
  using T = std::remove_cvref_t<decltype(a[0])>;
  if constexpr (std::is_same_v<T, float>) {
    return (V)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
  } else if constexpr (std::is_same_v<T, double>) {
    return (V)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
  } else {
    return a * b + c;
  }
}

template <class V>
WEIR_TARGET inline __attribute__((always_inline)) V Max(V a, V b) {
  using T = std::remove_cvref_t<decltype(a[0])>;
  if constexpr (std::is_same_v<T, float>) {
    return (V)_mm256_max_ps((__m256)a, (__m256)b);
  } else {
    return (V)_mm256_max_pd((__m256d)a, (__m256d)b);
  }
}

// One comparison for two vectors.
template <class T, int count, class V>
WEIR_TARGET inline __attribute__((always_inline)) bool AnyNan(const V* vectors) {
  __m256 nan = _mm256_setzero_ps();
#pragma GCC unroll 32
  for (int i = 0; i < count; i += 2) {
    const V x = vectors[i], y = vectors[i + 1 < count ? i + 1 : i];
    if constexpr (std::is_same_v<T, float>) {
      nan = _mm256_or_ps(nan, _mm256_cmp_ps((__m256)x, (__m256)y, _CMP_UNORD_Q));
    } else {
      nan = _mm256_or_ps(nan, (__m256)_mm256_cmp_pd((__m256d)x, (__m256d)y, _CMP_UNORD_Q));
    }
  }
  return _mm256_movemask_ps(nan) != 0;
}

}  // namespace

#include "worker/device/cpu/contraction/tile_loops.inc"

}  // namespace weir::cpu::avx2
