// What rules of many ops share: checks of axis lists with messages that name the attribute, the
// renumbering that pfor rules do, walks over indices. Stateless; usable from any thread.
//
// Axes of ops count from 0; negative axes exist only in the builders (lang.h).
#ifndef WEIR_COMMON_OPS_AXES_H_
#define WEIR_COMMON_OPS_AXES_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/ops/op_def.h"

namespace weir {

// Returns: an error that names the attribute when `axis` is not in [0, rank).
absl::Status CheckAxis(std::string_view attr, int64_t axis, int rank);
// In range and no axis twice.
absl::Status CheckAxes(std::string_view attr, const Int64s& axes, int rank);
absl::Status CheckSorted(std::string_view attr, const Int64s& axes);
// One entry for each axis of operand 0.
absl::Status CheckLength(std::string_view attr, size_t length, int rank);

// A shape that an attribute gives: no negative extents, at most kMaxRank axes.
absl::Status CheckDims(std::string_view attr, const std::vector<Dim>& dims);

// True if the dimensions differ whatever the symbols are: by a number other than 0.
bool MustDiffer(const Dim& a, const Dim& b);
// True if `a` exceeds `b` by a positive number.
bool MustExceed(const Dim& a, const Dim& b);
// "operand 1 (f32[2,3])".
std::string OperandText(const InferContext& context, int i);

bool HasAxis(const Int64s& axes, int64_t axis);
std::vector<int> ToInts(const Int64s& axes);
// 0..count-1.
Int64s FirstAxes(int count);
// The axes of 0..rank-1 that are not in `axes`.
Int64s OtherAxes(const Int64s& axes, int rank);

// Logical axes as physical ones, behind the iteration axis.
Int64s Shifted(const Int64s& axes);
template <class T>
std::vector<T> Prepend(T front, const std::vector<T>& rest) {
  std::vector<T> out = {std::move(front)};
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}
// The attributes with one replaced or added.
Attrs With(Attrs attrs, std::string_view name, Attr value);
// Replaces the node by the same op with `attrs` on its operands, all of them stacked.
absl::Status ReturnStacked(PforRewrite& rewrite, Attrs attrs);

// Steps `index` through `extents` in row-major order. Returns: false after the last.
bool NextIndex(absl::Span<const int64_t> extents, Extents* index);
// Output `i` with the extents that its type promises, uninitialized.
absl::StatusOr<Tensor> NewOutput(const EvalContext& context, int i);
// Integers of any type, row-major, as i64 (u64 saturates).
Tensor ToInt64(const Tensor& tensor);

}  // namespace weir

#endif  // WEIR_COMMON_OPS_AXES_H_
