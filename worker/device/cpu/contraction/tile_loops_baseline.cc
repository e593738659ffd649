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

}  // namespace

#include "worker/device/cpu/contraction/tile_loops.inc"

}  // namespace weir::cpu::baseline
