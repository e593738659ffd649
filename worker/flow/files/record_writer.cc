#include "worker/flow/files/record_writer.h"

#include <charconv>
#include <type_traits>
#include <utility>

#include "common/base/status.h"
#include "common/tensor/npy_header.h"

namespace weir {
namespace {

class CsvWriter : public RecordWriter {
 public:
  explicit CsvWriter(RecordType type) : type_(std::move(type)) {}

  absl::StatusOr<std::string> Head(int64_t) const override { return std::string(); }

  void Append(const RecordBatch& batch, int64_t row, std::string* bytes) const override {
    bool is_first = true;
    for (size_t c = 0; c < type_.size(); ++c) {
      const int64_t elements = NumElements(type_[c].shape.extents());
      VisitDType(type_[c].dtype, [&]<class T>(TypeTag<T>) {
        const T* const values = batch.columns[c].data<T>() + row * elements;
        for (int64_t i = 0; i < elements; ++i) {
          if (!std::exchange(is_first, false)) *bytes += ',';
          AppendNumber(values[i], bytes);
        }
      });
    }
    *bytes += '\n';
  }

 private:
  template <class T>
  static void AppendNumber(T value, std::string* bytes) {
    char text[32];
    if constexpr (std::is_same_v<T, bool>) {
      *bytes += value ? '1' : '0';
    } else if constexpr (std::is_arithmetic_v<T>) {
      bytes->append(text, std::to_chars(text, text + sizeof(text), value).ptr);
    }  // CheckFileColumns leaves the others out
  }

  const RecordType type_;
};

class NpyWriter : public RecordWriter {
 public:
  explicit NpyWriter(RecordType type) : type_(std::move(type)) {}

  absl::StatusOr<std::string> Head(int64_t records) const override {
    return FormatNpyHeader(type_[0].dtype, NpyExtents(type_, records));
  }

  void Append(const RecordBatch& batch, int64_t row, std::string* bytes) const override {
    for (size_t c = 0; c < type_.size(); ++c) {
      const int64_t size = NumElements(type_[c].shape.extents()) * SizeOf(type_[c].dtype);
      if (size == 0) continue;
      const std::byte* const from = batch.columns[c].raw_data() + row * size;
      bytes->append(reinterpret_cast<const char*>(from), static_cast<size_t>(size));
    }
  }

 private:
  const RecordType type_;
};

}  // namespace

std::unique_ptr<RecordWriter> MakeRecordWriter(FileFormat format, RecordType type) {
  if (format == FileFormat::kCsv) return std::make_unique<CsvWriter>(std::move(type));
  return std::make_unique<NpyWriter>(std::move(type));
}

}  // namespace weir
