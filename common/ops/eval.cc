#include "common/ops/eval.h"

#include "common/base/status.h"

namespace weir {

absl::StatusOr<Extents> EvalContext::Evaluate(std::string_view dims_attr) const {
  Extents extents;
  for (const Dim& dim : attr(dims_attr).AsDims()) {
    WEIR_ASSIGN_OR_RETURN(const int64_t value, dim.Evaluate(symbols_));
    extents.push_back(value);
  }
  return extents;
}

absl::StatusOr<Extents> EvalContext::OutputExtents(int i) const {
  return graph_.type(node_.outputs[i]).shape.Evaluate(symbols_);
}

}  // namespace weir
