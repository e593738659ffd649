#include "worker/flow/keyed/row_table.h"

#include <cstring>

namespace weir {

void RowTable::Resize(int64_t groups) {
  for (StoredColumn& column : columns_) column.rows.resize(groups * column.stride);
}

void RowTable::Set(uint32_t group, absl::Span<const Tensor> columns, int64_t row) {
  for (size_t i = 0; i < columns_.size(); ++i) {
    const size_t stride = columns_[i].stride;
    std::memcpy(columns_[i].row(group), columns[i].raw_data() + row * stride, stride);
  }
}

bool RowTable::Equals(uint32_t group, absl::Span<const Tensor> columns, int64_t row) const {
  for (size_t i = 0; i < columns_.size(); ++i) {
    const size_t stride = columns_[i].stride;
    const std::byte* mine = columns_[i].row(group);
    if (std::memcmp(mine, columns[i].raw_data() + row * stride, stride) != 0) return false;
  }
  return true;
}

}  // namespace weir
