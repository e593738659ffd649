#include <utility>

#include "worker/device/cpu/contraction/tile_loops.h"

namespace weir::cpu::baseline {
namespace {

#define WEIR_TARGET
constexpr int kBytes = 16;
constexpr int kRows = 4;
constexpr int kVectors = 2;
constexpr int kRowVectors = 4;

template <class V>
inline __attribute__((always_inline)) V Fma(V a, V b, V c) {
  return a * b + c;
}

template <class V>
inline __attribute__((always_inline)) V Max(V a, V b) {
  return a > b ? a : b;
}

template <class T, int count, class V>
inline __attribute__((always_inline)) bool AnyNan(const V* vectors) {
  bool nan = false;
  for (int i = 0; i < count; ++i) {
    for (int lane = 0; lane < static_cast<int>(kBytes / sizeof(T)); ++lane) {
      nan |= vectors[i][lane] != vectors[i][lane];
    }
  }
  return nan;
}

}  // namespace

#include "worker/device/cpu/contraction/tile_loops.inc"

}  // namespace weir::cpu::baseline
