// Flows over gRPC; the part of a remote session that knows them. Thread-safe.
#ifndef WEIR_CLIENT_API_REMOTE_FLOWS_H_
#define WEIR_CLIENT_API_REMOTE_FLOWS_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "client/api/flow_stream.h"
#include "client/api/remote_caller.h"
#include "weir/v1/flows.grpc.pb.h"

namespace weir {

class RemoteFlows {
 public:
  RemoteFlows(std::string address, const std::shared_ptr<grpc::Channel>& channel)
      : address_(std::move(address)), stub_(v1::Flows::NewStub(channel)) {}

  // As Session.
  absl::StatusOr<v1::DeployResponse> Deploy(const v1::DeployRequest& request);
  absl::StatusOr<std::unique_ptr<FlowStream>> Attach(const v1::FlowAttach& request);
  absl::StatusOr<std::vector<Tensor>> Call(const v1::CallFlowRequest& request,
                                           const std::vector<Tensor>& record);
  std::unique_ptr<FlowCaller> OpenCaller(const v1::CallFlowRequest& request) {
    return MakeRemoteCaller(address_, stub_, request);
  }
  absl::StatusOr<v1::FlowStatus> Get(const std::string& id);
  absl::StatusOr<std::vector<v1::FlowStatus>> List();
  absl::StatusOr<v1::ExplainFrontierResponse> Explain(const v1::ExplainFrontierRequest& request);

 private:
  const std::string address_;
  const std::shared_ptr<v1::Flows::Stub> stub_;  // also of the streams
};

}  // namespace weir

#endif  // WEIR_CLIENT_API_REMOTE_FLOWS_H_
