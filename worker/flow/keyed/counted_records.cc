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

void CountedRecords::List(uint32_t group, std::vector<uint32_t>* records) const {
  for (uint32_t record = heads_[group]; record != KeyIndex::kNone; record = entries_[record].next) {
    if (entries_[record].weight > 0) records->push_back(record);
  }
}

template <class Keep>
void CountedRecords::KeepIf(uint32_t group, const Keep& keep) {
  uint32_t* link = &heads_[group];
  while (*link != KeyIndex::kNone) {
    const uint32_t record = *link;
    if (keep(record)) {
      link = &entries_[record].next;
      continue;
    }
    *link = entries_[record].next;
    entries_[record] = Entry();
    index_.Free(record);
  }
}

void CountedRecords::ForgetGone(uint32_t group) {
  KeepIf(group, [&](uint32_t record) { return entries_[record].weight != 0; });
}

void CountedRecords::KeepOnly(uint32_t group, absl::Span<const uint32_t> records) {
  for (const uint32_t record : records) entries_[record].is_kept = true;
  KeepIf(group, [&](uint32_t record) { return entries_[record].is_kept; });
  for (const uint32_t record : records) entries_[record].is_kept = false;
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
