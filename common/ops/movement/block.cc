#include "common/ops/movement/block.h"

#include "common/tensor/copy.h"

namespace weir {

void WriteBlock(const Tensor& block, absl::Span<const int64_t> start,
                absl::Span<const int64_t> step, Tensor* out) {
  if (block.num_elements() == 0) return;
  int64_t offset = 0;
  Extents strides = out->strides();
  for (int axis = 0; axis < out->rank(); ++axis) {
    offset += start[axis] * strides[axis];
    strides[axis] *= step[axis];
  }
  CopyStrided(out->dtype(), block.extents(), block.raw_data(), block.strides(),
              out->raw_mutable_data() + offset * SizeOf(out->dtype()), strides);
}

}  // namespace weir
