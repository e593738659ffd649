#include "common/base/status.h"
#include "common/flow/vertex_kind.h"

namespace weir {

VertexKind FilterKind() {
  VertexKind kind = {.name = "filter", .summary = "keeps the records for which a function says so"};
  kind.attrs = {
      {"function", Attr::Kind::kString, true, "from the columns of a record to one bool[]"}};
  kind.infer =
      [](const KindContext& context) -> absl::StatusOr<std::optional<std::vector<RecordType>>> {
    if (context.inputs[0] == nullptr) return NotKnownYet();
    WEIR_ASSIGN_OR_RETURN(const RecordType keep, context.Call("function", *context.inputs[0]));
    if (keep != RecordType{{DType::kBool, Shape()}}) {
      return InvalidArgument("the function returns ", ToString(keep), ", not (bool[])");
    }
    return SameAsInput(context);
  };
  return kind;
}

}  // namespace weir
