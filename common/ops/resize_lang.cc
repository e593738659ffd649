#include "common/ops/resize_lang.h"

#include "common/base/status.h"
#include "common/ops/axes.h"

namespace weir {
namespace {

// The element at (2 i + 1) in / (2 out), rounded down.
ValueId NearestAlong(Builder& b, ValueId x, int axis, const Dim& from, const Dim& to) {
  const ValueId places = Iota(b, DType::kI64, {to}, 0);
  const ValueId odd = Binary(b, "add", Binary(b, "multiply", places, 2), 1);
  const ValueId scaled = Binary(b, "multiply", odd, DimValue(b, from));
  const ValueId index = Binary(b, "floor_divide", scaled, DimValue(b, to * 2));
  return Take(b, x, index, axis);
}

// c0 + c1 x + c2 x^2 + c3 x^3.
ValueId Cubic(Builder& b, ValueId x, double c0, double c1, double c2, double c3) {
  ValueId y = Binary(b, "add", Binary(b, "multiply", x, c3), c2);
  y = Binary(b, "add", b.Apply("multiply", {y, x}), c1);
  return Binary(b, "add", b.Apply("multiply", {y, x}), c0);
}

ValueId KernelOf(Builder& b, ResizeMethod method, ValueId distance) {
  const ValueId zero = FullLike(b, distance, 0);
  if (method == ResizeMethod::kLinear) {
    return b.Apply("maximum", {Cubic(b, distance, 1, -1, 0, 0), zero});
  }
  const ValueId inner = Cubic(b, distance, 1, 0, -2.5, 1.5);
  const ValueId outer =
      Where(b, Binary(b, "less", distance, 2), Cubic(b, distance, 2, -4, 2.5, -0.5), zero);
  return Where(b, Binary(b, "less", distance, 1), inner, outer);
}

// f64 [from, to]: how much each element counts for each result.
ValueId WeightsOf(Builder& b, const Dim& from, const Dim& to, ResizeMethod method,
                  Antialias antialias) {
  const ValueId step = Binary(b, "divide", Cast(b, DimValue(b, from), DType::kF64),
                              Cast(b, DimValue(b, to), DType::kF64));
  const ValueId centers = Binary(b, "add", Iota(b, DType::kF64, {from, to}, 1), 0.5);
  const ValueId samples = Binary(b, "subtract", Binary(b, "multiply", centers, step), 0.5);
  const ValueId places = Iota(b, DType::kF64, {from, to}, 0);
  ValueId distance = b.Apply("abs", {b.Apply("subtract", {samples, places})});
  if (antialias == Antialias::kYes) {
    distance = Binary(b, "divide", distance, Binary(b, "maximum", step, 1));
  }
  const ValueId weights = KernelOf(b, method, distance);
  return Binary(b, "divide", weights, Reduce(b, "reduce_sum", weights, {0}, ReducedAxes::kKeep));
}

ValueId InterpolateAlong(Builder& b, ValueId x, int axis, ValueId weights) {
  const int rank = b.type(x).rank();
  const ValueId product = b.Apply("dot_general", {x, Cast(b, weights, b.type(x).dtype)},
                                  {{"lhs_batch", Int64s{}},
                                   {"rhs_batch", Int64s{}},
                                   {"lhs_contract", Int64s{axis}},
                                   {"rhs_contract", Int64s{0}}});
  Int64s permutation = FirstAxes(rank - 1);
  permutation.insert(permutation.begin() + axis, rank - 1);
  return Transpose(b, product, std::move(permutation));
}

}  // namespace

ValueId Resize(Builder& b, ValueId x, Int64s axes, std::vector<Dim> sizes, ResizeMethod method,
               Antialias antialias) {
  const TensorType type = b.type(x);
  for (int64_t& axis : axes) axis += axis < 0 ? type.rank() : 0;
  if (b.ok() && axes.size() != sizes.size()) {
    b.Fail(InvalidArgument("resizing needs one size for each axis, found ", sizes.size(), " for ",
                           axes.size()));
  }
  if (b.ok()) b.Fail(CheckAxes("axes", axes, type.rank()));
  const bool nearest = method == ResizeMethod::kNearest;
  if (b.ok() && !nearest && !IsFloat(type.dtype) && !IsComplex(type.dtype)) {
    b.Fail(InvalidArgument("interpolation needs floats or complex numbers, found ", type.ToString(),
                           "; cast it first"));
  }
  if (!b.ok()) return ValueId();
  const bool half = !nearest && (type.dtype == DType::kF16 || type.dtype == DType::kBF16);
  ValueId out = half ? Cast(b, x, DType::kF32) : x;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int axis = static_cast<int>(axes[i]);
    const Dim from = type.shape[axis];
    if (from == sizes[i]) continue;
    out = nearest ? NearestAlong(b, out, axis, from, sizes[i])
                  : InterpolateAlong(b, out, axis, WeightsOf(b, from, sizes[i], method, antialias));
  }
  return Cast(b, out, type.dtype);
}

}  // namespace weir
