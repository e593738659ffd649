// Copies between strided layouts: the one place that moves elements without looking at them.
// Stateless; usable from any thread on memory that nobody writes meanwhile.
//
// Axes are merged where both sides allow it. Runs that are dense on both sides go through memcpy,
// transposes through cache-sized tiles. Allocates nothing up to rank 6.
//
//   // dst[j][i] = src[i][j] for a row-major 2x3 source
//   CopyStrided(DType::kF32, {3, 2}, src, {1, 3}, dst, {2, 1});
#ifndef WEIR_COMMON_TENSOR_COPY_H_
#define WEIR_COMMON_TENSOR_COPY_H_

#include <cstdint>

#include "absl/types/span.h"
#include "common/tensor/dtype.h"

namespace weir {

// Copies every element of `extents`. Strides count elements and may be negative; those of `src` may
// be 0. REQUIRES: as many strides as extents on both sides, no overlap of the two memories, no two
// destination elements in one place.
void CopyStrided(DType dtype, absl::Span<const int64_t> extents, const void* src,
                 absl::Span<const int64_t> src_strides, void* dst,
                 absl::Span<const int64_t> dst_strides);

}  // namespace weir

#endif  // WEIR_COMMON_TENSOR_COPY_H_
