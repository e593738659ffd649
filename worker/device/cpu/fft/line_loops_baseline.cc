#include <algorithm>
#include <complex>
#include <utility>

#include "worker/device/cpu/fft/line_loops.h"

namespace weir::cpu::baseline {

#define WEIR_TARGET
constexpr int kBytes = 16;

#include "worker/device/cpu/fft/line_loops.inc"
#include "worker/device/cpu/fft/one_line.inc"

}  // namespace weir::cpu::baseline
