#include "common/base/status.h"
#include "common/flow/vertex_kind.h"

namespace weir {

VertexKind ConcatKind() {
  VertexKind kind = {.name = "concat", .summary = "all records of all inputs"};
  kind.max_inputs = 1 << 16;
  kind.infer =
      [](const KindContext& context) -> absl::StatusOr<std::optional<std::vector<RecordType>>> {
    const RecordType* type = nullptr;
    for (const RecordType* input : context.inputs) {
      if (input == nullptr) continue;
      if (type == nullptr) type = input;
      if (*input == *type) continue;
      return InvalidArgument("its inputs have records of ", ToString(*type), " and ",
                             ToString(*input));
    }
    return type == nullptr ? NotKnownYet() : OneOutput(*type);
  };
  return kind;
}

}  // namespace weir
