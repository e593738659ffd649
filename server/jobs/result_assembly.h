// The results of one run, put together from the rows that each worker sends. Owned by the core;
// thread-compatible.
#ifndef WEIR_SERVER_JOBS_RESULT_ASSEMBLY_H_
#define WEIR_SERVER_JOBS_RESULT_ASSEMBLY_H_

#include <memory>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "common/plan/routing.h"
#include "common/tensor/tensor.h"
#include "server/jobs/compiled_program.h"
#include "weir/v1/worker.pb.h"

namespace weir {

class ResultAssembly {
 public:
  // `outputs` are positions among the plan's of those that are results, in their order. One that is
  // an input is answered with it.
  static absl::StatusOr<ResultAssembly> Make(std::shared_ptr<const CompiledProgram> program,
                                             std::shared_ptr<const RunShape> shape,
                                             const BoundInputs& inputs, std::vector<int> outputs);

  // Takes what the worker of this rank holds. Returns: INTERNAL for rows that do not belong there.
  absl::Status Add(int rank, const v1::RunFinished& finished, std::vector<Tensor> rows);

  // Takes a result that is the value of a variable.
  void AddInput(uint32_t value, Tensor whole);

  // The results in the order of the plan's outputs. REQUIRES: every rank was added.
  absl::StatusOr<std::vector<Tensor>> Take();

  // Tensor bytes that workers sent without being asked for them.
  int64_t stray_bytes() const { return stray_bytes_; }

 private:
  struct Part {
    Tensor whole;
    int missing = 0;  // parts that have not come
  };

  absl::Status AddRows(int rank, const v1::Feed& feed, Tensor rows, Part* part);

  std::shared_ptr<const CompiledProgram> program_;
  std::shared_ptr<const RunShape> shape_;
  std::vector<int> outputs_;
  absl::flat_hash_map<uint32_t, Part> parts_;  // by value of the plan
  int64_t stray_bytes_ = 0;
};

}  // namespace weir

#endif  // WEIR_SERVER_JOBS_RESULT_ASSEMBLY_H_
