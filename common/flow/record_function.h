// A function of a flow, called for all records of a batch. Implementations: by the reference
// interpreter (the oracle, below), and as a program (worker/flow). Thread-safe.
#ifndef WEIR_COMMON_FLOW_RECORD_FUNCTION_H_
#define WEIR_COMMON_FLOW_RECORD_FUNCTION_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/flow/record_batch.h"
#include "common/ir/graph.h"

namespace weir {

class RecordFunction {
 public:
  virtual ~RecordFunction() = default;

  // Of a function for one record. REQUIRES: columns have the types of the parameters, each with an
  // axis of `records` records in front. Returns: the results, likewise. Errors begin with
  // the record ("record 3: ") where one is at fault. `records` may be 0. A function without
  // parameters has the same results for each record.
  //
  // Of a function for a batch (FlowAttr::Calls::kBatch). REQUIRES: columns have the types of the
  // parameters, whose leading symbol is `records`. Returns: the results, of any leading extents.
  virtual absl::StatusOr<std::vector<Tensor>> Call(absl::Span<const Tensor> columns,
                                                   int64_t records) const = 0;
  // Whether it has a loop, so that a call may take any time, whatever the last ones took.
  virtual bool has_loop() const { return false; }
};

// Record by record through the reference interpreter. REQUIRES: the graph has the function.
std::unique_ptr<RecordFunction> MakeReferenceFunction(std::shared_ptr<const Graph> graph,
                                                      std::string function);
// The same for a function of a batch: one call of the interpreter for all records.
std::unique_ptr<RecordFunction> MakeReferenceBatchFunction(std::shared_ptr<const Graph> graph,
                                                           std::string function);

}  // namespace weir

#endif  // WEIR_COMMON_FLOW_RECORD_FUNCTION_H_
