// Family constructor for element-wise ops: from one scalar functor come the type rule, the
// reference evaluation, the tile loops for each instruction set and the pfor rule. Only op files
// include this; stateless.
//
//   struct Exp {
//     template <class T>
//     WEIR_ALWAYS_INLINE T operator()(T x) const { return scalar::Exp(x); }
//   };
//   OpDef ExpOp() { return Elementwise<Exp, Same<1>, Floats>({.name = "exp", .summary = "...",
//   .cost = 10}); }
//
// f16 and bf16 are computed in f32 and rounded after each op, so fusing ops changes no bit.
#ifndef WEIR_COMMON_OPS_ELEMENTWISE_ELEMENTWISE_H_
#define WEIR_COMMON_OPS_ELEMENTWISE_ELEMENTWISE_H_

#include <tuple>
#include <utility>

#include "common/ops/elementwise/patterns.h"
#include "common/ops/op_def.h"

namespace weir::elementwise {

// How a stored element enters and leaves arithmetic.
template <class T>
WEIR_ALWAYS_INLINE T Widen(T x) {
  return x;
}
WEIR_ALWAYS_INLINE float Widen(Half x) { return static_cast<float>(x); }
WEIR_ALWAYS_INLINE float Widen(BFloat16 x) { return static_cast<float>(x); }

#define WEIR_TILE_LOOP(Name, TARGET)                                                  \
  template <class F, class Out, class... In, size_t... i>                             \
  TARGET void Name##Impl(const void* const* operands, void* result, int64_t n,        \
                         std::index_sequence<i...>) {                                 \
    Out* __restrict out = static_cast<Out*>(result);                                  \
    const std::tuple<const In*...> in{static_cast<const In*>(operands[i])...};        \
    for (int64_t k = 0; k < n; ++k) {                                                 \
      out[k] = static_cast<Out>(F{}(Widen(std::get<i>(in)[k])...));                   \
    }                                                                                 \
  }                                                                                   \
  template <class F, class Out, class... In>                                          \
  TARGET void Name(const void* const* operands, void* result, int64_t n) {            \
    Name##Impl<F, Out, In...>(operands, result, n, std::index_sequence_for<In...>{}); \
  }

WEIR_TILE_LOOP(TileBaseline, )
WEIR_TILE_LOOP(TileAvx2, __attribute__((target("avx2"))))
WEIR_TILE_LOOP(
    TileAvx512,
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512"))))
#undef WEIR_TILE_LOOP

template <class F, class Out, class... In>
TileFn Pick(Operands<In...>, Isa isa) {
  switch (isa) {
    case Isa::kBaseline:
      return &TileBaseline<F, Out, In...>;
    case Isa::kAvx2:
      return &TileAvx2<F, Out, In...>;
    case Isa::kAvx512:
      return &TileAvx512<F, Out, In...>;
  }
  return nullptr;
}

template <class... In>
bool Matches(Operands<In...>, absl::Span<const DType> dtypes) {
  const DType wanted[] = {kDTypeOf<In>...};
  return dtypes == absl::MakeConstSpan(wanted);
}

template <class F, class Pattern, class... T>
TileFn FindTile(Types<T...>, absl::Span<const DType> operands, DType result, Isa isa) {
  TileFn found = nullptr;
  ((found == nullptr && kDTypeOf<typename Pattern::template Out<T>> == result &&
            Matches(typename Pattern::template In<T>{}, operands)
        ? void(found = Pick<F, typename Pattern::template Out<T>>(
                   typename Pattern::template In<T>{}, isa))
        : void()),
   ...);
  return found;
}

// The result dtype for operand dtypes, or nothing if the op is not defined for them.
template <class Pattern, class... T>
std::optional<DType> ResultDType(Types<T...>, absl::Span<const DType> operands) {
  std::optional<DType> found;
  ((Matches(typename Pattern::template In<T>{}, operands)
        ? void(found = kDTypeOf<typename Pattern::template Out<T>>)
        : void()),
   ...);
  return found;
}

struct Spec {
  std::string_view name;
  std::string_view summary;
  int cost = 1;
  SamplesFn samples = nullptr;  // null: samples made from the dtypes, values in [-2, 2]
};

// Shared rules; they find the op's own parts through the node.
using ResultDTypeFn = std::optional<DType> (*)(const Node& node, absl::Span<const DType> operands);
absl::StatusOr<std::vector<TensorType>> InferElementwise(const InferContext& context,
                                                         ResultDTypeFn result_dtype);
absl::StatusOr<std::vector<Tensor>> EvaluateElementwise(EvalContext& context);
absl::Status StackElementwise(PforRewrite& rewrite);
// Samples over every operand dtype list in `dtypes`: odd extents, an empty tensor and a scalar
// among them, and one sample a list with every combination of special values (NaN, -0, MIN, ...).
std::vector<Sample> DefaultSamples(absl::Span<const std::vector<DType>> dtypes, double lo,
                                   double hi);

template <class... In>
std::vector<DType> DTypesOf(Operands<In...>) {
  return {kDTypeOf<In>...};
}
template <class Pattern, class... T>
std::vector<std::vector<DType>> AllOperandDTypes(Types<T...>) {
  return {DTypesOf(typename Pattern::template In<T>{})...};
}
// For Spec::samples: values in [lo, hi].
template <class Pattern, class List, int lo, int hi>
std::vector<Sample> SamplesIn() {
  return DefaultSamples(AllOperandDTypes<Pattern>(List{}), lo, hi);
}
template <class In>
struct CountOf;
template <class... In>
struct CountOf<Operands<In...>> {
  static constexpr int value = sizeof...(In);
};

// Fills every field of an element-wise op.
template <class F, class Pattern, class List>
OpDef Elementwise(const Spec& spec) {
  constexpr int arity = CountOf<typename Pattern::template In<std::complex<float>>>::value;
  OpDef op;
  op.name = spec.name;
  op.summary = spec.summary;
  op.inputs = {arity, arity};
  op.infer = [](const InferContext& context) {
    return InferElementwise(context, [](const Node&, absl::Span<const DType> operands) {
      return ResultDType<Pattern>(List{}, operands);
    });
  };
  op.reference = &EvaluateElementwise;
  op.pfor = &StackElementwise;
  for (int i = 0; i < arity; ++i) op.may_overwrite.push_back(i);
  op.elementwise =
      ElementwiseRule{[](const Node&, absl::Span<const DType> operands, DType result, Isa isa) {
                        return FindTile<F, Pattern>(List{}, operands, result, isa);
                      },
                      spec.cost};
  op.samples = spec.samples != nullptr ? spec.samples : &SamplesIn<Pattern, List, -2, 2>;
  return op;
}

}  // namespace weir::elementwise

#endif  // WEIR_COMMON_OPS_ELEMENTWISE_ELEMENTWISE_H_
