#include <numeric>

#include "common/base/status.h"
#include "common/ops/control/region.h"
#include "common/ops/control/rows.h"

namespace weir {
namespace {

constexpr int kCondition = 0;
constexpr int kBody = 1;

// Operands: values that all rows share and that the loop carries, rows that it carries, rows that
// stay. Regions take them in this order, the rows of those that still run; the body yields the
// first two kinds.
struct Operands {
  int shared = 0;
  int carried = 0;
  int constant = 0;

  int rows() const { return carried + constant; }
  int results() const { return shared + carried; }
};

absl::StatusOr<Operands> OperandsOf(const Node& node) {
  const int count = static_cast<int>(node.inputs.size());
  const int64_t shared = node.attr("shared").AsInt(), carried = node.attr("carried").AsInt();
  if (shared < 0 || carried < 0 || shared > count || carried > count - shared) {
    return InvalidArgument("attributes 'shared' and 'carried' do not fit ", count, " operands");
  }
  Operands operands{static_cast<int>(shared), static_cast<int>(carried)};
  operands.constant = count - operands.results();
  return operands;
}

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  WEIR_ASSIGN_OR_RETURN(const Operands operands, OperandsOf(context.node()));
  WEIR_ASSIGN_OR_RETURN(const Dim whole, control::ExtentAttr(context));
  WEIR_ASSIGN_OR_RETURN(const Dim local,
                        control::LocalExtent(context, control::OperandTypes(context, 0)));
  std::vector<TensorType> args;
  for (int i = 0; i < operands.shared; ++i) args.push_back(context.input(i));
  WEIR_ASSIGN_OR_RETURN(
      const std::vector<TensorType> rows,
      control::PartTypes(context, operands.shared, operands.rows(), whole, local));
  args.insert(args.end(), rows.begin(), rows.end());
  for (int region : {kCondition, kBody}) {
    WEIR_RETURN_IF_ERROR(
        control::CheckEqualTypes(region == kBody ? "body argument" : "condition argument",
                                 control::ArgTypes(context, region), "operand", args));
  }
  const std::vector<TensorType> wanted = {{DType::kBool, Shape({local})}};
  WEIR_RETURN_IF_ERROR(control::CheckEqualTypes("condition result", context.ResultTypes(kCondition),
                                                "answer", wanted));
  args.resize(operands.results());
  WEIR_RETURN_IF_ERROR(
      control::CheckEqualTypes("body result", context.ResultTypes(kBody), "carried operand", args));
  std::vector<TensorType> types;
  for (int i = 0; i < operands.shared; ++i) {
    types.push_back(control::WithLeading(whole, context.input(i)));
  }
  for (int i = operands.shared; i < operands.results(); ++i) types.push_back(context.input(i));
  return types;
}

// The loop over all rows, in index order.
class RowLoop {
 public:
  RowLoop(EvalContext& context, const Operands& operands)
      : context_(context),
        operands_(operands),
        local_(context.attr("local").AsString()),
        shared_(context.inputs().begin(), context.inputs().begin() + operands.shared) {}

  absl::StatusOr<std::vector<Tensor>> Run() {
    for (int i = 0; i < operands_.results(); ++i) {
      WEIR_ASSIGN_OR_RETURN(const Extents extents, context_.OutputExtents(i));
      outputs_.emplace_back(context_.output_dtype(i), extents);
      if (i >= operands_.shared && outputs_[i].num_elements() > 0) {
        context_.input(i).CopyTo(outputs_[i].raw_mutable_data());
      }
    }
    WEIR_ASSIGN_OR_RETURN(const Extents whole, context_.Evaluate("extent"));
    WEIR_RETURN_IF_ERROR(CheckedNumElements(whole, DType::kI64).status());
    active_.resize(whole[0]);
    std::iota(active_.begin(), active_.end(), 0);
    for (int64_t trip = 0; !active_.empty(); ++trip) {
      WEIR_RETURN_IF_ERROR(control::InIteration(Trip(), trip));
    }
    return outputs_;
  }

 private:
  absl::StatusOr<std::vector<Tensor>> RunRegion(int region) {
    std::vector<Tensor> args = shared_;
    for (int i = operands_.shared; i < operands_.results(); ++i) {
      args.push_back(control::TakeRows(outputs_[i], active_));
    }
    for (int i = 0; i < operands_.constant; ++i) {
      args.push_back(control::TakeRows(context_.input(operands_.results() + i), active_));
    }
    return context_.RunRegion(region, std::move(args),
                              {{local_, static_cast<int64_t>(active_.size())}});
  }

  absl::Status Trip() {
    WEIR_ASSIGN_OR_RETURN(const std::vector<Tensor> condition, RunRegion(kCondition));
    std::vector<int64_t> left;
    for (size_t k = 0; k < active_.size(); ++k) {
      if (condition[0].At<bool>({static_cast<int64_t>(k)})) {
        left.push_back(active_[k]);
        continue;
      }
      for (int i = 0; i < operands_.shared; ++i) {
        control::PutRows(shared_[i].Reshape(OneRow(shared_[i])), {active_[k]}, &outputs_[i]);
      }
    }
    active_ = std::move(left);
    if (active_.empty()) return absl::OkStatus();
    WEIR_ASSIGN_OR_RETURN(const std::vector<Tensor> results, RunRegion(kBody));
    for (int i = 0; i < operands_.shared; ++i) shared_[i] = results[i];
    for (int i = operands_.shared; i < operands_.results(); ++i) {
      control::PutRows(results[i], active_, &outputs_[i]);
    }
    return absl::OkStatus();
  }

  static Extents OneRow(const Tensor& tensor) {
    Extents extents = tensor.extents();
    extents.insert(extents.begin(), 1);
    return extents;
  }

  EvalContext& context_;
  const Operands operands_;
  const std::string local_;
  std::vector<Tensor> shared_;
  std::vector<Tensor> outputs_;
  std::vector<int64_t> active_;
};

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  WEIR_ASSIGN_OR_RETURN(const Operands operands, OperandsOf(context.node()));
  return RowLoop(context, operands).Run();
}

// Rows leave at different times, so all results vary if anything does.
void MarkVarying(VarianceContext& context) {
  const Node& node = context.node();
  const Graph& graph = context.graph();
  bool any = false;
  for (size_t i = 0; i < node.inputs.size(); ++i) any = any || context.input_varies(i);
  for (RegionId region : node.regions) {
    const std::vector<ValueId> captures = graph.Captures(region);
    for (ValueId capture : captures) any = any || context.varies(capture);
  }
  if (!any) return;
  for (RegionId region : node.regions) {
    for (ValueId arg : graph.region(region).args) context.MarkVarying(arg);
    context.AnalyzeRegion(region);
  }
  for (ValueId output : node.outputs) context.MarkVarying(output);
}

std::vector<Sample> Samples() {
  Sample countdown;
  countdown.program = R"(
    func @main(%trips: i64[n], %x: f32[n,2], %y: f32[n]) -> (i64[n] "trips", f32[n,2] "out") {
      %zero = constant {value = i64[] {0}} : i64[]
      %one = constant {value = i64[] {1}} : i64[]
      %ran, %out = while_rows(%zero, %x, %trips, %y) {carried = 1, extent = (n), local = "k",
          shared = 1} (%i: i64[], %v: f32[k,2], %t: i64[k], %w: f32[k]) {
        %is = broadcast_in_dim(%i) {axes = [], shape = (k)} : i64[k]
        %more = less(%is, %t) : bool[k]
        yield %more
      } (%i: i64[], %v: f32[k,2], %t: i64[k], %w: f32[k]) {
        %next = add(%i, %one) : i64[]
        %wide = broadcast_in_dim(%w) {axes = [0], shape = (k, 2)} : f32[k,2]
        %sum = add(%v, %wide) : f32[k,2]
        yield %next, %sum
      } : i64[n], f32[n,2]
      return %ran, %out
    })";
  std::vector<Sample> samples;
  for (const std::vector<int64_t>& trips :
       {std::vector<int64_t>{4, 0, 2}, {0}, {3, 3}, {1, 5, 2, 5, 0, 1}, {}}) {
    const int64_t n = static_cast<int64_t>(trips.size());
    countdown.label = StrCat(n, " rows");
    countdown.operands = {Fixed(Tensor::FromSpan<int64_t>({n}, trips)), Rand(DType::kF32, {n, 2}),
                          Rand(DType::kF32, {n})};
    samples.push_back(countdown);
  }
  return samples;
}

}  // namespace

OpDef WhileRowsOp() {
  OpDef op;
  op.name = "while_rows";
  op.summary =
      "runs the body for the rows whose condition holds, until there is none: a while of a "
      "vectorized pfor";
  op.inputs = {0, kAny};
  op.outputs = {0, kAny};
  op.regions = {2, 2};
  op.attrs = {{"carried", Attr::Kind::kInt},
              {"extent", Attr::Kind::kDims},
              {"local", Attr::Kind::kString},
              {"shared", Attr::Kind::kInt}};
  op.infer = Infer;
  op.reference = Evaluate;
  op.no_pfor = "it is what a pfor was converted to; loops around it are converted together with it";
  op.variance = MarkVarying;
  op.samples = Samples;
  return op;
}

}  // namespace weir
