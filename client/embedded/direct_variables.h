// The variables of a run without a job: what they have, from the stores of the workers that own
// them, and what the run leaves. For one run; not thread-safe. REQUIRES: the cluster outlives it.
#ifndef WEIR_CLIENT_EMBEDDED_DIRECT_VARIABLES_H_
#define WEIR_CLIENT_EMBEDDED_DIRECT_VARIABLES_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/tensor/tensor.h"
#include "server/variables/variable_gateway.h"
#include "worker/service/worker_service.h"
#include "worker/state/value_store.h"

namespace weir {

// The stores of a cluster's workers, by the numbers that the coordinator gave these. Thread-safe.
class WorkerStores {
 public:
  explicit WorkerStores(const std::vector<std::unique_ptr<WorkerService>>* workers)
      : workers_(workers) {}
  // Returns: null for a worker that is not there.
  ValueStore* Find(uint64_t worker);

 private:
  const std::vector<std::unique_ptr<WorkerService>>* const workers_;
  std::mutex mutex_;
  std::vector<std::pair<uint64_t, ValueStore*>> known_;  // guarded by mutex_
};

class DirectVariables {
 public:
  // Returns: nothing if a job must wait for one of them or would fail.
  static std::optional<DirectVariables> Begin(VariableGateway gateway, WorkerStores* stores,
                                              const std::vector<std::string>& inputs,
                                              const std::vector<std::string>& outputs);
  // Nothing has happened, unless Commit did it.
  ~DirectVariables();
  DirectVariables(DirectVariables&& other) noexcept
      : gateway_(other.gateway_),
        stores_(other.stores_),
        use_(std::exchange(other.use_, std::nullopt)),
        values_(std::move(other.values_)) {}
  DirectVariables& operator=(DirectVariables&&) = delete;

  // In the order of the inputs.
  const std::vector<Tensor>& values() const { return values_; }
  // Whether a tensor lies in memory of theirs.
  bool HasMemoryOf(const Tensor& tensor) const;
  // In the order of the outputs. Returns: false for one of another type than its variable's.
  // REQUIRES: nobody who may write has the memory of the new values.
  bool Commit(const std::vector<Tensor>& new_values);

 private:
  DirectVariables(VariableGateway gateway, WorkerStores* stores, VariableCore::DirectUse use)
      : gateway_(gateway), stores_(stores), use_(std::move(use)) {}

  VariableGateway gateway_;
  WorkerStores* stores_;
  std::optional<VariableCore::DirectUse> use_;
  std::vector<Tensor> values_;
};

}  // namespace weir

#endif  // WEIR_CLIENT_EMBEDDED_DIRECT_VARIABLES_H_
