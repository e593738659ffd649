// The records of one input of a join, by the number of their key: those of a key are a chain, the
// newest first. Owned by the state of a vertex; thread-compatible.
#ifndef WEIR_WORKER_FLOW_KEYED_JOINED_SIDE_H_
#define WEIR_WORKER_FLOW_KEYED_JOINED_SIDE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/flow/record_batch.h"
#include "worker/flow/keyed/stored_column.h"

namespace weir {

class JoinedSide {
 public:
  static constexpr uint32_t kNone = 0xffffffff;

  // Records are of this type, of which the columns from `first` on are kept.
  JoinedSide(const RecordType& type, int first)
      : first_(static_cast<size_t>(first)),
        columns_(StoredColumns(RecordType(type.begin() + first, type.end()))) {}

  // So many records more come next: memory is taken once, where it would be taken and copied
  // several times as they come.
  void Expect(int64_t records);
  // keys[i] is the number of the key of row i, which becomes record size() + i.
  // Errors: RESOURCE_EXHAUSTED, there are 2^32 - 1 records.
  absl::Status Add(const RecordBatch& batch, absl::Span<const uint32_t> keys);

  int64_t size() const { return static_cast<int64_t>(origins_.size()); }
  // The newest record of a key and the one before a record, or kNone.
  uint32_t Newest(uint32_t key) const { return key < heads_.size() ? heads_[key] : kNone; }
  uint32_t Before(uint32_t record) const { return before_[record]; }
  // Asks memory for what Before(record) will read.
  void Prefetch(uint32_t record) const { __builtin_prefetch(&before_[record]); }
  int64_t origin(uint32_t record) const { return origins_[record]; }
  bool has_weights() const { return !weights_.empty(); }
  int64_t weight(uint32_t record) const { return weights_.empty() ? 1 : weights_[record]; }
  // The columns that are kept, here and below.
  std::vector<Tensor> Columns(absl::Span<const uint32_t> records) const {
    return Gather(columns_, records);
  }
  RecordBatch Batch() const;
  // The number of the key of each record.
  std::vector<uint32_t> Keys() const;
  int64_t bytes() const;

  // Whether it would pay to look for records that took one another back.
  bool IsWorthMerging() const { return takes_back_ && size() >= 2 * merged_size_ + kFewRecords; }
  // What there is now will not become less by merging.
  void SetMerged() {
    merged_size_ = size();
    takes_back_ = false;
  }

 private:
  static constexpr int64_t kFewRecords = 1024;

  const size_t first_;
  std::vector<StoredColumn> columns_;
  TableVector<int64_t> origins_;
  TableVector<int64_t> weights_;  // none while all are 1
  TableVector<uint32_t> before_;
  TableVector<uint32_t> heads_;  // by key
  int64_t merged_size_ = 0;
  bool takes_back_ = false;  // a weight was below 0 since then
};

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_KEYED_JOINED_SIDE_H_
