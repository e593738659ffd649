// Rows of columns as bytes: hashing, equality and a total order of records and of keys, which are
// the first columns of a record. By bits, so NaN equals itself and -0.0 is not 0.0; the order has
// no meaning but to be one. Refers to the columns, which must outlive it; immutable, usable from
// any thread.
#ifndef WEIR_COMMON_FLOW_RECORD_ROWS_H_
#define WEIR_COMMON_FLOW_RECORD_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/container/inlined_vector.h"
#include "common/flow/record_batch.h"

namespace weir {

class RecordRows {
 public:
  // Of the first `columns` columns; of all of them.
  RecordRows(const RecordBatch& batch, int columns);
  explicit RecordRows(const RecordBatch& batch)
      : RecordRows(batch, static_cast<int>(batch.columns.size())) {}

  // The same for equal bytes on every machine and in every process.
  uint64_t Hash(int64_t row) const;
  // Returns: below, at or above zero. REQUIRES: both are of columns of the same types.
  int Compare(int64_t row, const RecordRows& other, int64_t other_row) const;
  bool Equal(int64_t row, const RecordRows& other, int64_t other_row) const {
    return Compare(row, other, other_row) == 0;
  }
  // The bytes of a row, column by column: equal for equal rows, and usable as a key of a map.
  std::string Bytes(int64_t row) const;

 private:
  struct Column {
    const std::byte* data;
    size_t stride;  // bytes of a row
  };
  absl::InlinedVector<Column, 4> columns_;
};

// The hash of an origin, as one of a key.
uint64_t HashOfOrigin(int64_t origin);

// Keyed state lives where its keys go: a key has a group, and a worker has groups.
inline constexpr int kKeyGroups = 256;
inline int KeyGroupOf(uint64_t hash) { return static_cast<int>(hash % kKeyGroups); }
// Which of `workers` workers, by rank, has this group. REQUIRES: 1 <= workers.
inline int WorkerOfGroup(int group, int workers) { return group * workers / kKeyGroups; }

}  // namespace weir

#endif  // WEIR_COMMON_FLOW_RECORD_ROWS_H_
