// Records in files: what the kinds read_files and write_files, the oracle and workers agree on.
// Values; usable from any thread.
//
// CSV: a record is a line, with one field for each element of each column, in order, row-major.
// .npy: a record is a row. A file of one column f32[3] is an array f32[n,3]; columns of one element
// type may lie beside each other in an array [n,k] of all their elements.
#ifndef WEIR_COMMON_FLOW_FILE_RECORDS_H_
#define WEIR_COMMON_FLOW_FILE_RECORDS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/flow/flow.h"
#include "common/flow/record_batch.h"

namespace weir {

enum class FileFormat { kCsv, kNpy };

// What the attribute `format` says, or else the end of the attribute `path`. Errors:
// InvalidArgument, neither says it.
absl::StatusOr<FileFormat> FileFormatOf(const FlowVertex& vertex, std::string_view path);
// Errors: InvalidArgument, columns that files of this format cannot hold.
absl::Status CheckFileColumns(FileFormat format, const RecordType& type);
// Elements of all columns of one record.
int64_t ElementsOf(const RecordType& type);
// The extents of the .npy file that holds so many records. REQUIRES: CheckFileColumns is OK.
Extents NpyExtents(const RecordType& type, int64_t records);

// Files of one glob, and records of one file.
inline constexpr int kFileRowBits = 40;
inline constexpr int64_t kMaxFiles = int64_t{1} << 20;
inline constexpr int64_t kMaxFileRows = int64_t{1} << kFileRowBits;
// The origin of record `row` of file `file`, both counted from 0; files in the order of their names
// as bytes.
inline int64_t OriginInFile(int64_t file, int64_t row) { return file << kFileRowBits | row; }

// In which epochs a read_files vertex has its records.
class FileEpochs {
 public:
  // REQUIRES: the vertex is of this kind and checked.
  explicit FileEpochs(const FlowVertex& vertex);

  int64_t EpochOf(int64_t file, int64_t row) const {
    return by_file_ ? file : rows_ > 0 ? row / rows_ : 0;
  }
  // How many records from this one on may be in the same epoch.
  int64_t RowsLeft(int64_t row) const {
    return rows_ > 0 ? rows_ - row % rows_ : kMaxFileRows - row;
  }

 private:
  const bool by_file_;
  const int64_t rows_;  // of one file in one epoch; 0: any number
};

// The path that a write_files vertex has: "out/{epoch:06}-{part}.csv", in which {epoch} stands for
// the epoch and {part} for the number of the worker, with zeros in front up to a width if one is
// given.
class FilePattern {
 public:
  // Errors: InvalidArgument, a path that has no {epoch} in its last component, anything else in
  // braces, or may be the same for two epochs or parts.
  static absl::StatusOr<FilePattern> Parse(std::string_view path);

  bool has_parts() const;
  // "out"; empty if there is only a name.
  const std::string& directory() const { return directory_; }
  // Without the directory.
  std::string NameOf(int64_t epoch, int64_t part) const;
  // "out/000007-1.csv".
  std::string PathOf(int64_t epoch, int64_t part) const;

 private:
  // What stands in front of a number, and the number; the last one is none.
  struct Piece {
    enum class Number { kNone, kEpoch, kPart };
    std::string text;
    Number number = Number::kNone;
    size_t width = 0;
  };

  absl::Status ParseName(std::string_view name);
  absl::Status ParseNumber(std::string_view braced, Piece* piece) const;
  absl::Status CheckNumbers() const;

  std::string directory_;
  std::vector<Piece> pieces_;
};

}  // namespace weir

#endif  // WEIR_COMMON_FLOW_FILE_RECORDS_H_
