// What the ops share that run a region for some of the rows of their operands: in the region the
// leading axis has the extent of a symbol of its own (attribute `local`), which is bound to the
// number of rows at each entry. Only op files include this; stateless.
#ifndef WEIR_COMMON_OPS_CONTROL_ROWS_H_
#define WEIR_COMMON_OPS_CONTROL_ROWS_H_

#include <string>
#include <utility>
#include <vector>

#include "common/ops/op_def.h"

namespace weir::control {

// Returns: the symbol of attribute `local`, or an error if it is none or means something in
// `outside` types or in what the regions capture.
absl::StatusOr<Dim> LocalExtent(const InferContext& context, absl::Span<const TensorType> outside);
// Operands [first, first + count) as a region sees them. Returns: an error if one has not the
// leading extent `whole`.
absl::StatusOr<std::vector<TensorType>> PartTypes(const InferContext& context, int first, int count,
                                                  const Dim& whole, const Dim& local);
// The types of a region's results with the leading extent `whole` in place of `local`. Returns: an
// error if a result has `local` not in front, or elsewhere.
absl::StatusOr<std::vector<TensorType>> WholeTypes(absl::Span<const TensorType> parts,
                                                   const Dim& local, const Dim& whole);

// Rows `ids` of a tensor, one behind the other.
Tensor TakeRows(const Tensor& from, absl::Span<const int64_t> ids);
// Writes row k of `rows` to row ids[k].
void PutRows(const Tensor& rows, absl::Span<const int64_t> ids, Tensor* to);

// What a region for some of the rows takes of values around it: operands of its node, arguments of
// the region, and the rows of the values there.
class PartCaptures {
 public:
  PartCaptures(PforRewrite& rewrite, Dim part) : rewrite_(rewrite), part_(std::move(part)) {}

  // Passes the rows of a varying value.
  void Add(ValueId source);
  // The same, but where they were gathered by their owners, passes the owners, and the region
  // gathers: rows of which it reads little are then never copied.
  void AddByOwner(ValueId source);
  const std::vector<ValueId>& operands() const { return operands_; }
  // Adds the arguments to a region.
  std::vector<PforRewrite::PartRows> AddArgs(Builder& into) const;

 private:
  struct Capture {
    ValueId source;
    size_t operand = 0;
    ValueId whole;  // whose rows the operand names, or invalid: the operand is the rows
  };
  void Add(ValueId source, ValueId operand, ValueId whole);

  PforRewrite& rewrite_;
  const Dim part_;
  std::vector<ValueId> operands_;
  std::vector<Capture> captures_;
};

// In a pfor rule: the values around a region of the node that it uses and that vary.
std::vector<ValueId> VaryingCaptures(const PforRewrite& rewrite, RegionId region);

}  // namespace weir::control

#endif  // WEIR_COMMON_OPS_CONTROL_ROWS_H_
