#include "common/flow/file_records.h"

#include <algorithm>
#include <charconv>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "common/base/status.h"
#include "common/ir/lexer.h"

namespace weir {
namespace {

// Of a line, which is read as one piece.
constexpr int64_t kMaxFields = int64_t{1} << 20;
constexpr size_t kMaxWidth = 18;

bool CsvHolds(DType dtype) {
  return dtype == DType::kBool || IsInteger(dtype) || dtype == DType::kF32 || dtype == DType::kF64;
}

}  // namespace

absl::StatusOr<FileFormat> FileFormatOf(const FlowVertex& vertex, std::string_view path) {
  const std::string& name = vertex.attr(path).AsString();
  const Attr* const format = vertex.FindAttr("format");
  if (format != nullptr) {
    if (format->AsString() == "csv") return FileFormat::kCsv;
    if (format->AsString() == "npy") return FileFormat::kNpy;
    return InvalidArgument("format = ", Quote(format->AsString()), "; it is csv or npy");
  }
  if (absl::EndsWith(name, ".csv")) return FileFormat::kCsv;
  if (absl::EndsWith(name, ".npy")) return FileFormat::kNpy;
  return InvalidArgument(path, " = ", Quote(name),
                         " ends neither in .csv nor in .npy; say the format");
}

int64_t ElementsOf(const RecordType& type) {
  int64_t elements = 0;
  for (const TensorType& column : type) elements += NumElements(column.shape.extents());
  return elements;
}

absl::Status CheckFileColumns(FileFormat format, const RecordType& type) {
  for (const TensorType& column : type) {
    if (format == FileFormat::kCsv && !CsvHolds(column.dtype)) {
      return InvalidArgument("a column of ", column.ToString(),
                             "; CSV files hold bool, integers, f32 and f64");
    }
    if (column.dtype == DType::kBF16) {
      return InvalidArgument("a column of ", column.ToString(),
                             "; NumPy has no bf16, so convert from or to f32 in a map");
    }
    if (format == FileFormat::kNpy && column.dtype != type[0].dtype) {
      return InvalidArgument("columns of ", type[0].ToString(), " and ", column.ToString(),
                             "; a .npy file holds one element type");
    }
  }
  const int64_t elements = ElementsOf(type);
  if (elements == 0) {
    return InvalidArgument("records of ", ToString(type), " have no elements; those of files do");
  }
  if (format == FileFormat::kNpy || elements <= kMaxFields) return absl::OkStatus();
  return InvalidArgument("records of ", elements, " elements; a line of a CSV file has up to ",
                         kMaxFields, " fields");
}

Extents NpyExtents(const RecordType& type, int64_t records) {
  Extents extents = {records};
  if (type.size() > 1) {
    extents.push_back(ElementsOf(type));
  } else {
    const Extents& row = type[0].shape.extents();
    extents.insert(extents.end(), row.begin(), row.end());
  }
  return extents;
}

FileEpochs::FileEpochs(const FlowVertex& vertex)
    : by_file_(vertex.StringOr("epochs", "one") == "file"), rows_(vertex.IntOr("rows", 0)) {}

absl::StatusOr<FilePattern> FilePattern::Parse(std::string_view path) {
  FilePattern pattern;
  const size_t slash = path.rfind('/');
  std::string_view name = path;
  if (slash != std::string_view::npos) {
    pattern.directory_ = std::string(path.substr(0, std::max<size_t>(slash, 1)));
    name = path.substr(slash + 1);
  }
  if (pattern.directory_.find_first_of("{}") != std::string::npos) {
    return InvalidArgument("path = ", Quote(path), ": braces stand in its last component only");
  }
  WEIR_RETURN_IF_ERROR(Annotate(pattern.ParseName(name), StrCat("path = ", Quote(path))));
  return pattern;
}

absl::Status FilePattern::ParseName(std::string_view name) {
  while (true) {
    Piece& piece = pieces_.emplace_back();
    const size_t brace = name.find_first_of("{}");
    piece.text = std::string(name.substr(0, brace));
    if (brace == std::string_view::npos) break;
    const size_t end = name.find('}', brace);
    if (name[brace] != '{' || end == std::string_view::npos) {
      return absl::InvalidArgumentError("a brace without the other one");
    }
    WEIR_RETURN_IF_ERROR(ParseNumber(name.substr(brace + 1, end - brace - 1), &piece));
    name.remove_prefix(end + 1);
  }
  return CheckNumbers();
}

absl::Status FilePattern::ParseNumber(std::string_view braced, Piece* piece) const {
  const size_t colon = braced.find(':');
  const std::string_view what = braced.substr(0, colon);
  bool is_legal = what == "epoch" || what == "part";
  piece->number = what == "epoch" ? Piece::Number::kEpoch : Piece::Number::kPart;
  if (colon != std::string_view::npos) {
    const std::string_view width = braced.substr(colon + 1);
    const char* const end = width.data() + width.size();
    const auto [stop, error] = std::from_chars(width.data(), end, piece->width);
    is_legal &= width.size() >= 2 && width[0] == '0' && error == std::errc() && stop == end &&
                piece->width >= 1 && piece->width <= kMaxWidth;
  }
  if (is_legal) return absl::OkStatus();
  return InvalidArgument(
      "{", braced,
      "}; what may stand there is {epoch} and {part}, or {epoch:06} with a width up to ",
      kMaxWidth);
}

// So that no two epochs or parts have one file.
absl::Status FilePattern::CheckNumbers() const {
  int epochs = 0;
  int parts = 0;
  for (size_t i = 0; i + 1 < pieces_.size(); ++i) {
    ++(pieces_[i].number == Piece::Number::kEpoch ? epochs : parts);
    const std::string& between = pieces_[i].text;
    const bool parted =
        std::any_of(between.begin(), between.end(), [](char c) { return !absl::ascii_isdigit(c); });
    if (i > 0 && !parted) {
      return absl::InvalidArgumentError(
          "what stands between two numbers needs a character that is no digit");
    }
  }
  if (epochs != 1 || parts > 1) {
    return absl::InvalidArgumentError("it needs {epoch} once, and {part} at most once");
  }
  return absl::OkStatus();
}

bool FilePattern::has_parts() const {
  return std::any_of(pieces_.begin(), pieces_.end(),
                     [](const Piece& piece) { return piece.number == Piece::Number::kPart; });
}

std::string FilePattern::NameOf(int64_t epoch, int64_t part) const {
  std::string name;
  for (const Piece& piece : pieces_) {
    name += piece.text;
    if (piece.number == Piece::Number::kNone) continue;
    const std::string number = StrCat(piece.number == Piece::Number::kEpoch ? epoch : part);
    if (number.size() < piece.width) name.append(piece.width - number.size(), '0');
    name += number;
  }
  return name;
}

std::string FilePattern::PathOf(int64_t epoch, int64_t part) const {
  const std::string_view slash = directory_.empty() || directory_ == "/" ? "" : "/";
  return StrCat(directory_, slash, NameOf(epoch, part));
}

}  // namespace weir
