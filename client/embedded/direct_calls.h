// Runs of small programs on the thread of the caller, in place of jobs: a program that a worker of
// this cluster holds already runs there from its inputs to its results, past the coordinator and
// the event loops. What cannot be done so, takes long or fails is left to a job, which says why.
// Owned by the embedded cluster; thread-safe.
#ifndef WEIR_CLIENT_EMBEDDED_DIRECT_CALLS_H_
#define WEIR_CLIENT_EMBEDDED_DIRECT_CALLS_H_

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "client/embedded/direct_variables.h"
#include "common/tensor/tensor.h"
#include "server/jobs/coordinator.h"
#include "worker/dataflow/direct_run.h"
#include "worker/service/worker_service.h"

namespace weir {

class DirectCalls {
 public:
  using Workers = std::vector<std::unique_ptr<WorkerService>>;

  // REQUIRES: both outlive this; the workers are those of the coordinator.
  DirectCalls(Coordinator* coordinator, const Workers* workers)
      : coordinator_(coordinator), workers_(workers), stores_(workers) {}

  // As Session::RunHere.
  std::optional<std::vector<Tensor>> Run(const v1::JobSpec& spec,
                                         const std::vector<Tensor>& inputs);
  // The value of a variable. Returns: nothing where the coordinator is to be asked.
  std::optional<Tensor> ReadVariable(const std::string& id);

 private:
  struct Form;
  struct Known;

  std::shared_ptr<Known> Find(const std::string& program_id);
  std::shared_ptr<Known> Ask(const std::string& program_id) const;
  // As Run, for a spec with variables; `inputs` are followed by their values.
  std::optional<std::vector<Tensor>> RunForm(const v1::JobSpec& spec,
                                             const std::vector<Tensor>& inputs,
                                             const std::shared_ptr<Program>& program,
                                             Known* known) const;
  std::optional<std::vector<Tensor>> RunWithVariables(const v1::JobSpec& spec,
                                                      const std::vector<Tensor>& inputs,
                                                      const std::shared_ptr<Program>& program,
                                                      Known* known);
  std::shared_ptr<Form> FormFor(const v1::JobSpec& spec, const std::vector<Tensor>& inputs,
                                const Program& program, Known* known) const;
  std::shared_ptr<Form> MakeForm(const v1::JobSpec& spec, const std::vector<Tensor>& inputs,
                                 const Program& program, const Known& known) const;

  Coordinator* const coordinator_;
  const Workers* const workers_;
  WorkerStores stores_;
  std::mutex mutex_;                                                // guards what follows
  absl::flat_hash_map<std::string, std::shared_ptr<Known>> known_;  // by program id
};

}  // namespace weir

#endif  // WEIR_CLIENT_EMBEDDED_DIRECT_CALLS_H_
