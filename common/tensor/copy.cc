#include "common/tensor/copy.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/container/inlined_vector.h"

namespace weir {
namespace {

struct Axis {
  int64_t extent = 0;
  int64_t src = 0;
  int64_t dst = 0;
};
using Axes = absl::InlinedVector<Axis, 6>;

// Elements as bit patterns that may lie at any address.
template <int kBytes>
struct BitsOf;
template <>
struct BitsOf<1> {
  using type = uint8_t;
};
template <>
struct BitsOf<2> {
  using type __attribute__((aligned(1), may_alias)) = uint16_t;
};
template <>
struct BitsOf<4> {
  using type __attribute__((aligned(1), may_alias)) = uint32_t;
};
template <>
struct BitsOf<8> {
  using type __attribute__((aligned(1), may_alias)) = uint64_t;
};
struct __attribute__((packed, may_alias)) Bits16 {
  uint64_t low;
  uint64_t high;
};
template <>
struct BitsOf<16> {
  using type = Bits16;
};

constexpr int64_t kLongRunBytes = 128;

// Drops axes of extent 1, makes destination strides positive, sorts axes by them and merges
// neighbours that are one run on both sides. Returns false when there is nothing to copy.
template <class T>
bool Normalize(absl::Span<const int64_t> extents, absl::Span<const int64_t> src_strides,
               absl::Span<const int64_t> dst_strides, const T** src, T** dst, Axes* axes) {
  for (size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] == 0) return false;
    if (extents[i] == 1) continue;
    Axis axis{extents[i], src_strides[i], dst_strides[i]};
    if (axis.dst < 0) {
      *src += (axis.extent - 1) * axis.src;
      *dst += (axis.extent - 1) * axis.dst;
      axis.src = -axis.src;
      axis.dst = -axis.dst;
    }
    size_t place = axes->size();
    while (place > 0 && (*axes)[place - 1].dst < axis.dst) --place;
    axes->insert(axes->begin() + place, axis);
  }
  size_t kept = 0;
  for (size_t i = 1; i < axes->size(); ++i) {
    Axis& outer = (*axes)[kept];
    const Axis& inner = (*axes)[i];
    if (outer.src == inner.src * inner.extent && outer.dst == inner.dst * inner.extent) {
      outer = {outer.extent * inner.extent, inner.src, inner.dst};
    } else {
      (*axes)[++kept] = inner;
    }
  }
  if (!axes->empty()) axes->resize(kept + 1);
  return true;
}

// One row along the innermost axis.
template <class T>
void CopyRow(const Axis& row, const T* src, T* dst) {
  const int64_t n = row.extent;
  if (row.dst == 1 && row.src == 1) {
    if (n * static_cast<int64_t>(sizeof(T)) >= kLongRunBytes) {
      std::memcpy(dst, src, n * sizeof(T));
    } else {
      for (int64_t i = 0; i < n; ++i) dst[i] = src[i];
    }
  } else if (row.dst == 1 && row.src == 0) {
    const T value = *src;
    std::fill(dst, dst + n, value);
  } else if (row.dst == 1) {
    for (int64_t i = 0; i < n; ++i) dst[i] = src[i * row.src];
  } else {
    for (int64_t i = 0; i < n; ++i) dst[i * row.dst] = src[i * row.src];
  }
}

// to[i * to_stride + j] = from[j * stride + i] for four by four elements of four bytes.
template <class T>
void TransposeFour(const T* from, int64_t stride, T* to, int64_t to_stride) {
  using Vector __attribute__((vector_size(16), aligned(1), may_alias)) = uint32_t;
  const auto load = [&](int64_t j) { return *reinterpret_cast<const Vector*>(from + j * stride); };
  const auto store = [&](int64_t i, Vector value) {
    *reinterpret_cast<Vector*>(to + i * to_stride) = value;
  };
  const Vector low01 = __builtin_shufflevector(load(0), load(1), 0, 4, 1, 5);
  const Vector high01 = __builtin_shufflevector(load(0), load(1), 2, 6, 3, 7);
  const Vector low23 = __builtin_shufflevector(load(2), load(3), 0, 4, 1, 5);
  const Vector high23 = __builtin_shufflevector(load(2), load(3), 2, 6, 3, 7);
  store(0, __builtin_shufflevector(low01, low23, 0, 1, 4, 5));
  store(1, __builtin_shufflevector(low01, low23, 2, 3, 6, 7));
  store(2, __builtin_shufflevector(high01, high23, 0, 1, 4, 5));
  store(3, __builtin_shufflevector(high01, high23, 2, 3, 6, 7));
}

// A square in which a row of the destination is gathered; at least a cache line wide.
template <class T>
struct Tile {
  static constexpr int64_t kSide = sizeof(T) > 4 ? 16 : 64 / sizeof(T);
  T at[kSide][kSide];

  // Loads `rows` runs of `columns` elements that lie `stride` apart.
  void Load(const T* from, int64_t stride, int64_t columns, int64_t rows) {
    int64_t j = 0;
    if constexpr (sizeof(T) == 4) {
      for (; columns == kSide && j + 4 <= rows; j += 4) {
        for (int64_t i = 0; i < kSide; i += 4) {
          TransposeFour(from + j * stride + i, stride, &at[i][j], kSide);
        }
      }
    }
    for (; j < rows; ++j) {
      for (int64_t i = 0; i < columns; ++i) at[i][j] = from[j * stride + i];
    }
  }

  void Store(T* to, int64_t stride, int64_t columns, int64_t rows) const {
    for (int64_t i = 0; i < columns; ++i, to += stride) {
      if (rows == kSide) {
        std::memcpy(to, at[i], sizeof at[i]);
      } else {
        std::memcpy(to, at[i], static_cast<size_t>(rows) * sizeof(T));
      }
    }
  }
};

// Rows of the destination are columns of the source. Each cache line is read and written whole, by
// way of a tile, so that power-of-two strides do not fight over cache sets.
// REQUIRES: column.src == 1 and row.dst == 1.
template <class T>
void TransposePlane(const Axis& column, const Axis& row, const T* src, T* dst) {
  constexpr int64_t kSide = Tile<T>::kSide;
  Tile<T> tile;
  for (int64_t c = 0; c < column.extent; c += kSide) {
    const int64_t columns = std::min(kSide, column.extent - c);
    for (int64_t r = 0; r < row.extent; r += kSide) {
      const int64_t rows = std::min(kSide, row.extent - r);
      tile.Load(src + c + r * row.src, row.src, columns, rows);
      tile.Store(dst + c * column.dst + r, column.dst, columns, rows);
    }
  }
}

// Calls plane(src, dst) for every position of the outer axes.
template <class T, class Plane>
void ForEachOuter(absl::Span<const Axis> outer, const T* src, T* dst, const Plane& plane) {
  absl::InlinedVector<int64_t, 6> index(outer.size(), 0);
  while (true) {
    plane(src, dst);
    size_t axis = outer.size();
    while (axis > 0) {
      --axis;
      src += outer[axis].src;
      dst += outer[axis].dst;
      if (++index[axis] < outer[axis].extent) break;
      src -= outer[axis].extent * outer[axis].src;
      dst -= outer[axis].extent * outer[axis].dst;
      index[axis] = 0;
      if (axis == 0) return;
    }
    if (outer.empty()) return;
  }
}

// Moves the axis along which the source is dense next to the innermost one.
// Returns: whether the two innermost axes are a transpose.
bool ArrangeTranspose(Axes* axes) {
  constexpr int64_t kMinExtent = 4;
  const Axis& row = axes->back();
  if (row.dst != 1 || row.src == 0 || row.src == 1 || row.extent < kMinExtent) return false;
  for (size_t i = 0; i + 1 < axes->size(); ++i) {
    if ((*axes)[i].src != 1 || (*axes)[i].extent < kMinExtent) continue;
    std::rotate(axes->begin() + i, axes->begin() + i + 1, axes->end() - 1);
    return true;
  }
  return false;
}

template <class T>
void Copy(absl::Span<const int64_t> extents, const T* src, absl::Span<const int64_t> src_strides,
          T* dst, absl::Span<const int64_t> dst_strides) {
  Axes axes;
  if (!Normalize(extents, src_strides, dst_strides, &src, &dst, &axes)) return;
  if (axes.empty()) {
    *dst = *src;
    return;
  }
  if (axes.size() == 1) {
    CopyRow(axes[0], src, dst);
    return;
  }
  const bool transpose = ArrangeTranspose(&axes);
  const Axis row = axes[axes.size() - 1];
  const Axis column = axes[axes.size() - 2];
  const absl::Span<const Axis> outer(axes.data(), axes.size() - 2);
  ForEachOuter(outer, src, dst, [&](const T* from, T* to) {
    if (transpose) {
      TransposePlane(column, row, from, to);
      return;
    }
    for (int64_t i = 0; i < column.extent; ++i, from += column.src, to += column.dst) {
      CopyRow(row, from, to);
    }
  });
}

template <int kBytes>
void CopyBits(absl::Span<const int64_t> extents, const void* src,
              absl::Span<const int64_t> src_strides, void* dst,
              absl::Span<const int64_t> dst_strides) {
  using Bits = typename BitsOf<kBytes>::type;
  Copy(extents, static_cast<const Bits*>(src), src_strides, static_cast<Bits*>(dst), dst_strides);
}

}  // namespace

void CopyStrided(DType dtype, absl::Span<const int64_t> extents, const void* src,
                 absl::Span<const int64_t> src_strides, void* dst,
                 absl::Span<const int64_t> dst_strides) {
  switch (SizeOf(dtype)) {
    case 1:
      return CopyBits<1>(extents, src, src_strides, dst, dst_strides);
    case 2:
      return CopyBits<2>(extents, src, src_strides, dst, dst_strides);
    case 4:
      return CopyBits<4>(extents, src, src_strides, dst, dst_strides);
    case 8:
      return CopyBits<8>(extents, src, src_strides, dst, dst_strides);
    default:
      return CopyBits<16>(extents, src, src_strides, dst, dst_strides);
  }
}

}  // namespace weir
