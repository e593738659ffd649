#include <immintrin.h>

#include <type_traits>
#include <utility>

#include "worker/device/cpu/contraction/tile_loops.h"

namespace weir::cpu::avx512 {
namespace {

#define WEIR_TARGET \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")))
constexpr int kBytes = 64;
constexpr int kRows = 8;
constexpr int kVectors = 3;
constexpr int kRowVectors = 8;

template <class V>
WEIR_TARGET inline __attribute__((always_inline)) V Fma(V a, V b, V c) {
  using T = std::remove_cvref_t<decltype(a[0])>;
  if constexpr (std::is_same_v<T, float>) {
    return (V)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
  } else if constexpr (std::is_same_v<T, double>) {
    return (V)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
  } else {
    return a * b + c;
  }
}

// The forms with a mask, as GCC warns of the undefined operand inside the others.
template <class V>
WEIR_TARGET inline __attribute__((always_inline)) V Max(V a, V b) {
  using T = std::remove_cvref_t<decltype(a[0])>;
  if constexpr (std::is_same_v<T, float>) {
    return (V)_mm512_maskz_max_ps(0xffff, (__m512)a, (__m512)b);
  } else {
    return (V)_mm512_maskz_max_pd(0xff, (__m512d)a, (__m512d)b);
  }
}

// One comparison for two vectors, each under the mask of the one before: no mask leaves its
// registers until the end.
template <class T, int count, class V>
WEIR_TARGET inline __attribute__((always_inline)) bool AnyNan(const V* vectors) {
  constexpr unsigned kAll = sizeof(T) == 4 ? 0xffff : 0xff;
  unsigned numbers = kAll;
#pragma GCC unroll 32
  for (int i = 0; i < count; i += 2) {
    const V x = vectors[i], y = vectors[i + 1 < count ? i + 1 : i];
    if constexpr (std::is_same_v<T, float>) {
      numbers = _mm512_mask_cmp_ps_mask(numbers, (__m512)x, (__m512)y, _CMP_ORD_Q);
    } else {
      numbers = _mm512_mask_cmp_pd_mask(numbers, (__m512d)x, (__m512d)y, _CMP_ORD_Q);
    }
  }
  return numbers != kAll;
}

}  // namespace

#include "worker/device/cpu/contraction/tile_loops.inc"

}  // namespace weir::cpu::avx512
