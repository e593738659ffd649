#include "common/base/status.h"
#include "common/ops/control/region.h"
#include "common/ops/control/rows.h"

namespace weir {
namespace {

// Of the operands behind the index, region b takes `operands`[b], in order.
absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  const TensorType& index = context.input(0);
  if (index.rank() != 1 || (index.dtype != DType::kI32 && index.dtype != DType::kI64)) {
    return InvalidArgument("the branch indices must be i32 or i64 of rank 1, found ",
                           index.ToString());
  }
  const Dim whole = index.shape[0];
  std::vector<TensorType> outside;
  for (int i = 0; i < context.num_inputs(); ++i) outside.push_back(context.input(i));
  WEIR_ASSIGN_OR_RETURN(const Dim local, control::LocalExtent(context, outside));
  const Int64s& counts = context.attr("operands").AsInts();
  if (counts.size() != context.node().regions.size()) {
    return InvalidArgument("attribute 'operands' has ", counts.size(), " numbers for ",
                           context.node().regions.size(), " branches");
  }
  int first = 1;
  for (size_t b = 0; b < counts.size(); ++b) {
    if (counts[b] < 0 || counts[b] > context.num_inputs() - first) {
      return InvalidArgument("attribute 'operands' and the ", context.num_inputs() - 1,
                             " operands do not fit");
    }
    WEIR_ASSIGN_OR_RETURN(
        const std::vector<TensorType> args,
        control::PartTypes(context, first, static_cast<int>(counts[b]), whole, local));
    WEIR_RETURN_IF_ERROR(control::CheckEqualTypes(StrCat("argument of branch ", b, ","),
                                                  control::ArgTypes(context, static_cast<int>(b)),
                                                  "rows of operand", args));
    WEIR_RETURN_IF_ERROR(control::CheckEqualTypes(StrCat("branch ", b, " result"),
                                                  context.ResultTypes(static_cast<int>(b)),
                                                  "branch 0 result", context.ResultTypes(0)));
    first += static_cast<int>(counts[b]);
  }
  if (first != context.num_inputs()) {
    return InvalidArgument("attribute 'operands' and the ", context.num_inputs() - 1,
                           " operands do not fit");
  }
  return control::WholeTypes(context.ResultTypes(0), local, whole);
}

int64_t BranchOf(const Tensor& index, int64_t row, int64_t branches) {
  const int64_t branch =
      index.dtype() == DType::kI32 ? index.At<int32_t>({row}) : index.At<int64_t>({row});
  return branch < 0 || branch >= branches ? branches - 1 : branch;
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  const Tensor& index = context.input(0);
  const Int64s& counts = context.attr("operands").AsInts();
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < context.node().outputs.size(); ++i) {
    WEIR_ASSIGN_OR_RETURN(const Extents extents, context.OutputExtents(static_cast<int>(i)));
    outputs.emplace_back(context.output_dtype(static_cast<int>(i)), extents);
  }
  int first = 1;
  for (size_t b = 0; b < counts.size(); ++b) {
    std::vector<int64_t> ids;
    for (int64_t row = 0; row < index.extents()[0]; ++row) {
      const int64_t branch = BranchOf(index, row, static_cast<int64_t>(counts.size()));
      if (branch == static_cast<int64_t>(b)) ids.push_back(row);
    }
    std::vector<Tensor> args;
    for (int i = 0; i < counts[b]; ++i) {
      args.push_back(control::TakeRows(context.input(first + i), ids));
    }
    first += static_cast<int>(counts[b]);
    if (ids.empty()) continue;
    WEIR_ASSIGN_OR_RETURN(
        const std::vector<Tensor> results,
        context.RunRegion(static_cast<int>(b), std::move(args),
                          {{context.attr("local").AsString(), static_cast<int64_t>(ids.size())}}));
    for (size_t i = 0; i < results.size(); ++i) control::PutRows(results[i], ids, &outputs[i]);
  }
  return outputs;
}

void MarkVarying(VarianceContext& context) {
  const Node& node = context.node();
  const Graph& graph = context.graph();
  int input = 1;
  for (RegionId branch : node.regions) {
    for (ValueId arg : graph.region(branch).args) {
      if (context.input_varies(0) || context.input_varies(input)) context.MarkVarying(arg);
      ++input;
    }
    context.AnalyzeRegion(branch);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (context.input_varies(0) || context.varies(graph.region(branch).results[i])) {
        context.MarkVarying(node.outputs[i]);
      }
    }
  }
}

std::vector<Sample> Samples() {
  Sample two;
  two.program = R"(
    func @main(%which: i32[n], %x: f32[n,2], %y: f32[n]) -> (f32[n,2] "out") {
      %out = case_rows(%which, %x, %x, %y) {local = "k", operands = [1, 2]}
          (%a: f32[k,2]) {
        %twice = add(%a, %a) : f32[k,2]
        yield %twice
      } (%b: f32[k,2], %c: f32[k]) {
        %wide = broadcast_in_dim(%c) {axes = [0], shape = (k, 2)} : f32[k,2]
        %product = multiply(%b, %wide) : f32[k,2]
        yield %product
      } : f32[n,2]
      return %out
    })";
  std::vector<Sample> samples;
  for (const std::vector<int32_t>& which :
       {std::vector<int32_t>{0, 1, 1, 0}, {1, 1}, {0}, {-1, 5}, {}}) {
    const int64_t n = static_cast<int64_t>(which.size());
    two.label = StrCat(n, " rows");
    two.operands = {Fixed(Tensor::FromSpan<int32_t>({n}, which)), Rand(DType::kF32, {n, 2}),
                    Rand(DType::kF32, {n})};
    samples.push_back(two);
  }
  return samples;
}

}  // namespace

OpDef CaseRowsOp() {
  OpDef op;
  op.name = "case_rows";
  op.summary =
      "runs each region for the rows whose index selects it and puts the rows of the results back: "
      "a case of a vectorized pfor";
  op.inputs = {1, kAny};
  op.outputs = {0, kAny};
  op.regions = {1, kAny};
  op.attrs = {{"local", Attr::Kind::kString}, {"operands", Attr::Kind::kInts}};
  op.infer = Infer;
  op.reference = Evaluate;
  op.no_pfor = "it is what a pfor was converted to; loops around it are converted together with it";
  op.variance = MarkVarying;
  op.samples = Samples;
  return op;
}

}  // namespace weir
