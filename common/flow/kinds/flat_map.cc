#include "common/base/status.h"
#include "common/flow/flow_limits.h"
#include "common/flow/vertex_kind.h"

namespace weir {
namespace {

using Types = absl::StatusOr<std::optional<std::vector<RecordType>>>;

Types Infer(const KindContext& context) {
  if (context.inputs[0] == nullptr) return NotKnownYet();
  WEIR_ASSIGN_OR_RETURN(RecordType results, context.Call("function", *context.inputs[0]));
  if (results.size() < 2 || results[0] != TensorType{DType::kI64, Shape()}) {
    return InvalidArgument("the function returns ", ToString(results),
                           "; it is a count i64[] and a column at least");
  }
  RecordType child(results.begin() + 1, results.end());
  for (TensorType& column : child) {
    const bool fits = column.rank() > 0 && column.shape[0] == results[1].shape[0];
    if (!fits) {
      return InvalidArgument("the function returns ", ToString(results),
                             "; columns behind the count have one leading extent");
    }
  }
  const int64_t most = child[0].shape[0].number();
  if (most > kMaxChildren) {
    return InvalidArgument("the function returns up to ", most, " records for one; up to ",
                           kMaxChildren, " are possible");
  }
  for (TensorType& column : child) column.shape.dims().erase(column.shape.dims().begin());
  return OneOutput(std::move(child));
}

}  // namespace

// The function returns a count and columns whose leading extent m is a number: their rows 0 to
// count - 1 are the records that come out, with origin and weight of the one that came in. A count
// below 0 or above m is an error when it runs. Acts on arrival.
VertexKind FlatMapKind() {
  VertexKind kind = {.name = "flat_map", .summary = "makes any number of records of each"};
  kind.attrs = {{"function", Attr::Kind::kString, true,
                 "from the columns of a record to a count i64[] and columns with one more leading "
                 "axis, of which the first `count` rows are records",
                 FlowAttr::Calls::kRecord}};
  kind.infer = Infer;
  return kind;
}

}  // namespace weir
