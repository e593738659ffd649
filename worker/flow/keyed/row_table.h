// A row of some columns for each group of keys, in memory that grows with the number of groups.
// Owned by the state of a vertex; thread-compatible.
#ifndef WEIR_WORKER_FLOW_KEYED_ROW_TABLE_H_
#define WEIR_WORKER_FLOW_KEYED_ROW_TABLE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "common/flow/record_batch.h"
#include "worker/flow/keyed/stored_column.h"

namespace weir {

class RowTable {
 public:
  explicit RowTable(const RecordType& type) : columns_(StoredColumns(type)) {}

  // Rows that are new have any content.
  void Resize(int64_t groups);
  // REQUIRES: columns are row-major and have the type of this, with an axis in front.
  void Set(uint32_t group, absl::Span<const Tensor> columns, int64_t row);
  bool Equals(uint32_t group, absl::Span<const Tensor> columns, int64_t row) const;
  std::vector<Tensor> Rows(absl::Span<const uint32_t> groups) const {
    return Gather(columns_, groups);
  }
  int64_t bytes() const { return BytesOf(columns_); }

 private:
  std::vector<StoredColumn> columns_;
};

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_KEYED_ROW_TABLE_H_
