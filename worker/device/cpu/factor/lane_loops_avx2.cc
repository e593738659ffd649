#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "worker/device/cpu/factor/lane_loops.h"

namespace weir::cpu::avx2 {

#define WEIR_TARGET __attribute__((target("avx2")))
constexpr int kBytes = 32;

#include "worker/device/cpu/factor/lane_loops.inc"

}  // namespace weir::cpu::avx2
