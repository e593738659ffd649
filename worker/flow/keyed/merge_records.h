// Records of one time in an order that does not depend on their arrival, as record_batch.h defines
// it (Merged), but without comparing records where origins tell them apart. Stateless; usable from
// any thread.
#ifndef WEIR_WORKER_FLOW_KEYED_MERGE_RECORDS_H_
#define WEIR_WORKER_FLOW_KEYED_MERGE_RECORDS_H_

#include "absl/types/span.h"
#include "common/flow/record_batch.h"

namespace weir {

enum class WeightsOf { kOnes, kPositive, kAny };
// kPositive: their sum is in range, too, so that no sum of some of them is 0.
WeightsOf Weights(absl::Span<const RecordBatch> batches);

// Sorted(ConcatBatches(batches, type)).
RecordBatch SortRecords(absl::Span<const RecordBatch> batches, const RecordType& type);
// Merged(ConcatBatches(batches, type)); weights may be left out where all are 1.
RecordBatch MergeRecords(absl::Span<const RecordBatch> batches, const RecordType& type);

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_KEYED_MERGE_RECORDS_H_
