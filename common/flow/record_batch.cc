#include "common/flow/record_batch.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "common/base/status.h"
#include "common/flow/record_rows.h"
#include "common/ops/scalar/integer.h"

namespace weir {
namespace {

int64_t RowBytes(const Tensor& column) {
  const int64_t rows = column.extent(0);
  return rows == 0 ? 0 : column.num_bytes() / rows;
}

Extents WithRows(absl::Span<const int64_t> extents, int64_t rows) {
  Extents result(extents.begin(), extents.end());
  result[0] = rows;
  return result;
}

Tensor Take(const Tensor& column, absl::Span<const int64_t> rows) {
  Tensor result(column.dtype(), WithRows(column.extents(), static_cast<int64_t>(rows.size())));
  const int64_t bytes = RowBytes(column);
  std::byte* out = result.raw_mutable_data();
  const std::byte* in = column.raw_data();
  if (bytes == 8) {
    for (size_t i = 0; i < rows.size(); ++i) std::memcpy(out + i * 8, in + rows[i] * 8, 8);
    return result;
  }
  for (const int64_t row : rows) {
    std::memcpy(out, in + row * bytes, bytes);
    out += bytes;
  }
  return result;
}

Tensor Join(const TensorType& type, absl::Span<const Tensor* const> parts, int64_t rows) {
  Extents extents = {rows};
  for (const int64_t extent : type.shape.extents()) extents.push_back(extent);
  Tensor result(type.dtype, extents);
  std::byte* out = result.raw_mutable_data();
  for (const Tensor* part : parts) {
    if (part->num_bytes() == 0) continue;
    std::memcpy(out, part->raw_data(), part->num_bytes());
    out += part->num_bytes();
  }
  return result;
}

Tensor Weights(const RecordBatch& batch) {
  if (batch.weights) return *batch.weights;
  Tensor ones(DType::kI64, {batch.size()});
  std::fill_n(ones.mutable_data<int64_t>(), batch.size(), 1);
  return ones;
}

// By origin, content, weight.
std::vector<int64_t> OrderOf(const RecordBatch& batch) {
  const RecordRows rows(batch);
  std::vector<int64_t> order(batch.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    if (batch.origin(a) != batch.origin(b)) return batch.origin(a) < batch.origin(b);
    const int content = rows.Compare(a, rows, b);
    return content != 0 ? content < 0 : batch.weight(a) < batch.weight(b);
  });
  return order;
}

// The first row of each run of rows that are the same, with the sum of the weights, if that is not
// zero.
template <class Same>
RecordBatch Sums(const RecordBatch& batch, absl::Span<const int64_t> order, const Same& same) {
  std::vector<int64_t> kept;
  std::vector<int64_t> weights;
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    int64_t weight = 0;
    for (; end < order.size() && same(order[begin], order[end]); ++end) {
      weight = scalar::Add(weight, batch.weight(order[end]));
    }
    if (weight == 0) continue;
    kept.push_back(order[begin]);
    weights.push_back(weight);
  }
  RecordBatch result = SelectRows(batch, kept);
  result.weights = Tensor::FromSpan<int64_t>({static_cast<int64_t>(weights.size())}, weights);
  return result;
}

bool IsVector(const Tensor& tensor, int64_t size) {
  return tensor.dtype() == DType::kI64 && tensor.rank() == 1 && tensor.extent(0) == size;
}

}  // namespace

std::string ToString(const RecordType& type) {
  std::string text = "(";
  for (size_t i = 0; i < type.size(); ++i) {
    text += (i == 0 ? "" : ", ") + type[i].ToString();
  }
  return text + ")";
}

int64_t RecordBatch::bytes() const {
  int64_t sum = origins.num_bytes() + (weights ? weights->num_bytes() : 0);
  for (const Tensor& column : columns) sum += column.num_bytes();
  return sum;
}

RecordBatch MakeBatch(std::vector<Tensor> columns, int64_t first_origin) {
  Tensor origins(DType::kI64, {columns[0].extent(0)});
  int64_t* origin = origins.mutable_data<int64_t>();
  std::iota(origin, origin + columns[0].extent(0), first_origin);
  for (Tensor& column : columns) column = column.Contiguous();
  return {.columns = std::move(columns), .origins = std::move(origins)};
}

RecordBatch EmptyBatch(const RecordType& type) { return ConcatBatches({}, type); }

absl::Status CheckBatch(const RecordBatch& batch, const RecordType& type, std::string_view what) {
  if (batch.columns.size() != type.size()) {
    return InvalidArgument(what, ": ", batch.columns.size(), " columns where records are ",
                           ToString(type));
  }
  if (batch.origins.rank() != 1 || !IsVector(batch.origins, batch.origins.extent(0))) {
    return InvalidArgument(what, ": origins are ", batch.origins.type().ToString(),
                           ", not i64 of one axis");
  }
  if (batch.weights && !IsVector(*batch.weights, batch.size())) {
    return InvalidArgument(what, ": weights are ", batch.weights->type().ToString(), " for ",
                           batch.size(), " records");
  }
  for (size_t i = 0; i < type.size(); ++i) {
    const Tensor& column = batch.columns[i];
    const Extents record = type[i].shape.extents();
    const bool fits = column.dtype() == type[i].dtype && column.rank() == type[i].rank() + 1 &&
                      std::equal(record.begin(), record.end(), column.extents().begin() + 1) &&
                      column.extent(0) == batch.size();
    if (!fits) {
      return InvalidArgument(what, ": column ", i, " is ", column.type().ToString(), " for ",
                             batch.size(), " records of ", type[i].ToString());
    }
  }
  return absl::OkStatus();
}

RecordBatch SelectRows(const RecordBatch& batch, absl::Span<const int64_t> rows) {
  RecordBatch result;
  for (const Tensor& column : batch.columns) result.columns.push_back(Take(column, rows));
  result.origins = Take(batch.origins, rows);
  if (batch.weights) result.weights = Take(*batch.weights, rows);
  return result;
}

RecordBatch SliceRows(const RecordBatch& batch, int64_t begin, int64_t end) {
  RecordBatch result;
  for (const Tensor& column : batch.columns) result.columns.push_back(column.Rows(begin, end));
  result.origins = batch.origins.Rows(begin, end);
  if (batch.weights) result.weights = batch.weights->Rows(begin, end);
  return result;
}

RecordBatch ConcatBatches(absl::Span<const RecordBatch> batches, const RecordType& type) {
  if (batches.size() == 1) return batches[0];
  int64_t rows = 0;
  bool weighted = false;
  for (const RecordBatch& batch : batches) {
    rows += batch.size();
    weighted |= batch.weights.has_value();
  }
  const TensorType i64 = {DType::kI64, Shape()};
  RecordBatch result;
  std::vector<const Tensor*> parts(batches.size());
  for (size_t c = 0; c < type.size(); ++c) {
    for (size_t b = 0; b < batches.size(); ++b) parts[b] = &batches[b].columns[c];
    result.columns.push_back(Join(type[c], parts, rows));
  }
  for (size_t b = 0; b < batches.size(); ++b) parts[b] = &batches[b].origins;
  result.origins = Join(i64, parts, rows);
  if (weighted) {
    std::vector<Tensor> weights;
    for (const RecordBatch& batch : batches) weights.push_back(Weights(batch));
    for (size_t b = 0; b < batches.size(); ++b) parts[b] = &weights[b];
    result.weights = Join(i64, parts, rows);
  }
  return result;
}

RecordBatch WithColumns(const RecordBatch& batch, std::vector<Tensor> columns) {
  for (Tensor& column : columns) column = column.Contiguous();
  return {.columns = std::move(columns), .origins = batch.origins, .weights = batch.weights};
}

RecordBatch Sorted(const RecordBatch& batch) { return SelectRows(batch, OrderOf(batch)); }

RecordBatch Merged(const RecordBatch& batch) {
  const RecordRows rows(batch);
  const auto same = [&](int64_t a, int64_t b) {
    return batch.origin(a) == batch.origin(b) && rows.Equal(a, rows, b);
  };
  return Sums(batch, OrderOf(batch), same);
}

RecordBatch Consolidated(const RecordBatch& batch) {
  const RecordBatch merged = Merged(batch);
  const RecordRows rows(merged);
  std::vector<int64_t> order(merged.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return rows.Compare(a, rows, b) < 0; });
  return Sorted(Sums(merged, order, [&](int64_t a, int64_t b) { return rows.Equal(a, rows, b); }));
}

}  // namespace weir
