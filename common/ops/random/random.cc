#include "common/ops/random/random.h"

#include "common/base/status.h"
#include "common/ops/axes.h"
#include "common/ops/scalar/erf.h"

namespace weir::random {
namespace {

// Words of at most 32 bits come four to a block, wider ones two.
template <class T>
inline constexpr int kPerBlock = sizeof(T) <= 4 ? 4 : 2;

template <class T>
auto WordOf(const Block& block, int i) {
  if constexpr (sizeof(T) <= 4) {
    return block.word[i];
  } else {
    return block.pair(i);
  }
}

template <class T, class Make>
void Fill(uint64_t draw_key, uint64_t key, int64_t count, void* out, Make make) {
  T* values = static_cast<T*>(out);
  for (int64_t first = 0; first < count; first += kPerBlock<T>) {
    const Block block = Philox(draw_key, static_cast<uint64_t>(first / kPerBlock<T>), key);
    for (int i = 0; i < kPerBlock<T> && first + i < count; ++i) {
      values[first + i] = make(WordOf<T>(block, i));
    }
  }
}

template <class T>
void FillBits(uint64_t draw_key, uint64_t key, int64_t count, void* out) {
  Fill<T>(draw_key, key, count, out, [](auto word) { return static_cast<T>(word); });
}

template <class T>
struct UniformBits;
template <>
struct UniformBits<float> {
  static constexpr int value = 24;
};
template <>
struct UniformBits<double> {
  static constexpr int value = 53;
};
template <>
struct UniformBits<Half> {
  static constexpr int value = 11;
};
template <>
struct UniformBits<BFloat16> {
  static constexpr int value = 8;
};

template <class T>
using Arithmetic = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class T>
void FillUniform(uint64_t draw_key, uint64_t key, int64_t count, void* out) {
  Fill<T>(draw_key, key, count, out, [](auto word) {
    constexpr int kBits = UniformBits<T>::value;
    const auto top = static_cast<int64_t>(word >> (8 * sizeof(word) - kBits));
    return static_cast<T>(static_cast<Arithmetic<T>>(top) /
                          static_cast<Arithmetic<T>>(int64_t{1} << kBits));
  });
}

template <class T>
void FillNormal(uint64_t draw_key, uint64_t key, int64_t count, void* out) {
  using A = Arithmetic<T>;
  Fill<T>(draw_key, key, count, out, [](auto word) {
    constexpr int kBits = UniformBits<A>::value;
    // An odd numerator: the points are symmetric about 0 and stay off -1 and 1.
    const auto top = static_cast<int64_t>(word >> (8 * sizeof(word) - kBits));
    const A point =
        static_cast<A>(2 * top + 1 - (int64_t{1} << kBits)) / static_cast<A>(int64_t{1} << kBits);
    return static_cast<T>(scalar::ErfInv(point) * static_cast<A>(1.41421356237309504880L));
  });
}

}  // namespace

FillFn FindBits(DType dtype) {
  FillFn found = nullptr;
  VisitDType(dtype, [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) found = &FillBits<T>;
  });
  return found;
}

FillFn FindUniform(DType dtype) {
  FillFn found = nullptr;
  VisitDType(dtype, [&]<class T>(TypeTag<T>) {
    if constexpr (requires { UniformBits<T>::value; }) found = &FillUniform<T>;
  });
  return found;
}

FillFn FindNormal(DType dtype) {
  FillFn found = nullptr;
  VisitDType(dtype, [&]<class T>(TypeTag<T>) {
    if constexpr (requires { UniformBits<T>::value; }) found = &FillNormal<T>;
  });
  return found;
}

absl::StatusOr<std::vector<TensorType>> InferDraw(const InferContext& context,
                                                  FillFn (*find)(DType)) {
  const TensorType& key = context.input(0);
  if (key.dtype != DType::kU64) {
    return InvalidArgument("operand 0 is the key and must be u64, found ", key.ToString());
  }
  const DType dtype = context.attr("dtype").AsDType();
  if (find(dtype) == nullptr) {
    return InvalidArgument("does not draw ", DTypeName(dtype), "; draw another type and convert");
  }
  std::vector<Dim> dims = key.shape.dims();
  for (const Dim& dim : context.attr("shape").AsDims()) dims.push_back(dim);
  return std::vector<TensorType>{{dtype, Shape(std::move(dims))}};
}

absl::StatusOr<std::vector<Tensor>> EvaluateDraw(EvalContext& context, FillFn (*find)(DType)) {
  const Tensor keys = context.input(0).Contiguous();
  WEIR_ASSIGN_OR_RETURN(Tensor out, NewOutput(context, 0));
  if (out.num_elements() == 0) return std::vector<Tensor>{std::move(out)};
  const int64_t count = out.num_elements() / keys.num_elements();
  const uint64_t draw_key = DrawKey(context.attr("seed").AsInt(), context.attr("draw").AsInt());
  const FillFn fill = find(out.dtype());
  for (int64_t row = 0; row < keys.num_elements(); ++row) {
    fill(draw_key, keys.data<uint64_t>()[row], count,
         out.raw_mutable_data() + row * count * SizeOf(out.dtype()));
  }
  return std::vector<Tensor>{std::move(out)};
}

std::vector<Sample> DrawSamples(absl::Span<const DType> dtypes) {
  std::vector<Sample> samples;
  auto add = [&](std::string label, SampleOperand key, DType dtype, std::vector<Dim> shape) {
    samples.push_back({.label = std::move(label),
                       .operands = {std::move(key)},
                       .attrs = {{"seed", 7}, {"draw", 3}, {"shape", shape}, {"dtype", dtype}}});
  };
  for (DType dtype : dtypes) add("", Rand(DType::kU64, {}, 0, 1e18), dtype, {3, 5});
  add("scalar", Rand(DType::kU64, {}, 0, 1e18), dtypes[0], {});
  add("a key for each row", Rand(DType::kU64, {2, 3}, 0, 1e18), dtypes[0], {5});
  add("no keys", Rand(DType::kU64, {0}, 0, 1), dtypes[0], {5});
  add("empty", Rand(DType::kU64, {2}, 0, 1e18), dtypes[0], {0, 2});
  return samples;
}

OpDef DrawingOp(std::string_view name, std::string_view summary, InferFn infer, EvalFn reference,
                SamplesFn samples) {
  OpDef op;
  op.name = name;
  op.summary = summary;
  op.inputs = {1, 1};
  op.attrs = {{"seed", Attr::Kind::kInt},
              {"draw", Attr::Kind::kInt},
              {"shape", Attr::Kind::kDims},
              {"dtype", Attr::Kind::kDType}};
  op.infer = infer;
  op.reference = reference;
  op.pfor = [](PforRewrite& rewrite) { return ReturnStacked(rewrite, rewrite.node().attrs); };
  op.samples = samples;
  return op;
}

}  // namespace weir::random
