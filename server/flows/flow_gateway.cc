#include "server/flows/flow_gateway.h"

#include <utility>

#include "common/base/status.h"

namespace weir {

absl::StatusOr<v1::DeployResponse> FlowGateway::Deploy(const v1::DeployRequest& request) const {
  WEIR_ASSIGN_OR_RETURN(PreparedFlow prepared, PrepareFlow(request, coordinator_->limits()));
  absl::StatusOr<CoordinatorCore::Accepted> accepted;
  coordinator_->Enter([&](CoordinatorCore& core) { accepted = core.Deploy(std::move(prepared)); });
  WEIR_RETURN_IF_ERROR(accepted.status());
  v1::DeployResponse response;
  *response.mutable_job() = std::move(accepted->job);
  response.set_already_existed(accepted->already_existed);
  return response;
}

absl::StatusOr<uint64_t> FlowGateway::Attach(const v1::FlowAttach& request,
                                             std::function<void()> on_news) const {
  absl::StatusOr<uint64_t> attached;
  coordinator_->Enter(
      [&](CoordinatorCore& core) { attached = core.flows().Attach(request, std::move(on_news)); });
  return attached;
}

absl::Status FlowGateway::Take(uint64_t attachment, ToFlow message) const {
  absl::Status status;
  coordinator_->Enter(
      [&](CoordinatorCore& core) { status = core.flows().Take(attachment, std::move(message)); });
  return status;
}

absl::StatusOr<std::optional<FromFlow>> FlowGateway::Next(uint64_t attachment) const {
  absl::StatusOr<std::optional<FromFlow>> next;
  coordinator_->Enter([&](CoordinatorCore& core) { next = core.flows().Next(attachment); });
  return next;
}

void FlowGateway::Detach(uint64_t attachment) const {
  coordinator_->Enter([&](CoordinatorCore& core) { core.flows().Detach(attachment); });
}

absl::StatusOr<std::vector<std::string>> FlowGateway::CheckCalls(const std::string& job_id,
                                                                 const std::string& input,
                                                                 const std::string& output) const {
  absl::StatusOr<std::vector<std::string>> others;
  coordinator_->Enter(
      [&](CoordinatorCore& core) { others = core.flows().CheckCalls(job_id, input, output); });
  return others;
}

absl::StatusOr<std::vector<std::string>> FlowGateway::CallsHeldBy(const std::string& job_id,
                                                                  const std::string& input,
                                                                  const std::string& output,
                                                                  int64_t epoch) const {
  absl::StatusOr<std::vector<std::string>> held_by;
  coordinator_->Enter([&](CoordinatorCore& core) {
    held_by = core.flows().CallsHeldBy(job_id, input, output, epoch);
  });
  return held_by;
}

absl::StatusOr<v1::FlowStatus> FlowGateway::Get(const std::string& job_id) const {
  absl::StatusOr<v1::FlowStatus> status;
  coordinator_->Enter([&](CoordinatorCore& core) { status = core.flows().Get(job_id); });
  return status;
}

v1::ListFlowsResponse FlowGateway::List() const {
  v1::ListFlowsResponse response;
  coordinator_->Enter([&](CoordinatorCore& core) { response = core.flows().List(); });
  return response;
}

absl::StatusOr<v1::ExplainFrontierResponse> FlowGateway::Explain(
    const v1::ExplainFrontierRequest& request) const {
  absl::StatusOr<v1::ExplainFrontierResponse> explained;
  coordinator_->Enter([&](CoordinatorCore& core) { explained = core.flows().Explain(request); });
  return explained;
}

}  // namespace weir
