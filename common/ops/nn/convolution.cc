#include "common/ops/nn/convolution.h"

#include <algorithm>
#include <numeric>

#include "common/base/status.h"
#include "common/ops/axes.h"
#include "common/ops/lang.h"
#include "common/ops/linalg/accumulate.h"

namespace weir {
namespace {

constexpr int kMaxSpace = 3;

Dim GroupsAttr(const Node& node, std::string_view name) {
  const Attr* attr = node.FindAttr(name);
  return attr == nullptr ? Dim(1) : attr->AsDims()[0];
}

absl::Status CheckGroups(const Node& node, std::string_view name) {
  const Attr* attr = node.FindAttr(name);
  if (attr == nullptr) return absl::OkStatus();
  const std::vector<Dim>& dims = attr->AsDims();
  if (dims.size() != 1 || dims[0].is_unknown() || (dims[0].is_number() && dims[0].number() < 1)) {
    return InvalidArgument("attribute '", name, "' must be one positive number, found ",
                           Shape(dims).ToString());
  }
  return absl::OkStatus();
}

absl::Status CheckDivides(std::string_view what, const Dim& extent, const Dim& groups) {
  const Dim rest = Mod(extent, groups);
  if (!rest.is_number() || rest.number() == 0) return absl::OkStatus();
  return InvalidArgument(what, " ", extent.ToString(), " are not divisible by ", groups.ToString(),
                         " groups");
}

absl::Status CheckOperands(const InferContext& context) {
  const TensorType& input = context.input(0);
  const TensorType& kernel = context.input(1);
  if (input.dtype != kernel.dtype || input.dtype == DType::kBool) {
    return InvalidArgument("input and kernel must be numbers of one type, found ",
                           OperandText(context, 0), " and ", OperandText(context, 1));
  }
  if (input.rank() != kernel.rank() || input.rank() < 3 || input.rank() > 2 + kMaxSpace) {
    return InvalidArgument("input [N,C,space...] and kernel [O,C,space...] must have 1 to ",
                           kMaxSpace, " axes of space, found ", OperandText(context, 0), " and ",
                           OperandText(context, 1));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  WEIR_RETURN_IF_ERROR(CheckOperands(context));
  const Shape& input = context.input(0).shape;
  const Shape& kernel = context.input(1).shape;
  WEIR_RETURN_IF_ERROR(CheckWindow(context.node(), kConvolutionWindow, input.rank() - 2));
  WEIR_RETURN_IF_ERROR(CheckGroups(context.node(), "feature_group_count"));
  WEIR_RETURN_IF_ERROR(CheckGroups(context.node(), "batch_group_count"));
  const Convolution convolution = Convolution::Of(context.node());
  const Dim& features = convolution.feature_groups;
  const Dim& batches = convolution.batch_groups;
  if (features != Dim(1) && batches != Dim(1)) {
    return InvalidArgument("only one of feature_group_count (", features.ToString(),
                           ") and batch_group_count (", batches.ToString(), ") may exceed 1");
  }
  if (kernel[1] * features != input[1]) {
    return InvalidArgument("the kernel takes ", (kernel[1] * features).ToString(),
                           " input features in ", features.ToString(), " groups, the input has ",
                           input[1].ToString(), ": ", OperandText(context, 0), " and ",
                           OperandText(context, 1));
  }
  WEIR_RETURN_IF_ERROR(CheckDivides("output features", kernel[0], features * batches));
  WEIR_RETURN_IF_ERROR(CheckDivides("rows of the batch", input[0], batches));
  std::vector<Dim> dims = {batches == Dim(1) ? input[0] : FloorDiv(input[0], batches), kernel[0]};
  for (int i = 0; i < input.rank() - 2; ++i) {
    dims.push_back(convolution.window[i].OutputExtent(input[2 + i], kernel[2 + i]));
  }
  return std::vector<TensorType>{{context.input(0).dtype, Shape(std::move(dims))}};
}

// A tensor as [a, b, depth, height, width].
Tensor WithThreeAxesOfSpace(const Tensor& tensor) {
  Extents extents = tensor.extents();
  while (extents.size() < 2 + kMaxSpace) extents.insert(extents.begin() + 2, 1);
  return tensor.Contiguous().Reshape(extents);
}

// One output element as a sum in the order input feature, depth, height, width.
struct Window {
  absl::Span<const Tap> depth;
  absl::Span<const Tap> height;
  absl::Span<const Tap> width;
  int64_t features = 0;

  template <class T>
  T Sum(const Tensor& input, const T* base, const Tensor& kernel, const T* taps) const {
    const Extents& in = input.strides();
    const Extents& at = kernel.strides();
    Wide<T> sum = 0;
    for (int64_t c = 0; c < features; ++c) {
      for (const Tap& d : depth) {
        for (const Tap& h : height) {
          for (const Tap& w : width) {
            const T x = base[c * in[1] + d.base * in[2] + h.base * in[3] + w.base * in[4]];
            const T y = taps[c * at[1] + d.element * at[2] + h.element * at[3] + w.element * at[4]];
            sum += WideProduct(ToWide(x), ToWide(y));
          }
        }
      }
    }
    return FromWide<T>(sum);
  }
};

struct Groups {
  int64_t features = 1;
  int64_t batches = 1;
};

absl::StatusOr<Groups> EvaluateGroups(const EvalContext& context, const Tensor& input,
                                      const Tensor& kernel) {
  const Convolution convolution = Convolution::Of(context.node());
  Groups groups;
  WEIR_ASSIGN_OR_RETURN(groups.features, context.Evaluate(convolution.feature_groups));
  WEIR_ASSIGN_OR_RETURN(groups.batches, context.Evaluate(convolution.batch_groups));
  // A vectorized loop without iterations has no group, and no feature to group.
  if (groups.features == 0 || groups.batches == 0) return groups;
  if (groups.features < 0 || groups.batches < 0 ||
      kernel.extent(0) % (groups.features * groups.batches) != 0 ||
      input.extent(0) % groups.batches != 0) {
    return InvalidArgument("an input of ", ExtentsToString(input.extents()), " and a kernel of ",
                           ExtentsToString(kernel.extents()), " do not split into ",
                           groups.features, " feature groups and ", groups.batches,
                           " batch groups");
  }
  return groups;
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  const Convolution convolution = Convolution::Of(context.node());
  WEIR_ASSIGN_OR_RETURN(Tensor out, NewOutput(context, 0));
  WEIR_ASSIGN_OR_RETURN(const Groups groups,
                        EvaluateGroups(context, context.input(0), context.input(1)));
  if (out.num_elements() == 0) return std::vector<Tensor>{std::move(out)};
  const Tensor input = WithThreeAxesOfSpace(context.input(0));
  const Tensor kernel = WithThreeAxesOfSpace(context.input(1));
  const Tensor result = WithThreeAxesOfSpace(out);
  std::vector<WindowAxis> window = convolution.window;
  while (window.size() < kMaxSpace) window.insert(window.begin(), WindowAxis{});
  std::vector<std::vector<Tap>> taps[kMaxSpace];
  for (int i = 0; i < kMaxSpace; ++i) {
    taps[i] = window[i].Taps(result.extent(2 + i), kernel.extent(2 + i), input.extent(2 + i));
  }
  const int64_t features_in_group = kernel.extent(0) / (groups.features * groups.batches);
  VisitNumber(out.dtype(), [&]<class T>(TypeTag<T>) {
    T* next = out.mutable_data<T>();
    for (int64_t n = 0; n < result.extent(0); ++n) {
      for (int64_t o = 0; o < result.extent(1); ++o) {
        const int64_t group = o / features_in_group;
        const int64_t row = groups.batches > 1 ? group * result.extent(0) + n : n;
        const int64_t feature = groups.features > 1 ? group * kernel.extent(1) : 0;
        const T* base = input.data<T>() + row * input.strides()[0] + feature * input.strides()[1];
        const T* weights = kernel.data<T>() + o * kernel.strides()[0];
        for (const std::vector<Tap>& depth : taps[0]) {
          for (const std::vector<Tap>& height : taps[1]) {
            for (const std::vector<Tap>& width : taps[2]) {
              const Window at{depth, height, width, kernel.extent(1)};
              *next++ = at.Sum(input, base, kernel, weights);
            }
          }
        }
      }
    }
  });
  return std::vector<Tensor>{std::move(out)};
}

using Dims = std::vector<Dim>;

Dims Joined(Dims front, const Dims& dims, size_t from) {
  front.insert(front.end(), dims.begin() + from, dims.end());
  return front;
}

ValueId Reshaped(Builder& build, ValueId value, Dims shape) {
  return build.Apply("reshape", {value}, {{"shape", std::move(shape)}});
}

// Moves axis `from` to position `to`.
ValueId Moved(Builder& build, ValueId value, int from, int to) {
  if (!build.ok()) return value;
  Int64s permutation(build.type(value).rank());
  std::iota(permutation.begin(), permutation.end(), 0);
  permutation.erase(permutation.begin() + from);
  permutation.insert(permutation.begin() + to, from);
  return build.Apply("transpose", {value}, {{"permutation", std::move(permutation)}});
}

// Iterations join the batch, inside each batch group.
void FoldIntoBatch(PforRewrite& rewrite, const Convolution& convolution) {
  Builder& build = rewrite.build();
  const Dim m = rewrite.extent();
  const Dims input = rewrite.input_type(0).shape.dims();
  ValueId rows = rewrite.operand(0);
  const Dim groups = convolution.batch_groups;
  if (groups != Dim(1)) {
    rows = Reshaped(build, rows, Joined({m, groups, FloorDiv(input[0], groups)}, input, 1));
    rows = Moved(build, rows, 1, 0);
  }
  const Dims result = rewrite.output_type(0).shape.dims();
  const Dim folded = groups == Dim(1) ? m * input[0] : groups * (m * result[0]);
  rows = Reshaped(build, rows, Joined({folded}, input, 1));
  const ValueId out = build.Apply("convolution", {rows, rewrite.operand(1)}, rewrite.node().attrs);
  rewrite.Return(Reshaped(build, out, Joined({m}, result, 0)));
}

// Iterations join the output features, inside each group.
void FoldIntoFeatures(PforRewrite& rewrite, const Convolution& convolution) {
  Builder& build = rewrite.build();
  const Dim m = rewrite.extent();
  const Dims kernel = rewrite.input_type(1).shape.dims();
  const Dim groups = convolution.feature_groups * convolution.batch_groups;
  const Dim in_group = FloorDiv(kernel[0], groups);
  ValueId weights = rewrite.operand(1);
  weights = Reshaped(build, weights, Joined({m, groups, in_group}, kernel, 1));
  weights = Moved(build, weights, 1, 0);
  weights = Reshaped(build, weights, Joined({groups * m * in_group}, kernel, 1));
  ValueId out = build.Apply("convolution", {rewrite.operand(0), weights}, rewrite.node().attrs);
  const Dims result = rewrite.output_type(0).shape.dims();
  out = Reshaped(build, out, Joined({result[0], groups, m, in_group}, result, 2));
  rewrite.Return(Reshaped(build, Moved(build, out, 2, 0), Joined({m}, result, 0)));
}

// Each iteration is a group of its own: of features, or of the batch where that has groups already.
void FoldIntoGroups(PforRewrite& rewrite, const Convolution& convolution) {
  Builder& build = rewrite.build();
  const Dim m = rewrite.extent();
  const Dims input = rewrite.input_type(0).shape.dims();
  const Dims kernel = rewrite.input_type(1).shape.dims();
  ValueId rows = rewrite.operand(0);
  Attrs attrs = rewrite.node().attrs;
  if (convolution.batch_groups == Dim(1)) {
    rows = Reshaped(build, Moved(build, rows, 0, 1), Joined({input[0], m * input[1]}, input, 2));
    attrs["feature_group_count"] = Dims{m * convolution.feature_groups};
  } else {
    rows = Reshaped(build, rows, Joined({m * input[0]}, input, 1));
    attrs["batch_group_count"] = Dims{m * convolution.batch_groups};
  }
  const ValueId weights = Reshaped(build, rewrite.operand(1), Joined({m * kernel[0]}, kernel, 1));
  ValueId out = build.Apply("convolution", {rows, weights}, std::move(attrs));
  const Dims result = rewrite.output_type(0).shape.dims();
  out = Reshaped(build, out, Joined({result[0], m}, result, 1));
  rewrite.Return(Moved(build, out, 1, 0));
}

absl::Status Pfor(PforRewrite& rewrite) {
  const Convolution convolution = Convolution::Of(rewrite.node());
  if (!rewrite.input_varies(1)) {
    FoldIntoBatch(rewrite, convolution);
  } else if (!rewrite.input_varies(0)) {
    FoldIntoFeatures(rewrite, convolution);
  } else if (rewrite.extent() != Dim(0)) {
    FoldIntoGroups(rewrite, convolution);
  } else {
    // There are no convolutions of no groups.
    const TensorType& result = rewrite.output_type(0);
    rewrite.Return(Full(rewrite.build(), result.dtype, Joined({0}, result.shape.dims(), 0), 0));
  }
  return absl::OkStatus();
}

struct SampleSpec {
  std::string label;
  Extents input;
  Extents kernel;
  Attrs attrs = {};
  DType dtype = DType::kF32;
};

Sample MakeSample(SampleSpec spec) {
  const size_t space = spec.input.size() - 2;
  Sample sample{.label = std::move(spec.label),
                .operands = {Rand(spec.dtype, spec.input), Rand(spec.dtype, spec.kernel)},
                .attrs = std::move(spec.attrs)};
  for (const char* name : {"window_strides", "lhs_dilation", "rhs_dilation"}) {
    sample.attrs.try_emplace(name, Int64s(space, 1));
  }
  for (const char* name : {"padding_low", "padding_high"}) {
    sample.attrs.try_emplace(name, Int64s(space, 0));
  }
  // A kernel rounds each partial sum; sums of products below 4 cancel.
  if (spec.dtype == DType::kF32 || spec.dtype == DType::kC64) sample.absolute = 2e-5;
  if (spec.dtype == DType::kF64 || spec.dtype == DType::kC128) sample.absolute = 1e-13;
  if (spec.dtype == DType::kF16) sample.absolute = 5e-2;
  if (spec.dtype == DType::kBF16) sample.absolute = 5e-1;
  return sample;
}

std::vector<Sample> Samples() {
  const Attrs same = {{"padding_low", Int64s{1, 1}}, {"padding_high", Int64s{1, 1}}};
  std::vector<Sample> samples;
  for (DType dtype : kAllDTypes) {
    if (dtype == DType::kBool) continue;
    samples.push_back(
        MakeSample({StrCat("plane ", DTypeName(dtype)), {2, 3, 5, 6}, {4, 3, 3, 2}, same, dtype}));
  }
  auto add = [&](SampleSpec spec) { samples.push_back(MakeSample(std::move(spec))); };
  add({"line", {2, 3, 9}, {4, 3, 3}});
  add({"volume", {1, 2, 4, 5, 3}, {3, 2, 2, 3, 2}});
  add({"one by one", {2, 3, 4, 4}, {5, 3, 1, 1}});
  add({"strides",
       {1, 2, 7, 8},
       {3, 2, 3, 2},
       {{"window_strides", Int64s{2, 3}}, {"padding_high", Int64s{1, 0}}}});
  add({"negative padding",
       {1, 2, 7, 8},
       {3, 2, 3, 2},
       {{"padding_low", Int64s{-1, 2}}, {"padding_high", Int64s{1, -3}}}});
  add({"dilated kernel", {1, 2, 7, 8}, {3, 2, 3, 2}, {{"rhs_dilation", Int64s{2, 3}}}});
  add({"dilated input",
       {1, 2, 4, 3},
       {3, 2, 3, 2},
       {{"lhs_dilation", Int64s{2, 3}}, {"padding_low", Int64s{1, 0}}}});
  add({"everything",
       {2, 4, 6},
       {6, 2, 3},
       {{"window_strides", Int64s{2}},
        {"padding_low", Int64s{3}},
        {"padding_high", Int64s{-1}},
        {"lhs_dilation", Int64s{3}},
        {"rhs_dilation", Int64s{2}},
        {"feature_group_count", Dims{2}}}});
  add({"feature groups", {2, 4, 5, 5}, {6, 2, 3, 3}, {{"feature_group_count", Dims{2}}}});
  add({"each feature alone", {2, 3, 5, 5}, {6, 1, 3, 3}, {{"feature_group_count", Dims{3}}}});
  add({"batch groups", {4, 3, 5, 5}, {6, 3, 3, 3}, {{"batch_group_count", Dims{2}}}});
  add({"kernel larger than input", {1, 2, 2, 2}, {3, 2, 3, 3}});
  add({"no row", {0, 2, 5, 5}, {3, 2, 3, 3}});
  add({"no input feature", {2, 0, 5, 5}, {3, 0, 3, 3}});
  return samples;
}

}  // namespace

Convolution Convolution::Of(const Node& node) {
  return {.window = WindowOf(node, kConvolutionWindow),
          .feature_groups = GroupsAttr(node, "feature_group_count"),
          .batch_groups = GroupsAttr(node, "batch_group_count")};
}

OpDef ConvolutionOp() {
  OpDef op;
  op.name = "convolution";
  op.summary =
      "input [N,C,space...] and kernel [O,C/groups,space...] to [N,O,space...] "
      "(StableHLO convolution)";
  op.inputs = {2, 2};
  op.attrs = {{"window_strides", Attr::Kind::kInts},
              {"padding_low", Attr::Kind::kInts},
              {"padding_high", Attr::Kind::kInts},
              {"lhs_dilation", Attr::Kind::kInts},
              {"rhs_dilation", Attr::Kind::kInts},
              {"feature_group_count", Attr::Kind::kDims, /*required=*/false},
              {"batch_group_count", Attr::Kind::kDims, /*required=*/false}};
  op.infer = Infer;
  op.reference = Evaluate;
  op.pfor = Pfor;
  op.reassociates = true;
  op.samples = Samples;
  return op;
}

}  // namespace weir
