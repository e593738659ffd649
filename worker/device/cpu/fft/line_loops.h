// Transforms of several lines side by side, one in each lane of a vector, compiled once for each
// instruction set. Every lane does what it would do alone, and no multiply-add is fused, so a
// result has the same bits in any lane, beside any others and on every instruction set. Immutable
// tables of functions; usable from any thread.
//
// Number k of the lines lies at memory + 2 k lanes: its real parts in all lanes, then the imaginary
// ones. Memory is aligned to 64 bytes.
#ifndef WEIR_WORKER_DEVICE_CPU_FFT_LINE_LOOPS_H_
#define WEIR_WORKER_DEVICE_CPU_FFT_LINE_LOOPS_H_

#include <cstdint>

#include "worker/device/cpu/fft/plan.h"
#include "worker/device/cpu/kernel.h"

namespace weir::cpu {

inline constexpr int kMaxLines = 16;

// Where the numbers of some lines lie: the first real part of lane l at data + offsets[l]. All
// distances count real numbers.
template <class T>
struct Lines {
  T* data = nullptr;
  int64_t offsets[kMaxLines] = {};
  int64_t step = 0;       // from number to number
  int64_t imaginary = 0;  // from the real part to the imaginary one; 0: there is none
  int count = 0;          // lanes from here on hold nothing
};

template <class T>
struct LineLoops {
  int lanes = 1;

  // Imaginary parts that are not there are 0. Lanes that hold nothing are read all the same.
  void (*load)(const Lines<const T>& from, int64_t numbers, T* to) = nullptr;
  void (*divide)(T* line, int64_t numbers, T divisor) = nullptr;
  void (*store)(const T* from, int64_t numbers, const Lines<T>& to) = nullptr;

  // Returns: where the frequencies of `line` are, in the line's place or in `work`.
  T* (*transform)(const FourierPlan<T>& plan, T* line, T* work) = nullptr;

  // A real line of 2 h numbers is transformed as h complex ones. `separate` makes h + 1 frequencies
  // of the transform of those, `join` makes of h + 1 frequencies what to transform, with real and
  // imaginary parts swapped, so that the transform is inverse. roots[k] = exp(-pi i k / h).
  void (*separate)(const T* in, int64_t h, const std::complex<T>* roots, T* out) = nullptr;
  void (*join)(const T* in, int64_t h, const std::complex<T>* roots, T* out) = nullptr;
  // All n frequencies of a real line of their first n / 2 + 1, swapped in the same way.
  void (*unfold)(const T* in, int64_t n, T* out) = nullptr;

  // Whether lines of this plan can be transformed so; null: all can.
  bool (*fits)(const FourierPlan<T>& plan) = nullptr;
};

template <class T>
const LineLoops<T>& LineLoopsFor(Isa isa);
// For one line (lanes = 1) of the plans that fit, with the same bits: the real parts of as many
// numbers as each function is told of lie together, and the imaginary ones behind them. There is no
// `unfold`.
template <class T>
const LineLoops<T>& OneLineLoopsFor(Isa isa);

// One table for each instruction set, in a file of its own.
namespace baseline {
template <class T>
const LineLoops<T>& Transforms();
template <class T>
const LineLoops<T>& OneTransform();
}  // namespace baseline
namespace avx2 {
template <class T>
const LineLoops<T>& Transforms();
template <class T>
const LineLoops<T>& OneTransform();
}  // namespace avx2
namespace avx512 {
template <class T>
const LineLoops<T>& Transforms();
template <class T>
const LineLoops<T>& OneTransform();
}  // namespace avx512

}  // namespace weir::cpu

#endif  // WEIR_WORKER_DEVICE_CPU_FFT_LINE_LOOPS_H_
