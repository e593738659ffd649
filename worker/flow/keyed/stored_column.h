// A column of records that grows: rows of equal size, one behind the other. A value; what refers to
// its rows is good until it grows.
#ifndef WEIR_WORKER_FLOW_KEYED_STORED_COLUMN_H_
#define WEIR_WORKER_FLOW_KEYED_STORED_COLUMN_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "common/flow/record_batch.h"
#include "worker/flow/gather_rows.h"
#include "worker/flow/memory/table_vector.h"

namespace weir {

struct StoredColumn {
  explicit StoredColumn(const TensorType& type)
      : dtype(type.dtype),
        extents(type.shape.extents()),
        stride(static_cast<size_t>(NumElements(extents) * SizeOf(dtype))) {}

  const std::byte* row(int64_t number) const { return rows.data() + number * stride; }
  std::byte* row(int64_t number) { return rows.data() + number * stride; }
  // The rows with these numbers, in their order.
  Tensor Gather(absl::Span<const uint32_t> numbers) const {
    return GatherRows(ColumnRows{dtype, extents, rows.data()}, numbers);
  }

  DType dtype;
  Extents extents;  // of one record
  size_t stride;    // bytes of a row
  TableVector<std::byte> rows;
};

inline std::vector<StoredColumn> StoredColumns(const RecordType& type) {
  return std::vector<StoredColumn>(type.begin(), type.end());
}

inline std::vector<Tensor> Gather(absl::Span<const StoredColumn> columns,
                                  absl::Span<const uint32_t> numbers) {
  std::vector<Tensor> gathered;
  for (const StoredColumn& column : columns) gathered.push_back(column.Gather(numbers));
  return gathered;
}

inline int64_t BytesOf(absl::Span<const StoredColumn> columns) {
  int64_t bytes = 0;
  for (const StoredColumn& column : columns) bytes += static_cast<int64_t>(column.rows.capacity());
  return bytes;
}

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_KEYED_STORED_COLUMN_H_
