// Products, convolutions, pooling and normalization.
#include <algorithm>
#include <numeric>

#include "common/base/status.h"
#include "server/compiler/import/onnx_node.h"

namespace weir::onnx_import {
namespace {

// Where a window may stand.
struct Window {
  Int64s kernel;
  Int64s strides;
  Int64s dilations;
  Int64s low;
  Int64s high;
};

// Far above what any model has; sums and products of a few such numbers are exact.
constexpr int64_t kMostInWindow = int64_t{1} << 30;

absl::Status CheckNumbers(std::initializer_list<absl::Span<const int64_t>> lists) {
  for (absl::Span<const int64_t> list : lists) {
    for (int64_t number : list) {
      if (number < -kMostInWindow || number > kMostInWindow) {
        return InvalidArgument("a window with ", number, ": at most ", kMostInWindow,
                               " is allowed");
      }
    }
  }
  return absl::OkStatus();
}

// The extent of a spatial axis, for padding that follows from it.
absl::StatusOr<int64_t> SpatialExtent(OnnxNode& node, int axis, std::string_view why) {
  const Dim extent = node.type(0).shape[axis + 2];
  if (!extent.is_number()) return node.Unsupported(StrCat(why, " over a symbolic dimension"));
  WEIR_RETURN_IF_ERROR(CheckNumbers({{extent.number()}}));
  return extent.number();
}

absl::StatusOr<Window> WindowOf(OnnxNode& node, Int64s kernel) {
  const int space = static_cast<int>(kernel.size());
  Window w;
  w.kernel = std::move(kernel);
  w.strides = node.Ints("strides", Int64s(space, 1));
  w.dilations = node.Ints("dilations", Int64s(space, 1));
  const Int64s pads = node.Ints("pads", Int64s(2 * space, 0));
  if (static_cast<int>(w.strides.size()) != space ||
      static_cast<int>(w.dilations.size()) != space || static_cast<int>(pads.size()) != 2 * space ||
      node.rank(0) != space + 2) {
    return InvalidArgument("strides, dilations, pads and kernel do not fit ",
                           node.type(0).ToString());
  }
  WEIR_RETURN_IF_ERROR(CheckNumbers({w.kernel, w.strides, w.dilations, pads}));
  for (int i = 0; i < space; ++i) {
    if (w.strides[i] < 1 || w.dilations[i] < 1 || w.kernel[i] < 1) {
      return InvalidArgument("strides, dilations and kernel must be positive");
    }
  }
  w.low.assign(pads.begin(), pads.begin() + space);
  w.high.assign(pads.begin() + space, pads.end());
  const std::string automatic = node.String("auto_pad", "NOTSET");
  if (automatic == "VALID") {
    w.low.assign(space, 0);
    w.high.assign(space, 0);
  } else if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    for (int i = 0; i < space; ++i) {
      WEIR_ASSIGN_OR_RETURN(const int64_t extent, SpatialExtent(node, i, "auto_pad"));
      const int64_t out = (extent + w.strides[i] - 1) / w.strides[i];
      const int64_t need = std::max<int64_t>(
          0, (out - 1) * w.strides[i] + (w.kernel[i] - 1) * w.dilations[i] + 1 - extent);
      w.low[i] = automatic == "SAME_UPPER" ? need / 2 : need - need / 2;
      w.high[i] = need - w.low[i];
    }
  }
  return w;
}

absl::StatusOr<Int64s> KernelOf(OnnxNode& node, int operand) {
  const Shape shape = node.type(operand).shape;
  Int64s kernel;
  for (int i = 2; i < shape.rank(); ++i) {
    if (!shape[i].is_number()) return node.Unsupported("a kernel of symbolic extent");
    kernel.push_back(shape[i].number());
  }
  return kernel;
}

// [C] beside [N,C,space...].
ValueId PerChannel(Builder& b, ValueId vector, int rank) {
  Int64s axes;
  for (int i = 0; i < rank; ++i) {
    if (i != 1) axes.push_back(i);
  }
  return ExpandDims(b, vector, axes);
}

ValueId AddBias(OnnxNode& node, ValueId value, int operand) {
  if (!node.has_input(operand)) return value;
  Builder& b = node.b();
  return Binary(b, "add", value, PerChannel(b, node.input(operand), b.type(value).rank()));
}

// Extra room at the end so that the last, cut window counts (ceil_mode).
absl::Status RoundUp(OnnxNode& node, Window* w, Int64s* extra) {
  extra->assign(w->kernel.size(), 0);
  if (node.Int("ceil_mode", 0) == 0) return absl::OkStatus();
  for (size_t i = 0; i < w->kernel.size(); ++i) {
    const Dim extent = node.type(0).shape[static_cast<int>(i) + 2];
    if (!extent.is_number()) return node.Unsupported("ceil_mode over a symbolic dimension");
    const int64_t reach = (w->kernel[i] - 1) * w->dilations[i] + 1;
    const int64_t room = extent.number() + w->low[i] + w->high[i] - reach;
    const int64_t rest = room % w->strides[i];
    if (rest != 0) (*extra)[i] = w->strides[i] - rest;
  }
  return absl::OkStatus();
}

ValueId ReduceWindow(Builder& b, ValueId x, const char* kind, const Window& w,
                     const Int64s& extra) {
  auto full = [](const Int64s& space, int64_t first) {
    Int64s out = {first, first};
    out.insert(out.end(), space.begin(), space.end());
    return out;
  };
  Int64s high = w.high;
  for (size_t i = 0; i < high.size(); ++i) high[i] += extra[i];
  return b.Apply("reduce_window", {x},
                 {{"kind", kind},
                  {"window_dimensions", full(w.kernel, 1)},
                  {"window_strides", full(w.strides, 1)},
                  {"base_dilations", Int64s(w.kernel.size() + 2, 1)},
                  {"window_dilations", full(w.dilations, 1)},
                  {"padding_low", full(w.low, 0)},
                  {"padding_high", full(high, 0)}});
}

Int64s SpaceAxes(int rank) {
  Int64s axes(std::max(0, rank - 2));
  std::iota(axes.begin(), axes.end(), 2);
  return axes;
}

// The kernel [C, M/groups, space...] of a transposed convolution as that of the plain one over the
// spread input: [M, C/groups, space...], turned around in space.
ValueId TurnedKernel(OnnxNode& node, int64_t groups) {
  Builder& b = node.b();
  const Shape shape = node.type(1).shape;
  const ValueId k = b.Apply("reverse", {node.input(1)}, {{"axes", SpaceAxes(shape.rank())}});
  std::vector<Dim> split = {groups, FloorDiv(shape[0], Dim(groups)), shape[1]};
  std::vector<Dim> joined = {shape[1] * groups, FloorDiv(shape[0], Dim(groups))};
  Int64s order = {0, 2, 1};
  for (int i = 2; i < shape.rank(); ++i) {
    split.push_back(shape[i]);
    joined.push_back(shape[i]);
    order.push_back(i + 1);
  }
  return Reshape(b, Transpose(b, Reshape(b, k, std::move(split)), order), std::move(joined));
}

}  // namespace

absl::Status TranslateMatMul(OnnxNode& node) {
  node.Return(MatMul(node.b(), node.input(0), node.input(1)));
  return absl::OkStatus();
}

absl::Status TranslateGemm(OnnxNode& node) {
  Builder& b = node.b();
  ValueId x = node.input(0);
  ValueId y = node.input(1);
  if (node.Int("transA", 0) != 0) x = Transpose(b, x, {1, 0});
  if (node.Int("transB", 0) != 0) y = Transpose(b, y, {1, 0});
  ValueId value = MatMul(b, x, y);
  const double alpha = node.Float("alpha", 1.0);
  const double beta = node.Float("beta", 1.0);
  if (alpha != 1.0) value = Binary(b, "multiply", value, alpha);
  if (node.has_input(2) && beta != 0.0) {
    ValueId c = node.input(2);
    if (beta != 1.0) c = Binary(b, "multiply", c, beta);
    value = Binary(b, "add", value, c);
  }
  node.Return(value);
  return absl::OkStatus();
}

absl::Status TranslateConv(OnnxNode& node) {
  WEIR_ASSIGN_OR_RETURN(Int64s kernel, KernelOf(node, 1));
  WEIR_ASSIGN_OR_RETURN(const Window w, WindowOf(node, std::move(kernel)));
  const size_t space = w.kernel.size();
  const ValueId value =
      node.b().Apply("convolution", {node.input(0), node.input(1)},
                     {{"window_strides", w.strides},
                      {"padding_low", w.low},
                      {"padding_high", w.high},
                      {"lhs_dilation", Int64s(space, 1)},
                      {"rhs_dilation", w.dilations},
                      {"feature_group_count", std::vector<Dim>{node.Int("group", 1)}}});
  node.Return(AddBias(node, value, 2));
  return absl::OkStatus();
}

// The gradient of a convolution: the input is spread by the stride, the kernel turned around.
absl::Status TranslateConvTranspose(OnnxNode& node) {
  Builder& b = node.b();
  WEIR_ASSIGN_OR_RETURN(Int64s kernel, KernelOf(node, 1));
  const std::string automatic = node.String("auto_pad", "NOTSET");
  const int space = static_cast<int>(kernel.size());
  const int rank = space + 2;
  Window w;
  w.kernel = kernel;
  w.strides = node.Ints("strides", Int64s(space, 1));
  w.dilations = node.Ints("dilations", Int64s(space, 1));
  const Int64s pads = node.Ints("pads", Int64s(2 * space, 0));
  const Int64s extra = node.Ints("output_padding", Int64s(space, 0));
  const Int64s wanted = node.Ints("output_shape", {});
  const size_t axes = static_cast<size_t>(space);
  if (w.strides.size() != axes || w.dilations.size() != axes || pads.size() != 2 * axes ||
      extra.size() != axes || (!wanted.empty() && wanted.size() < axes) || node.rank(0) != rank) {
    return InvalidArgument("strides, dilations, pads, output_padding and output_shape do not fit ",
                           node.type(0).ToString());
  }
  WEIR_RETURN_IF_ERROR(CheckNumbers({kernel, w.strides, w.dilations, pads, extra, wanted}));
  for (int i = 0; i < space; ++i) {
    const int64_t reach = (kernel[i] - 1) * w.dilations[i];
    int64_t begin = pads[i];
    int64_t end = pads[space + i];
    const bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
    if (!wanted.empty() || same) {
      WEIR_ASSIGN_OR_RETURN(const int64_t extent, SpatialExtent(node, i, "output_shape"));
      const int64_t full = (extent - 1) * w.strides[i] + extra[i] + reach + 1;
      const int64_t target =
          wanted.empty() ? extent * w.strides[i] : wanted[wanted.size() - space + i];
      const int64_t total = full - target;
      begin = automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
      end = total - begin;
      if (automatic == "SAME_LOWER" || automatic == "NOTSET") std::swap(begin, end);
      if (automatic == "SAME_LOWER") std::swap(begin, end);
    }
    w.low.push_back(reach - begin);
    w.high.push_back(reach - end + extra[i]);
  }
  const int64_t groups = node.Int("group", 1);
  if (groups < 1) return InvalidArgument("group ", groups, " must be positive");
  const ValueId k = TurnedKernel(node, groups);
  const ValueId value = b.Apply("convolution", {node.input(0), k},
                                {{"window_strides", Int64s(space, 1)},
                                 {"padding_low", w.low},
                                 {"padding_high", w.high},
                                 {"lhs_dilation", w.strides},
                                 {"rhs_dilation", w.dilations},
                                 {"feature_group_count", std::vector<Dim>{groups}}});
  node.Return(AddBias(node, value, 2));
  return absl::OkStatus();
}

absl::Status TranslateMaxPool(OnnxNode& node) {
  if (node.wants_output(1)) return node.Unsupported("the output 'Indices'");
  WEIR_ASSIGN_OR_RETURN(Window w, WindowOf(node, node.Ints("kernel_shape", {})));
  Int64s extra;
  WEIR_RETURN_IF_ERROR(RoundUp(node, &w, &extra));
  node.Return(ReduceWindow(node.b(), node.input(0), "max", w, extra));
  return absl::OkStatus();
}

absl::Status TranslateAveragePool(OnnxNode& node) {
  Builder& b = node.b();
  WEIR_ASSIGN_OR_RETURN(Window w, WindowOf(node, node.Ints("kernel_shape", {})));
  Int64s extra;
  WEIR_RETURN_IF_ERROR(RoundUp(node, &w, &extra));
  const ValueId sum = ReduceWindow(b, node.input(0), "sum", w, extra);
  // How many elements each window has; one row and channel stand for all.
  std::vector<Dim> ones_shape = node.type(0).shape.dims();
  ones_shape[0] = 1;
  ones_shape[1] = 1;
  ValueId ones = Full(b, node.type(0).dtype, ones_shape, 1);
  Window counted = w;
  if (node.Int("count_include_pad", 0) != 0) {
    Int64s low = {0, 0};
    Int64s high = {0, 0};
    low.insert(low.end(), w.low.begin(), w.low.end());
    high.insert(high.end(), w.high.begin(), w.high.end());
    ones = b.Apply("pad", {ones, b.Constant(ScalarOf(node.type(0).dtype, 1))},
                   {{"low", low}, {"high", high}, {"interior", Int64s(low.size(), 0)}});
    counted.low.assign(w.low.size(), 0);
    counted.high.assign(w.high.size(), 0);
  }
  node.Return(Binary(b, "divide", sum, ReduceWindow(b, ones, "sum", counted, extra)));
  return absl::OkStatus();
}

absl::Status TranslateGlobalAveragePool(OnnxNode& node) {
  node.Return(Mean(node.b(), node.input(0), SpaceAxes(node.rank(0)), ReducedAxes::kKeep));
  return absl::OkStatus();
}

absl::Status TranslateGlobalMaxPool(OnnxNode& node) {
  node.Return(
      Reduce(node.b(), "reduce_max", node.input(0), SpaceAxes(node.rank(0)), ReducedAxes::kKeep));
  return absl::OkStatus();
}

absl::Status TranslateGlobalLpPool(OnnxNode& node) {
  Builder& b = node.b();
  const double p = static_cast<double>(node.Int("p", 2));
  const ValueId powers = Binary(b, "power", b.Apply("abs", {node.input(0)}), p);
  const ValueId sum = Reduce(b, "reduce_sum", powers, SpaceAxes(node.rank(0)), ReducedAxes::kKeep);
  node.Return(Binary(b, "power", sum, 1.0 / p));
  return absl::OkStatus();
}

absl::Status TranslateBatchNormalization(OnnxNode& node) {
  if (node.Int("training_mode", 0) != 0) return node.Unsupported("training_mode");
  Builder& b = node.b();
  const int rank = node.rank(0);
  auto channel = [&](int i) { return PerChannel(b, node.input(i), rank); };
  const ValueId deviation =
      b.Apply("sqrt", {Binary(b, "add", channel(4), node.Float("epsilon", 1e-5))});
  const ValueId centred = Binary(b, "subtract", node.input(0), channel(3));
  const ValueId scaled = Binary(b, "multiply", centred, Binary(b, "divide", channel(1), deviation));
  node.Return(Binary(b, "add", scaled, channel(2)));
  return absl::OkStatus();
}

namespace {

struct Normalized {
  ValueId value;
  ValueId mean;
  ValueId inverse_deviation;
};

Normalized Normalize(Builder& b, ValueId x, const Int64s& axes, double epsilon) {
  const ValueId mean = Mean(b, x, axes, ReducedAxes::kKeep);
  const ValueId centred = Binary(b, "subtract", x, mean);
  const ValueId variance = Mean(b, b.Apply("square", {centred}), axes, ReducedAxes::kKeep);
  const ValueId deviation = b.Apply("sqrt", {Binary(b, "add", variance, epsilon)});
  const ValueId inverse = b.Apply("reciprocal", {deviation});
  return {Binary(b, "multiply", centred, inverse), mean, inverse};
}

}  // namespace

absl::Status TranslateLayerNormalization(OnnxNode& node) {
  Builder& b = node.b();
  const int rank = node.rank(0);
  WEIR_ASSIGN_OR_RETURN(const int axis, node.Axis(node.Int("axis", -1), rank));
  Int64s axes(rank - axis);
  std::iota(axes.begin(), axes.end(), axis);
  const Normalized n = Normalize(b, node.input(0), axes, node.Float("epsilon", 1e-5));
  ValueId value = Binary(b, "multiply", n.value, node.input(1));
  if (node.has_input(2)) value = Binary(b, "add", value, node.input(2));
  node.Return(value);
  node.Return(n.mean);
  node.Return(n.inverse_deviation);
  return absl::OkStatus();
}

absl::Status TranslateInstanceNormalization(OnnxNode& node) {
  Builder& b = node.b();
  const int rank = node.rank(0);
  const Normalized n = Normalize(b, node.input(0), SpaceAxes(rank), node.Float("epsilon", 1e-5));
  const ValueId scaled = Binary(b, "multiply", n.value, PerChannel(b, node.input(1), rank));
  node.Return(Binary(b, "add", scaled, PerChannel(b, node.input(2), rank)));
  return absl::OkStatus();
}

absl::Status TranslateLRN(OnnxNode& node) {
  Builder& b = node.b();
  const int rank = node.rank(0);
  const int64_t size = node.Int("size", 1);
  if (rank < 2 || size < 1) {
    return InvalidArgument("size ", size, " over the channels of ", node.type(0).ToString());
  }
  Int64s window(rank, 1);
  Int64s low(rank, 0);
  Int64s high(rank, 0);
  window[1] = size;
  low[1] = (size - 1) / 2;
  high[1] = size - 1 - low[1];
  const ValueId x = node.input(0);
  const ValueId sum = b.Apply("reduce_window", {b.Apply("square", {x})},
                              {{"kind", "sum"},
                               {"window_dimensions", window},
                               {"window_strides", Int64s(rank, 1)},
                               {"base_dilations", Int64s(rank, 1)},
                               {"window_dilations", Int64s(rank, 1)},
                               {"padding_low", low},
                               {"padding_high", high}});
  const double alpha = node.Float("alpha", 1e-4) / static_cast<double>(size);
  const ValueId base = Binary(b, "add", Binary(b, "multiply", sum, alpha), node.Float("bias", 1.0));
  node.Return(Binary(b, "divide", x, Binary(b, "power", base, node.Float("beta", 0.75))));
  return absl::OkStatus();
}

}  // namespace weir::onnx_import
