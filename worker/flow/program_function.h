// A function of a flow as a program that the coordinator compiled and this worker has loaded: all
// records of a batch at once, on the caller's thread. What follows from the number of
// records is kept for the last few numbers. Owned by the vertices that call it; thread-safe.
#ifndef WEIR_WORKER_FLOW_PROGRAM_FUNCTION_H_
#define WEIR_WORKER_FLOW_PROGRAM_FUNCTION_H_

#include <atomic>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/flow/record_function.h"
#include "worker/dataflow/program.h"

namespace weir {

// The types of records that a function takes and gives.
struct RecordSignature {
  RecordType parameters;
  RecordType results;

  // REQUIRES: the graph has the function.
  static RecordSignature Of(const Graph& graph, std::string_view function);
  // The same of a function whose parameters and results have an axis of records already.
  static RecordSignature OfBatch(const Graph& graph, std::string_view function);
};

// Of a function for one record, vectorized; without parameters, it has the same results for each
// and its program is as it is. REQUIRES: the program is ready. Once `cancelled` (which
// may be null) is set, calls end with CANCELLED. Returns: INVALID_ARGUMENT for a program whose
// inputs and outputs are not those of the signature with one more axis in front, which is the same
// for all.
absl::StatusOr<std::unique_ptr<RecordFunction>> MakeProgramFunction(
    std::shared_ptr<Program> program, const RecordSignature& signature,
    std::shared_ptr<std::atomic<bool>> cancelled);
// The same of a function for a batch, as it is: the leading axes of its results are any.
absl::StatusOr<std::unique_ptr<RecordFunction>> MakeProgramBatchFunction(
    std::shared_ptr<Program> program, const RecordSignature& signature,
    std::shared_ptr<std::atomic<bool>> cancelled);

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_PROGRAM_FUNCTION_H_
