// Walks over the common extents of several strided views in tiles small enough for the L1 cache:
// axes are put in the order of one of the views and merged where all views allow it, so that most
// walks become one long run. Also moves tiles between strided memory and dense scratch. Lives for
// one call on one thread; allocates nothing up to 24 views and rank 6.
#ifndef WEIR_WORKER_DEVICE_CPU_TILE_SPACE_H_
#define WEIR_WORKER_DEVICE_CPU_TILE_SPACE_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "worker/device/cpu/kernel.h"

namespace weir::cpu {

// A rectangle of elements: `rows` rows of `columns`.
struct TileShape {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t elements() const { return rows * columns; }
  friend bool operator==(const TileShape&, const TileShape&) = default;
};

// Where one view has a tile, in bytes.
struct TilePlace {
  std::byte* data = nullptr;
  int64_t row_stride = 0;
  int64_t column_stride = 0;
};

class TileSpace {
 public:
  // All views have the extents of `views[lead]`, whose strides give the order of the walk.
  TileSpace(absl::Span<const View* const> views, int lead, int64_t max_elements);

  // The current tile. REQUIRES: !done().
  const TileShape& shape() const { return shape_; }
  TilePlace place(int view) const;
  bool done() const { return done_; }
  void Next();

 private:
  static constexpr size_t kColumns = 0;  // the innermost axis
  static constexpr size_t kRows = 1;

  // Bytes of one step along a merged axis.
  int64_t stride(size_t axis, size_t view) const { return strides_[axis * data_.size() + view]; }
  void AddAxis(absl::Span<const View* const> views, int axis, int64_t extent);
  void Step(size_t axis, int64_t count);
  void SetShape();

  // Merged axes, innermost first; at least two.
  absl::InlinedVector<int64_t, 6> extents_;
  absl::InlinedVector<int64_t, 6> index_;
  absl::InlinedVector<int64_t, 48> strides_;  // by axis, then by view
  absl::InlinedVector<std::byte*, 24> data_;  // of the current tile, by view
  int64_t max_rows_ = 1;
  int64_t max_columns_ = 1;
  TileShape shape_;
  bool done_ = false;
};

// True if the tile's elements follow each other in memory.
inline bool IsDense(const TilePlace& place, const TileShape& shape, int64_t element_bytes) {
  return (place.column_stride == element_bytes || shape.columns == 1) &&
         (place.row_stride == shape.columns * element_bytes || shape.rows == 1);
}
// Copies a tile to dense memory, and back. Strides of 0 repeat.
void GatherTile(const TilePlace& from, const TileShape& shape, int64_t element_bytes, void* to);
void ScatterTile(const void* from, const TileShape& shape, int64_t element_bytes,
                 const TilePlace& to);

}  // namespace weir::cpu

#endif  // WEIR_WORKER_DEVICE_CPU_TILE_SPACE_H_
