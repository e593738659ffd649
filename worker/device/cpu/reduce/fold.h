// The loops of reductions and pooling: fold many elements into one with a combiner, in an order
// that depends on nothing but the number of elements.
//
// kTree: element r goes to partial result r mod 16 (each a chain from the identity), and the
// partial results are joined as a balanced tree; so a long row is one vector loop and its bits are
// those of any other way to run it. kChain: one chain, for windows of few elements. f16 and bf16
// are folded in f32 and rounded at the end. Immutable tables of functions; usable from any thread.
#ifndef WEIR_WORKER_DEVICE_CPU_REDUCE_FOLD_H_
#define WEIR_WORKER_DEVICE_CPU_REDUCE_FOLD_H_

#include <cstdint>

#include "absl/types/span.h"
#include "common/ops/combine.h"
#include "common/ops/op_def.h"

namespace weir::cpu {

enum class FoldOrder { kTree, kChain };

// The folded elements, outermost axis first; strides count elements.
struct FoldAxis {
  int64_t extent = 1;
  int64_t stride = 0;
};

struct FoldArgs {
  absl::Span<const FoldAxis> axes;
  const void* in = nullptr;
  // Results, each folded from its own elements: result i starts at in + i * in_stride.
  int64_t count = 1;
  int64_t in_stride = 0;
  void* out = nullptr;
  int64_t out_stride = 1;
};

using FoldLoop = void (*)(const FoldArgs& args);

// Returns: null where the combiner is not defined, or nobody wrote a loop (complex and small
// integers; integers in a chain).
FoldLoop FindFoldLoop(Combiner combiner, FoldOrder order, DType dtype, Isa isa);

}  // namespace weir::cpu

#endif  // WEIR_WORKER_DEVICE_CPU_REDUCE_FOLD_H_
