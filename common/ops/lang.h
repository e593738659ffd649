// Functions over Builder for those who build graphs by hand: importers, clients, tests. They follow
// NumPy where ops do not: shapes broadcast, element types promote (promote.h), axes may be
// negative. What is built is ordinary ops. Stateless; thread-compatible like the builder, whose
// status() holds the first fault.
//
//   ValueId h = Binary(b, "add", MatMul(b, x, w), bias);
//   b.Yield({Softmax(b, h, -1)});
//   WEIR_RETURN_IF_ERROR(b.status());
#ifndef WEIR_COMMON_OPS_LANG_H_
#define WEIR_COMMON_OPS_LANG_H_

#include <string>
#include <utility>
#include <vector>

#include "common/ir/builder.h"

namespace weir {

// Values out of nothing. A number is rounded to the element type.
Tensor ScalarOf(DType dtype, double value);
ValueId Full(Builder& b, DType dtype, std::vector<Dim> shape, double value);
ValueId FullLike(Builder& b, ValueId like, double value);
// Counts 0, 1, ... along `axis`.
ValueId Iota(Builder& b, DType dtype, std::vector<Dim> shape, int axis);
// The value of a dimension, as i64[].
ValueId DimValue(Builder& b, const Dim& dim);

// Element types.
ValueId Cast(Builder& b, ValueId x, DType dtype);
// Casts all to the type in which they meet. REQUIRES: at least one value.
std::vector<ValueId> PromoteAll(Builder& b, std::vector<ValueId> values);

// Broadcasting: shapes align at the last axis, and the number 1 (not a symbol) expands.
absl::StatusOr<Shape> BroadcastShapes(const Shape& x, const Shape& y);
ValueId BroadcastTo(Builder& b, ValueId x, const Shape& shape);
std::vector<ValueId> BroadcastAll(Builder& b, std::vector<ValueId> values);
// An element-wise op on promoted and broadcast operands.
ValueId Binary(Builder& b, std::string op, ValueId x, ValueId y);
// The same with a literal, which takes the element type of x. REQUIRES: the type can hold it.
ValueId Binary(Builder& b, std::string op, ValueId x, double y);
ValueId Where(Builder& b, ValueId condition, ValueId x, ValueId y);

// Movement. One dimension of a reshape may be -1: what the others leave.
ValueId Reshape(Builder& b, ValueId x, std::vector<Dim> shape);
ValueId Transpose(Builder& b, ValueId x, Int64s permutation);
// Removes axes of extent 1, or adds them where they stand in the result.
ValueId Squeeze(Builder& b, ValueId x, Int64s axes);
ValueId ExpandDims(Builder& b, ValueId x, Int64s axes);
ValueId Concatenate(Builder& b, std::vector<ValueId> parts, int axis);
// Elements start, start + stride, ... below limit of one axis.
ValueId Slice(Builder& b, ValueId x, int axis, Dim start, Dim limit, int64_t stride = 1);
// Row `index` (i64[], clamped) of axis 0, with that axis gone: what a parallel loop does first.
ValueId TakeRow(Builder& b, ValueId x, ValueId index);
// numpy.take: indices of any shape (clamped, so not negative) replace the axis.
ValueId Take(Builder& b, ValueId x, ValueId indices, int axis);

// Reductions over axes, which then are gone or have extent 1.
enum class ReducedAxes { kDrop, kKeep };
ValueId Reduce(Builder& b, std::string op, ValueId x, Int64s axes,
               ReducedAxes then = ReducedAxes::kDrop);
// REQUIRES: floats or complex numbers.
ValueId Mean(Builder& b, ValueId x, Int64s axes, ReducedAxes then = ReducedAxes::kDrop);
ValueId Softmax(Builder& b, ValueId x, int axis);
ValueId LogSoftmax(Builder& b, ValueId x, int axis);

// numpy.matmul: the last two axes are matrices, the others broadcast, a vector is a row on the left
// and a column on the right.
ValueId MatMul(Builder& b, ValueId x, ValueId y);

}  // namespace weir

#endif  // WEIR_COMMON_OPS_LANG_H_
