// Records that wait until their time is complete. Small frames are put together, so that what is
// kept takes about as much memory as its records; beyond the memory of the flow they lie on disk.
// Owned by a vertex; thread-compatible.
#ifndef WEIR_WORKER_FLOW_KEYED_KEPT_RECORDS_H_
#define WEIR_WORKER_FLOW_KEYED_KEPT_RECORDS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "common/flow/record_batch.h"
#include "worker/flow/memory/flow_memory.h"

namespace weir {

// Bytes that a batch keeps from being freed.
int64_t HeldBytes(const RecordBatch& batch);

class KeptRecords {
 public:
  // REQUIRES: all batches are of this type. Errors: ResourceExhausted, of the disk.
  absl::Status Add(RecordBatch batch, const RecordType& type);
  // All that was added, in any order; none of the batches is empty. Nothing is left here.
  std::vector<RecordBatch> Take(const RecordType& type);
  // One of the batches that Take would give, in memory. REQUIRES: not empty(). Errors:
  // ResourceExhausted, of the disk.
  absl::StatusOr<RecordBatch> TakeOne(const RecordType& type);
  bool empty() const { return batches_.empty() && small_.empty() && spilled_.empty(); }
  // In memory, and of records on disk.
  int64_t bytes() const { return charge_.bytes(); }
  int64_t spilled_bytes() const { return spilled_bytes_; }

 private:
  // What is as large is no small frame, nor is one put together from more.
  int64_t EnoughBytes() const;
  void PushBack(RecordBatch batch);
  void PutTogether(const RecordType& type);
  absl::Status Spill(const RecordType& type);

  std::vector<RecordBatch> batches_;
  std::vector<RecordBatch> small_;
  int64_t small_bytes_ = 0;
  std::vector<SpilledRecords> spilled_;
  int64_t spilled_bytes_ = 0;
  MemoryCharge charge_;
};

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_KEYED_KEPT_RECORDS_H_
