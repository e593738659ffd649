#include "common/flow/kinds/common_type.h"

#include "common/base/status.h"

namespace weir {

absl::StatusOr<std::optional<std::vector<RecordType>>> CommonType(const KindContext& context) {
  const RecordType* type = nullptr;
  for (const RecordType* input : context.inputs) {
    if (input == nullptr) continue;
    if (type == nullptr) type = input;
    if (*input == *type) continue;
    return InvalidArgument("its inputs have records of ", ToString(*type), " and ",
                           ToString(*input));
  }
  return type == nullptr ? NotKnownYet() : OneOutput(*type);
}

}  // namespace weir
