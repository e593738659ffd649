// CSV files of numbers, as RFC 4180 has them: lines that end with LF or CR LF, the last one
// perhaps with neither; fields between commas, perhaps in quotes. Blanks around a number are
// allowed, and a byte order mark at the beginning. A number never goes over a line, so lines are
// found before fields.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include "absl/strings/charconv.h"
#include "common/base/status.h"
#include "common/ir/lexer.h"
#include "worker/flow/files/record_reader.h"
#include "worker/flow/frame_bounds.h"

namespace weir {
namespace {

constexpr int64_t kPieceBytes = int64_t{256} << 10;
// What to read for few records: so many bytes, and more for each field.
constexpr int64_t kLeastPieceBytes = int64_t{4} << 10;
constexpr int64_t kBytesPerField = 32;
// No number needs more, whatever stands around it.
constexpr int64_t kMaxFieldBytes = 512;
constexpr size_t kMaxShown = 40;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

enum class Parsed { kYes, kNoNumber, kOutOfRange };

template <class T>
Parsed ParseNumber(std::string_view text, T* out) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  if constexpr (std::is_same_v<T, bool>) {
    *out = text == "1" || text == "true";
    return *out || text == "0" || text == "false" ? Parsed::kYes : Parsed::kNoNumber;
  } else if constexpr (std::is_integral_v<T>) {
    const auto [stop, error] = std::from_chars(begin, end, *out);
    if (stop != end || error == std::errc::invalid_argument) return Parsed::kNoNumber;
    return error == std::errc() ? Parsed::kYes : Parsed::kOutOfRange;
  } else if constexpr (std::is_floating_point_v<T>) {
    const auto [stop, error] = absl::from_chars(begin, end, *out);
    if (stop != end || error == std::errc::invalid_argument) return Parsed::kNoNumber;
    // Beyond the least number it is zero or that number, as everywhere.
    return error == std::errc() || std::abs(*out) < 1 ? Parsed::kYes : Parsed::kOutOfRange;
  } else {
    return Parsed::kNoNumber;  // CheckFileColumns leaves these out
  }
}

class CsvReader : public RecordReader {
 public:
  explicit CsvReader(FileForm form)
      : form_(std::move(form)),
        max_line_bytes_(std::max(kPieceBytes, ElementsOf(form_.type) * kMaxFieldBytes)),
        is_done_(form_.file_bytes == 0) {}

  bool done() const override { return is_done_; }

  absl::StatusOr<std::vector<Tensor>> Read(const ByteSource& source, int64_t most) override {
    most = std::min(most, RecordsPerFrame(form_.type));
    WEIR_ASSIGN_OR_RETURN(const std::string piece, NextPiece(source, most));
    std::vector<std::string_view> lines;
    std::string_view rest = piece;
    int64_t first = line_ + 1;  // of the lines that are records
    if (offset_ == 0 && rest.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
      rest.remove_prefix(kByteOrderMark.size());
    }
    while (!rest.empty() && static_cast<int64_t>(lines.size()) < most) {
      const size_t end = rest.find('\n');
      const bool is_last = end == std::string_view::npos;
      if (is_last && !reaches_end_) break;
      std::string_view line = rest.substr(0, end);
      rest.remove_prefix(is_last ? rest.size() : end + 1);
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      if (++line_ <= form_.skip_lines) {
        first = line_ + 1;
      } else {
        lines.push_back(line);
      }
    }
    WEIR_RETURN_IF_ERROR(NoteTaken(static_cast<int64_t>(piece.size() - rest.size())));
    return Parse(lines, first);
  }

 private:
  absl::StatusOr<std::string> NextPiece(const ByteSource& source, int64_t records) {
    const int64_t wanted = kLeastPieceBytes + records * ElementsOf(form_.type) * kBytesPerField;
    piece_bytes_ = std::max(piece_bytes_, std::min(wanted, kPieceBytes));
    std::string piece(static_cast<size_t>(std::min(piece_bytes_, form_.file_bytes - offset_)),
                      '\0');
    WEIR_ASSIGN_OR_RETURN(const size_t got,
                          source.ReadAt(offset_, absl::MakeSpan(piece.data(), piece.size())));
    if (got < piece.size()) {
      return absl::DataLossError(StrCat(form_.name, ": the file shrank while it was read"));
    }
    reaches_end_ = offset_ + static_cast<int64_t>(got) == form_.file_bytes;
    return piece;
  }

  // A line longer than a piece is read again in a larger one.
  absl::Status NoteTaken(int64_t bytes) {
    offset_ += bytes;
    is_done_ = offset_ == form_.file_bytes;
    if (bytes > 0) {
      piece_bytes_ = 0;
      return absl::OkStatus();
    }
    if (piece_bytes_ >= max_line_bytes_) {
      return InvalidArgument(form_.name, ":", line_ + 1, ": a line of more than ", max_line_bytes_,
                             " bytes");
    }
    piece_bytes_ = std::min(2 * piece_bytes_, max_line_bytes_);
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<Tensor>> Parse(absl::Span<const std::string_view> lines,
                                            int64_t first_line) const {
    std::vector<Tensor> columns;
    for (const TensorType& column : form_.type) {
      Extents extents = column.shape.extents();
      extents.insert(extents.begin(), static_cast<int64_t>(lines.size()));
      columns.emplace_back(column.dtype, extents);
    }
    for (size_t row = 0; row < lines.size(); ++row) {
      WEIR_RETURN_IF_ERROR(
          ParseLine(lines[row], first_line + static_cast<int64_t>(row), row, &columns));
    }
    return columns;
  }

  absl::Status ParseLine(std::string_view line, int64_t number, size_t row,
                         std::vector<Tensor>* columns) const {
    if (line.empty()) return InvalidArgument(form_.name, ":", number, ": an empty line");
    size_t begin = 0;  // of the field
    for (size_t c = 0; c < columns->size(); ++c) {
      const int64_t elements = NumElements(form_.type[c].shape.extents());
      WEIR_RETURN_IF_ERROR(VisitDType(form_.type[c].dtype, [&]<class T>(TypeTag<T>) {
        T* const out = (*columns)[c].mutable_data<T>() + static_cast<int64_t>(row) * elements;
        for (int64_t i = 0; i < elements; ++i) {
          if (begin > line.size()) return WrongCount(line, number);
          const size_t end = std::min(line.find(',', begin), line.size());
          const std::string_view field = line.substr(begin, end - begin);
          const Parsed parsed = ParseNumber(Number(field), out + i);
          if (parsed != Parsed::kYes) {
            if (CountFields(line) != ElementsOf(form_.type)) return WrongCount(line, number);
            return WrongField(field, number, begin, kDTypeOf<T>, parsed);
          }
          begin = end + 1;
        }
        return absl::OkStatus();
      }));
    }
    return begin == line.size() + 1 ? absl::OkStatus() : WrongCount(line, number);
  }

  // Without what may stand around it.
  static std::string_view Number(std::string_view field) {
    field = Trimmed(field);
    const bool is_quoted = field.size() >= 2 && field.front() == '"' && field.back() == '"';
    return is_quoted ? Trimmed(field.substr(1, field.size() - 2)) : field;
  }

  static int64_t CountFields(std::string_view line) {
    return std::count(line.begin(), line.end(), ',') + 1;
  }

  absl::Status WrongCount(std::string_view line, int64_t number) const {
    return InvalidArgument(form_.name, ":", number, ": ", CountFields(line), " fields; records of ",
                           ToString(form_.type), " have ", ElementsOf(form_.type));
  }

  absl::Status WrongField(std::string_view field, int64_t number, size_t begin, DType dtype,
                          Parsed parsed) const {
    const std::string_view shown = field.substr(0, kMaxShown);
    const std::string_view dots = shown.size() < field.size() ? "..." : "";
    const std::string_view why =
        parsed == Parsed::kOutOfRange ? " is out of the range of " : " is no ";
    const std::string_view hint =
        number == 1 ? "; if the first line has names, skip_lines = 1 leaves it out" : "";
    return InvalidArgument(form_.name, ":", number, ":", begin + 1, ": ", Quote(shown), dots, why,
                           DTypeName(dtype), hint);
  }

  const FileForm form_;
  const int64_t max_line_bytes_;
  int64_t piece_bytes_ = 0;  // at least, since a line did not fit
  int64_t offset_ = 0;       // of the next line
  int64_t line_ = 0;         // lines before it
  bool reaches_end_ = false;
  bool is_done_;
};

}  // namespace

std::unique_ptr<RecordReader> MakeCsvReader(FileForm form) {
  return std::make_unique<CsvReader>(std::move(form));
}

}  // namespace weir
