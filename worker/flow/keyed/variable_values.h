// The values of a variable by key (common/flow/kinds/variable.cc): columns that grow with the keys
// that something was assigned to. Owned by a vertex; thread-compatible.
#ifndef WEIR_WORKER_FLOW_KEYED_VARIABLE_VALUES_H_
#define WEIR_WORKER_FLOW_KEYED_VARIABLE_VALUES_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/flow/keyed/group_fold.h"
#include "worker/flow/keyed/key_index.h"
#include "worker/flow/keyed/row_table.h"
#include "worker/flow/vertex.h"

namespace weir {

class VariableValues {
 public:
  explicit VariableValues(const VertexSetup& setup);

  // Assigns rows of input 1 in the order in which they stand, each as many times as its weight
  // says; those of different keys together. Errors: a weight, or a function, at fault; values are
  // then of no use.
  absl::Status Assign(const RecordBatch& updates);
  // Rows of input 0, in any order, with the columns of their values.
  absl::StatusOr<RecordBatch> Read(const RecordBatch& reads) const;

  int64_t bytes() const { return keys_.bytes() + values_.bytes() + fold_.bytes(); }

 private:
  // The values to begin with of the keys in these rows, the first columns of a batch.
  absl::StatusOr<std::vector<Tensor>> InitOf(absl::Span<const Tensor> columns,
                                             absl::Span<const int64_t> rows) const;

  const int num_keys_;  // columns
  const bool init_takes_nothing_;
  const RecordType result_type_;
  const std::shared_ptr<const RecordFunction> init_;
  KeyIndex keys_;
  RowTable values_;
  GroupFold fold_;
};

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_KEYED_VARIABLE_VALUES_H_
