// read_files and write_files, plainly: whole files, field by field.
#include <glob.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "common/base/status.h"
#include "common/flow/file_records.h"
#include "common/flow/flow_limits.h"
#include "common/flow/record_rows.h"
#include "common/flow/reference/reference_vertex.h"
#include "common/tensor/npy.h"

namespace weir {
namespace {

// In the order of their bytes, whatever the language of the process.
std::vector<std::string> FilesOf(const std::string& pattern) {
  glob_t found = {};
  std::vector<std::string> paths;
  if (glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
  std::sort(paths.begin(), paths.end());
  return paths;
}

// One number in the bytes of its type.
absl::StatusOr<std::string> BytesOfField(DType dtype, std::string field) {
  if (dtype == DType::kBool && field == "true") field = "1";
  if (dtype == DType::kBool && field == "false") field = "0";
  std::string bytes(static_cast<size_t>(SizeOf(dtype)), '\0');
  const char* const begin = field.c_str();
  char* end = nullptr;
  errno = 0;
  VisitDType(dtype, [&]<class T>(TypeTag<T>) {
    T value = {};
    if constexpr (std::is_same_v<T, float>) {
      value = std::strtof(begin, &end);
    } else if constexpr (std::is_same_v<T, double>) {
      value = std::strtod(begin, &end);
    } else if constexpr (std::is_same_v<T, uint64_t>) {
      value = std::strtoull(begin, &end, 10);
    } else if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(std::strtoll(begin, &end, 10));
    }
    std::memcpy(bytes.data(), &value, sizeof(value));
  });
  if (end == nullptr || end == begin || *end != '\0') {
    return InvalidArgument("'", field, "' is no ", DTypeName(dtype));
  }
  return bytes;
}

// Without what may stand around a number: blanks and quotes.
std::string Bare(std::string_view field) {
  const auto is_around = [](char c) { return c == ' ' || c == '\t' || c == '"' || c == '\r'; };
  while (!field.empty() && is_around(field.front())) field.remove_prefix(1);
  while (!field.empty() && is_around(field.back())) field.remove_suffix(1);
  return std::string(field);
}

absl::StatusOr<std::vector<RecordBytes>> RecordsOfCsv(const FlowVertex& vertex,
                                                      const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<RecordBytes> records;
  std::string line;
  for (int64_t number = 1; std::getline(file, line); ++number) {
    if (number <= vertex.IntOr("skip_lines", 0)) continue;
    const std::vector<std::string> fields = absl::StrSplit(line, ',');
    size_t next = 0;
    RecordBytes record;
    for (const TensorType& column : vertex.output_types[0]) {
      std::string& bytes = record.emplace_back();
      for (int64_t i = NumElements(column.shape.extents()); i > 0; --i) {
        if (next == fields.size()) return InvalidArgument(path, ":", number, ": a short line");
        const auto field = BytesOfField(column.dtype, Bare(fields[next++]));
        if (!field.ok()) return Annotate(field.status(), StrCat(path, ":", number));
        bytes += *field;
      }
    }
    if (next < fields.size()) return InvalidArgument(path, ":", number, ": a long line");
    records.push_back(std::move(record));
  }
  return records;
}

absl::StatusOr<std::vector<RecordBytes>> RecordsOfNpy(const FlowVertex& vertex,
                                                      const std::string& path) {
  const RecordType& type = vertex.output_types[0];
  WEIR_ASSIGN_OR_RETURN(const Tensor array, ReadNpy(path));
  const bool has_rows = array.dtype() == type[0].dtype && array.rank() > 0;
  if (!has_rows || array.extents() != NpyExtents(type, array.extent(0))) {
    return InvalidArgument(path, ": holds ", array.type().ToString());
  }
  std::vector<RecordBytes> records;
  const char* from = reinterpret_cast<const char*>(array.raw_data());
  for (int64_t row = 0; row < array.extent(0); ++row) {
    RecordBytes& record = records.emplace_back();
    for (const TensorType& column : type) {
      const int64_t bytes = NumElements(column.shape.extents()) * SizeOf(column.dtype);
      record.emplace_back(from, static_cast<size_t>(bytes));
      from += bytes;
    }
  }
  return records;
}

std::string FieldOf(DType dtype, const char* bytes) {
  return VisitDType(dtype, [&]<class T>(TypeTag<T>) -> std::string {
    T value = {};
    std::memcpy(&value, bytes, sizeof(value));
    if constexpr (std::is_same_v<T, bool>) {
      return value ? "1" : "0";
    } else if constexpr (std::is_integral_v<T>) {
      return std::to_string(value);
    } else if constexpr (std::is_floating_point_v<T>) {
      char text[64];
      return std::string(text, std::to_chars(text, text + sizeof(text), value).ptr);
    }
    return "";
  });
}

std::string CsvOf(const std::vector<RecordBytes>& records, const RecordType& type) {
  std::string text;
  for (const RecordBytes& record : records) {
    std::string line;
    for (size_t c = 0; c < type.size(); ++c) {
      const auto size = static_cast<size_t>(SizeOf(type[c].dtype));
      for (size_t at = 0; at < record[c].size(); at += size) {
        StrAppend(&line, line.empty() ? "" : ",", FieldOf(type[c].dtype, &record[c][at]));
      }
    }
    text += line + "\n";
  }
  return text;
}

absl::StatusOr<std::string> NpyOf(const std::vector<RecordBytes>& records, const RecordType& type) {
  Tensor array(type[0].dtype, NpyExtents(type, static_cast<int64_t>(records.size())));
  char* to = reinterpret_cast<char*>(array.raw_mutable_data());
  for (const RecordBytes& record : records) {
    for (const std::string& column : record) to = std::copy(column.begin(), column.end(), to);
  }
  return FormatNpy(array);
}

}  // namespace

absl::StatusOr<std::map<int64_t, RecordBag>> ReadReferenceFiles(const FlowVertex& vertex) {
  const std::string& pattern = vertex.attr("glob").AsString();
  const std::vector<std::string> paths = FilesOf(pattern);
  if (paths.empty()) return absl::NotFoundError(StrCat("no file is ", pattern));
  WEIR_ASSIGN_OR_RETURN(const FileFormat format, FileFormatOf(vertex, "glob"));
  const FileEpochs epochs(vertex);
  std::map<int64_t, RecordBag> bags;
  for (size_t file = 0; file < paths.size(); ++file) {
    WEIR_ASSIGN_OR_RETURN(const std::vector<RecordBytes> records,
                          format == FileFormat::kCsv ? RecordsOfCsv(vertex, paths[file])
                                                     : RecordsOfNpy(vertex, paths[file]));
    const auto k = static_cast<int64_t>(file);
    for (size_t r = 0; r < records.size(); ++r) {
      const auto row = static_cast<int64_t>(r);
      bags[epochs.EpochOf(k, row)].Add(OriginInFile(k, row), records[r], 1);
    }
  }
  return bags;
}

absl::Status WriteReferenceFiles(const FlowVertex& vertex, int64_t epoch, const RecordBag& records,
                                 int workers, std::map<std::string, std::string>* files) {
  const RecordType& type = vertex.input_types[0];
  WEIR_ASSIGN_OR_RETURN(const FilePattern pattern,
                        FilePattern::Parse(vertex.attr("path").AsString()));
  WEIR_ASSIGN_OR_RETURN(const FileFormat format, FileFormatOf(vertex, "path"));
  std::map<int, std::vector<RecordBytes>> parts;
  for (const auto& [key, weight] : records) {
    if (weight < 0 || weight > kMaxRepeats) {
      return InvalidArgument("a record has the weight ", weight);
    }
    const int worker = WorkerOfGroup(KeyGroupOf(HashOfOrigin(key.origin)), workers);
    std::vector<RecordBytes>& part = parts[pattern.has_parts() ? worker : 0];
    part.insert(part.end(), static_cast<size_t>(weight), key.record);
  }
  for (const auto& [part, rows] : parts) {
    std::string& bytes = (*files)[pattern.PathOf(epoch, part)];
    if (format == FileFormat::kCsv) {
      bytes = CsvOf(rows, type);
    } else {
      WEIR_ASSIGN_OR_RETURN(bytes, NpyOf(rows, type));
    }
  }
  return absl::OkStatus();
}

}  // namespace weir
