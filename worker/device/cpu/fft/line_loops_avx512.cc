#include <algorithm>
#include <complex>
#include <utility>

#include "worker/device/cpu/fft/line_loops.h"

namespace weir::cpu::avx512 {

#define WEIR_TARGET \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")))
constexpr int kBytes = 64;

#include "worker/device/cpu/fft/line_loops.inc"
#include "worker/device/cpu/fft/one_line.inc"

}  // namespace weir::cpu::avx512
