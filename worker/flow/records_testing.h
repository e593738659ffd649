// Types of records in tests, and comparing records in any order. Stateless.
#ifndef WEIR_WORKER_FLOW_RECORDS_TESTING_H_
#define WEIR_WORKER_FLOW_RECORDS_TESTING_H_

#include <algorithm>
#include <string>
#include <vector>

#include "common/flow/record_batch.h"
#include "common/flow/vertex_kind.h"

namespace weir {

// REQUIRES: the columns have types.
inline RecordType TypeOf(const std::vector<std::string>& columns) {
  return RecordTypeFrom(columns).value();
}

// Rows of a batch in an order that does not depend on how they came, and weights written down.
inline RecordBatch Canonical(RecordBatch batch) {
  if (!batch.weights) {
    batch.weights = Tensor(DType::kI64, {batch.size()});
    std::fill_n(batch.weights->mutable_data<int64_t>(), batch.size(), 1);
  }
  return Sorted(batch);
}

inline bool SameRecords(const RecordBatch& a, const RecordBatch& b) {
  const RecordBatch left = Canonical(a);
  const RecordBatch right = Canonical(b);
  if (left.columns.size() != right.columns.size()) return false;
  for (size_t i = 0; i < left.columns.size(); ++i) {
    if (!left.columns[i].BitEquals(right.columns[i])) return false;
  }
  return left.origins.BitEquals(right.origins) && left.weights->BitEquals(*right.weights);
}

inline std::string ToString(const RecordBatch& batch) {
  const RecordBatch rows = Canonical(batch);
  std::string text;
  for (const Tensor& column : rows.columns) text += column.ToString() + "\n";
  return text + "origins " + rows.origins.ToString() + "\nweights " + rows.weights->ToString();
}

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_RECORDS_TESTING_H_
