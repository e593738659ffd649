#include "common/ops/control/assignment.h"

#include <algorithm>
#include <utility>

#include "common/base/status.h"
#include "common/ops/lang.h"

namespace weir::control {
namespace {

constexpr std::string_view kModes[] = {kLast, kMean, kSum, kOrdered};

// Sums of half precision are made in f32.
DType SumType(std::string_view mode, DType dtype) {
  const bool is_half = dtype == DType::kF16 || dtype == DType::kBF16;
  return mode == kMean && is_half ? DType::kF32 : dtype;
}

ValueId HappenedOf(Builder& b, const Assigned& assigned) {
  return assigned.happened.valid() ? assigned.happened : b.Scalar<bool>(true);
}

// The row of the last iteration, if there is one.
ValueId RowIfAny(Builder& b, ValueId any, ValueId rows, ValueId row, const TensorType& type) {
  Builder some = b.In(b.NewRegion()), none = b.In(b.NewRegion());
  some.Yield({TakeRow(some, rows, row)});
  none.Yield({Full(none, type.dtype, type.shape.dims(), 0)});
  return b.Apply("if", {any}, {}, {some.region(), none.region()});
}

}  // namespace

absl::Status CheckAssignMode(const std::string& mode, const TensorType& type) {
  if (std::find(std::begin(kModes), std::end(kModes), mode) == std::end(kModes)) {
    return InvalidArgument("attribute 'mode' must be last, mean, sum or ordered, found '", mode,
                           "'");
  }
  const bool is_exact = !IsFloat(type.dtype) && !IsComplex(type.dtype);
  if ((mode == kMean && is_exact) || (mode == kSum && type.dtype == DType::kBool)) {
    return InvalidArgument("a variable ", type.ToString(), " has no ", mode);
  }
  return absl::OkStatus();
}

Assigned NothingAssigned(Builder& b, const TensorType& type) {
  return {Full(b, type.dtype, type.shape.dims(), 0), b.Scalar<bool>(false)};
}

Assigned Then(Builder& b, const Assigned& before, const Assigned& next) {
  if (!next.happened.valid()) return next;
  return {Where(b, next.happened, next.value, before.value),
          before.happened.valid() ? b.Apply("or", {before.happened, next.happened}) : ValueId()};
}

ValueId AssignedOr(Builder& b, const Assigned& assigned, ValueId old) {
  return assigned.happened.valid() ? Where(b, assigned.happened, assigned.value, old)
                                   : assigned.value;
}

std::vector<Share> SharesOf(Builder& b, std::string_view mode, const Assigned& own, ValueId index) {
  const ValueId happened = HappenedOf(b, own);
  if (mode == kLast) {
    const ValueId key = Where(b, happened, index, b.Scalar<int64_t>(-1));
    return {{"max", key}, {"gather", own.value}};
  }
  const ValueId value = Cast(b, own.value, SumType(mode, b.type(own.value).dtype));
  return {{"sum", Where(b, happened, value, FullLike(b, value, 0))},
          {"sum", Cast(b, happened, DType::kI64)}};
}

Assigned Meet(Builder& b, std::string_view mode, const std::vector<ValueId>& reduced,
              const TensorType& type) {
  const ValueId zero = b.Scalar<int64_t>(0);
  if (mode == kLast) {
    const Shape rows = b.type(reduced[1]).shape;
    if (rows.rank() > 0 && rows[0] == Dim(0)) return NothingAssigned(b, type);
    const ValueId any = b.Apply("greater_equal", {reduced[0], zero});
    return {RowIfAny(b, any, reduced[1], reduced[0], type), any};
  }
  const ValueId any = b.Apply("greater", {reduced[1], zero});
  if (mode == kSum) return {reduced[0], any};
  const ValueId count = Cast(b, reduced[1], b.type(reduced[0]).dtype);
  const ValueId mean = b.Apply("divide", BroadcastAll(b, {reduced[0], count}));
  return {Cast(b, mean, type.dtype), any};
}

}  // namespace weir::control
