// Files of records as flows read them, in pieces: the first byte says the format, the columns and
// how many records are read at once. What is read does not depend on the pieces, and written and
// read again it has equal bits.
#include "common/flow/vertex_kind.h"
#include "tests/fuzz/seeds.h"
#include "tests/fuzz/target.h"
#include "worker/flow/files/record_reader.h"
#include "worker/flow/files/record_writer.h"

namespace weir {
namespace {

const std::vector<std::vector<std::string>>& Types(FileFormat format) {
  static const auto* csv = new std::vector<std::vector<std::string>>{
      {"i64[]"}, {"i64[]", "f32[2]"}, {"f64[]", "bool[]", "u8[]"}, {"u64[]", "i16[2]"}};
  static const auto* npy = new std::vector<std::vector<std::string>>{
      {"f32[]"}, {"i32[]", "i32[2]"}, {"c128[2]"}, {"bool[0]", "bool[]"}};
  return format == FileFormat::kCsv ? *csv : *npy;
}

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds = {std::string("\0", 1) + "1\n22\r\n\"-3\"\n",
                                    "\x02"
                                    "7,0.5,-1e3\n8, nan ,inf",
                                    "\x14"
                                    "1e300,true,255\n-0,0,0\n"};
  for (std::string& file : FilesOf("data", ".npy")) seeds.push_back("\x01" + std::move(file));
  return seeds;
}

std::vector<std::string> Words() {
  return {"\n",
          "\r\n",
          ",",
          "\"",
          "\"\"",
          "nan",
          "-inf",
          "1e999",
          "1e-999",
          "18446744073709551616",
          "\xef\xbb\xbf",
          "true",
          " ",
          "'shape': (3,), ",
          "'fortran_order': True"};
}

absl::StatusOr<RecordBatch> Read(FileFormat format, const RecordType& type, std::string_view bytes,
                                 int64_t most) {
  const auto reader = MakeRecordReader(
      format, {.type = type, .name = "input", .file_bytes = static_cast<int64_t>(bytes.size())});
  const MemoryBytes source(bytes);
  std::vector<RecordBatch> batches;
  int64_t rows = 0;
  // No call reads nothing twice in turn, but while a long line is looked for.
  for (size_t calls = 0; !reader->done(); ++calls) {
    Require(calls <= 2 * bytes.size() + 64, "it does not end");
    auto columns = reader->Read(source, most);
    if (!columns.ok()) return columns.status();
    batches.push_back(MakeBatch(*std::move(columns), rows));
    rows += batches.back().size();
    Require(batches.back().size() <= most, "more records than asked for");
  }
  return ConcatBatches(batches, type);
}

}  // namespace

WEIR_FUZZ_TARGET(records, {.seeds = &Seeds, .words = &Words}) {
  if (size == 0) return 0;
  const FileFormat format = data[0] % 2 == 0 ? FileFormat::kCsv : FileFormat::kNpy;
  const RecordType type = *RecordTypeFrom(Types(format)[data[0] / 2 % 4]);
  const std::string_view bytes = View(data + 1, size - 1);
  const int64_t most = 1 + data[0] / 8;
  const auto whole = Read(format, type, bytes, kMaxFileRows);
  const auto parts = Read(format, type, bytes, most);
  Require(whole.ok() == parts.ok(), "whether it can be read depends on the pieces");
  if (!whole.ok()) return 0;
  const auto same = [&](const RecordBatch& other) {
    for (size_t c = 0; c < type.size(); ++c) {
      if (!other.columns[c].BitEquals(whole->columns[c])) return false;
    }
    return true;
  };
  Require(same(*parts), "what is read depends on the pieces");
  const auto writer = MakeRecordWriter(format, type);
  std::string written = writer->Head(whole->size()).value();
  for (int64_t row = 0; row < whole->size(); ++row) writer->Append(*whole, row, &written);
  const auto again = Read(format, type, written, kMaxFileRows);
  Require(again.ok(), "what is written cannot be read");
  // Text has no bits of NaNs.
  if (format == FileFormat::kNpy || written.find("nan") == std::string::npos) {
    Require(same(*again), "is not what was read");
  }
  return 0;
}

}  // namespace weir
