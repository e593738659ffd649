#include "server/variables/variable_gateway.h"

#include <utility>

#include "common/base/random.h"
#include "common/base/status.h"
#include "common/tensor/digest.h"

namespace weir {

absl::StatusOr<v1::Variable> VariableGateway::Create(const v1::NewVariable& request,
                                                     Tensor value) const {
  std::string digest;
  if (!request.submission_id().empty()) digest = ContentDigest(value);
  absl::StatusOr<v1::Variable> made;
  coordinator_->Enter([&](CoordinatorCore& core) {
    made = core.variables().Create(UniqueName("variable-"), request, std::move(digest),
                                   std::move(value));
  });
  return made;
}

void VariableGateway::Read(const std::string& id, VariableCore::OnRead done) const {
  coordinator_->Enter([&](CoordinatorCore& core) { core.variables().Read(id, std::move(done)); });
}

absl::Status VariableGateway::Delete(const std::string& id) const {
  absl::Status status;
  coordinator_->Enter([&](CoordinatorCore& core) { status = core.variables().Delete(id); });
  return status;
}

v1::ListVariablesResponse VariableGateway::List() const {
  v1::ListVariablesResponse response;
  coordinator_->Enter([&](CoordinatorCore& core) { response = core.variables().List(); });
  return response;
}

std::optional<VariableCore::DirectUse> VariableGateway::BeginDirect(
    const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) const {
  std::optional<VariableCore::DirectUse> use;
  coordinator_->Enter(
      [&](CoordinatorCore& core) { use = core.variables().BeginDirect(inputs, outputs); });
  return use;
}

std::vector<VariableCore::DirectUse::Value> VariableGateway::EndDirect(
    const VariableCore::DirectUse& use, VariableCore::Ending ending) const {
  std::vector<VariableCore::DirectUse::Value> free;
  coordinator_->Enter([&](CoordinatorCore& core) { free = core.EndDirect(use, ending); });
  return free;
}

}  // namespace weir
