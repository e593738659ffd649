#include "worker/flow/own_records.h"

namespace weir {
namespace {

constexpr double kSlack = 1.25;

Tensor Own(const Tensor& tensor) {
  if (tensor.buffer() == nullptr) return tensor;
  const auto memory = static_cast<double>(tensor.buffer()->size());
  const double needed = kSlack * static_cast<double>(tensor.num_bytes()) + Buffer::kAlignment;
  return memory > needed ? tensor.Clone() : tensor;
}

}  // namespace

RecordBatch OwnRecords(RecordBatch batch) {
  for (Tensor& column : batch.columns) column = Own(column);
  batch.origins = Own(batch.origins);
  if (batch.weights) batch.weights = Own(*batch.weights);
  return batch;
}

}  // namespace weir
