// Records that wait until their time is complete. Small frames are put together, so that what is
// kept takes about as much memory as its records. Owned by a vertex; thread-compatible.
#ifndef WEIR_WORKER_FLOW_KEYED_KEPT_RECORDS_H_
#define WEIR_WORKER_FLOW_KEYED_KEPT_RECORDS_H_

#include <cstdint>
#include <vector>

#include "common/flow/record_batch.h"

namespace weir {

// Bytes that a batch keeps from being freed.
int64_t HeldBytes(const RecordBatch& batch);

class KeptRecords {
 public:
  // REQUIRES: all batches are of this type.
  void Add(RecordBatch batch, const RecordType& type);
  // All that was added, in any order; none of the batches is empty. Nothing is left here.
  std::vector<RecordBatch> Take();
  int64_t bytes() const { return bytes_; }

 private:
  void PutTogether(const RecordType& type);

  std::vector<RecordBatch> batches_;
  std::vector<RecordBatch> small_;
  int64_t bytes_ = 0;
};

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_KEYED_KEPT_RECORDS_H_
