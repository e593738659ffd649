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
  walkers_.resize(views.size());
  for (size_t v = 0; v < views.size(); ++v) {
    walkers_[v].data = static_cast<std::byte*>(views[v]->data);
  }
  // Adds axes from the innermost outwards; vectors are filled in that order and reversed at the
  // end.
  const AxisOrder order = OrderOf(first);
  for (size_t i = order.size(); i-- > 0;) {
    const int axis = order[i];
    const int64_t extent = first.extents[axis];
    if (extent == 0) done_ = true;
    if (extent == 1) continue;
    bool merges = !extents_.empty();
    for (size_t v = 0; merges && v < views.size(); ++v) {
      const int64_t stride = views[v]->strides[axis] * SizeOf(views[v]->dtype);
      merges = stride == walkers_[v].strides.back() * extents_.back();
    }
    if (merges) {
      extents_.back() *= extent;
      continue;
    }
    extents_.push_back(extent);
    for (size_t v = 0; v < views.size(); ++v) {
      walkers_[v].strides.push_back(views[v]->strides[axis] * SizeOf(views[v]->dtype));
    }
  }
  while (extents_.size() < 2) {
    extents_.push_back(1);
    for (Walker& walker : walkers_) walker.strides.push_back(0);
  }
  std::reverse(extents_.begin(), extents_.end());
  for (Walker& walker : walkers_) std::reverse(walker.strides.begin(), walker.strides.end());
  index_.assign(extents_.size(), 0);
  if (done_) return;
  max_columns_ = std::min(extents_.back(), max_elements);
  max_rows_ = max_columns_ < extents_.back() ? 1 : max_elements / max_columns_;
  SetShape();
}

void TileSpace::SetShape() {
  const size_t last = extents_.size() - 1;
  shape_.columns = std::min(max_columns_, extents_[last] - index_[last]);
  shape_.rows = std::min(max_rows_, extents_[last - 1] - index_[last - 1]);
}

TilePlace TileSpace::place(int view) const {
  const Walker& walker = walkers_[view];
  const size_t last = extents_.size() - 1;
  return {walker.data, walker.strides[last - 1], walker.strides[last]};
}

void TileSpace::Step(size_t axis, int64_t count) {
  index_[axis] += count;
  for (Walker& walker : walkers_) walker.data += count * walker.strides[axis];
}

void TileSpace::Next() {
  const size_t last = extents_.size() - 1;
  Step(last, shape_.columns);
  if (index_[last] < extents_[last]) return SetShape();
  Step(last, -index_[last]);
  Step(last - 1, shape_.rows);
  for (size_t axis = last - 1; index_[axis] == extents_[axis]; --axis) {
    if (axis == 0) {
      done_ = true;
      return;
    }
    Step(axis, -index_[axis]);
    Step(axis - 1, 1);
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
