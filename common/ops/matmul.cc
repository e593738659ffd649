#include "common/base/status.h"
#include "common/ops/axes.h"
#include "common/ops/lang.h"

namespace weir {
namespace {

ValueId Product(Builder& b, ValueId x, ValueId y, int batch, int64_t x_axis, int64_t y_axis) {
  return b.Apply("dot_general", {x, y},
                 {{"lhs_batch", FirstAxes(batch)},
                  {"rhs_batch", FirstAxes(batch)},
                  {"lhs_contract", Int64s{x_axis}},
                  {"rhs_contract", Int64s{y_axis}}});
}

// The matrices of x with `batch` in front of them.
ValueId WithBatch(Builder& b, ValueId x, const Shape& batch) {
  const Shape& shape = b.type(x).shape;
  std::vector<Dim> dims = batch.dims();
  dims.insert(dims.end(), shape.dims().end() - 2, shape.dims().end());
  return BroadcastTo(b, x, Shape(std::move(dims)));
}

Shape BatchOf(const Shape& shape) {
  return Shape(std::vector<Dim>(shape.dims().begin(), shape.dims().end() - 2));
}

// REQUIRES: both have at least two axes.
ValueId MatrixProduct(Builder& b, ValueId x, ValueId y) {
  const int x_rank = b.type(x).rank();
  const int y_rank = b.type(y).rank();
  if (y_rank == 2) return Product(b, x, y, 0, x_rank - 1, 0);
  if (x_rank == 2) {
    // One larger product with the matrices transposed: [..., n, m], then seen as [..., m, n].
    Int64s swapped = FirstAxes(y_rank);
    std::swap(swapped[y_rank - 2], swapped[y_rank - 1]);
    return Transpose(b, Product(b, y, x, 0, y_rank - 2, 1), std::move(swapped));
  }
  const absl::StatusOr<Shape> batch =
      BroadcastShapes(BatchOf(b.type(x).shape), BatchOf(b.type(y).shape));
  if (!batch.ok()) {
    b.Fail(Annotate(batch.status(),
                    StrCat("product of ", b.type(x).ToString(), " and ", b.type(y).ToString())));
    return ValueId();
  }
  x = WithBatch(b, x, *batch);
  y = WithBatch(b, y, *batch);
  return Product(b, x, y, batch->rank(), batch->rank() + 1, batch->rank());
}

}  // namespace

ValueId MatMul(Builder& b, ValueId x, ValueId y) {
  const std::vector<ValueId> promoted = PromoteAll(b, {x, y});
  x = promoted[0];
  y = promoted[1];
  if (!b.ok()) return ValueId();
  const int x_rank = b.type(x).rank();
  const int y_rank = b.type(y).rank();
  if (x_rank == 0 || y_rank == 0) {
    b.Fail(InvalidArgument("a matrix product needs axes, found ", b.type(x).ToString(), " and ",
                           b.type(y).ToString()));
    return ValueId();
  }
  if (y_rank == 1) return Product(b, x, y, 0, x_rank - 1, 0);
  if (x_rank > 1) return MatrixProduct(b, x, y);
  // The axes of y other than the contracted one, in their order: what NumPy gives for a row.
  return Product(b, y, x, 0, y_rank - 2, 0);
}

}  // namespace weir
