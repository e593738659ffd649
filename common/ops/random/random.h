// What the drawing ops share: rng_bits, rng_uniform, rng_normal. Stateless; usable from any thread.
//
// Element i of row r is a pure function of (attribute seed, attribute draw, operand key[r], i), and
// of nothing else: not of the number of rows, their order or the machine. A program that wants
// other numbers in each iteration folds the iteration into the key (rng_fold); with one key all
// iterations draw the same.
#ifndef WEIR_COMMON_OPS_RANDOM_RANDOM_H_
#define WEIR_COMMON_OPS_RANDOM_RANDOM_H_

#include "common/ops/op_def.h"
#include "common/ops/random/philox.h"

namespace weir::random {

// Writes the `count` elements that belong to `key` (the row's) of the draw `draw_key`.
using FillFn = void (*)(uint64_t draw_key, uint64_t key, int64_t count, void* out);

// Null for element types without the distribution. Bits: integers of all widths.
FillFn FindBits(DType dtype);
// Uniform in [0, 1): f32 has 24 random bits, f64 53, f16 11, bf16 8.
FillFn FindUniform(DType dtype);
// Standard normal, by the inverse error function; |x| < 5.5 (f32), 8.3 (f64).
FillFn FindNormal(DType dtype);

// Name, summary and the distribution, as one of the functions above.
OpDef DrawingOp(std::string_view name, std::string_view summary, InferFn infer, EvalFn reference,
                SamplesFn samples);
// The rules, for a distribution.
template <FillFn (*find)(DType)>
OpDef DrawingOp(std::string_view name, std::string_view summary, SamplesFn samples);
absl::StatusOr<std::vector<TensorType>> InferDraw(const InferContext& context,
                                                  FillFn (*find)(DType));
absl::StatusOr<std::vector<Tensor>> EvaluateDraw(EvalContext& context, FillFn (*find)(DType));
// Samples over the element types, with one key and with several.
std::vector<Sample> DrawSamples(absl::Span<const DType> dtypes);

template <FillFn (*find)(DType)>
OpDef DrawingOp(std::string_view name, std::string_view summary, SamplesFn samples) {
  return DrawingOp(
      name, summary, [](const InferContext& context) { return InferDraw(context, find); },
      [](EvalContext& context) { return EvaluateDraw(context, find); }, samples);
}

}  // namespace weir::random

#endif  // WEIR_COMMON_OPS_RANDOM_RANDOM_H_
