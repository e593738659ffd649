#include "common/ops/linalg_lang.h"

#include <algorithm>
#include <cmath>

#include "common/base/status.h"
#include "common/ops/axes.h"

namespace weir {
namespace {

// True if x has matrices; records a fault if not.
bool HasMatrices(Builder& b, ValueId x) {
  if (b.ok() && b.type(x).rank() < 2) {
    b.Fail(InvalidArgument("expected matrices [..., m, n], found ", b.type(x).ToString()));
  }
  return b.ok();
}

Dim DimFromEnd(Builder& b, ValueId x, int from_end) {
  const Shape& shape = b.type(x).shape;
  return shape[shape.rank() - from_end];
}

// The shape of x without its last `count` axes, then `last`.
Shape WithLast(Builder& b, ValueId x, int count, const std::vector<Dim>& last) {
  std::vector<Dim> dims = b.type(x).shape.dims();
  dims.resize(dims.size() - count);
  dims.insert(dims.end(), last.begin(), last.end());
  return Shape(std::move(dims));
}

// bool [m, m], true on the diagonal.
ValueId OnDiagonal(Builder& b, const Dim& rows, const Dim& columns) {
  return b.Apply("equal", {Iota(b, DType::kI64, {rows, columns}, 0),
                           Iota(b, DType::kI64, {rows, columns}, 1)});
}

// Row permutation[..., i] of each matrix.
ValueId PermuteRows(Builder& b, ValueId x, ValueId permutation) {
  const int rank = b.type(x).rank();
  if (!b.ok()) return ValueId();
  std::vector<Dim> sizes(rank, Dim(1));
  sizes[rank - 1] = DimFromEnd(b, x, 1);
  return b.Apply("gather", {x, permutation},
                 {{"offset_dims", Int64s{rank - 1}},
                  {"collapsed_slice_dims", Int64s{rank - 2}},
                  {"operand_batching_dims", FirstAxes(rank - 2)},
                  {"start_indices_batching_dims", FirstAxes(rank - 2)},
                  {"start_index_map", Int64s{rank - 2}},
                  {"index_vector_dim", rank - 1},
                  {"slice_sizes", std::move(sizes)}});
}

ValueId SolveTriangle(Builder& b, ValueId a, ValueId y, bool lower) {
  return b.Apply("triangular_solve", {a, y},
                 {{"left_side", true},
                  {"lower", lower},
                  {"unit_diagonal", lower},
                  {"transpose_a", "NO_TRANSPOSE"}});
}

// The singular values, or (s, u, vh).
std::vector<ValueId> Svd(Builder& b, ValueId a, bool compute_uv) {
  return b.ApplyAll("svd", {a}, {{"full_matrices", false}, {"compute_uv", compute_uv}});
}

struct Pivoted {
  ValueId diagonal;
  ValueId sign;  // of the permutation, in the type of the matrix
};

Pivoted PivotedDiagonal(Builder& b, ValueId a) {
  const DType dtype = b.type(a).dtype;
  const std::vector<ValueId> lu = b.ApplyAll("lu", {a});
  if (lu.size() != 3) return {};
  const Shape pivots = b.type(lu[1]).shape;
  const ValueId places = Iota(b, DType::kI32, pivots.dims(), pivots.rank() - 1);
  const ValueId swapped = Cast(b, b.Apply("not_equal", {lu[1], places}), DType::kI32);
  const ValueId odd = Binary(b, "remainder", Reduce(b, "reduce_sum", swapped, {-1}), 2);
  const ValueId sign = Binary(b, "subtract", FullLike(b, odd, 1), Binary(b, "multiply", odd, 2));
  return {Diagonal(b, lu[0]), Cast(b, sign, dtype)};
}

// x / |x|, and 0 for 0.
ValueId Signs(Builder& b, ValueId x, ValueId magnitudes) {
  if (!b.ok() || !IsComplex(b.type(x).dtype)) return b.Apply("sign", {x});
  const ValueId zero = Binary(b, "equal", magnitudes, 0);
  return Where(b, zero, x, Binary(b, "divide", x, Cast(b, magnitudes, b.type(x).dtype)));
}

}  // namespace

ValueId Eye(Builder& b, DType dtype, Dim rows, Dim columns) {
  return Cast(b, OnDiagonal(b, rows, columns), dtype);
}

ValueId Diagonal(Builder& b, ValueId x) {
  if (!HasMatrices(b, x)) return ValueId();
  const ValueId kept = Where(b, OnDiagonal(b, DimFromEnd(b, x, 2), DimFromEnd(b, x, 1)), x,
                             b.Constant(ScalarOf(b.type(x).dtype, 0)));
  return Reduce(b, "reduce_sum", kept, {-2});
}

ValueId Adjoint(Builder& b, ValueId x) {
  if (!HasMatrices(b, x)) return ValueId();
  Int64s swapped = FirstAxes(b.type(x).rank());
  std::swap(swapped[swapped.size() - 2], swapped[swapped.size() - 1]);
  const ValueId transposed = Transpose(b, x, std::move(swapped));
  return IsComplex(b.type(x).dtype) ? b.Apply("conjugate", {transposed}) : transposed;
}

ValueId Solve(Builder& b, ValueId a, ValueId y) {
  const std::vector<ValueId> promoted = PromoteAll(b, {a, y});
  a = promoted[0];
  y = promoted[1];
  const bool is_vector = b.type(y).rank() == 1;
  if (is_vector) y = ExpandDims(b, y, {1});
  if (!HasMatrices(b, a) || !HasMatrices(b, y)) return ValueId();
  if (MustDiffer(DimFromEnd(b, a, 1), DimFromEnd(b, y, 2))) {
    b.Fail(InvalidArgument("matrices ", b.type(a).ToString(), " and right-hand sides ",
                           b.type(y).ToString(), " do not fit together"));
  }
  const absl::StatusOr<Shape> batch = BroadcastShapes(WithLast(b, a, 2, {}), WithLast(b, y, 2, {}));
  if (!batch.ok()) {
    b.Fail(batch.status());
    return ValueId();
  }
  const auto spread = [&](ValueId x, int count) {
    std::vector<Dim> dims = batch->dims();
    for (int i = count; i > 0; --i) dims.push_back(DimFromEnd(b, x, i));
    return BroadcastTo(b, x, Shape(std::move(dims)));
  };
  // Each matrix is factored once, however many right-hand sides it has.
  const std::vector<ValueId> lu = b.ApplyAll("lu", {a});
  if (lu.size() != 3) return ValueId();
  const ValueId factors = spread(lu[0], 2);
  const ValueId rows = PermuteRows(b, spread(y, 2), spread(lu[2], 1));
  const ValueId x = SolveTriangle(b, factors, SolveTriangle(b, factors, rows, true), false);
  return is_vector ? Squeeze(b, x, {-1}) : x;
}

ValueId Inverse(Builder& b, ValueId a) {
  if (!HasMatrices(b, a)) return ValueId();
  return Solve(b, a, Eye(b, b.type(a).dtype, DimFromEnd(b, a, 2), DimFromEnd(b, a, 2)));
}

ValueId Determinant(Builder& b, ValueId a) {
  if (!HasMatrices(b, a)) return ValueId();
  const Pivoted pivoted = PivotedDiagonal(b, a);
  return Binary(b, "multiply", Reduce(b, "reduce_prod", pivoted.diagonal, {-1}), pivoted.sign);
}

SignAndLog SlogDet(Builder& b, ValueId a) {
  if (!HasMatrices(b, a)) return {};
  const Pivoted pivoted = PivotedDiagonal(b, a);
  const ValueId magnitudes = b.Apply("abs", {pivoted.diagonal});
  const ValueId signs = Signs(b, pivoted.diagonal, magnitudes);
  return {Binary(b, "multiply", Reduce(b, "reduce_prod", signs, {-1}), pivoted.sign),
          Reduce(b, "reduce_sum", b.Apply("log", {magnitudes}), {-1})};
}

ValueId Pinv(Builder& b, ValueId a, double cutoff) {
  if (!HasMatrices(b, a)) return ValueId();
  const std::vector<ValueId> svd = Svd(b, a, true);
  if (svd.size() != 3) return ValueId();
  const ValueId s = svd[0];
  const ValueId largest = Reduce(b, "reduce_max", s, {-1}, ReducedAxes::kKeep);
  const ValueId counts = Binary(b, "greater", s, Binary(b, "multiply", largest, cutoff));
  const ValueId inverse = Where(b, counts, Binary(b, "divide", FullLike(b, s, 1), s),
                                b.Constant(ScalarOf(b.type(s).dtype, 0)));
  // A NaN is no small singular value.
  const ValueId kept = Where(b, b.Apply("is_nan", {s}), s, inverse);
  const ValueId scaled = Binary(b, "multiply", Adjoint(b, svd[2]), ExpandDims(b, kept, {-2}));
  return MatMul(b, scaled, Adjoint(b, svd[1]));
}

ValueId MatrixPower(Builder& b, ValueId a, int64_t exponent) {
  if (!HasMatrices(b, a)) return ValueId();
  if (exponent == 0) {
    const TensorType type = b.type(a);
    const Dim m = DimFromEnd(b, a, 2);
    return BroadcastTo(b, Eye(b, type.dtype, m, m), type.shape);
  }
  ValueId square = exponent < 0 ? Inverse(b, a) : a;
  ValueId power;
  uint64_t rest = exponent < 0 ? -static_cast<uint64_t>(exponent) : exponent;
  for (; rest > 0 && b.ok(); rest /= 2) {
    if (rest % 2 == 1) power = power.valid() ? MatMul(b, power, square) : square;
    if (rest > 1) square = MatMul(b, square, square);
  }
  return power;
}

ValueId VectorNorm(Builder& b, ValueId x, Int64s axes, double order, ReducedAxes then) {
  const ValueId magnitude = b.Apply("abs", {x});
  if (!b.ok()) return ValueId();
  if (std::isinf(order)) {
    return Reduce(b, order > 0 ? "reduce_max" : "reduce_min", magnitude, std::move(axes), then);
  }
  if (order == 0) {
    const ValueId nonzero = Binary(b, "not_equal", magnitude, 0);
    return Reduce(b, "reduce_sum", Cast(b, nonzero, b.type(magnitude).dtype), std::move(axes),
                  then);
  }
  if (order == 1) return Reduce(b, "reduce_sum", magnitude, std::move(axes), then);
  if (order == 2) {
    const ValueId squares = b.Apply("square", {magnitude});
    return b.Apply("sqrt", {Reduce(b, "reduce_sum", squares, std::move(axes), then)});
  }
  const ValueId powers = Binary(b, "power", magnitude, order);
  return Binary(b, "power", Reduce(b, "reduce_sum", powers, std::move(axes), then), 1 / order);
}

ValueId MatrixNorm(Builder& b, ValueId x, MatrixNormKind kind) {
  if (!HasMatrices(b, x)) return ValueId();
  const auto values = [&] {
    const std::vector<ValueId> svd = Svd(b, x, false);
    return svd.empty() ? ValueId() : svd[0];
  };
  switch (kind) {
    case MatrixNormKind::kFrobenius:
      return VectorNorm(b, x, {-2, -1}, 2);
    case MatrixNormKind::kNuclear:
      return Reduce(b, "reduce_sum", values(), {-1});
    case MatrixNormKind::kSpectral:
      return Reduce(b, "reduce_max", values(), {-1});
    case MatrixNormKind::kMaxColumn:
      return Reduce(b, "reduce_max", VectorNorm(b, x, {-2}, 1), {-1});
    case MatrixNormKind::kMaxRow:
      return Reduce(b, "reduce_max", VectorNorm(b, x, {-1}, 1), {-1});
  }
  return ValueId();
}

}  // namespace weir
