#include "worker/flow/gather_rows.h"

#include <cstring>

namespace weir {
namespace {

template <class Word, class Row>
void GatherWords(const std::byte* in, absl::Span<const Row> rows, std::byte* out) {
  for (size_t i = 0; i < rows.size(); ++i) {
    std::memcpy(out + i * sizeof(Word), in + rows[i] * sizeof(Word), sizeof(Word));
  }
}

template <class Row>
Tensor Gather(const ColumnRows& column, absl::Span<const Row> rows) {
  Extents extents = {static_cast<int64_t>(rows.size())};
  extents.insert(extents.end(), column.extents.begin(), column.extents.end());
  Tensor result(column.dtype, extents);
  std::byte* out = result.raw_mutable_data();
  const int64_t bytes = column.row_bytes();
  if (bytes == sizeof(uint64_t)) {
    GatherWords<uint64_t>(column.data, rows, out);
  } else if (bytes == sizeof(uint32_t)) {
    GatherWords<uint32_t>(column.data, rows, out);
  } else {
    for (const Row row : rows) {
      std::memcpy(out, column.data + static_cast<int64_t>(row) * bytes, bytes);
      out += bytes;
    }
  }
  return result;
}

}  // namespace

ColumnRows ColumnRows::Of(const Tensor& column) {
  return {.dtype = column.dtype(),
          .extents = Extents(column.extents().begin() + 1, column.extents().end()),
          .data = column.raw_data()};
}

Tensor GatherRows(const ColumnRows& column, absl::Span<const int64_t> rows) {
  return Gather(column, rows);
}

Tensor GatherRows(const ColumnRows& column, absl::Span<const uint32_t> rows) {
  return Gather(column, rows);
}

}  // namespace weir
