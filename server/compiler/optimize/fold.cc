#include <algorithm>

#include "common/base/status.h"
#include "common/interp/interpreter.h"
#include "common/ir/clone.h"
#include "common/ops/registry.h"
#include "server/compiler/optimize/region_walk.h"
#include "server/compiler/optimize/simplify.h"

namespace weir {
namespace {

constexpr int64_t kMaxResultBytes = int64_t{16} << 20;
constexpr int64_t kSmallResultBytes = 64;

const Tensor* ConstantOf(const Graph& graph, ValueId value) {
  const Node* producer = graph.producer(value);
  if (producer == nullptr || producer->op != "constant") return nullptr;
  return &producer->attr("value").AsTensor();
}

bool HasFloats(const Graph& graph, const std::vector<ValueId>& values) {
  return std::any_of(values.begin(), values.end(), [&](ValueId value) {
    const DType dtype = graph.type(value).dtype;
    return IsFloat(dtype) || IsComplex(dtype);
  });
}

// A constant has the bits that a kernel would give: else the result would depend on what happens
// to be known.
bool MayFold(const Graph& graph, const Node& node) {
  const OpDef* op = FindOp(node.op);
  if (op == nullptr || node.op == "constant" || !node.regions.empty() || node.op == "call" ||
      op->effect != Effect::kPure || op->reference == nullptr) {
    return false;
  }
  if (op->reassociates && HasFloats(graph, node.outputs)) return false;
  int64_t operand_bytes = 0;
  for (ValueId input : node.inputs) {
    const Tensor* constant = ConstantOf(graph, input);
    if (constant == nullptr) return false;
    operand_bytes += constant->num_bytes();
  }
  int64_t result_bytes = 0;
  for (ValueId output : node.outputs) {
    const TensorType& type = graph.type(output);
    if (!type.shape.is_static()) return false;
    absl::StatusOr<int64_t> elements = CheckedNumElements(type.shape.extents(), type.dtype);
    if (!elements.ok()) return false;
    result_bytes += *elements * SizeOf(type.dtype);
  }
  return result_bytes <= std::min(kMaxResultBytes, std::max(kSmallResultBytes, 4 * operand_bytes));
}

absl::StatusOr<std::vector<Tensor>> EvaluateNode(const Graph& graph, NodeId id) {
  Graph alone;
  const RegionId body = alone.AddFunction("main").body;
  std::vector<Tensor> values;
  ValueMap map;
  for (ValueId input : graph.node(id).inputs) {
    if (map.contains(input)) continue;
    map.emplace(input, alone.AddArg(body, graph.type(input)));
    values.push_back(*ConstantOf(graph, input));
  }
  absl::flat_hash_map<NodeId, NodeId> nodes;
  const NodeId clone = CloneNode(graph, id, &alone, body, &map, &nodes);
  alone.region(body).results = alone.node(clone).outputs;
  alone.functions().front().result_names.resize(alone.node(clone).outputs.size());
  return Interpret(alone, values);
}

// An attribute that depends on a symbol keeps a node from being constant.
bool MentionsSymbols(const Node& node) {
  std::set<std::string, std::less<>> symbols;
  for (const auto& [name, attr] : node.attrs) {
    if (attr.kind() != Attr::Kind::kDims) continue;
    for (const Dim& dim : attr.AsDims()) dim.CollectSymbols(&symbols);
  }
  return !symbols.empty();
}

}  // namespace

absl::Status FoldConstants(Graph* graph, const CompileOptions&, CompileReport*) {
  return RewriteNodes(graph, [graph](NodeId id, Builder& builder) -> absl::StatusOr<Replacement> {
    if (!MayFold(*graph, graph->node(id)) || MentionsSymbols(graph->node(id))) return std::nullopt;
    WEIR_ASSIGN_OR_RETURN(std::vector<Tensor> results, EvaluateNode(*graph, id));
    std::vector<ValueId> constants;
    for (Tensor& result : results) constants.push_back(builder.Constant(result.Clone()));
    return constants;
  });
}

}  // namespace weir
