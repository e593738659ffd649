// Family constructors for reductions over axes and for running reductions along one axis. Only op
// files include this; stateless.
//
// Order of the reference evaluation: elements of the reduced axes in row-major order (ascending
// axes), in blocks of 128 from left to right, the blocks joined as a balanced tree. f16, bf16, f32
// and c64 accumulate in f64 (c128) and round once; so results of those are within an ulp or so of
// the exact ones. Running reductions go from left to right, accumulate likewise and round each
// result.
#ifndef WEIR_COMMON_OPS_REDUCE_REDUCTION_H_
#define WEIR_COMMON_OPS_REDUCE_REDUCTION_H_

#include "common/ops/combine.h"
#include "common/ops/op_def.h"

namespace weir {

absl::StatusOr<std::vector<TensorType>> InferReduction(const InferContext& context,
                                                       Combiner combiner);
absl::StatusOr<std::vector<Tensor>> EvaluateReduction(EvalContext& context, Combiner combiner);
absl::Status StackReduction(PforRewrite& rewrite);

absl::StatusOr<std::vector<TensorType>> InferCumulative(const InferContext& context,
                                                        Combiner combiner);
absl::StatusOr<std::vector<Tensor>> EvaluateCumulative(EvalContext& context, Combiner combiner);
absl::Status StackCumulative(PforRewrite& rewrite);

// Samples over dtypes, axes and extents; exact for all but the floats of sums and products.
std::vector<Sample> ReductionSamples(Combiner combiner);
std::vector<Sample> CumulativeSamples(Combiner combiner);

// Attribute axes (distinct); the result has the other axes, and reducing nothing gives the
// combiner's identity.
template <Combiner combiner>
OpDef Reduction(std::string_view name, std::string_view summary) {
  OpDef op;
  op.name = name;
  op.summary = summary;
  op.attrs = {{"axes", Attr::Kind::kInts}};
  op.infer = [](const InferContext& context) { return InferReduction(context, combiner); };
  op.reference = [](EvalContext& context) { return EvaluateReduction(context, combiner); };
  op.pfor = &StackReduction;
  op.reassociates = combiner == Combiner::kAdd || combiner == Combiner::kMul;
  op.samples = [] { return ReductionSamples(combiner); };
  return op;
}

// Attributes axis, reverse (from the far end) and exclusive (element i leaves itself out, so the
// first is the identity).
template <Combiner combiner>
OpDef Cumulative(std::string_view name, std::string_view summary) {
  OpDef op;
  op.name = name;
  op.summary = summary;
  op.attrs = {
      {"axis", Attr::Kind::kInt}, {"reverse", Attr::Kind::kBool}, {"exclusive", Attr::Kind::kBool}};
  op.infer = [](const InferContext& context) { return InferCumulative(context, combiner); };
  op.reference = [](EvalContext& context) { return EvaluateCumulative(context, combiner); };
  op.pfor = &StackCumulative;
  op.samples = [] { return CumulativeSamples(combiner); };
  return op;
}

}  // namespace weir

#endif  // WEIR_COMMON_OPS_REDUCE_REDUCTION_H_
