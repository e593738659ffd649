// Runs single ops and straight-line graphs in the unit tests of op families, below any interpreter.
// Only tests include this.
#ifndef WEIR_COMMON_OPS_OP_TESTING_H_
#define WEIR_COMMON_OPS_OP_TESTING_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/base/status.h"
#include "common/ir/builder.h"
#include "common/ops/registry.h"

namespace weir {

// Evaluates nodes without regions.
class StraightContext : public EvalContext {
 public:
  using EvalContext::EvalContext;
  absl::StatusOr<std::vector<Tensor>> RunRegion(int, std::vector<Tensor>,
                                                const SymbolBindings&) override {
    return absl::UnimplementedError("regions need the interpreter");
  }
  absl::StatusOr<std::vector<Tensor>> CallFunction(std::string_view, std::vector<Tensor>) override {
    return absl::UnimplementedError("calls need the interpreter");
  }
};

// Runs the entry function, whose nodes must be in order and have no regions.
inline absl::StatusOr<std::vector<Tensor>> RunStraight(const Graph& graph,
                                                       const std::vector<Tensor>& inputs) {
  const Region& body = graph.region(graph.entry().body);
  absl::flat_hash_map<ValueId, Tensor> values;
  SymbolBindings symbols;
  for (size_t i = 0; i < inputs.size(); ++i) {
    WEIR_RETURN_IF_ERROR(
        BindShape(graph.type(body.args[i]).shape, inputs[i].extents(), "argument", &symbols));
    values[body.args[i]] = inputs[i];
  }
  for (NodeId id : body.nodes) {
    const Node& node = graph.node(id);
    std::vector<Tensor> operands;
    for (ValueId input : node.inputs) operands.push_back(values.at(input));
    StraightContext context(graph, node, operands, symbols);
    absl::StatusOr<std::vector<Tensor>> results = FindOp(node.op)->reference(context);
    if (!results.ok()) return Annotate(results.status(), node.op);
    for (size_t i = 0; i < results->size(); ++i) {
      const TensorType& type = graph.type(node.outputs[i]);
      WEIR_RETURN_IF_ERROR(
          BindShape(type.shape, (*results)[i].extents(), StrCat(node.op, " result"), &symbols));
      if (type.dtype != (*results)[i].dtype()) {
        return absl::InternalError(
            StrCat(node.op, " gave ", (*results)[i].type().ToString(), " for ", type.ToString()));
      }
      values[node.outputs[i]] = (*results)[i];
    }
  }
  std::vector<Tensor> results;
  for (ValueId result : body.results) results.push_back(values.at(result));
  return results;
}

// A graph with one function that applies `op` to parameters of these types.
inline absl::StatusOr<Graph> OneNode(std::string op, const std::vector<TensorType>& operands,
                                     Attrs attrs) {
  Graph graph;
  const RegionId body = graph.AddFunction("main").body;
  Builder b(&graph, body, &Ops());
  std::vector<ValueId> args;
  for (const TensorType& type : operands) args.push_back(b.AddArg(type));
  b.Yield(b.ApplyAll(std::move(op), args, std::move(attrs)));
  WEIR_RETURN_IF_ERROR(b.status());
  return graph;
}

// Types by text, such as "f32[n,3]". Returns: the types of the results in text, or the message.
inline std::string InferOp(std::string op, const std::vector<std::string>& operands, Attrs attrs) {
  std::vector<TensorType> types;
  for (const std::string& text : operands) types.push_back(TensorType::Parse(text).value());
  const absl::StatusOr<Graph> graph = OneNode(std::move(op), types, std::move(attrs));
  if (!graph.ok()) return std::string(graph.status().message());
  std::string out;
  for (ValueId result : graph->region(graph->entry().body).results) {
    StrAppend(&out, out.empty() ? "" : ", ", graph->type(result).ToString());
  }
  return out;
}

inline absl::StatusOr<std::vector<Tensor>> EvalOpAll(std::string op,
                                                     const std::vector<Tensor>& operands,
                                                     Attrs attrs) {
  std::vector<TensorType> types;
  for (const Tensor& operand : operands) types.push_back(operand.type());
  WEIR_ASSIGN_OR_RETURN(const Graph graph, OneNode(std::move(op), types, std::move(attrs)));
  return RunStraight(graph, operands);
}

// Returns: the result as text, or the message.
inline std::string EvalOp(std::string op, const std::vector<Tensor>& operands, Attrs attrs) {
  const absl::StatusOr<std::vector<Tensor>> results =
      EvalOpAll(std::move(op), operands, std::move(attrs));
  if (!results.ok()) return std::string(results.status().message());
  std::string out;
  for (const Tensor& result : *results) {
    StrAppend(&out, out.empty() ? "" : "; ", result.ToString());
  }
  return out;
}

}  // namespace weir

#endif  // WEIR_COMMON_OPS_OP_TESTING_H_
