// Records in columns: what streams through a flow. A record has one value in each column; a batch
// holds some records, with a weight and an origin for each.
//
// Weight: how many times the record is there; below zero it takes back one that came before. Sums
// and products of weights wrap.
// Origin: the number of the source record, within its epoch, that this one came of. Operators keep
// it (join: the left one's; a group: its least), so it tells requests apart and gives an order that
// does not depend on which worker did what.
//
// A value; copies share memory. Thread-compatible, and immutable once handed on.
#ifndef WEIR_COMMON_FLOW_RECORD_BATCH_H_
#define WEIR_COMMON_FLOW_RECORD_BATCH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/tensor/shape.h"
#include "common/tensor/tensor.h"

namespace weir {

// The columns of one record: types without the axis of records; all extents are numbers.
using RecordType = std::vector<TensorType>;

// Returns: "(i64[], f32[3])".
std::string ToString(const RecordType& type);

struct RecordBatch {
  std::vector<Tensor> columns;    // axis 0 of each is size(); row-major
  Tensor origins;                 // i64[size()]
  std::optional<Tensor> weights;  // i64[size()]; none: 1 for each

  // REQUIRES: origins is set.
  int64_t size() const { return origins.extent(0); }
  bool empty() const { return size() == 0; }
  int64_t bytes() const;
  int64_t origin(int64_t row) const { return origins.data<int64_t>()[row]; }
  int64_t weight(int64_t row) const { return weights ? weights->data<int64_t>()[row] : 1; }
};

// A batch of these columns with origins first, first + 1, ... REQUIRES: a column at least, each of
// rank 1 or more, with equal extents of axis 0.
RecordBatch MakeBatch(std::vector<Tensor> columns, int64_t first_origin = 0);
RecordBatch EmptyBatch(const RecordType& type);

// Errors: InvalidArgument, with the column and both types: another number of columns, dtypes or
// shapes, extents of axis 0 that differ, origins or weights that do not fit.
absl::Status CheckBatch(const RecordBatch& batch, const RecordType& type, std::string_view what);

// The rows of these numbers, in their order; a row may be taken more than once.
RecordBatch SelectRows(const RecordBatch& batch, absl::Span<const int64_t> rows);
// Rows [begin, end), without a copy.
RecordBatch SliceRows(const RecordBatch& batch, int64_t begin, int64_t end);
// All rows, batch by batch. REQUIRES: all are of this type.
RecordBatch ConcatBatches(absl::Span<const RecordBatch> batches, const RecordType& type);
// The same rows with these columns instead. REQUIRES: extents of axis 0 are size().
RecordBatch WithColumns(const RecordBatch& batch, std::vector<Tensor> columns);

// By origin, then by content: an order that does not depend on which way records came.
RecordBatch Sorted(const RecordBatch& batch);
// Records that are equal in origin and content are one, with the sum of their weights; what sums to
// zero is gone. In the order of Sorted. What vertices that act on complete times start from.
RecordBatch Merged(const RecordBatch& batch);
// The same of records that are equal in content, with the least origin that Merged leaves of them.
RecordBatch Consolidated(const RecordBatch& batch);

}  // namespace weir

#endif  // WEIR_COMMON_FLOW_RECORD_BATCH_H_
