// What the ops with regions share: type checks of regions, collecting one value an iteration, and
// the conversion of a region by a pfor rule. Only op files include this; stateless.
#ifndef WEIR_COMMON_OPS_CONTROL_REGION_H_
#define WEIR_COMMON_OPS_CONTROL_REGION_H_

#include <string>
#include <vector>

#include "common/ops/op_def.h"

namespace weir::control {

inline TensorType IndexType() { return {DType::kI64, Shape()}; }

std::vector<TensorType> ArgTypes(const InferContext& context, int region);
std::vector<TensorType> OperandTypes(const InferContext& context, int first);
// Returns: an error that names the first pair that differs.
absl::Status CheckEqualTypes(std::string_view what, absl::Span<const TensorType> found,
                             std::string_view than, absl::Span<const TensorType> wanted);
absl::Status CheckScalar(std::string_view what, const TensorType& type, DType dtype);
// The only dimension of the attribute `extent`, checked not to be negative where it is a number.
absl::StatusOr<Dim> ExtentAttr(const InferContext& context);
// T[s...] to T[extent, s...].
TensorType WithLeading(const Dim& extent, const TensorType& type);

// Adds "iteration i: " unless the message already has much context.
absl::Status InIteration(const absl::Status& status, int64_t iteration);

// Gathers the results of iterations into tensors with a leading axis.
class Collector {
 public:
  // Outputs `first`, `first` + 1, ... of the node collect.
  Collector(EvalContext& context, int first);
  // Results from position `skip` on. Returns: an error when extents differ between iterations.
  absl::Status Add(absl::Span<const Tensor> results, int skip);
  absl::StatusOr<std::vector<Tensor>> Take();

 private:
  EvalContext& context_;
  const int first_;
  std::vector<std::vector<Tensor>> parts_;  // by output
};

// `value` repeated along a new leading axis, by a node of `into`.
ValueId RepeatRows(Builder& into, ValueId value, const Dim& extent);
// Exchanges the first two axes.
ValueId SwapLeading(Builder& into, ValueId value);
// Converts the node's i-th region into a fresh one: arguments are stacked where they vary, result k
// where `stack[k]` (REQUIRES: where it varies at least).
absl::StatusOr<RegionId> Convert(PforRewrite& rewrite, int region, const std::vector<bool>& stack);
// Whether each argument or result of the i-th region varies.
std::vector<bool> ArgsVary(const PforRewrite& rewrite, int region);
std::vector<bool> ResultsVary(const PforRewrite& rewrite, int region);

// The values that a loop carries from trip to trip: operand first_operand + k starts argument
// first_arg + k of `body`, which result k of `body` follows.
struct Carried {
  RegionId body;
  int count = 0;
  int first_arg = 0;
  int first_operand = 0;
};
// Marks the arguments whose start or successor varies, until nothing changes; analyzes the body.
void MarkCarried(VarianceContext& context, const Carried& carried);

}  // namespace weir::control

#endif  // WEIR_COMMON_OPS_CONTROL_REGION_H_
