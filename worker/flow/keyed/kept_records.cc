#include "worker/flow/keyed/kept_records.h"

#include <iterator>
#include <utility>

namespace weir {
namespace {

// Below that what stands around the records of a batch is as large as they are.
constexpr int64_t kSmallRecords = 1024;
constexpr size_t kMostSmall = 128;
// A view of memory that is so much larger is copied, so that the rest of it can go.
constexpr double kSlack = 1.25;

int64_t HeldBytes(const Tensor& tensor) {
  const int64_t memory = tensor.buffer() == nullptr ? 0 : tensor.buffer()->size();
  return memory + sizeof(Tensor) + sizeof(Buffer);
}

Tensor Own(const Tensor& tensor) {
  if (tensor.buffer() == nullptr) return tensor;
  const auto memory = static_cast<double>(tensor.buffer()->size());
  const double needed = kSlack * static_cast<double>(tensor.num_bytes()) + Buffer::kAlignment;
  return memory > needed ? tensor.Clone() : tensor;
}

RecordBatch Own(RecordBatch batch) {
  for (Tensor& column : batch.columns) column = Own(column);
  batch.origins = Own(batch.origins);
  if (batch.weights) batch.weights = Own(*batch.weights);
  return batch;
}

}  // namespace

int64_t HeldBytes(const RecordBatch& batch) {
  int64_t bytes = HeldBytes(batch.origins) + (batch.weights ? HeldBytes(*batch.weights) : 0);
  for (const Tensor& column : batch.columns) bytes += HeldBytes(column);
  return bytes;
}

void KeptRecords::Add(RecordBatch batch, const RecordType& type) {
  if (batch.empty()) return;
  batch = Own(std::move(batch));
  bytes_ += HeldBytes(batch);
  const bool small = batch.size() < kSmallRecords;
  (small ? small_ : batches_).push_back(std::move(batch));
  if (small_.size() >= kMostSmall) PutTogether(type);
}

void KeptRecords::PutTogether(const RecordType& type) {
  for (const RecordBatch& batch : small_) bytes_ -= HeldBytes(batch);
  RecordBatch together = ConcatBatches(small_, type);
  small_.clear();
  bytes_ += HeldBytes(together);
  const bool small = together.size() < kSmallRecords;
  (small ? small_ : batches_).push_back(std::move(together));
}

std::vector<RecordBatch> KeptRecords::Take() {
  std::vector<RecordBatch> all = std::move(batches_);
  all.insert(all.end(), std::make_move_iterator(small_.begin()),
             std::make_move_iterator(small_.end()));
  batches_.clear();
  small_.clear();
  bytes_ = 0;
  return all;
}

}  // namespace weir
