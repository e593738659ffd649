// Flows as services and sessions use them: a FlowCore inside of a coordinator in operation.
// Thread-safe; as cheap to make as a pointer.
//
//   FlowGateway gateway(&coordinator);
//   auto deployed = gateway.Deploy(request);
//   auto number = gateway.Attach(attach, [&] { Pump(); });
//   auto message = gateway.Next(*number);   // nothing: Pump is called once there is something
#ifndef WEIR_SERVER_FLOWS_FLOW_GATEWAY_H_
#define WEIR_SERVER_FLOWS_FLOW_GATEWAY_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/jobs/coordinator.h"

namespace weir {

class FlowGateway {
 public:
  explicit FlowGateway(Coordinator* coordinator) : coordinator_(coordinator) {}

  // Parses and checks on the caller's thread. Errors: as PrepareFlow and CoordinatorCore::Deploy.
  absl::StatusOr<v1::DeployResponse> Deploy(const v1::DeployRequest& request) const;

  // As FlowCore. `on_news` is called without any lock held, on a thread of the coordinator or on
  // one that calls it.
  absl::StatusOr<uint64_t> Attach(const v1::FlowAttach& request,
                                  std::function<void()> on_news) const;
  absl::Status Take(uint64_t attachment, ToFlow message) const;
  absl::StatusOr<std::optional<FromFlow>> Next(uint64_t attachment) const;
  void Detach(uint64_t attachment) const;

  absl::StatusOr<std::vector<std::string>> CheckCalls(const std::string& job_id,
                                                      const std::string& input,
                                                      const std::string& output) const;
  absl::StatusOr<std::vector<std::string>> CallsHeldBy(const std::string& job_id,
                                                       const std::string& input,
                                                       const std::string& output,
                                                       int64_t epoch) const;

  absl::StatusOr<v1::FlowStatus> Get(const std::string& job_id) const;
  v1::ListFlowsResponse List() const;
  absl::StatusOr<v1::ExplainFrontierResponse> Explain(
      const v1::ExplainFrontierRequest& request) const;

 private:
  Coordinator* coordinator_;
};

}  // namespace weir

#endif  // WEIR_SERVER_FLOWS_FLOW_GATEWAY_H_
