#include "common/ops/sample_program.h"

#include <string>

#include "common/base/status.h"
#include "common/ir/builder.h"
#include "common/ir/text.h"
#include "common/ir/verify.h"
#include "common/ops/control/state.h"
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

}  // namespace weir
