#include "worker/flow/keyed/kept_records.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/base/status.h"
#include "worker/flow/own_records.h"

namespace weir {
namespace {

// Below that what stands around the records of a batch is as large as they are.
constexpr int64_t kSmallRecords = 1024;
constexpr size_t kMostSmall = 128;
constexpr int64_t kEnoughBytes = int64_t{1} << 20;

int64_t HeldBytes(const Tensor& tensor) {
  const int64_t memory = tensor.buffer() == nullptr ? 0 : tensor.buffer()->size();
  return memory + sizeof(Tensor) + sizeof(Buffer);
}

}  // namespace

int64_t HeldBytes(const RecordBatch& batch) {
  int64_t bytes = HeldBytes(batch.origins) + (batch.weights ? HeldBytes(*batch.weights) : 0);
  for (const Tensor& column : batch.columns) bytes += HeldBytes(column);
  return bytes;
}

int64_t KeptRecords::EnoughBytes() const {
  const FlowShare* share = charge_.share();
  return share == nullptr ? kEnoughBytes : std::min(kEnoughBytes, share->work_bytes() / 2);
}

void KeptRecords::PushBack(RecordBatch batch) {
  const int64_t held = HeldBytes(batch);
  if (batch.size() >= kSmallRecords || held >= EnoughBytes()) {
    batches_.push_back(std::move(batch));
  } else {
    small_.push_back(std::move(batch));
    small_bytes_ += held;
  }
}

absl::Status KeptRecords::Add(RecordBatch batch, const RecordType& type) {
  if (batch.empty()) return absl::OkStatus();
  batch = OwnRecords(std::move(batch));
  charge_.Set(bytes() + HeldBytes(batch));
  PushBack(std::move(batch));
  if (small_.size() >= kMostSmall || small_bytes_ >= EnoughBytes()) PutTogether(type);
  const FlowShare* share = charge_.share();
  if (share == nullptr || bytes() < share->piece_bytes() || !share->is_over()) {
    return absl::OkStatus();
  }
  return Spill(type);
}

void KeptRecords::PutTogether(const RecordType& type) {
  if (small_.size() < 2) return;
  const int64_t held = bytes() - std::exchange(small_bytes_, 0);
  RecordBatch together = ConcatBatches(small_, type);
  small_.clear();
  charge_.Set(held + HeldBytes(together));
  PushBack(std::move(together));
}

absl::Status KeptRecords::Spill(const RecordType& type) {
  PutTogether(type);
  std::move(small_.begin(), small_.end(), std::back_inserter(batches_));
  small_.clear();
  small_bytes_ = 0;
  while (!batches_.empty()) {
    const RecordBatch batch = std::move(batches_.back());
    batches_.pop_back();
    charge_.Set(bytes() - HeldBytes(batch));
    WEIR_ASSIGN_OR_RETURN(SpilledRecords spilled, charge_.share()->Spill(batch));
    spilled_bytes_ += spilled.bytes();
    spilled_.push_back(std::move(spilled));
  }
  return absl::OkStatus();
}

std::vector<RecordBatch> KeptRecords::Take(const RecordType& type) {
  std::vector<RecordBatch> all = std::move(batches_);
  batches_.clear();
  std::move(small_.begin(), small_.end(), std::back_inserter(all));
  small_.clear();
  small_bytes_ = 0;
  charge_.Set(0);
  for (SpilledRecords& records : spilled_) all.push_back(std::move(records).Read(type));
  spilled_.clear();
  spilled_bytes_ = 0;
  return all;
}

absl::StatusOr<RecordBatch> KeptRecords::TakeOne(const RecordType& type) {
  if (!spilled_.empty()) {
    SpilledRecords last = std::move(spilled_.back());
    spilled_.pop_back();
    spilled_bytes_ -= last.bytes();
    return std::move(last).Load(type);
  }
  const bool is_small = batches_.empty();
  std::vector<RecordBatch>& from = is_small ? small_ : batches_;
  RecordBatch batch = std::move(from.back());
  from.pop_back();
  charge_.Set(bytes() - HeldBytes(batch));
  if (is_small) small_bytes_ -= HeldBytes(batch);
  return batch;
}

}  // namespace weir
