#include <algorithm>
#include <numeric>

#include "common/base/status.h"
#include "common/ops/axes.h"
#include "common/ops/linalg/accumulate.h"

namespace weir {
namespace {

// The axes of one operand by role.
struct Side {
  Int64s batch;
  Int64s contract;
  Int64s free;
};

Int64s Joined(const Int64s& a, const Int64s& b) {
  Int64s all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

Side SideOf(const Node& node, int operand, int rank) {
  const bool lhs = operand == 0;
  Side side{.batch = node.attr(lhs ? "lhs_batch" : "rhs_batch").AsInts(),
            .contract = node.attr(lhs ? "lhs_contract" : "rhs_contract").AsInts()};
  side.free = OtherAxes(Joined(side.batch, side.contract), rank);
  return side;
}

absl::Status CheckPairs(const InferContext& context, std::string_view role, const Int64s& lhs,
                        const Int64s& rhs) {
  if (lhs.size() != rhs.size()) {
    return InvalidArgument("expected as many lhs_", role, " as rhs_", role, " axes, found ",
                           lhs.size(), " and ", rhs.size());
  }
  for (size_t i = 0; i < lhs.size(); ++i) {
    if (context.input(0).shape[lhs[i]] == context.input(1).shape[rhs[i]]) continue;
    return InvalidArgument("extents of ", role, " axes ", lhs[i], " and ", rhs[i],
                           " must be equal, found ", OperandText(context, 0), " and ",
                           OperandText(context, 1));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  const TensorType& lhs = context.input(0);
  const TensorType& rhs = context.input(1);
  if (lhs.dtype != rhs.dtype || lhs.dtype == DType::kBool) {
    return InvalidArgument("operands must be numbers of one type, found ", OperandText(context, 0),
                           " and ", OperandText(context, 1));
  }
  for (int i : {0, 1}) {
    const Side side = SideOf(context.node(), i, 0);
    const std::string name = i == 0 ? "lhs" : "rhs";
    WEIR_RETURN_IF_ERROR(CheckAxes(name + "_batch", side.batch, context.input(i).rank()));
    WEIR_RETURN_IF_ERROR(CheckAxes(StrCat(name, "_batch and ", name, "_contract"),
                                   Joined(side.batch, side.contract), context.input(i).rank()));
  }
  const Side left = SideOf(context.node(), 0, lhs.rank());
  const Side right = SideOf(context.node(), 1, rhs.rank());
  WEIR_RETURN_IF_ERROR(CheckPairs(context, "batch", left.batch, right.batch));
  WEIR_RETURN_IF_ERROR(CheckPairs(context, "contract", left.contract, right.contract));
  Shape shape;
  for (int64_t axis : left.batch) shape.dims().push_back(lhs.shape[axis]);
  for (int64_t axis : left.free) shape.dims().push_back(lhs.shape[axis]);
  for (int64_t axis : right.free) shape.dims().push_back(rhs.shape[axis]);
  return std::vector<TensorType>{{lhs.dtype, std::move(shape)}};
}

int64_t Volume(const Tensor& tensor, const Int64s& axes) {
  int64_t count = 1;
  for (int64_t axis : axes) count *= tensor.extent(static_cast<int>(axis));
  return count;
}

// Row-major in the order batch, free, contract.
Tensor Arranged(const Tensor& tensor, const Side& side) {
  return tensor.Transpose(ToInts(Joined(side.batch, Joined(side.free, side.contract))))
      .Contiguous();
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  const Side left = SideOf(context.node(), 0, context.input(0).rank());
  const Side right = SideOf(context.node(), 1, context.input(1).rank());
  const int64_t batch = Volume(context.input(0), left.batch);
  const int64_t rows = Volume(context.input(0), left.free);
  const int64_t columns = Volume(context.input(1), right.free);
  const int64_t depth = Volume(context.input(0), left.contract);
  const Tensor lhs = Arranged(context.input(0), left);
  const Tensor rhs = Arranged(context.input(1), right);
  WEIR_ASSIGN_OR_RETURN(Tensor out, NewOutput(context, 0));
  VisitNumber(out.dtype(), [&]<class T>(TypeTag<T>) {
    T* result = out.mutable_data<T>();
    for (int64_t i = 0; i < batch * rows; ++i) {
      const T* x = lhs.data<T>() + i * depth;
      for (int64_t j = 0; j < columns; ++j) {
        const T* y = rhs.data<T>() + (i / rows * columns + j) * depth;
        Wide<T> sum = 0;
        for (int64_t k = 0; k < depth; ++k) sum += WideProduct(ToWide(x[k]), ToWide(y[k]));
        *result++ = FromWide<T>(sum);
      }
    }
  });
  return std::vector<Tensor>{std::move(out)};
}

// One varying side gives one larger product, in which the iterations are a free axis of that side;
// two give a batched one.
absl::Status Pfor(PforRewrite& rewrite) {
  Attrs attrs = rewrite.node().attrs;
  const bool both = rewrite.input_varies(0) && rewrite.input_varies(1);
  for (int i : {0, 1}) {
    if (!rewrite.input_varies(i)) continue;
    const Side side = SideOf(rewrite.node(), i, rewrite.input_type(i).rank());
    const Int64s batch = Shifted(side.batch);
    attrs[i == 0 ? "lhs_batch" : "rhs_batch"] = both ? Prepend<int64_t>(0, batch) : batch;
    attrs[i == 0 ? "lhs_contract" : "rhs_contract"] = Shifted(side.contract);
  }
  Builder& build = rewrite.build();
  ValueId out =
      build.Apply("dot_general", {rewrite.operand(0), rewrite.operand(1)}, std::move(attrs));
  const Side left = SideOf(rewrite.node(), 0, rewrite.input_type(0).rank());
  size_t position = both ? 0 : left.batch.size();
  if (!rewrite.input_varies(0)) position += left.free.size();
  if (position > 0) {
    Int64s permutation(build.type(out).rank());
    std::iota(permutation.begin(), permutation.end(), 0);
    std::rotate(permutation.begin(), permutation.begin() + position,
                permutation.begin() + position + 1);
    out = build.Apply("transpose", {out}, {{"permutation", std::move(permutation)}});
  }
  rewrite.Return(out);
  return absl::OkStatus();
}

Sample MakeSample(std::string label, DType dtype, Extents lhs, Extents rhs, Attrs attrs) {
  Sample sample{.label = std::move(label),
                .operands = {Rand(dtype, std::move(lhs)), Rand(dtype, std::move(rhs))},
                .attrs = std::move(attrs)};
  for (const char* name : {"lhs_batch", "rhs_batch", "lhs_contract", "rhs_contract"}) {
    sample.attrs.try_emplace(name, Int64s{});
  }
  // A kernel rounds each partial sum; sums of products below 4 cancel.
  const bool single = dtype == DType::kF32 || dtype == DType::kC64;
  if (single) sample.absolute = 2e-5;
  if (dtype == DType::kF64 || dtype == DType::kC128) sample.absolute = 1e-13;
  if (dtype == DType::kF16) sample.absolute = 2e-2;
  if (dtype == DType::kBF16) sample.absolute = 2e-1;
  return sample;
}

std::vector<Sample> Samples() {
  const Attrs plain = {{"lhs_contract", Int64s{1}}, {"rhs_contract", Int64s{0}}};
  std::vector<Sample> samples;
  for (DType dtype : kAllDTypes) {
    if (dtype == DType::kBool) continue;
    samples.push_back(
        MakeSample(StrCat("matrices ", DTypeName(dtype)), dtype, {3, 4}, {4, 5}, plain));
  }
  auto add = [&](std::string label, Extents lhs, Extents rhs, Attrs attrs) {
    samples.push_back(MakeSample(std::move(label), DType::kF32, std::move(lhs), std::move(rhs),
                                 std::move(attrs)));
  };
  add("larger", {17, 33}, {33, 20}, plain);
  add("vectors", {7}, {7}, {{"lhs_contract", Int64s{0}}, {"rhs_contract", Int64s{0}}});
  add("matrix and vector", {3, 5}, {5}, plain);
  add("outer product", {3}, {4}, {});
  add("scalars", {}, {}, {});
  add("transposed", {4, 3}, {5, 4}, {{"lhs_contract", Int64s{0}}, {"rhs_contract", Int64s{1}}});
  add("batched", {2, 3, 4}, {2, 4, 5},
      {{"lhs_batch", Int64s{0}},
       {"rhs_batch", Int64s{0}},
       {"lhs_contract", Int64s{2}},
       {"rhs_contract", Int64s{1}}});
  add("batch axes behind", {3, 4, 2}, {4, 5, 2},
      {{"lhs_batch", Int64s{2}},
       {"rhs_batch", Int64s{2}},
       {"lhs_contract", Int64s{1}},
       {"rhs_contract", Int64s{0}}});
  add("two of each", {2, 3, 4, 5, 6}, {6, 3, 5, 2, 7},
      {{"lhs_batch", Int64s{1, 0}},
       {"rhs_batch", Int64s{1, 3}},
       {"lhs_contract", Int64s{4, 3}},
       {"rhs_contract", Int64s{0, 2}}});
  add("no row", {0, 4}, {4, 5}, plain);
  add("sums of nothing", {3, 0}, {0, 5}, plain);
  return samples;
}

}  // namespace

OpDef DotGeneralOp() {
  OpDef op;
  op.name = "dot_general";
  op.summary =
      "products summed over the contracted axes; axes of the result: batch, free of lhs, "
      "free of rhs (StableHLO dot_general)";
  op.inputs = {2, 2};
  op.attrs = {{"lhs_batch", Attr::Kind::kInts},
              {"rhs_batch", Attr::Kind::kInts},
              {"lhs_contract", Attr::Kind::kInts},
              {"rhs_contract", Attr::Kind::kInts}};
  op.infer = Infer;
  op.reference = Evaluate;
  op.pfor = Pfor;
  op.reassociates = true;
  op.samples = Samples;
  return op;
}

}  // namespace weir
