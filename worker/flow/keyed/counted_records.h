// The records of groups with how many there are of each: equal ones are one, whatever their origin.
// What could be taken back is kept until it is. Owned by the state of a vertex; thread-compatible.
#ifndef WEIR_WORKER_FLOW_KEYED_COUNTED_RECORDS_H_
#define WEIR_WORKER_FLOW_KEYED_COUNTED_RECORDS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/flow/record_batch.h"
#include "worker/flow/keyed/key_index.h"

namespace weir {

class CountedRecords {
 public:
  struct Entry {
    int64_t weight = 0;  // there while it is above 0
    int64_t origin = 0;  // the least one of the time in which it began to be there
    int64_t time = 0;    // the last one that added to it, counted from 1
    uint32_t next = KeyIndex::kNone;
    bool begins = false;   // it was not there before that time
    bool is_kept = false;  // only within KeepOnly
  };

  explicit CountedRecords(const RecordType& type) : index_(type) {}

  void Resize(int64_t groups) { heads_.resize(groups, KeyIndex::kNone); }
  // What is added from here on is of another time than what came before.
  void BeginTime() { ++time_; }
  // groups[i] is the group of row i; equal records are of one group.
  absl::Status Add(const RecordBatch& batch, absl::Span<const uint32_t> groups);
  // Appends the numbers of the records of a group that are there.
  void List(uint32_t group, std::vector<uint32_t>* records) const;
  // Forgets records of a group with weight 0; all but some of them. Their numbers may be those of
  // others from the next Add on.
  void ForgetGone(uint32_t group);
  void KeepOnly(uint32_t group, absl::Span<const uint32_t> records);
  // Whether a record of the group is there.
  bool HasPresent(uint32_t group) const;
  // Whether something is kept for the group.
  bool has_any(uint32_t group) const { return heads_[group] != KeyIndex::kNone; }

  const Entry& entry(uint32_t record) const { return entries_[record]; }
  std::vector<Tensor> Columns(absl::Span<const uint32_t> records) const {
    return index_.Keys(records);
  }

  const std::byte* Value(int column, uint32_t record) const { return index_.Value(column, record); }
  // An order of content, by bytes: below, at or above zero.
  int Compare(uint32_t a, uint32_t b) const { return index_.Compare(a, b); }
  int64_t bytes() const;

 private:
  template <class Keep>
  void KeepIf(uint32_t group, const Keep& keep);

  KeyIndex index_;
  TableVector<Entry> entries_;     // by record
  TableVector<uint32_t> heads_;    // by group: its first record
  std::vector<uint32_t> numbers_;  // of the rows that are added
  int64_t time_ = 0;
};

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_KEYED_COUNTED_RECORDS_H_
