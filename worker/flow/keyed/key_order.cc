#include "worker/flow/keyed/key_order.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "worker/flow/gather_rows.h"
#include "worker/flow/memory/flow_memory.h"

namespace weir {
namespace {

// State of fewer keys is in the cache whatever the order.
constexpr int64_t kCachedKeys = int64_t{32} << 10;
// Each part of the state comes into the cache for so many records that it pays.
constexpr int64_t kLeastRecords = int64_t{128} << 10;
constexpr int64_t kMostRecords = int64_t{16} << 20;
// Of a batch that is put in order by itself, so that a part of it is some hundred rows, and of what
// comes out.
constexpr int64_t kRowsTogether = int64_t{64} << 10;
constexpr int64_t kRowsOut = int64_t{8} << 10;

std::vector<uint8_t> PartsOf(const RecordBatch& batch, int keys) {
  const KeyRows rows(batch.columns, keys, batch.size());
  std::vector<uint8_t> parts(static_cast<size_t>(batch.size()));
  std::array<uint64_t, 256> hashes;
  for (size_t begin = 0; begin < parts.size(); begin += hashes.size()) {
    const size_t count = std::min(parts.size() - begin, hashes.size());
    rows.Hashes(static_cast<int64_t>(begin), absl::MakeSpan(hashes.data(), count));
    for (size_t i = 0; i < count; ++i) {
      parts[begin + i] = static_cast<uint8_t>(KeyPartOf(hashes[i]));
    }
  }
  return parts;
}

int64_t MostBytes() {
  const FlowShare* share = FlowShare::Current();
  if (share == nullptr) return std::numeric_limits<int64_t>::max();
  return share->is_over() ? 0 : share->work_bytes();
}

}  // namespace

KeyOrder::KeyOrder(std::vector<RecordBatch> batches, const RecordType& type, int keys)
    : type_(type) {
  std::vector<RecordBatch> together;
  int64_t rows = 0;
  for (size_t b = 0; b < batches.size(); ++b) {
    rows += batches[b].size();
    together.push_back(std::move(batches[b]));
    const int64_t next = b + 1 < batches.size() ? batches[b + 1].size() : kRowsTogether;
    if (rows + next <= kRowsTogether) continue;
    batches_.push_back(InOrder(ConcatBatches(together, type), keys));
    together.clear();
    rows = 0;
  }
  Seek();
}

KeyOrder::Ordered KeyOrder::InOrder(RecordBatch batch, int keys) {
  const std::vector<uint8_t> parts = PartsOf(batch, keys);
  Ordered ordered = {.batch = std::move(batch), .begins = {}};
  for (const uint8_t part : parts) ++ordered.begins[part + 1];
  std::partial_sum(ordered.begins.begin(), ordered.begins.end(), ordered.begins.begin());
  if (std::is_sorted(parts.begin(), parts.end())) return ordered;
  std::array<uint32_t, kKeyParts + 1> next = ordered.begins;
  std::vector<uint32_t> rows(parts.size());
  for (size_t row = 0; row < parts.size(); ++row) {
    rows[next[parts[row]]++] = static_cast<uint32_t>(row);
  }
  const auto take = [&](Tensor* column) { *column = GatherRows(ColumnRows::Of(*column), rows); };
  for (Tensor& column : ordered.batch.columns) take(&column);
  take(&ordered.batch.origins);
  if (ordered.batch.weights) take(&*ordered.batch.weights);
  return ordered;
}

void KeyOrder::Seek() {
  for (; part_ < kKeyParts; ++part_, next_ = 0) {
    for (; next_ < batches_.size(); ++next_) {
      if (batches_[next_].begins[part_] < batches_[next_].begins[part_ + 1]) return;
    }
  }
}

RecordBatch KeyOrder::Next() {
  std::vector<RecordBatch> pieces;
  for (int64_t rows = 0; !done() && rows < kRowsOut; Seek()) {
    const Ordered& from = batches_[next_++];
    pieces.push_back(SliceRows(from.batch, from.begins[part_], from.begins[part_ + 1]));
    rows += pieces.back().size();
  }
  return ConcatBatches(pieces, type_);
}

size_t WorthOrdering(const std::vector<RecordBatch>& batches, size_t begin, int64_t indexed_keys) {
  if (indexed_keys < kCachedKeys) return 0;
  const int64_t most_bytes = MostBytes();
  int64_t records = 0;
  int64_t bytes = 0;
  for (size_t end = begin; end < batches.size(); ++end) {
    bytes += batches[end].bytes();
    if (records + batches[end].size() > kMostRecords || bytes > most_bytes) {
      return records < kLeastRecords ? 0 : end - begin;
    }
    records += batches[end].size();
  }
  return records < kLeastRecords ? 0 : batches.size() - begin;
}

}  // namespace weir
