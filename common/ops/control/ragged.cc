#include "common/ops/control/ragged.h"

#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/ops/control/region.h"
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

// Makes each result of `body` something that the loop carries, and of which a trip writes its row.
// Returns: what the loop starts with.
std::vector<ValueId> WriteRows(Builder& b, RegionId body, const Dim& extent) {
  Graph& graph = b.graph();
  Builder inside = b.In(body);
  std::vector<ValueId> starts;
  for (size_t i = 0; i < graph.region(body).results.size() && b.ok(); ++i) {
    const ValueId result = graph.region(body).results[i];
    const TensorType type = WithLeading(extent, graph.type(result));
    starts.push_back(Full(b, type.dtype, type.shape.dims(), 0));
    std::vector<Dim> row = type.shape.dims();
    row[0] = 1;
    std::vector<ValueId> update = {inside.AddArg(type)};
    update.push_back(inside.Apply("reshape", {result}, {{"shape", std::move(row)}}));
    update.push_back(graph.region(body).args[0]);
    for (int axis = 1; axis < type.rank(); ++axis) update.push_back(inside.Scalar<int64_t>(0));
    graph.region(body).results[i] = inside.Apply("dynamic_update_slice", std::move(update));
  }
  return starts;
}

}  // namespace

absl::Status CheckCount(int64_t count, int64_t extent) {
  if (count >= 0 && count <= extent) return absl::OkStatus();
  return absl::FailedPreconditionError(
      StrCat("the count ", count, " of a pfor is not in 0..", extent, ", its extent"));
}

void CheckCountNode(Builder& b, ValueId count, const Dim& extent) {
  const ValueId begins = b.Apply("greater_equal", {count, b.Scalar<int64_t>(0)});
  const ValueId ends = b.Apply("less_equal", {count, DimValue(b, extent)});
  b.ApplyAll("check", {b.Apply("and", {begins, ends})},
             {{"message",
               StrCat("the count of a pfor is not in 0..", extent.ToString(), ", its extent")}});
}

std::vector<ValueId> LoopOverIterations(Builder& b, RegionId body,
                                        const std::vector<ValueId>& counts, const Dim& extent) {
  std::vector<ValueId> operands = counts;
  Attrs attrs;
  if (counts.empty()) {
    operands.push_back(b.Apply("dimension_size", {}, {{"size", std::vector<Dim>{extent}}}));
    // A loop that collects nothing has no extent.
    const bool collects = !b.graph().region(body).results.empty();
    if (collects) attrs.emplace("extent", std::vector<Dim>{extent});
  } else {
    CheckCountNode(b, counts[0], extent);
    const std::vector<ValueId> starts = WriteRows(b, body, extent);
    operands.insert(operands.end(), starts.begin(), starts.end());
  }
  return b.ApplyAll("for", std::move(operands), std::move(attrs), {body});
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
