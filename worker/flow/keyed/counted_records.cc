#include "worker/flow/keyed/counted_records.h"

#include <algorithm>

#include "common/base/status.h"
#include "common/ops/scalar/integer.h"

namespace weir {

absl::Status CountedRecords::Add(const RecordBatch& batch, absl::Span<const uint32_t> groups) {
  WEIR_RETURN_IF_ERROR(index_.FindOrAdd(batch.columns, batch.size(), &numbers_));
  entries_.resize(index_.limit());
  for (int64_t row = 0; row < batch.size(); ++row) {
    const uint32_t record = numbers_[row];
    Entry& entry = entries_[record];
    const int64_t origin = batch.origin(row);
    if (entry.time == 0) {
      entry.next = heads_[groups[row]];
      heads_[groups[row]] = record;
    }
    if (entry.time != time_) {
      entry.time = time_;
      entry.begins = entry.weight <= 0;
      if (entry.begins) entry.origin = origin;
    } else if (entry.begins) {
      entry.origin = std::min(entry.origin, origin);
    }
    entry.weight = scalar::Add(entry.weight, batch.weight(row));
  }
  return absl::OkStatus();
}

void CountedRecords::List(uint32_t group, std::vector<uint32_t>* records) {
  uint32_t* link = &heads_[group];
  while (*link != KeyIndex::kNone) {
    const uint32_t record = *link;
    Entry& entry = entries_[record];
    if (entry.weight == 0) {
      *link = entry.next;
      entry = Entry();
      index_.Free(record);
      continue;
    }
    if (entry.weight > 0) records->push_back(record);
    link = &entry.next;
  }
}

void CountedRecords::Drop(uint32_t group, uint32_t record) {
  uint32_t* link = &heads_[group];
  while (*link != record) link = &entries_[*link].next;
  *link = entries_[record].next;
  entries_[record] = Entry();
  index_.Free(record);
}

bool CountedRecords::HasPresent(uint32_t group) const {
  uint32_t record = heads_[group];
  while (record != KeyIndex::kNone && entries_[record].weight <= 0) record = entries_[record].next;
  return record != KeyIndex::kNone;
}

int64_t CountedRecords::bytes() const {
  return index_.bytes() +
         static_cast<int64_t>(entries_.capacity() * sizeof(Entry) +
                              (heads_.capacity() + numbers_.capacity()) * sizeof(uint32_t));
}

}  // namespace weir
