#include "common/ops/index_lang.h"

#include <algorithm>
#include <limits>

#include "common/base/status.h"
#include "common/ops/axes.h"

namespace weir {
namespace {

// Returns: the axis counted from 0; records a fault and returns 0 if there is none.
int AxisOf(Builder& b, ValueId x, int axis) {
  const int rank = b.type(x).rank();
  const int counted = axis < 0 ? axis + rank : axis;
  if (counted >= 0 && counted < rank) return counted;
  b.Fail(InvalidArgument("there is no axis ", axis, " in ", b.type(x).ToString()));
  return 0;
}

// What no element of the type exceeds (or undercuts), infinite for floats.
Tensor LimitOf(DType dtype, bool lowest) {
  Tensor out(dtype, {});
  VisitDType(dtype, [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_integral_v<T>) {
      using Limits = std::numeric_limits<T>;
      *out.mutable_data<T>() = lowest ? Limits::lowest() : Limits::max();
    }
  });
  if (IsInteger(dtype) || dtype == DType::kBool) return out;
  const double infinity = std::numeric_limits<double>::infinity();
  return ScalarOf(dtype, lowest ? -infinity : infinity);
}

struct SegmentRule {
  const char* combiner;
  Tensor start;
};

SegmentRule RuleOf(SegmentKind kind, DType dtype) {
  switch (kind) {
    case SegmentKind::kProd:
      return {"mul", ScalarOf(dtype, 1)};
    case SegmentKind::kMin:
      return {"min", LimitOf(dtype, /*lowest=*/false)};
    case SegmentKind::kMax:
      return {"max", LimitOf(dtype, /*lowest=*/true)};
    case SegmentKind::kSum:
    case SegmentKind::kMean:
      break;
  }
  return {"add", ScalarOf(dtype, 0)};
}

// Rows of x combined into `start`, repeated for each segment.
ValueId ScatterRows(Builder& b, const SegmentRule& rule, ValueId x, ValueId ids, const Dim& count,
                    SegmentOrder order) {
  std::vector<Dim> dims = b.type(x).shape.dims();
  dims[0] = count;
  const ValueId start = BroadcastTo(b, b.Constant(rule.start), Shape(std::move(dims)));
  Int64s window = FirstAxes(b.type(x).rank());
  window.erase(window.begin());
  return b.Apply("scatter", {start, ids, x},
                 {{"update_window_dims", std::move(window)},
                  {"inserted_window_dims", Int64s{0}},
                  {"input_batching_dims", Int64s{}},
                  {"scatter_indices_batching_dims", Int64s{}},
                  {"scatter_dims_to_operand_dims", Int64s{0}},
                  {"index_vector_dim", 1},
                  {"combiner", rule.combiner},
                  {"indices_are_sorted", order == SegmentOrder::kSorted}});
}

ValueId SegmentMean(Builder& b, ValueId x, ValueId ids, const Dim& count, SegmentOrder order) {
  const DType dtype = b.type(x).dtype;
  if (!IsFloat(dtype) && !IsComplex(dtype)) {
    b.Fail(InvalidArgument("a mean needs floats or complex numbers, found ", b.type(x).ToString(),
                           "; cast it first"));
    return ValueId();
  }
  const ValueId sums = SegmentReduce(b, SegmentKind::kSum, x, ids, count, order);
  const ValueId ones = Full(b, DType::kI64, {b.type(x).shape[0]}, 1);
  const ValueId rows = SegmentReduce(b, SegmentKind::kSum, ones, ids, count, order);
  const ValueId divisor = Cast(b, Binary(b, "maximum", rows, 1), dtype);
  Int64s axes = FirstAxes(b.type(x).rank());
  axes.erase(axes.begin());
  return Binary(b, "divide", sums, ExpandDims(b, divisor, std::move(axes)));
}

// Element `indices` along `axis` for each index along `batch_axis`; the indices have these two axes
// in the order in which x has them.
ValueId TakeInBatch(Builder& b, ValueId x, ValueId indices, int axis, int batch_axis) {
  const int rank = b.type(x).rank();
  std::vector<Dim> sizes = b.type(x).shape.dims();
  sizes[axis] = 1;
  sizes[batch_axis] = 1;
  return b.Apply("gather", {x, indices},
                 {{"offset_dims", OtherAxes({axis, batch_axis}, rank)},
                  {"collapsed_slice_dims", Int64s{axis}},
                  {"operand_batching_dims", Int64s{batch_axis}},
                  {"start_indices_batching_dims", Int64s{batch_axis < axis ? 0 : 1}},
                  {"start_index_map", Int64s{axis}},
                  {"index_vector_dim", 2},
                  {"slice_sizes", std::move(sizes)}});
}

}  // namespace

ValueId TakeAlong(Builder& b, ValueId x, ValueId indices, int axis) {
  const int counted = AxisOf(b, x, axis);
  const int rank = b.type(x).rank();
  if (b.ok() && b.type(indices).rank() != rank) {
    b.Fail(InvalidArgument("indices ", b.type(indices).ToString(), " must have the axes of ",
                           b.type(x).ToString()));
  }
  if (!b.ok()) return ValueId();
  const Int64s others = OtherAxes({counted}, rank);
  return b.Apply("gather", {x, indices},
                 {{"offset_dims", Int64s{}},
                  {"collapsed_slice_dims", Int64s{counted}},
                  {"operand_batching_dims", others},
                  {"start_indices_batching_dims", others},
                  {"start_index_map", Int64s{counted}},
                  {"index_vector_dim", rank},
                  {"slice_sizes", std::vector<Dim>(rank, Dim(1))}});
}

ValueId Bucketize(Builder& b, ValueId x, ValueId boundaries, BoundaryCounts counts) {
  const std::vector<ValueId> promoted = PromoteAll(b, {x, boundaries});
  const ValueId flat = Reshape(b, promoted[0], {-1});
  const char* side = counts == BoundaryCounts::kBelow ? "right" : "left";
  const ValueId found = b.Apply("searchsorted", {promoted[1], flat}, {{"side", side}});
  return Reshape(b, found, b.type(x).shape.dims());
}

ValueId SegmentReduce(Builder& b, SegmentKind kind, ValueId x, ValueId ids, Dim num_segments,
                      SegmentOrder order) {
  if (b.ok() && (b.type(x).rank() == 0 || b.type(ids).rank() != 1)) {
    b.Fail(InvalidArgument("segments need rows and one id for each, found ", b.type(x).ToString(),
                           " and ", b.type(ids).ToString()));
  }
  if (!b.ok()) return ValueId();
  const DType dtype = b.type(x).dtype;
  if (dtype == DType::kF16 || dtype == DType::kBF16) {
    const ValueId wide = Cast(b, x, DType::kF32);
    return Cast(b, SegmentReduce(b, kind, wide, ids, std::move(num_segments), order), dtype);
  }
  if (kind == SegmentKind::kMean) return SegmentMean(b, x, ids, num_segments, order);
  return ScatterRows(b, RuleOf(kind, dtype), x, ids, num_segments, order);
}

ValueId Roll(Builder& b, ValueId x, ValueId shift, int axis) {
  const int counted = AxisOf(b, x, axis);
  if (!b.ok()) return ValueId();
  const Dim n = b.type(x).shape[counted];
  const ValueId places = Iota(b, DType::kI64, {n}, 0);
  // The shift is reduced first, because a difference with a huge one would overflow.
  const ValueId turn = Binary(b, "floor_mod", Cast(b, shift, DType::kI64), DimValue(b, n));
  const ValueId from = Binary(b, "floor_mod", Binary(b, "subtract", places, turn), DimValue(b, n));
  return Take(b, x, from, counted);
}

ValueId ReverseSequence(Builder& b, ValueId x, ValueId lengths, int axis, int batch_axis) {
  const int along = AxisOf(b, x, axis);
  const int batch = AxisOf(b, x, batch_axis);
  if (b.ok() && (along == batch || b.type(lengths).rank() != 1)) {
    b.Fail(InvalidArgument(
        "reversing needs two different axes and one length for each index along ",
        "the second, found axes ", along, " and ", batch, " and ", b.type(lengths).ToString()));
  }
  if (!b.ok()) return ValueId();
  const Shape& shape = b.type(x).shape;
  const int place = batch < along ? 1 : 0;
  std::vector<Dim> dims = {shape[std::min(along, batch)], shape[std::max(along, batch)]};
  const ValueId places = Iota(b, DType::kI64, dims, place);
  const ValueId spread =
      BroadcastTo(b, ExpandDims(b, Cast(b, lengths, DType::kI64), {place}), Shape(std::move(dims)));
  const ValueId last = Binary(b, "subtract", spread, 1);
  const ValueId inside = b.Apply("less", {places, spread});
  const ValueId from = Where(b, inside, b.Apply("subtract", {last, places}), places);
  return TakeInBatch(b, x, from, along, batch);
}

}  // namespace weir
