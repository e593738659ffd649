#include "worker/device/cpu/linalg/matrices.h"

#include <type_traits>

#include "common/base/status.h"

namespace weir::cpu {
namespace {

// A vector of this many matrices has the larger part of a cache of 1 MiB.
constexpr int64_t kMostInLanes = 64 * 64;

// The W that an element of type T is, and back.
template <class W, class T>
void LoadAs(const Matrices& from, int64_t index, const Block<W>& to) {
  const T* in = from.view.as<const T>() + from.Offset(index);
  for (int64_t j = 0; j < to.columns; ++j) {
    for (int64_t i = 0; i < to.rows; ++i) to(i, j) = W(in[i * from.row + j * from.column]);
  }
}

template <class W, class T>
void StoreAs(const Block<W>& from, const Matrices& to, int64_t index) {
  T* out = to.view.as<T>() + to.Offset(index);
  for (int64_t i = 0; i < from.rows; ++i) {
    for (int64_t j = 0; j < from.columns; ++j) out[i * to.row + j * to.column] = T(from(i, j));
  }
}

template <class T>
LaneSource<T> SourceOf(const LaneLoops& loops, const Matrices& matrices, int64_t first) {
  const int parts = matrices.parts();
  LaneSource<T> source;
  source.data = matrices.view.as<T>();
  source.row = matrices.row * parts;
  source.column = matrices.column * parts;
  const int64_t last = matrices.count() - 1;
  source.count = static_cast<int>(std::min<int64_t>(loops.lanes, last - first + 1));
  for (int l = 0; l < loops.lanes; ++l) {
    source.offsets[l] = matrices.Offset(std::min(first + l, last)) * parts;
  }
  return source;
}

// The imaginary parts of matrices in lanes.
void Negate(const LaneLoops& loops, int64_t elements, double* memory) {
  for (int64_t i = 0; i < elements; ++i) {
    double* imaginary = memory + (2 * i + 1) * loops.lanes;
    for (int l = 0; l < loops.lanes; ++l) imaginary[l] = -imaginary[l];
  }
}

bool IsDouble(DType dtype) { return dtype == DType::kF64 || dtype == DType::kC128; }

}  // namespace

int64_t Matrices::count() const {
  return NumElements(view.extents.first(view.rank() - inner_axes));
}

int64_t Matrices::Offset(int64_t index) const {
  int64_t offset = 0;
  for (int axis = view.rank() - inner_axes; axis-- > 0;) {
    offset += index % view.extents[axis] * view.strides[axis];
    index /= view.extents[axis];
  }
  return offset;
}

Matrices Matrices::Transposed() const {
  Matrices out = *this;
  std::swap(out.rows, out.columns);
  std::swap(out.row, out.column);
  return out;
}

Matrices Matrices::Adjoint() const {
  Matrices out = Transposed();
  if (parts() == 2) out.conjugate = conjugate == Conjugate::kNo ? Conjugate::kYes : Conjugate::kNo;
  return out;
}

Matrices MatricesOf(const View& view) {
  const int last = view.rank() - 1;
  return {view,
          2,
          view.extents[last - 1],
          view.extents[last],
          view.strides[last - 1],
          view.strides[last]};
}

Matrices VectorsOf(const View& view) {
  const int last = view.rank() - 1;
  return {view, 1, view.extents[last], 1, view.strides[last], 0};
}

absl::Status CheckSquare(const View& view) {
  if (view.extents[view.rank() - 2] == view.extents[view.rank() - 1]) return absl::OkStatus();
  return InvalidArgument("matrices must be square, found ", ExtentsToString(view.extents));
}

absl::Status OnlyForAvx2() {
  return absl::UnimplementedError("compiled for AVX2 and wider instruction sets only");
}

template <class W>
void Load(const Matrices& from, int64_t index, const Block<W>& to) {
  if constexpr (std::is_same_v<W, double>) {
    IsDouble(from.view.dtype) ? LoadAs<W, double>(from, index, to)
                              : LoadAs<W, float>(from, index, to);
  } else {
    IsDouble(from.view.dtype) ? LoadAs<W, std::complex<double>>(from, index, to)
                              : LoadAs<W, std::complex<float>>(from, index, to);
    if (from.conjugate == Conjugate::kNo) return;
    for (int64_t j = 0; j < to.columns; ++j) {
      for (int64_t i = 0; i < to.rows; ++i) to(i, j) = std::conj(to(i, j));
    }
  }
}

template <class W>
void Store(const Block<W>& from, const Matrices& to, int64_t index) {
  if constexpr (std::is_same_v<W, double>) {
    IsDouble(to.view.dtype) ? StoreAs<W, double>(from, to, index)
                            : StoreAs<W, float>(from, to, index);
  } else {
    for (int64_t j = 0; j < from.columns && to.conjugate == Conjugate::kYes; ++j) {
      for (int64_t i = 0; i < from.rows; ++i) from(i, j) = std::conj(from(i, j));
    }
    IsDouble(to.view.dtype) ? StoreAs<W, std::complex<double>>(from, to, index)
                            : StoreAs<W, std::complex<float>>(from, to, index);
  }
}

template void Load(const Matrices&, int64_t, const Block<double>&);
template void Load(const Matrices&, int64_t, const Block<std::complex<double>>&);
template void Store(const Block<double>&, const Matrices&, int64_t);
template void Store(const Block<std::complex<double>>&, const Matrices&, int64_t);

bool InLanes(int64_t rows, int64_t columns) { return rows * columns <= kMostInLanes; }

void LoadLanes(const LaneLoops& loops, const Matrices& from, int64_t first, double* to) {
  if (IsDouble(from.view.dtype)) {
    loops.load_f64(SourceOf<const double>(loops, from, first), from.rows, from.columns, to);
  } else {
    loops.load_f32(SourceOf<const float>(loops, from, first), from.rows, from.columns, to);
  }
  if (from.conjugate == Conjugate::kYes) Negate(loops, from.rows * from.columns, to);
}

void StoreLanes(const LaneLoops& loops, double* from, const Matrices& to, int64_t first) {
  if (to.conjugate == Conjugate::kYes) Negate(loops, to.rows * to.columns, from);
  if (IsDouble(to.view.dtype)) {
    loops.store_f64(from, to.rows, to.columns, SourceOf<double>(loops, to, first));
  } else {
    loops.store_f32(from, to.rows, to.columns, SourceOf<float>(loops, to, first));
  }
}

}  // namespace weir::cpu
