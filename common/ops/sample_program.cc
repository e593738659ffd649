#include "common/ops/sample_program.h"

#include <string>
#include <utility>

#include "common/base/status.h"
#include "common/ir/builder.h"
#include "common/ir/clone.h"
#include "common/ir/text.h"
#include "common/ir/verify.h"
#include "common/ops/control/state.h"
#include "common/ops/lang.h"
#include "common/ops/registry.h"

namespace weir {

absl::StatusOr<Graph> ProgramOf(const OpDef& op, const Sample& sample) {
  if (!sample.program.empty()) {
    WEIR_ASSIGN_OR_RETURN(Graph program, Parse(sample.program, Ops()));
    WEIR_RETURN_IF_ERROR(Verify(program, Ops()));
    WEIR_RETURN_IF_ERROR(ThreadState(&program));
    return program;
  }
  Graph graph;
  Builder b(&graph, graph.AddFunction("main").body, &Ops());
  std::vector<ValueId> args;
  for (const SampleOperand& operand : sample.operands) {
    args.push_back(b.AddArg({operand.dtype, Shape::FromExtents(operand.extents)}));
  }
  b.Yield(b.ApplyAll(std::string(op.name), args, sample.attrs));
  WEIR_RETURN_IF_ERROR(b.status());
  WEIR_RETURN_IF_ERROR(Verify(graph, Ops()));
  return graph;
}

std::vector<Tensor> OperandsOf(const Sample& sample) {
  std::vector<Tensor> operands;
  for (size_t i = 0; i < sample.operands.size(); ++i) {
    operands.push_back(sample.operands[i].Make(i + 1));
  }
  return operands;
}

absl::StatusOr<Graph> LoopOver(Graph graph, uint32_t varying, const Dim& lanes) {
  const RegionId example = graph.entry().body;
  graph.functions().front().name = "example";
  Builder outer(&graph, graph.AddFunction("main").body, &Ops());
  std::swap(graph.functions().front(), graph.functions().back());
  Builder inner = outer.In(outer.NewRegion());
  const ValueId i = inner.AddArg({DType::kI64, Shape()});
  ValueMap map;
  const std::vector<ValueId> params = graph.region(example).args;
  for (size_t k = 0; k < params.size(); ++k) {
    TensorType type = graph.type(params[k]);
    const bool varies = (varying >> k) & 1;
    if (varies) type.shape.dims().insert(type.shape.dims().begin(), lanes);
    const ValueId arg = outer.AddArg(std::move(type));
    map.emplace(params[k], varies ? TakeRow(inner, arg, i) : arg);
  }
  inner.Yield(CloneRegionBody(graph, example, &graph, inner.region(), &map));
  outer.Yield(outer.ApplyAll("pfor", {}, {{"extent", std::vector<Dim>{lanes}}}, {inner.region()}));
  WEIR_RETURN_IF_ERROR(outer.status());
  WEIR_RETURN_IF_ERROR(Verify(graph, Ops()));
  return graph;
}

std::vector<Tensor> RowsOf(const Sample& sample, uint32_t varying, int64_t n) {
  std::vector<Tensor> inputs;
  for (size_t k = 0; k < sample.operands.size(); ++k) {
    const SampleOperand& operand = sample.operands[k];
    if (((varying >> k) & 1) == 0) {
      inputs.push_back(operand.Make(k + 1));
      continue;
    }
    std::vector<Tensor> rows;
    for (int64_t i = 0; i < n; ++i) rows.push_back(operand.Make(100 * i + k + 1));
    inputs.push_back(Stack(operand.dtype, operand.extents, rows));
  }
  return inputs;
}

}  // namespace weir
