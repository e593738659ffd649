#include "common/flow/reference/record_bag.h"

#include <cstring>

namespace weir {

RecordBytes FirstColumns(const RecordBytes& record, int64_t columns) {
  return RecordBytes(record.begin(), record.begin() + columns);
}

RecordBytes WithoutFirst(const RecordBytes& record, int64_t columns) {
  return RecordBytes(record.begin() + columns, record.end());
}

RecordBytes Joined(RecordBytes first, const RecordBytes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

RecordBag BagOf(const RecordBatch& batch) {
  RecordBag bag;
  for (int64_t row = 0; row < batch.size(); ++row) {
    bag.Add(batch.origin(row), RecordOf(batch.columns, row), batch.weight(row));
  }
  return bag;
}

RecordBatch BatchOf(const RecordBag& bag, const RecordType& type) {
  std::vector<RecordBytes> records;
  std::vector<int64_t> origins;
  std::vector<int64_t> weights;
  for (const auto& [key, weight] : bag) {
    records.push_back(key.record);
    origins.push_back(key.origin);
    weights.push_back(weight);
  }
  return {.columns = ColumnsOf(records, type),
          .origins = Tensor::FromSpan<int64_t>({bag.size()}, origins),
          .weights = Tensor::FromSpan<int64_t>({bag.size()}, weights)};
}

std::vector<Tensor> ColumnsOf(const std::vector<RecordBytes>& records, const RecordType& type) {
  std::vector<Tensor> columns;
  for (size_t c = 0; c < type.size(); ++c) {
    Extents extents = type[c].shape.extents();
    extents.insert(extents.begin(), static_cast<int64_t>(records.size()));
    Tensor column(type[c].dtype, extents);
    std::byte* out = column.raw_mutable_data();
    for (const RecordBytes& record : records) {
      std::memcpy(out, record[c].data(), record[c].size());
      out += record[c].size();
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

RecordBytes RecordOf(const std::vector<Tensor>& columns, int64_t row) {
  RecordBytes record;
  for (const Tensor& column : columns) {
    const Tensor one = column.Row(row);
    std::string& bytes = record.emplace_back(static_cast<size_t>(one.num_bytes()), '\0');
    one.CopyTo(bytes.data());
  }
  return record;
}

}  // namespace weir
