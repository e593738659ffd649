// Which element-wise nodes a product or convolution does while its results are still in registers:
// adding a bias, then relu, then (convolutions only) max pooling. The bits are those of the ops one
// by one. Stateless; usable from any thread.
#ifndef WEIR_WORKER_DEVICE_CPU_EPILOGUE_H_
#define WEIR_WORKER_DEVICE_CPU_EPILOGUE_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "common/ir/graph.h"

namespace weir::cpu {

// Returns: the only node that uses the value, or an invalid id if there is none, there are several,
// or the value is needed elsewhere.
using SingleUser = absl::FunctionRef<NodeId(ValueId)>;

// Returns: `anchor`, a dot_general or convolution, with the nodes behind it that it can do: a
// reshape of the batch (convolution only), an add of a bias, a relu; each optional. Only `anchor`
// if it is another op.
std::vector<NodeId> FindEpilogue(const Graph& graph, NodeId anchor, SingleUser single_user);

// What the nodes after the first of such a list do.
struct Epilogue {
  ValueId bias;        // invalid: none
  int bias_axis = -1;  // the axis of `bias` along which it varies
  bool relu = false;
  Int64s pool;  // window extents of the axes of space; empty: none
};
// REQUIRES: `nodes` is a list made by FindEpilogue.
Epilogue EpilogueOf(const Graph& graph, absl::Span<const NodeId> nodes);

}  // namespace weir::cpu

#endif  // WEIR_WORKER_DEVICE_CPU_EPILOGUE_H_
