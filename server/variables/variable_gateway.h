// Variables as services and sessions use them: a VariableCore inside of a coordinator in operation.
// Thread-safe; as cheap to make as a pointer.
//
//   VariableGateway gateway(&coordinator);
//   auto made = gateway.Create(request, value);
//   gateway.Read(made->id(), [](auto outcome) { ... });
#ifndef WEIR_SERVER_VARIABLES_VARIABLE_GATEWAY_H_
#define WEIR_SERVER_VARIABLES_VARIABLE_GATEWAY_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/jobs/coordinator.h"

namespace weir {

class VariableGateway {
 public:
  explicit VariableGateway(Coordinator* coordinator) : coordinator_(coordinator) {}

  // As VariableCore. `done` is called without any lock held, on a thread of the coordinator or on
  // one that calls it.
  absl::StatusOr<v1::Variable> Create(const v1::NewVariable& request, Tensor value) const;
  void Read(const std::string& id, VariableCore::OnRead done) const;
  absl::Status Delete(const std::string& id) const;
  v1::ListVariablesResponse List() const;

  std::optional<VariableCore::DirectUse> BeginDirect(const std::vector<std::string>& inputs,
                                                     const std::vector<std::string>& outputs) const;
  std::vector<VariableCore::DirectUse::Value> EndDirect(const VariableCore::DirectUse& use,
                                                        VariableCore::Ending ending) const;

 private:
  Coordinator* coordinator_;
};

}  // namespace weir

#endif  // WEIR_SERVER_VARIABLES_VARIABLE_GATEWAY_H_
