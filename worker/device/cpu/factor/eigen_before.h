// What factor_loops_<isa>.cc read before they tell the compiler of an instruction set: everything
// that other sources share with them.
#ifndef WEIR_WORKER_DEVICE_CPU_FACTOR_EIGEN_BEFORE_H_
#define WEIR_WORKER_DEVICE_CPU_FACTOR_EIGEN_BEFORE_H_

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <climits>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iosfwd>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "absl/types/span.h"
#include "worker/device/cpu/factor/factor_loops.h"

#endif  // WEIR_WORKER_DEVICE_CPU_FACTOR_EIGEN_BEFORE_H_
