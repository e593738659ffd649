// Rows of a column by their numbers. Stateless; usable from any thread.
#ifndef WEIR_WORKER_FLOW_GATHER_ROWS_H_
#define WEIR_WORKER_FLOW_GATHER_ROWS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "common/tensor/tensor.h"

namespace weir {

// A column of records in memory, row by row.
struct ColumnRows {
  DType dtype = DType::kF32;
  Extents extents;  // of one record
  const std::byte* data = nullptr;

  // REQUIRES: the column is row-major and has an axis of records, and outlives this.
  static ColumnRows Of(const Tensor& column);
  int64_t row_bytes() const { return NumElements(extents) * SizeOf(dtype); }
};

// Row i of the result is row rows[i] of the column; a row may be taken more than once.
Tensor GatherRows(const ColumnRows& column, absl::Span<const int64_t> rows);
Tensor GatherRows(const ColumnRows& column, absl::Span<const uint32_t> rows);

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_GATHER_ROWS_H_
