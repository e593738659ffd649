#include "common/ops/op_def.h"

namespace weir {

std::vector<TensorType> InferContext::ResultTypes(int i) const {
  std::vector<TensorType> types;
  for (ValueId result : region(i).results) types.push_back(graph_.type(result));
  return types;
}

}  // namespace weir
