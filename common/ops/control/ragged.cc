#include "common/ops/control/ragged.h"

#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/ops/lang.h"

namespace weir::control {
namespace {

ValueId ReduceRows(Builder& b, const std::string& kind, ValueId rows) {
  return Reduce(b, StrCat("reduce_", kind), rows, {0});
}

// Puts what changes no result into the rows from `count` on.
ValueId WithoutRowsBehind(Builder& b, const std::string& kind, ValueId rows, ValueId count) {
  const TensorType type = b.type(rows);
  TensorType row = type;
  row.shape.dims().erase(row.shape.dims().begin());
  const Dim extent = type.shape[0];
  const ValueId runs =
      b.Apply("less", {Iota(b, DType::kI64, {extent}, 0), BroadcastTo(b, count, Shape({extent}))});
  const ValueId mask =
      b.Apply("broadcast_in_dim", {runs}, {{"shape", type.shape.dims()}, {"axes", Int64s{0}}});
  const ValueId none = BroadcastTo(b, ReductionIdentity(b, kind, row), type.shape);
  return b.Apply("select", {mask, rows, none});
}

ValueId MeanOfRows(Builder& b, ValueId rows, ValueId count) {
  const DType dtype = b.type(rows).dtype;
  if (dtype == DType::kF16 || dtype == DType::kBF16) {
    return Cast(b, MeanOfRows(b, Cast(b, rows, DType::kF32), count), dtype);
  }
  const ValueId sum = ReduceIterations(b, "sum", rows, count);
  return b.Apply("divide", BroadcastAll(b, {sum, Cast(b, count, dtype)}));
}

}  // namespace

absl::Status CheckCount(int64_t count, int64_t extent) {
  if (count >= 0 && count <= extent) return absl::OkStatus();
  return absl::FailedPreconditionError(
      StrCat("the count ", count, " of a pfor is not in 0..", extent, ", its extent"));
}

ValueId ReductionIdentity(Builder& b, const std::string& kind, const TensorType& type) {
  std::vector<Dim> rows = {0};
  rows.insert(rows.end(), type.shape.dims().begin(), type.shape.dims().end());
  return ReduceRows(b, kind, Full(b, type.dtype, std::move(rows), 0));
}

ValueId ReduceIterations(Builder& b, const std::string& kind, ValueId rows, ValueId count) {
  if (kind == "gather") return rows;
  if (kind == "mean") return count.valid() ? MeanOfRows(b, rows, count) : Mean(b, rows, {0});
  return ReduceRows(b, kind, count.valid() ? WithoutRowsBehind(b, kind, rows, count) : rows);
}

}  // namespace weir::control
