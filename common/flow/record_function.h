// A function for one record, called for all records of a batch. Implementations: by the reference
// interpreter, record by record (the oracle, below), and as a vectorized program (worker/flow).
// Thread-safe.
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

  // REQUIRES: columns have the types of the parameters, each with an axis of `records` records in
  // front. Returns: the results, likewise. Errors begin with the record ("record 3: ") where one
  // is at fault. `records` may be 0.
  virtual absl::StatusOr<std::vector<Tensor>> Call(absl::Span<const Tensor> columns,
                                                   int64_t records) const = 0;
};

// Record by record through the reference interpreter. REQUIRES: the graph has the function.
std::unique_ptr<RecordFunction> MakeReferenceFunction(std::shared_ptr<const Graph> graph,
                                                      std::string function);

}  // namespace weir

#endif  // WEIR_COMMON_FLOW_RECORD_FUNCTION_H_
