#include "common/ops/lang.h"

#include <algorithm>
#include <complex>

#include "common/base/status.h"
#include "common/ops/axes.h"
#include "common/ops/promote.h"
#include "common/ops/scalar/convert.h"

namespace weir {
namespace {

// Returns: the axis counted from 0; records a fault and returns 0 if there is no such axis.
int64_t FromFront(Builder& b, int64_t axis, int rank) {
  const int64_t counted = axis < 0 ? axis + rank : axis;
  if (counted >= 0 && counted < rank) return counted;
  b.Fail(InvalidArgument("there is no axis ", axis, " among ", rank));
  return 0;
}

Int64s FromFront(Builder& b, const Int64s& axes, int rank) {
  Int64s counted;
  for (int64_t axis : axes) counted.push_back(FromFront(b, axis, rank));
  return counted;
}

// The shape of a reduction of x that keeps axes as extent 1.
std::vector<Dim> KeptShape(Builder& b, ValueId x, const Int64s& axes) {
  std::vector<Dim> shape = b.type(x).shape.dims();
  for (int64_t axis : axes) shape[axis] = 1;
  return shape;
}

}  // namespace

Tensor ScalarOf(DType dtype, double value) {
  Tensor out(dtype, {});
  VisitDType(dtype, [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_same_v<T, std::complex<float>> ||
                  std::is_same_v<T, std::complex<double>>) {
      *out.mutable_data<T>() = T(static_cast<typename T::value_type>(value));
    } else {
      *out.mutable_data<T>() = scalar::Convert<T>(value);
    }
  });
  return out;
}

ValueId Full(Builder& b, DType dtype, std::vector<Dim> shape, double value) {
  return BroadcastTo(b, b.Constant(ScalarOf(dtype, value)), Shape(std::move(shape)));
}

ValueId FullLike(Builder& b, ValueId like, double value) {
  return Full(b, b.type(like).dtype, b.type(like).shape.dims(), value);
}

ValueId Iota(Builder& b, DType dtype, std::vector<Dim> shape, int axis) {
  const int64_t counted = FromFront(b, axis, static_cast<int>(shape.size()));
  return b.Apply("iota", {}, {{"shape", std::move(shape)}, {"dtype", dtype}, {"axis", counted}});
}

ValueId DimValue(Builder& b, const Dim& dim) {
  if (dim.is_number()) return b.Scalar<int64_t>(dim.number());
  return b.Apply("dimension_size", {}, {{"size", std::vector<Dim>{dim}}});
}

ValueId Cast(Builder& b, ValueId x, DType dtype) {
  if (!b.ok() || b.type(x).dtype == dtype) return x;
  return b.Apply("convert", {x}, {{"dtype", dtype}});
}

std::vector<ValueId> PromoteAll(Builder& b, std::vector<ValueId> values) {
  DType dtype = b.type(values[0]).dtype;
  for (ValueId value : values) dtype = Promote(dtype, b.type(value).dtype);
  for (ValueId& value : values) value = Cast(b, value, dtype);
  return values;
}

absl::StatusOr<Shape> BroadcastShapes(const Shape& x, const Shape& y) {
  const int rank = std::max(x.rank(), y.rank());
  Shape result(std::vector<Dim>(rank, Dim(1)));
  for (int i = 1; i <= rank; ++i) {
    const Dim a = i <= x.rank() ? x[x.rank() - i] : Dim(1);
    const Dim c = i <= y.rank() ? y[y.rank() - i] : Dim(1);
    if (a != c && a != Dim(1) && c != Dim(1)) {
      return InvalidArgument("shapes ", x.ToString(), " and ", y.ToString(),
                             " do not broadcast together: ", a.ToString(), " against ",
                             c.ToString());
    }
    result[rank - i] = a == Dim(1) ? c : a;
  }
  return result;
}

ValueId BroadcastTo(Builder& b, ValueId x, const Shape& shape) {
  const Shape& from = b.type(x).shape;
  if (!b.ok() || from == shape) return x;
  if (from.rank() > shape.rank()) {
    b.Fail(InvalidArgument("shape ", from.ToString(), " does not broadcast to ", shape.ToString()));
    return ValueId();
  }
  Int64s axes = FirstAxes(from.rank());
  for (int64_t& axis : axes) axis += shape.rank() - from.rank();
  return b.Apply("broadcast_in_dim", {x}, {{"shape", shape}, {"axes", std::move(axes)}});
}

std::vector<ValueId> BroadcastAll(Builder& b, std::vector<ValueId> values) {
  Shape shape;
  for (ValueId value : values) {
    absl::StatusOr<Shape> joined = BroadcastShapes(shape, b.type(value).shape);
    if (!joined.ok()) {
      b.Fail(joined.status());
      return values;
    }
    shape = *std::move(joined);
  }
  for (ValueId& value : values) value = BroadcastTo(b, value, shape);
  return values;
}

ValueId Binary(Builder& b, std::string op, ValueId x, ValueId y) {
  return b.Apply(std::move(op), BroadcastAll(b, PromoteAll(b, {x, y})));
}

ValueId Binary(Builder& b, std::string op, ValueId x, double y) {
  return b.Apply(std::move(op), {x, FullLike(b, x, y)});
}

ValueId Where(Builder& b, ValueId condition, ValueId x, ValueId y) {
  const std::vector<ValueId> choices = PromoteAll(b, {x, y});
  return b.Apply("select", BroadcastAll(b, {condition, choices[0], choices[1]}));
}

ValueId Reshape(Builder& b, ValueId x, std::vector<Dim> shape) {
  Dim others = 1;
  Dim* open = nullptr;
  for (Dim& dim : shape) {
    if (dim != Dim(-1)) {
      others = others * dim;
    } else if (open == nullptr) {
      open = &dim;
    } else {
      b.Fail(InvalidArgument("a shape can leave one dimension open, not two"));
    }
  }
  if (open != nullptr) *open = FloorDiv(b.type(x).shape.num_elements(), others);
  if (!b.ok() || Shape(shape) == b.type(x).shape) return x;
  return b.Apply("reshape", {x}, {{"shape", std::move(shape)}});
}

ValueId Transpose(Builder& b, ValueId x, Int64s permutation) {
  permutation = FromFront(b, permutation, b.type(x).rank());
  return b.Apply("transpose", {x}, {{"permutation", std::move(permutation)}});
}

ValueId Squeeze(Builder& b, ValueId x, Int64s axes) {
  const Shape& shape = b.type(x).shape;
  axes = FromFront(b, axes, shape.rank());
  if (!b.ok()) return ValueId();
  for (int64_t axis : axes) {
    if (shape[static_cast<int>(axis)] == Dim(1)) continue;
    b.Fail(InvalidArgument("cannot squeeze axis ", axis, " of ", b.type(x).ToString(),
                           ": its extent is not the number 1"));
  }
  std::vector<Dim> kept;
  for (int64_t axis : OtherAxes(axes, shape.rank())) {
    kept.push_back(shape[static_cast<int>(axis)]);
  }
  return b.Apply("reshape", {x}, {{"shape", std::move(kept)}});
}

ValueId ExpandDims(Builder& b, ValueId x, Int64s axes) {
  const Shape& shape = b.type(x).shape;
  const int rank = shape.rank() + static_cast<int>(axes.size());
  axes = FromFront(b, axes, rank);
  const Int64s old_axes = OtherAxes(axes, rank);
  if (b.ok() && static_cast<int>(old_axes.size()) != shape.rank()) {
    b.Fail(InvalidArgument("an axis is added twice: ", ExtentsToString(axes)));
  }
  if (!b.ok()) return ValueId();
  std::vector<Dim> expanded(rank, Dim(1));
  for (int i = 0; i < shape.rank(); ++i) expanded[old_axes[i]] = shape[i];
  return b.Apply("reshape", {x}, {{"shape", std::move(expanded)}});
}

ValueId Concatenate(Builder& b, std::vector<ValueId> parts, int axis) {
  if (parts.empty()) {
    b.Fail(InvalidArgument("nothing to concatenate"));
    return ValueId();
  }
  const int64_t counted = FromFront(b, axis, b.type(parts[0]).rank());
  parts = PromoteAll(b, std::move(parts));
  return parts.size() == 1 ? parts[0] : b.Apply("concatenate", parts, {{"axis", counted}});
}

ValueId Slice(Builder& b, ValueId x, int axis, Dim start, Dim limit, int64_t stride) {
  const Shape& shape = b.type(x).shape;
  const int64_t counted = FromFront(b, axis, shape.rank());
  if (!b.ok()) return ValueId();
  std::vector<Dim> starts(shape.rank(), Dim(0));
  std::vector<Dim> limits = shape.dims();
  Int64s strides(shape.rank(), 1);
  starts[counted] = std::move(start);
  limits[counted] = std::move(limit);
  strides[counted] = stride;
  return b.Apply("slice", {x}, {{"start", starts}, {"limit", limits}, {"stride", strides}});
}

ValueId TakeRow(Builder& b, ValueId x, ValueId index) { return Take(b, x, index, 0); }

ValueId Take(Builder& b, ValueId x, ValueId indices, int axis) {
  const Shape& shape = b.type(x).shape;
  const int indices_rank = b.type(indices).rank();
  const int64_t counted = FromFront(b, axis, shape.rank());
  if (!b.ok()) return ValueId();
  std::vector<Dim> sizes = shape.dims();
  sizes[counted] = 1;
  Int64s offset_dims = OtherAxes({counted}, shape.rank());
  for (int64_t& dim : offset_dims) {
    if (dim > counted) dim += indices_rank - 1;
  }
  return b.Apply("gather", {x, indices},
                 {{"offset_dims", std::move(offset_dims)},
                  {"collapsed_slice_dims", Int64s{counted}},
                  {"operand_batching_dims", Int64s{}},
                  {"start_indices_batching_dims", Int64s{}},
                  {"start_index_map", Int64s{counted}},
                  {"index_vector_dim", indices_rank},
                  {"slice_sizes", std::move(sizes)}});
}

ValueId Reduce(Builder& b, std::string op, ValueId x, Int64s axes, ReducedAxes then) {
  axes = FromFront(b, axes, b.type(x).rank());
  if (!b.ok()) return ValueId();
  const ValueId reduced = b.Apply(std::move(op), {x}, {{"axes", axes}});
  if (then == ReducedAxes::kDrop || !b.ok()) return reduced;
  return b.Apply("reshape", {reduced}, {{"shape", KeptShape(b, x, axes)}});
}

ValueId Mean(Builder& b, ValueId x, Int64s axes, ReducedAxes then) {
  const TensorType type = b.type(x);
  if (!IsFloat(type.dtype) && !IsComplex(type.dtype)) {
    b.Fail(InvalidArgument("a mean needs floats or complex numbers, found ", type.ToString(),
                           "; cast it first"));
    return ValueId();
  }
  if (type.dtype == DType::kF16 || type.dtype == DType::kBF16) {
    return Cast(b, Mean(b, Cast(b, x, DType::kF32), std::move(axes), then), type.dtype);
  }
  axes = FromFront(b, axes, type.rank());
  if (!b.ok()) return ValueId();
  Dim count = 1;
  for (int64_t axis : axes) count = count * type.shape[static_cast<int>(axis)];
  const ValueId sum = Reduce(b, "reduce_sum", x, std::move(axes), then);
  if (count.is_number()) return Binary(b, "divide", sum, static_cast<double>(count.number()));
  const ValueId divisor = Cast(b, DimValue(b, count), type.dtype);
  return b.Apply("divide", BroadcastAll(b, {sum, divisor}));
}

ValueId Softmax(Builder& b, ValueId x, int axis) {
  const ValueId max = Reduce(b, "reduce_max", x, {axis}, ReducedAxes::kKeep);
  const ValueId exp = b.Apply("exp", {Binary(b, "subtract", x, max)});
  return Binary(b, "divide", exp, Reduce(b, "reduce_sum", exp, {axis}, ReducedAxes::kKeep));
}

ValueId LogSoftmax(Builder& b, ValueId x, int axis) {
  const ValueId max = Reduce(b, "reduce_max", x, {axis}, ReducedAxes::kKeep);
  const ValueId shifted = Binary(b, "subtract", x, max);
  const ValueId exp = b.Apply("exp", {shifted});
  const ValueId sum = Reduce(b, "reduce_sum", exp, {axis}, ReducedAxes::kKeep);
  return Binary(b, "subtract", shifted, b.Apply("log", {sum}));
}

}  // namespace weir
