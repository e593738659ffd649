// Writing one tensor into a strided part of another: the reference evaluation of ops that assemble
// their result. Stateless; usable from any thread.
#ifndef WEIR_COMMON_OPS_MOVEMENT_BLOCK_H_
#define WEIR_COMMON_OPS_MOVEMENT_BLOCK_H_

#include "absl/types/span.h"
#include "common/tensor/tensor.h"

namespace weir {

// Writes element i of `block` to start + i * step of `out`. REQUIRES: equal dtypes and ranks,
// everything inside `out`, nobody else sees `out` yet.
void WriteBlock(const Tensor& block, absl::Span<const int64_t> start,
                absl::Span<const int64_t> step, Tensor* out);

}  // namespace weir

#endif  // WEIR_COMMON_OPS_MOVEMENT_BLOCK_H_
