#include "common/ops/pfor_rule.h"

#include <numeric>

namespace weir {

ValueId PforRewrite::stacked(int i) {
  const ValueId value = operand(i);
  return input_varies(i) ? value : Stack(value);
}

ValueId PforRewrite::Stack(ValueId converted_invariant) {
  const TensorType& type = build().type(converted_invariant);
  std::vector<Dim> dims = {extent()};
  dims.insert(dims.end(), type.shape.dims().begin(), type.shape.dims().end());
  Int64s axes(type.rank());
  std::iota(axes.begin(), axes.end(), 1);
  return build().Apply("broadcast_in_dim", {converted_invariant},
                       {{"shape", std::move(dims)}, {"axes", std::move(axes)}});
}

}  // namespace weir
