// How the values meet that the iterations of a pfor assign to one variable: each iteration keeps
// what it assigned last, and where all of them meet these become one. Used by passes that make
// state values; stateless.
#ifndef WEIR_COMMON_OPS_CONTROL_ASSIGNMENT_H_
#define WEIR_COMMON_OPS_CONTROL_ASSIGNMENT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/ir/builder.h"

namespace weir::control {

// The modes of assign_variable: the value of the highest iteration that assigns, the mean or the
// sum of all that assign, or the sequential meaning.
inline constexpr std::string_view kLast = "last";
inline constexpr std::string_view kMean = "mean";
inline constexpr std::string_view kSum = "sum";
inline constexpr std::string_view kOrdered = "ordered";

// Returns: INVALID_ARGUMENT for another mode, or one that values of this type do not have.
absl::Status CheckAssignMode(const std::string& mode, const TensorType& type);

// What was assigned, T[...], and whether anything was, bool[]; without an assignment the value is
// any. An invalid `happened` stands for true.
struct Assigned {
  ValueId value;
  ValueId happened;
};

Assigned NothingAssigned(Builder& b, const TensorType& type);
// `next` behind `before`.
Assigned Then(Builder& b, const Assigned& before, const Assigned& next);
// What a variable holds behind an assignment.
ValueId AssignedOr(Builder& b, const Assigned& assigned, ValueId old);

// A value of an iteration that is to be reduced over all of them (iteration_reduce kinds).
struct Share {
  std::string kind;
  ValueId value;
};
// What iteration `index` (i64[]) gives, for every mode but `ordered`.
std::vector<Share> SharesOf(Builder& b, std::string_view mode, const Assigned& own, ValueId index);
// Of the reduced shares, in their order; of values of this type.
Assigned Meet(Builder& b, std::string_view mode, const std::vector<ValueId>& reduced,
              const TensorType& type);

}  // namespace weir::control

#endif  // WEIR_COMMON_OPS_CONTROL_ASSIGNMENT_H_
