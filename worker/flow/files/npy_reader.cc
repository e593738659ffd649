// Rows of .npy files in C order. The header is parsed as ReadNpy does it, with all its checks.
#include <algorithm>
#include <cstring>
#include <utility>

#include "common/base/status.h"
#include "common/tensor/npy_header.h"
#include "worker/flow/files/record_reader.h"
#include "worker/flow/frame_bounds.h"

namespace weir {
namespace {

class NpyReader : public RecordReader {
 public:
  explicit NpyReader(FileForm form) : form_(std::move(form)) {}

  bool done() const override { return row_ == rows_; }

  absl::StatusOr<std::vector<Tensor>> Read(const ByteSource& source, int64_t most) override {
    if (rows_ < 0) WEIR_RETURN_IF_ERROR(ReadHeader(source));
    const int64_t rows = std::min({rows_ - row_, most, RecordsPerFrame(form_.type)});
    NpyHeader part = header_;
    part.extents[0] = rows;
    part.fortran_order = false;
    part.data_bytes = rows * row_bytes_;
    WEIR_ASSIGN_OR_RETURN(Tensor data, AllocateNpy(part, form_.name));
    WEIR_RETURN_IF_ERROR(ReadBytes(source, header_.data_offset + row_ * row_bytes_, &data));
    WEIR_ASSIGN_OR_RETURN(data, FinishNpy(part, std::move(data)));
    row_ += rows;
    return form_.type.size() == 1 ? std::vector<Tensor>{std::move(data)} : Parted(data);
  }

 private:
  absl::Status ReadHeader(const ByteSource& source) {
    std::string prefix(static_cast<size_t>(std::min<int64_t>(form_.file_bytes, kMaxNpyHeaderBytes)),
                       '\0');
    WEIR_ASSIGN_OR_RETURN(const size_t got,
                          source.ReadAt(0, absl::MakeSpan(prefix.data(), prefix.size())));
    prefix.resize(got);
    WEIR_ASSIGN_OR_RETURN(header_, ParseNpyHeader(prefix, form_.file_bytes, form_.name));
    const Extents& extents = header_.extents;
    const bool fits = header_.dtype == form_.type[0].dtype && !extents.empty() &&
                      extents == NpyExtents(form_.type, extents[0]);
    if (!fits) {
      Shape wanted = Shape::FromExtents(NpyExtents(form_.type, 0));
      wanted.dims()[0] = Dim::Symbol("n");
      return InvalidArgument(form_.name, ": an array ", DTypeName(header_.dtype),
                             ExtentsToString(extents), "; records of ", ToString(form_.type),
                             " are read from an array ",
                             TensorType{form_.type[0].dtype, wanted}.ToString());
    }
    const auto is_long = [](int64_t extent) { return extent > 1; };
    if (header_.fortran_order && std::count_if(extents.begin(), extents.end(), is_long) > 1) {
      return InvalidArgument(form_.name,
                             ": the array is in Fortran order, so its records do not lie one behind"
                             " the other; save numpy.ascontiguousarray of it");
    }
    rows_ = extents[0];
    row_bytes_ = rows_ == 0 ? 0 : header_.data_bytes / rows_;
    if (rows_ <= kMaxFileRows) return absl::OkStatus();
    return InvalidArgument(form_.name, ": ", rows_, " records; a file has up to ", kMaxFileRows);
  }

  absl::Status ReadBytes(const ByteSource& source, int64_t offset, Tensor* data) const {
    const auto bytes = static_cast<size_t>(data->num_bytes());
    char* const to = reinterpret_cast<char*>(data->raw_mutable_data());
    WEIR_ASSIGN_OR_RETURN(const size_t got, source.ReadAt(offset, absl::MakeSpan(to, bytes)));
    if (got == bytes) return absl::OkStatus();
    return absl::DataLossError(StrCat(form_.name, ": the file shrank while it was read"));
  }

  // The columns that lie beside each other.
  std::vector<Tensor> Parted(const Tensor& all) const {
    const int64_t rows = all.extent(0);
    std::vector<Tensor> columns;
    int64_t begin = 0;
    for (const TensorType& column : form_.type) {
      Extents extents = column.shape.extents();
      const int64_t bytes = NumElements(extents) * SizeOf(column.dtype);
      extents.insert(extents.begin(), rows);
      Tensor part(column.dtype, extents);
      for (int64_t row = 0; bytes > 0 && row < rows; ++row) {
        std::memcpy(part.raw_mutable_data() + row * bytes,
                    all.raw_data() + row * row_bytes_ + begin, static_cast<size_t>(bytes));
      }
      begin += bytes;
      columns.push_back(std::move(part));
    }
    return columns;
  }

  const FileForm form_;
  NpyHeader header_;
  int64_t rows_ = -1;  // -1: the header was not read
  int64_t row_ = 0;
  int64_t row_bytes_ = 0;
};

}  // namespace

std::unique_ptr<RecordReader> MakeNpyReader(FileForm form) {
  return std::make_unique<NpyReader>(std::move(form));
}

std::unique_ptr<RecordReader> MakeRecordReader(FileFormat format, FileForm form) {
  return format == FileFormat::kCsv ? MakeCsvReader(std::move(form))
                                    : MakeNpyReader(std::move(form));
}

}  // namespace weir
