#include "common/base/status.h"
#include "common/flow/vertex_kind.h"

namespace weir {

// Records come from a client, in the epoch that it says.
VertexKind InputKind() {
  VertexKind kind = {.name = "input", .summary = "records from outside, by epoch"};
  kind.min_inputs = kind.max_inputs = 0;
  kind.attrs = {
      {"types", Attr::Kind::kStrings, true, "the columns, such as [\"i64[]\", \"f32[3]\"]"}};
  kind.infer =
      [](const KindContext& context) -> absl::StatusOr<std::optional<std::vector<RecordType>>> {
    RecordType type;
    for (const std::string& text : context.vertex.attr("types").AsStrings()) {
      WEIR_ASSIGN_OR_RETURN(TensorType column, TensorType::Parse(text));
      if (!column.shape.is_static()) {
        return InvalidArgument("column type ", text, "; columns of records have a fixed size");
      }
      type.push_back(std::move(column));
    }
    return OneOutput(std::move(type));
  };
  return kind;
}

}  // namespace weir
