// Factors that are rows by index: contracting them is a scatter, a comparison of indices or a
// gather.
#include <utility>

#include "common/ops/lang.h"
#include "server/compiler/factored/contract.h"

namespace weir::factored {
namespace {

// Where indices name a row at all.
ValueId InRange(Builder& b, ValueId indices, const Dim& rows) {
  const ValueId limit = Cast(b, DimValue(b, rows), b.type(indices).dtype);
  return Binary(b, "and", Binary(b, "greater_equal", indices, 0.0),
                Binary(b, "less", indices, limit));
}

// 1 where both name the same row.
Operand SameRow(Builder& b, const Operand& x, const Operand& y, DType dtype) {
  Axes axes = x.axes;
  Unite(y.axes, &axes);
  const ValueId i = x.build(b);
  const ValueId in_range = Spread(b, InRange(b, i, x.hot->extent), x.axes, axes);
  const ValueId same =
      b.Apply("equal", {Spread(b, i, x.axes, axes), Spread(b, y.build(b), y.axes, axes)});
  return OperandOf(Cast(b, b.Apply("and", {same, in_range}), dtype), std::move(axes));
}

// The rows of `table` along the hot axis; 0 where an index names none.
Operand Rows(Builder& b, const Operand& hot, const Operand& table) {
  Axes axes = hot.axes;
  Axes table_axes = {*hot.hot};
  Unite(table.axes, &table_axes);
  axes.insert(axes.end(), table_axes.begin() + 1, table_axes.end());
  const ValueId indices = hot.build(b);
  const ValueId rows =
      Take(b, Spread(b, table.build(b), table.axes, table_axes), Cast(b, indices, DType::kI64), 0);
  const ValueId named = Spread(b, InRange(b, indices, hot.hot->extent), hot.axes, axes);
  return OperandOf(b.Apply("select", {named, rows, FullLike(b, rows, 0)}), std::move(axes));
}

// Sums rows to where their indices say. REQUIRES: `rows` has all axes of the indices.
Operand Scattered(Builder& b, const Operand& hot, const Operand& rows) {
  Axes axes = hot.axes;
  Unite(rows.axes, &axes);
  Axes result = {*hot.hot};
  result.insert(result.end(), axes.begin() + static_cast<int64_t>(hot.axes.size()), axes.end());
  Int64s window;
  for (size_t i = hot.axes.size(); i < axes.size(); ++i) window.push_back(static_cast<int64_t>(i));
  const ValueId updates = Spread(b, rows.build(b), rows.axes, axes);
  const ValueId zeros = Full(b, b.type(updates).dtype, ShapeOf(result).dims(), 0);
  const ValueId sums = b.Apply("scatter", {zeros, hot.build(b), updates},
                               {{"update_window_dims", window},
                                {"inserted_window_dims", Int64s{0}},
                                {"input_batching_dims", Int64s{}},
                                {"scatter_indices_batching_dims", Int64s{}},
                                {"scatter_dims_to_operand_dims", Int64s{0}},
                                {"index_vector_dim", static_cast<int64_t>(hot.axes.size())},
                                {"combiner", "add"}});
  return OperandOf(sums, std::move(result));
}

bool HasAny(const Axes& axes, const Axes& some) {
  for (const Axis& axis : some) {
    if (Has(axes, axis)) return true;
  }
  return false;
}

}  // namespace

Operand Dense(Builder& b, const Operand& operand, DType dtype) {
  if (operand.windows) return Unfolded(b, operand);
  if (!operand.hot) return operand;
  const Axes axes = operand.AllAxes();
  const ValueId indices = Spread(b, operand.build(b), operand.axes, axes);
  const ValueId rows =
      Iota(b, b.type(indices).dtype, ShapeOf(axes).dims(), static_cast<int>(axes.size()) - 1);
  return OperandOf(Cast(b, b.Apply("equal", {indices, rows}), dtype), axes);
}

Operand JoinHot(Builder& b, const Operand& x, const Operand& y, const Axes& keep, DType dtype) {
  if (!x.hot) return JoinHot(b, y, x, keep, dtype);
  const bool over_rows = !Has(keep, *x.hot);
  if (y.hot) {
    if (over_rows && *x.hot == *y.hot) return SameRow(b, x, y, dtype);
    return JoinHot(b, x, Dense(b, y, dtype), keep, dtype);
  }
  const bool by_index = Has(y.axes, *x.hot);
  if (by_index && over_rows && !HasAny(y.axes, x.axes)) return Rows(b, x, y);
  if (!by_index && HasAll(y.axes, x.axes) && !HasAny(keep, x.axes)) return Scattered(b, x, y);
  return JoinDense(b, Dense(b, x, dtype), y, keep);
}

}  // namespace weir::factored
