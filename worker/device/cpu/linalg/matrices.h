// The matrices in the last two axes of a view, or the vectors in its last one, in and out of the
// scratch memory of a kernel, where they are factored: f32 and c64 as f64 and c128. Stateless;
// usable from any thread.
//
// Small matrices are factored in the lanes of vectors, one matrix in each; which way a matrix goes
// depends on its extents alone.
#ifndef WEIR_WORKER_DEVICE_CPU_LINALG_MATRICES_H_
#define WEIR_WORKER_DEVICE_CPU_LINALG_MATRICES_H_

#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "worker/device/cpu/factor/factor_loops.h"
#include "worker/device/cpu/factor/lane_loops.h"
#include "worker/device/cpu/kernel.h"
#include "worker/device/cpu/scratch.h"

namespace weir::cpu {

enum class Conjugate { kNo, kYes };

struct Matrices {
  View view;
  int inner_axes = 2;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t row = 0;  // strides, in elements
  int64_t column = 0;
  Conjugate conjugate = Conjugate::kNo;

  // Numbers of 1 or 2 parts.
  int parts() const { return IsComplex(view.dtype) ? 2 : 1; }
  int64_t count() const;
  bool empty() const { return rows == 0 || columns == 0 || count() == 0; }
  // Where matrix `index` begins, in elements.
  int64_t Offset(int64_t index) const;
  Matrices Transposed() const;
  Matrices Adjoint() const;
};

// REQUIRES: two axes, or one.
Matrices MatricesOf(const View& view);
Matrices VectorsOf(const View& view);
// What types with unknown dimensions leave open.
absl::Status CheckSquare(const View& view);
// Why a kernel that factor/spectra.h has only for AVX2 cannot be made for the baseline.
absl::Status OnlyForAvx2();

// Calls visitor(W{}) for the type in which elements of `dtype` are factored.
template <class Visitor>
auto VisitFactored(DType dtype, Visitor&& visitor) {
  return IsComplex(dtype) ? visitor(std::complex<double>()) : visitor(double());
}

// The same for the type of elements of a real `dtype`.
template <class Visitor>
auto VisitReal(DType dtype, Visitor&& visitor) {
  return dtype == DType::kF64 ? visitor(double()) : visitor(float());
}

// A block of scratch memory. Columns are an odd number of cache lines apart, so that those of large
// matrices use all sets of a cache.
template <class W>
int64_t BlockStride(int64_t rows) {
  constexpr int64_t kLine = 64 / sizeof(W);
  return ((rows + kLine - 1) / kLine | 1) * kLine;
}
template <class W>
size_t BlockBytes(int64_t rows, int64_t columns) {
  return Padded(BlockStride<W>(rows) * columns * sizeof(W));
}
template <class W>
Block<W> TakeBlock(int64_t rows, int64_t columns, Scratch* scratch) {
  const int64_t stride = BlockStride<W>(rows);
  return {scratch->Take<W>(stride * columns), rows, columns, stride};
}
template <class W>
void FillWithNan(const Block<W>& block) {
  const W nan(std::numeric_limits<double>::quiet_NaN());
  for (int64_t j = 0; j < block.columns; ++j) {
    std::fill_n(block.data + j * block.stride, block.rows, nan);
  }
}

template <class W>
void FillWithIdentity(const Block<W>& block) {
  for (int64_t j = 0; j < block.columns; ++j) {
    for (int64_t i = 0; i < block.rows; ++i) block(i, j) = i == j;
  }
}

// W is real for a view of real numbers. What Store stores is lost.
template <class W>
void Load(const Matrices& from, int64_t index, const Block<W>& to);
template <class W>
void Store(const Block<W>& from, const Matrices& to, int64_t index);

bool InLanes(int64_t rows, int64_t columns);
// Bytes of one element of matrices side by side.
inline int64_t LaneBytes(const LaneLoops& loops, int parts) {
  return loops.lanes * parts * static_cast<int64_t>(sizeof(double));
}
// Matrices first, first + 1, ... of `from`, one in each lane; the last again where there are no
// more.
void LoadLanes(const LaneLoops& loops, const Matrices& from, int64_t first, double* to);
// Only those that there are. What `from` holds is lost.
void StoreLanes(const LaneLoops& loops, double* from, const Matrices& to, int64_t first);

}  // namespace weir::cpu

#endif  // WEIR_WORKER_DEVICE_CPU_LINALG_MATRICES_H_
