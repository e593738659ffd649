#include "common/base/status.h"
#include "common/flow/file_records.h"
#include "common/flow/vertex_kind.h"
#include "common/ir/lexer.h"

namespace weir {
namespace {

// Two of one path would replace each other's files.
absl::Status CheckAlone(const Flow& flow, const FlowVertex& vertex) {
  for (const FlowVertex& other : flow.vertices) {
    const Attr* const path = other.kind == "write_files" ? other.FindAttr("path") : nullptr;
    if (&other == &vertex || path == nullptr || *path != vertex.attr("path")) continue;
    return InvalidArgument(Quote(other.name), " writes to ", Quote(path->AsString()), " too");
  }
  return absl::OkStatus();
}

}  // namespace

// An epoch's file appears when the epoch is complete, whole, in place of one that was there;
// epochs without records have none. Records stand in it in the order (origin, content), each as
// often as its weight says, which is 0 to kMaxRepeats: so the bytes follow from the records alone.
// Without {part} the worker of rank 0 writes all; with it each worker writes the records that have
// its share of origins, into a part of its own if there are any.
VertexKind WriteFilesKind() {
  VertexKind kind = {.name = "write_files", .summary = "the records of each epoch as a file"};
  kind.outputs = 0;
  kind.attrs = {
      {"path", Attr::Kind::kString, true,
       "of the files, such as \"out/{epoch}.csv\" or \"out/{epoch:06}-{part}.npy\" with a part for "
       "each worker"},
      {"format", Attr::Kind::kString, false, "csv or npy; by the end of `path` if left out"}};
  kind.infer =
      [](const KindContext& context) -> absl::StatusOr<std::optional<std::vector<RecordType>>> {
    const FlowVertex& vertex = context.vertex;
    if (vertex.scope != LogicalGraph::kRoot) {
      return InvalidArgument("it is in a loop; use 'leave' first");
    }
    WEIR_RETURN_IF_ERROR(FilePattern::Parse(vertex.attr("path").AsString()).status());
    WEIR_RETURN_IF_ERROR(CheckAlone(context.flow, vertex));
    WEIR_ASSIGN_OR_RETURN(const FileFormat format, FileFormatOf(vertex, "path"));
    if (context.inputs[0] == nullptr) return NotKnownYet();
    WEIR_RETURN_IF_ERROR(CheckFileColumns(format, *context.inputs[0]));
    return NotKnownYet();
  };
  kind.route = [](const FlowVertex& vertex, int) -> Routing {
    const auto pattern = FilePattern::Parse(vertex.attr("path").AsString());
    return {pattern.ok() && pattern->has_parts() ? Routing::To::kOrigin : Routing::To::kRoot};
  };
  return kind;
}

}  // namespace weir
