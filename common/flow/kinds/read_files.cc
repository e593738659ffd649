#include "common/base/status.h"
#include "common/flow/file_records.h"
#include "common/flow/flow_limits.h"
#include "common/flow/vertex_kind.h"
#include "common/ir/lexer.h"

namespace weir {
namespace {

absl::Status CheckEpochs(const FlowVertex& vertex) {
  const std::string epochs = vertex.StringOr("epochs", "one");
  if (epochs != "one" && epochs != "file") {
    return InvalidArgument("epochs = ", Quote(epochs), "; it is one or file");
  }
  if (epochs == "file" && vertex.FindAttr("rows") != nullptr) {
    return InvalidArgument("it has both epochs = \"file\" and rows; each says where epochs end");
  }
  return CheckRange(vertex, "rows", 1, kMaxInt64);
}

}  // namespace

// Workers share the files: the one of number k, in the order of names as bytes, is read by worker k
// modulo their number, once. All must find the same files, by names and sizes. Record r of file k
// has the origin k * 2^40 + r, so nothing depends on who reads it.
VertexKind ReadFilesKind() {
  VertexKind kind = {.name = "read_files", .summary = "records of files that workers share"};
  kind.min_inputs = kind.max_inputs = 0;
  kind.attrs = {
      {"glob", Attr::Kind::kString, true, "which files, such as \"points/*.csv\""},
      {"types", Attr::Kind::kStrings, true, "the columns, such as [\"i64[]\", \"f32[3]\"]"},
      {"format", Attr::Kind::kString, false, "csv or npy; by the end of `glob` if left out"},
      {"epochs", Attr::Kind::kString, false,
       "one: all records are in epoch 0 (if it is left out); file: those of the k-th file are in "
       "epoch k"},
      {"rows", Attr::Kind::kInt, false,
       "so many records of each file are in epoch 0, the next in epoch 1, ..."},
      {"skip_lines", Attr::Kind::kInt, false,
       "lines at the beginning of each CSV file that are no records; 0 if left out"}};
  kind.infer =
      [](const KindContext& context) -> absl::StatusOr<std::optional<std::vector<RecordType>>> {
    const FlowVertex& vertex = context.vertex;
    WEIR_ASSIGN_OR_RETURN(RecordType type, RecordTypeFrom(vertex.attr("types").AsStrings()));
    WEIR_ASSIGN_OR_RETURN(const FileFormat format, FileFormatOf(vertex, "glob"));
    WEIR_RETURN_IF_ERROR(CheckRecordType(type));
    WEIR_RETURN_IF_ERROR(CheckFileColumns(format, type));
    WEIR_RETURN_IF_ERROR(CheckEpochs(vertex));
    WEIR_RETURN_IF_ERROR(CheckRange(vertex, "skip_lines", 0, kMaxInt64));
    if (format != FileFormat::kCsv && vertex.FindAttr("skip_lines") != nullptr) {
      return InvalidArgument("skip_lines is for CSV files");
    }
    return OneOutput(std::move(type));
  };
  return kind;
}

}  // namespace weir
