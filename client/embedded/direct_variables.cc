#include "client/embedded/direct_variables.h"

#include <algorithm>

namespace weir {

ValueStore* WorkerStores::Find(uint64_t worker) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [id, store] : known_) {
    if (id == worker) return store;
  }
  for (const std::unique_ptr<WorkerService>& each : *workers_) {
    if (each->status().worker_id != worker) continue;
    return known_.emplace_back(worker, each->values().get()).second;
  }
  return nullptr;
}

std::optional<DirectVariables> DirectVariables::Begin(VariableGateway gateway, WorkerStores* stores,
                                                      const std::vector<std::string>& inputs,
                                                      const std::vector<std::string>& outputs) {
  std::optional<VariableCore::DirectUse> use = gateway.BeginDirect(inputs, outputs);
  if (!use.has_value()) return std::nullopt;
  std::optional<DirectVariables> begun(DirectVariables(gateway, stores, *std::move(use)));
  for (const VariableCore::DirectUse::Value& value : begun->use_->outputs) {
    if (stores->Find(value.worker) == nullptr) return std::nullopt;
  }
  for (const VariableCore::DirectUse::Value& value : begun->use_->inputs) {
    ValueStore* store = stores->Find(value.worker);
    // What was created now may still be on its way.
    std::optional<Tensor> tensor = store != nullptr ? store->Get(value.value) : std::nullopt;
    if (!tensor.has_value()) return std::nullopt;
    begun->values_.push_back(*std::move(tensor));
  }
  return begun;
}

DirectVariables::~DirectVariables() {
  if (use_.has_value()) gateway_.EndDirect(*use_, VariableCore::Ending::kForget);
}

bool DirectVariables::HasMemoryOf(const Tensor& tensor) const {
  return tensor.buffer() != nullptr &&
         std::any_of(values_.begin(), values_.end(),
                     [&](const Tensor& value) { return value.buffer() == tensor.buffer(); });
}

bool DirectVariables::Commit(const std::vector<Tensor>& new_values) {
  for (size_t i = 0; i < new_values.size(); ++i) {
    const Tensor& type = use_->outputs[i].variable->type;
    if (new_values[i].dtype() != type.dtype() || new_values[i].extents() != type.extents()) {
      return false;
    }
  }
  for (size_t i = 0; i < new_values.size(); ++i) {
    stores_->Find(use_->outputs[i].worker)->Put(use_->outputs[i].new_value, new_values[i]);
  }
  values_.clear();
  const VariableCore::DirectUse use = *std::exchange(use_, std::nullopt);
  for (const auto& old : gateway_.EndDirect(use, VariableCore::Ending::kCommit)) {
    stores_->Find(old.worker)->Drop(old.value);
  }
  return true;
}

}  // namespace weir
