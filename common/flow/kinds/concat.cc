#include "common/flow/kinds/common_type.h"

namespace weir {

VertexKind ConcatKind() {
  VertexKind kind = {.name = "concat", .summary = "all records of all inputs"};
  kind.max_inputs = 1 << 16;
  kind.infer = CommonType;
  return kind;
}

}  // namespace weir
