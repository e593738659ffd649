#include <limits>

#include "common/base/status.h"
#include "common/ops/axes.h"
#include "common/ops/combine.h"
#include "common/ops/linalg/accumulate.h"
#include "common/ops/nn/window.h"

namespace weir {
namespace {

constexpr WindowAttrs kWindow = {.base_dilations = "base_dilations",
                                 .window_dilations = "window_dilations"};

std::optional<Combiner> KindOf(const Node& node) {
  const std::string& kind = node.attr("kind").AsString();
  if (kind == "sum") return Combiner::kAdd;
  if (kind == "prod") return Combiner::kMul;
  if (kind == "max") return Combiner::kMax;
  if (kind == "min") return Combiner::kMin;
  return std::nullopt;
}

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  const TensorType& type = context.input(0);
  const std::optional<Combiner> kind = KindOf(context.node());
  if (!kind.has_value()) {
    return InvalidArgument("attribute 'kind' must be max, min, sum or prod, found '",
                           context.attr("kind").AsString(), "'");
  }
  if (type.dtype == DType::kBool || !IsDefined(*kind, type.dtype)) {
    return InvalidArgument(context.attr("kind").AsString(), " is not defined for ",
                           DTypeName(type.dtype));
  }
  WEIR_RETURN_IF_ERROR(CheckWindow(context.node(), kWindow, type.rank()));
  const Int64s& window = context.attr("window_dimensions").AsInts();
  WEIR_RETURN_IF_ERROR(CheckLength("window_dimensions", window.size(), type.rank()));
  const std::vector<WindowAxis> axes = WindowOf(context.node(), kWindow);
  std::vector<Dim> dims;
  for (int i = 0; i < type.rank(); ++i) {
    if (window[i] < 1 || window[i] > std::numeric_limits<int32_t>::max()) {
      return InvalidArgument(
          "attribute 'window_dimensions' must be positive and below 2^31, found ", window[i]);
    }
    dims.push_back(axes[i].OutputExtent(type.shape[i], window[i]));
  }
  return std::vector<TensorType>{{type.dtype, Shape(std::move(dims))}};
}

// Sums and products in wide arithmetic, extremes as they are.
template <Combiner combiner, class T>
struct WindowFold {
  static constexpr bool kWide = combiner == Combiner::kAdd || combiner == Combiner::kMul;
  using Narrow = std::conditional_t<kIsHalf<T>, float, T>;
  using Element = std::conditional_t<kWide, Wide<T>, Narrow>;

  static Element Start() { return Identity<combiner, Element>(); }
  static Element Load(T x) {
    if constexpr (kWide) {
      return ToWide(x);
    } else {
      return static_cast<Element>(x);
    }
  }
  static Element Next(Element a, Element b) {
    if constexpr (combiner == Combiner::kMul) {
      return WideProduct(a, b);
    } else {
      return Combine<combiner, Element>(a, b);
    }
  }
  static T Store(Element x) {
    if constexpr (kWide) {
      return FromWide<T>(x);
    } else {
      return static_cast<T>(x);
    }
  }
};

// Folds the elements of one window, axis after axis, in row-major order.
template <class Fold, class T, class Element>
Element FoldWindow(const T* data, absl::Span<const std::vector<Tap>* const> taps,
                   absl::Span<const int64_t> strides, Element value) {
  if (taps.empty()) return Fold::Next(value, Fold::Load(*data));
  for (const Tap& tap : *taps[0]) {
    value =
        FoldWindow<Fold>(data + tap.base * strides[0], taps.subspan(1), strides.subspan(1), value);
  }
  return value;
}

template <class Fold, class T>
void FoldWindows(const Tensor& input, absl::Span<const std::vector<std::vector<Tap>>> taps,
                 Tensor* out) {
  T* next = out->mutable_data<T>();
  Extents index(out->rank(), 0);
  std::vector<const std::vector<Tap>*> at(out->rank());
  do {
    for (int axis = 0; axis < out->rank(); ++axis) at[axis] = &taps[axis][index[axis]];
    *next++ = Fold::Store(
        FoldWindow<Fold>(input.data<T>(), absl::MakeConstSpan(at), input.strides(), Fold::Start()));
  } while (NextIndex(out->extents(), &index));
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  WEIR_ASSIGN_OR_RETURN(Tensor out, NewOutput(context, 0));
  if (out.num_elements() == 0) return std::vector<Tensor>{std::move(out)};
  const Tensor& input = context.input(0);
  const std::vector<WindowAxis> axes = WindowOf(context.node(), kWindow);
  const Int64s& window = context.attr("window_dimensions").AsInts();
  std::vector<std::vector<std::vector<Tap>>> taps;
  for (int i = 0; i < input.rank(); ++i) {
    taps.push_back(axes[i].Taps(out.extent(i), window[i], input.extent(i)));
  }
  VisitCombiner(*KindOf(context.node()), [&]<class K>(K) {
    VisitNumber(out.dtype(), [&]<class T>(TypeTag<T>) {
      if constexpr (K::value == Combiner::kAdd || K::value == Combiner::kMul ||
                    ((K::value == Combiner::kMin || K::value == Combiner::kMax) &&
                     !kIsComplex<T>)) {
        FoldWindows<WindowFold<K::value, T>, T>(input, taps, &out);
      }
    });
  });
  return std::vector<Tensor>{std::move(out)};
}

absl::Status Pfor(PforRewrite& rewrite) {
  Attrs attrs = rewrite.node().attrs;
  for (const char* name :
       {"window_dimensions", "window_strides", "base_dilations", "window_dilations"}) {
    attrs[name] = Prepend<int64_t>(1, attrs[name].AsInts());
  }
  for (const char* name : {"padding_low", "padding_high"}) {
    attrs[name] = Prepend<int64_t>(0, attrs[name].AsInts());
  }
  return ReturnStacked(rewrite, std::move(attrs));
}

Sample MakeSample(std::string label, std::string kind, SampleOperand operand, Int64s window,
                  Attrs attrs = {}) {
  const size_t rank = operand.extents.size();
  attrs["kind"] = std::move(kind);
  attrs["window_dimensions"] = std::move(window);
  for (const char* name : {"window_strides", "base_dilations", "window_dilations"}) {
    attrs.try_emplace(name, Int64s(rank, 1));
  }
  for (const char* name : {"padding_low", "padding_high"}) {
    attrs.try_emplace(name, Int64s(rank, 0));
  }
  Sample sample{.label = std::move(label), .operands = {std::move(operand)}};
  sample.attrs = std::move(attrs);
  const std::string& used = sample.attrs["kind"].AsString();
  const DType dtype = sample.operands[0].dtype;
  if (!IsInteger(dtype) && (used == "sum" || used == "prod")) {
    sample.ulp = 4;
    sample.absolute = dtype == DType::kF16 ? 2e-2 : dtype == DType::kBF16 ? 2e-1 : 1e-5;
  }
  return sample;
}

std::vector<Sample> Samples() {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Attrs pooling = {{"window_strides", Int64s{1, 1, 2, 2}},
                         {"padding_low", Int64s{0, 0, 1, 0}},
                         {"padding_high", Int64s{0, 0, 0, 1}}};
  std::vector<Sample> samples;
  for (const char* kind : {"max", "min", "sum", "prod"}) {
    for (DType dtype : kAllDTypes) {
      if (dtype == DType::kBool) continue;
      if (IsComplex(dtype) && (kind[0] == 'm')) continue;
      samples.push_back(MakeSample(StrCat(kind, " ", DTypeName(dtype)), kind,
                                   Rand(dtype, {2, 3, 5, 6}), {1, 1, 3, 2}, pooling));
    }
  }
  auto add = [&](std::string label, std::string kind, Extents extents, Int64s window, Attrs attrs) {
    samples.push_back(MakeSample(std::move(label), std::move(kind),
                                 Rand(DType::kF32, std::move(extents)), std::move(window),
                                 std::move(attrs)));
  };
  add("over the batch", "sum", {4, 3}, {2, 3}, {});
  add("dilations", "max", {7, 5}, {2, 3},
      {{"window_dilations", Int64s{3, 1}}, {"base_dilations", Int64s{1, 2}}});
  add("negative padding", "sum", {7, 5}, {2, 2},
      {{"padding_low", Int64s{-2, 1}}, {"padding_high", Int64s{0, -1}}});
  add("only padding", "min", {2}, {2}, {{"padding_low", Int64s{4}}});
  add("running sum", "sum", {6}, {6}, {{"padding_low", Int64s{5}}});
  add("window larger than input", "max", {2, 2}, {3, 1}, {});
  add("no row", "max", {0, 4}, {1, 2}, {});
  add("scalar", "sum", {}, {}, {});
  samples.push_back(MakeSample("not a number", "max",
                               Exactly(Tensor::Of<float>({6}, {1, nan, 3, -0.0f, 0.0f, -1})), {2}));
  return samples;
}

}  // namespace

OpDef ReduceWindowOp() {
  OpDef op;
  op.name = "reduce_window";
  op.summary =
      "max, min, sum or prod of each window, of every axis (StableHLO reduce_window with "
      "the kind's identity as initial value)";
  op.attrs = {{"kind", Attr::Kind::kString},           {"window_dimensions", Attr::Kind::kInts},
              {"window_strides", Attr::Kind::kInts},   {"base_dilations", Attr::Kind::kInts},
              {"window_dilations", Attr::Kind::kInts}, {"padding_low", Attr::Kind::kInts},
              {"padding_high", Attr::Kind::kInts}};
  op.infer = Infer;
  op.reference = Evaluate;
  op.pfor = Pfor;
  op.reassociates = true;
  op.samples = Samples;
  return op;
}

}  // namespace weir
