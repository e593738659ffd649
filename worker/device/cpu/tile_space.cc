#include "worker/device/cpu/tile_space.h"

#include <algorithm>
#include <cstring>

namespace weir::cpu {
namespace {

struct Bytes16 {
  uint64_t low, high;
};

template <class T>
void Gather(const TilePlace& from, const TileShape& shape, T* to) {
  for (int64_t row = 0; row < shape.rows; ++row) {
    if (row > 0 && from.row_stride == 0) {
      std::memcpy(to, to - shape.columns, shape.columns * sizeof(T));
      to += shape.columns;
      continue;
    }
    const std::byte* in = from.data + row * from.row_stride;
    if (from.column_stride == int64_t{sizeof(T)}) {
      std::memcpy(to, in, shape.columns * sizeof(T));
    } else if (from.column_stride == 0) {
      std::fill_n(to, shape.columns, *reinterpret_cast<const T*>(in));
    } else {
      for (int64_t i = 0; i < shape.columns; ++i) {
        to[i] = *reinterpret_cast<const T*>(in + i * from.column_stride);
      }
    }
    to += shape.columns;
  }
}

template <class T>
void Scatter(const T* from, const TileShape& shape, const TilePlace& to) {
  for (int64_t row = 0; row < shape.rows; ++row) {
    std::byte* out = to.data + row * to.row_stride;
    if (to.column_stride == int64_t{sizeof(T)}) {
      std::memcpy(out, from, shape.columns * sizeof(T));
    } else {
      for (int64_t i = 0; i < shape.columns; ++i) {
        *reinterpret_cast<T*>(out + i * to.column_stride) = from[i];
      }
    }
    from += shape.columns;
  }
}

template <class Visitor>
void VisitSize(int64_t element_bytes, Visitor visitor) {
  switch (element_bytes) {
    case 1:
      return visitor(uint8_t{});
    case 2:
      return visitor(uint16_t{});
    case 4:
      return visitor(uint32_t{});
    case 8:
      return visitor(uint64_t{});
    default:
      return visitor(Bytes16{});
  }
}

}  // namespace

TileSpace::TileSpace(absl::Span<const View* const> views, int lead, int64_t max_elements) {
  const View& first = *views[lead];
  for (const View* view : views) data_.push_back(static_cast<std::byte*>(view->data));
  const AxisOrder order = OrderOf(first);
  for (size_t i = order.size(); i-- > 0;) {
    const int64_t extent = first.extents[order[i]];
    if (extent == 0) done_ = true;
    if (extent != 1) AddAxis(views, order[i], extent);
  }
  while (extents_.size() <= kRows) {
    extents_.push_back(1);
    strides_.resize(strides_.size() + data_.size(), 0);
  }
  index_.assign(extents_.size(), 0);
  if (done_) return;
  max_columns_ = std::min(extents_[kColumns], max_elements);
  max_rows_ = max_columns_ < extents_[kColumns] ? 1 : max_elements / max_columns_;
  SetShape();
}

void TileSpace::AddAxis(absl::Span<const View* const> views, int axis, int64_t extent) {
  const size_t added = extents_.size();
  for (const View* view : views) strides_.push_back(view->strides[axis] * SizeOf(view->dtype));
  bool merges = added > 0;
  for (size_t v = 0; merges && v < views.size(); ++v) {
    merges = stride(added, v) == stride(added - 1, v) * extents_.back();
  }
  if (merges) {
    strides_.resize(strides_.size() - views.size());
    extents_.back() *= extent;
  } else {
    extents_.push_back(extent);
  }
}

void TileSpace::SetShape() {
  shape_.columns = std::min(max_columns_, extents_[kColumns] - index_[kColumns]);
  shape_.rows = std::min(max_rows_, extents_[kRows] - index_[kRows]);
}

TilePlace TileSpace::place(int view) const {
  const size_t v = static_cast<size_t>(view);
  return {data_[v], stride(kRows, v), stride(kColumns, v)};
}

void TileSpace::Step(size_t axis, int64_t count) {
  index_[axis] += count;
  for (size_t v = 0; v < data_.size(); ++v) data_[v] += count * stride(axis, v);
}

void TileSpace::Next() {
  const bool is_all =
      extents_.size() == 2 && shape_ == TileShape{extents_[kRows], extents_[kColumns]};
  if (is_all) {
    done_ = true;
    return;
  }
  Step(kColumns, shape_.columns);
  if (index_[kColumns] < extents_[kColumns]) return SetShape();
  Step(kColumns, -index_[kColumns]);
  Step(kRows, shape_.rows);
  for (size_t axis = kRows; index_[axis] == extents_[axis]; ++axis) {
    if (axis + 1 == extents_.size()) {
      done_ = true;
      return;
    }
    Step(axis, -index_[axis]);
    Step(axis + 1, 1);
  }
  SetShape();
}

void GatherTile(const TilePlace& from, const TileShape& shape, int64_t element_bytes, void* to) {
  VisitSize(element_bytes, [&]<class T>(T) { Gather(from, shape, static_cast<T*>(to)); });
}

void ScatterTile(const void* from, const TileShape& shape, int64_t element_bytes,
                 const TilePlace& to) {
  VisitSize(element_bytes, [&]<class T>(T) { Scatter(static_cast<const T*>(from), shape, to); });
}

}  // namespace weir::cpu
