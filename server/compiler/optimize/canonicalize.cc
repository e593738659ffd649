#include <algorithm>

#include "common/base/status.h"
#include "common/ops/axes.h"
#include "common/ops/lang.h"
#include "common/ops/movement/gather_dims.h"
#include "server/compiler/optimize/region_walk.h"
#include "server/compiler/optimize/simplify.h"

namespace weir {
namespace {

bool IsIota(const Int64s& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

// The producer of input 0, if it is `op`.
const Node* Inner(const Graph& graph, const Node& node, std::string_view op) {
  const Node* producer = graph.producer(node.inputs[0]);
  return producer != nullptr && producer->op == op ? producer : nullptr;
}

using Rule = Replacement (*)(const Graph& graph, const Node& node, Builder& builder);

Replacement SameType(const Graph& graph, const Node& node, Builder&) {
  if (!(graph.type(node.inputs[0]) == graph.type(node.outputs[0]))) return std::nullopt;
  return std::vector<ValueId>{node.inputs[0]};
}

Replacement Reshape(const Graph& graph, const Node& node, Builder& builder) {
  if (Replacement same = SameType(graph, node, builder)) return same;
  const Node* inner = Inner(graph, node, "reshape");
  if (inner == nullptr) return std::nullopt;
  if (graph.type(inner->inputs[0]) == graph.type(node.outputs[0])) {
    return std::vector<ValueId>{inner->inputs[0]};
  }
  return std::vector<ValueId>{builder.Apply("reshape", {inner->inputs[0]}, Attrs(node.attrs))};
}

Replacement Transpose(const Graph& graph, const Node& node, Builder& builder) {
  const Int64s& outer = node.attr("permutation").AsInts();
  if (IsIota(outer)) return std::vector<ValueId>{node.inputs[0]};
  const Node* inner = Inner(graph, node, "transpose");
  if (inner == nullptr) return std::nullopt;
  const Int64s& first = inner->attr("permutation").AsInts();
  Int64s both;
  for (int64_t axis : outer) both.push_back(first[axis]);
  if (IsIota(both)) return std::vector<ValueId>{inner->inputs[0]};
  const ValueId source = inner->inputs[0];
  return std::vector<ValueId>{builder.Apply("transpose", {source}, {{"permutation", both}})};
}

Replacement BroadcastInDim(const Graph& graph, const Node& node, Builder& builder) {
  const Int64s axes = node.attr("axes").AsInts();
  if (IsIota(axes)) {
    if (Replacement same = SameType(graph, node, builder)) return same;
  }
  const Node* inner = Inner(graph, node, "broadcast_in_dim");
  if (inner == nullptr) return std::nullopt;
  Int64s both;
  for (int64_t axis : inner->attr("axes").AsInts()) both.push_back(axes[axis]);
  const ValueId source = inner->inputs[0];
  return std::vector<ValueId>{
      builder.Apply("broadcast_in_dim", {source}, {{"shape", node.attr("shape")}, {"axes", both}})};
}

// Contracts and batches a transposed operand where its axes were before, if those that are left
// over stay in their order. Returns: whether there is such a transpose.
bool WithoutTranspose(const Graph& graph, int operand, std::vector<ValueId>* operands,
                      Attrs* attrs) {
  const Node* transpose = graph.producer((*operands)[operand]);
  if (transpose == nullptr || transpose->op != "transpose") return false;
  const Int64s& from = transpose->attr("permutation").AsInts();
  std::vector<bool> free(from.size(), true);
  Attrs moved = *attrs;
  for (const char* role : {"batch", "contract"}) {
    Int64s axes = moved.at(StrCat(operand == 0 ? "lhs_" : "rhs_", role)).AsInts();
    for (int64_t& axis : axes) {
      free[axis] = false;
      axis = from[axis];
    }
    moved[StrCat(operand == 0 ? "lhs_" : "rhs_", role)] = axes;
  }
  int64_t last = -1;
  for (size_t axis = 0; axis < from.size(); ++axis) {
    if (!free[axis]) continue;
    if (from[axis] < last) return false;
    last = from[axis];
  }
  (*operands)[operand] = transpose->inputs[0];
  *attrs = std::move(moved);
  return true;
}

Replacement DotGeneral(const Graph& graph, const Node& node, Builder& builder) {
  std::vector<ValueId> operands = node.inputs;
  Attrs attrs = node.attrs;
  const bool lhs = WithoutTranspose(graph, 0, &operands, &attrs);
  const bool rhs = WithoutTranspose(graph, 1, &operands, &attrs);
  if (!lhs && !rhs) return std::nullopt;
  return std::vector<ValueId>{builder.Apply("dot_general", std::move(operands), std::move(attrs))};
}

Replacement DimensionSize(const Graph& graph, const Node& node, Builder& builder) {
  const Dim& dim = graph.type(node.inputs[0]).shape[static_cast<int>(node.attr("axis").AsInt())];
  if (dim.is_unknown()) return std::nullopt;
  return std::vector<ValueId>{
      builder.Apply("dimension_size", {}, {{"size", std::vector<Dim>{dim}}})};
}

// Elements of rows that are taken first, straight from where the rows lie: the rows of a loop's
// lanes are then never copied for each of them.
Replacement Gather(const Graph& graph, const Node& node, Builder& builder) {
  const Node* inner = Inner(graph, node, "gather");
  if (inner == nullptr || !TakesRows(graph, *inner)) return std::nullopt;
  GatherDims dims = GatherDims::Read(node, kGatherNames);
  const auto lane = std::find(dims.operand_batching.begin(), dims.operand_batching.end(), 0);
  const TensorType indices = graph.type(node.inputs[1]);
  const ValueId operand = inner->inputs[0], owners = inner->inputs[1];
  if (lane == dims.operand_batching.end() || indices.dtype == DType::kU64 ||
      graph.type(owners).dtype == DType::kU64) {
    return std::nullopt;
  }
  const auto place = dims.indices_batching.begin() + (lane - dims.operand_batching.begin());
  std::vector<Dim> vectors = indices.shape.dims();
  if (dims.index_vector == indices.rank()) vectors.push_back(1);
  const ValueId within = Reshape(builder, Cast(builder, node.inputs[1], DType::kI64), vectors);
  vectors[dims.index_vector] = 1;
  const ValueId rows = builder.Apply("broadcast_in_dim", {Cast(builder, owners, DType::kI64)},
                                     {{"shape", vectors}, {"axes", Int64s{*place}}});
  const ValueId both = builder.Apply("concatenate", {rows, within}, {{"axis", dims.index_vector}});
  dims.indices_batching.erase(place);
  dims.operand_batching.erase(lane);
  dims.dropped = Prepend<int64_t>(0, dims.dropped);
  dims.index_map = Prepend<int64_t>(0, dims.index_map);
  return std::vector<ValueId>{
      builder.Apply("gather", {operand, both},
                    With(dims.Write(kGatherNames), "slice_sizes", node.attr("slice_sizes")))};
}

Rule FindRule(std::string_view op) {
  if (op == "reshape") return &Reshape;
  if (op == "transpose") return &Transpose;
  if (op == "dot_general") return &DotGeneral;
  if (op == "broadcast_in_dim") return &BroadcastInDim;
  if (op == "gather") return &Gather;
  if (op == "get_dimension_size") return &DimensionSize;
  if (op == "convert" || op == "slice") return &SameType;
  return nullptr;
}

}  // namespace

absl::Status Canonicalize(Graph* graph, const CompileOptions&, CompileReport*) {
  return RewriteNodes(graph, [graph](NodeId id, Builder& builder) -> absl::StatusOr<Replacement> {
    const Rule rule = FindRule(graph->node(id).op);
    if (rule == nullptr) return std::nullopt;
    const Node node = graph->node(id);
    return rule(*graph, node, builder);
  });
}

}  // namespace weir
