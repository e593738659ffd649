#include <algorithm>
#include <complex>
#include <utility>

#include "worker/device/cpu/fft/line_loops.h"

namespace weir::cpu::avx2 {

#define WEIR_TARGET __attribute__((target("avx2")))
constexpr int kBytes = 32;

#include "worker/device/cpu/fft/line_loops.inc"
#include "worker/device/cpu/fft/one_line.inc"

}  // namespace weir::cpu::avx2
