#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "worker/device/cpu/factor/lane_loops.h"

namespace weir::cpu::baseline {

#define WEIR_TARGET
constexpr int kBytes = 16;

#include "worker/device/cpu/factor/lane_loops.inc"

}  // namespace weir::cpu::baseline
