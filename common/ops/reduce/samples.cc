#include <cmath>

#include "common/ops/reduce/reduction.h"

namespace weir {
namespace {

// How far a kernel that accumulates in the element type (f16 and bf16: in f32), in any order, may
// be from the reference evaluation.
void SetTolerance(Combiner combiner, Sample* sample) {
  if (combiner != Combiner::kAdd && combiner != Combiner::kMul) return;
  switch (sample->operands[0].dtype) {
    case DType::kF32:
    case DType::kC64:
      sample->ulp = 16;
      sample->absolute = 5e-5;
      break;
    case DType::kF64:
    case DType::kC128:
      sample->ulp = 16;
      sample->absolute = 1e-13;
      break;
    case DType::kF16:
    case DType::kBF16:
      sample->ulp = 1;
      sample->absolute = 1e-3;
      break;
    default:
      break;
  }
}

std::vector<DType> DTypesOf(Combiner combiner) {
  std::vector<DType> dtypes;
  // f32 first, as the main case.
  if (IsDefined(combiner, DType::kF32)) dtypes.push_back(DType::kF32);
  for (DType dtype : kAllDTypes) {
    if (dtype != DType::kF32 && IsDefined(combiner, dtype)) dtypes.push_back(dtype);
  }
  return dtypes;
}

// Bounds that let integers wrap and keep products of floats in range.
SampleOperand Values(Combiner combiner, DType dtype, Extents extents) {
  if (combiner == Combiner::kMul && !IsInteger(dtype)) return Rand(dtype, extents, -1.25, 1.25);
  const double bound = IsInteger(dtype) ? 100 : 2;
  return Rand(dtype, std::move(extents), -bound, bound);
}

}  // namespace

std::vector<Sample> ReductionSamples(Combiner combiner) {
  std::vector<Sample> samples;
  auto add = [&](std::string label, SampleOperand operand, Int64s axes) {
    samples.push_back({.label = std::move(label),
                       .operands = {std::move(operand)},
                       .attrs = {{"axes", std::move(axes)}}});
    SetTolerance(combiner, &samples.back());
  };
  const std::vector<DType> dtypes = DTypesOf(combiner);
  const DType main = dtypes[0];
  for (DType dtype : dtypes) add("", Values(combiner, dtype, {3, 5, 7}), {1});
  for (const Int64s& axes : {Int64s{0}, Int64s{2}, Int64s{0, 2}, Int64s{2, 1}, Int64s{0, 1, 2}}) {
    add("axes", Values(combiner, main, {3, 5, 7}), axes);
  }
  add("no axes", Values(combiner, main, {2, 3}), {});
  add("scalar", Values(combiner, main, {}), {});
  add("of nothing", Values(combiner, main, {3, 0}), {1});
  add("of nothing at all", Values(combiner, main, {0, 4}), {0, 1});
  add("to nothing", Values(combiner, main, {0, 4}), {1});
  add("extent 1", Values(combiner, main, {4, 1}), {1});
  add("long", Values(combiner, main, {3, 1000}), {1});
  add("long columns", Values(combiner, main, {300, 17}), {0});
  if (main == DType::kF32) {
    add("not a number", Exactly(Tensor::Of<float>({2, 3}, {1, NAN, 2, -INFINITY, 5, INFINITY})),
        {0});
    add("zeros", Exactly(Tensor::Of<float>({2, 2}, {-0.0f, 0.0f, 0.0f, -0.0f})), {0});
  }
  return samples;
}

std::vector<Sample> CumulativeSamples(Combiner combiner) {
  std::vector<Sample> samples;
  auto add = [&](std::string label, SampleOperand operand, int axis, bool reverse, bool exclusive) {
    samples.push_back({.label = std::move(label),
                       .operands = {std::move(operand)},
                       .attrs = {{"axis", axis}, {"reverse", reverse}, {"exclusive", exclusive}}});
    SetTolerance(combiner, &samples.back());
  };
  for (DType dtype : DTypesOf(combiner)) {
    if (dtype != DType::kBool) add("", Values(combiner, dtype, {3, 5}), 1, false, false);
  }
  for (bool reverse : {false, true}) {
    for (bool exclusive : {false, true}) {
      for (int axis = 0; axis < 3; ++axis) {
        add("axis", Values(combiner, DType::kF32, {3, 4, 5}), axis, reverse, exclusive);
      }
      add("extent 1", Values(combiner, DType::kF32, {1}), 0, reverse, exclusive);
      add("of nothing", Values(combiner, DType::kF32, {2, 0}), 1, reverse, exclusive);
      add("to nothing", Values(combiner, DType::kI32, {0, 3}), 1, reverse, exclusive);
    }
  }
  add("long", Values(combiner, DType::kF32, {2, 700}), 1, false, false);
  add("not a number", Exactly(Tensor::Of<float>({5}, {1, -INFINITY, NAN, 5, INFINITY})), 0, true,
      true);
  return samples;
}

}  // namespace weir
