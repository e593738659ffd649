#include "worker/flow/keyed/joined_side.h"

#include <algorithm>
#include <numeric>

#include "common/base/status.h"

namespace weir {

namespace {

// Room for so many elements more, and no less than growing one by one would give.
template <class Table>
void ReserveMore(size_t more, Table* table) {
  const size_t needed = table->size() + more;
  if (needed > table->capacity()) table->reserve(std::max(needed, 2 * table->size()));
}

}  // namespace

void JoinedSide::Expect(int64_t records) {
  const auto more = static_cast<size_t>(records);
  for (StoredColumn& column : columns_) ReserveMore(more * column.stride, &column.rows);
  ReserveMore(more, &origins_);
  ReserveMore(more, &before_);
}

absl::Status JoinedSide::Add(const RecordBatch& batch, absl::Span<const uint32_t> keys) {
  const int64_t first = size();
  if (first + batch.size() >= kNone) {
    return absl::ResourceExhaustedError(
        StrCat("there are ", first, " records on this worker; up to ", kNone, " are possible"));
  }
  for (size_t i = 0; i < columns_.size(); ++i) {
    const std::byte* rows = batch.columns[first_ + i].raw_data();
    columns_[i].rows.insert(columns_[i].rows.end(), rows, rows + batch.size() * columns_[i].stride);
  }
  const int64_t* origins = batch.origins.data<int64_t>();
  origins_.insert(origins_.end(), origins, origins + batch.size());
  if (batch.weights) {
    if (weights_.empty()) weights_.resize(first, 1);
    const int64_t* weights = batch.weights->data<int64_t>();
    weights_.insert(weights_.end(), weights, weights + batch.size());
    takes_back_ |= std::any_of(weights, weights + batch.size(), [](int64_t w) { return w <= 0; });
  } else if (has_weights()) {
    weights_.resize(size(), 1);
  }
  if (!keys.empty()) {
    const size_t most = *std::max_element(keys.begin(), keys.end());
    if (heads_.size() <= most) heads_.resize(most + 1, kNone);
  }
  before_.resize(size());
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto record = static_cast<uint32_t>(first + i);
    before_[record] = heads_[keys[i]];
    heads_[keys[i]] = record;
  }
  return absl::OkStatus();
}

RecordBatch JoinedSide::Batch() const {
  std::vector<uint32_t> all(size());
  std::iota(all.begin(), all.end(), 0);
  RecordBatch batch = {.columns = Columns(all),
                       .origins = Tensor::FromSpan<int64_t>({size()}, origins_)};
  if (has_weights()) batch.weights = Tensor::FromSpan<int64_t>({size()}, weights_);
  return batch;
}

std::vector<uint32_t> JoinedSide::Keys() const {
  std::vector<uint32_t> keys(size());
  for (size_t key = 0; key < heads_.size(); ++key) {
    for (uint32_t record = heads_[key]; record != kNone; record = before_[record]) {
      keys[record] = static_cast<uint32_t>(key);
    }
  }
  return keys;
}

int64_t JoinedSide::bytes() const {
  const size_t bytes = (origins_.capacity() + weights_.capacity()) * sizeof(int64_t) +
                       (before_.capacity() + heads_.capacity()) * sizeof(uint32_t);
  return BytesOf(columns_) + static_cast<int64_t>(bytes);
}

}  // namespace weir
