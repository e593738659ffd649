#include "client/api/remote_flows.h"

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <utility>

#include "client/api/grpc_status.h"
#include "common/base/status.h"
#include "common/plan/tensor_chunks.h"

namespace weir {
namespace {

constexpr std::chrono::seconds kCallLimit(30);

class RemoteFlowStream : public FlowStream {
 public:
  RemoteFlowStream(std::string address, std::shared_ptr<v1::Flows::Stub> stub)
      : address_(std::move(address)), stub_(std::move(stub)), call_(stub_->Attach(&context_)) {}

  ~RemoteFlowStream() override {
    if (is_over_) return;
    context_.TryCancel();
    call_->Finish();
  }

  absl::Status Send(const ToFlow& message) override {
    if (!message.message.has_records()) return Write(message.message);
    RecordsCutter pieces(message.message.records(), message.tensors);
    v1::AttachRequest request;
    while (pieces.Next(request.mutable_records())) WEIR_RETURN_IF_ERROR(Write(request));
    return absl::OkStatus();
  }

  absl::StatusOr<FromFlow> Next() override {
    FromFlow out;
    while (!is_over_ && call_->Read(&out.message)) {
      if (!out.message.has_records()) return out;
      WEIR_ASSIGN_OR_RETURN(const bool is_whole,
                            batches_.Add(out.message.mutable_records(), &out.tensors));
      if (is_whole) return out;
    }
    return Over();
  }

  void Close() override {
    is_closed_ = true;
    context_.TryCancel();
  }

 private:
  absl::Status Write(const v1::AttachRequest& request) {
    if (!is_closed_ && call_->Write(request)) return absl::OkStatus();
    return absl::CancelledError("the connection to the flow is over");
  }

  // Only Next comes here.
  absl::Status Over() {
    if (!is_over_) {
      is_over_ = true;
      why_ = FromGrpc(call_->Finish(), address_);
    }
    if (is_closed_) return absl::CancelledError("the connection to the flow was closed");
    return why_.ok() ? absl::OutOfRangeError("the flow has no more to say") : why_;
  }

  const std::string address_;
  const std::shared_ptr<v1::Flows::Stub> stub_;
  grpc::ClientContext context_;
  const std::unique_ptr<grpc::ClientReaderWriter<v1::AttachRequest, v1::AttachResponse>> call_;
  RecordsAssembler batches_{
      ChunkLimits{std::numeric_limits<size_t>::max(), std::numeric_limits<uint64_t>::max()}};
  std::atomic<bool> is_closed_{false};
  bool is_over_ = false;
  absl::Status why_;
};

template <class Response, class Method>
absl::StatusOr<Response> CallOnce(const std::string& address, Method method) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kCallLimit);
  Response response;
  WEIR_RETURN_IF_ERROR(FromGrpc(method(&context, &response), address));
  return response;
}

}  // namespace

absl::StatusOr<v1::DeployResponse> RemoteFlows::Deploy(const v1::DeployRequest& request) {
  return CallOnce<v1::DeployResponse>(address_, [&](auto* context, auto* response) {
    return stub_->Deploy(context, request, response);
  });
}

absl::StatusOr<std::unique_ptr<FlowStream>> RemoteFlows::Attach(const v1::FlowAttach& request) {
  auto stream = std::make_unique<RemoteFlowStream>(address_, stub_);
  ToFlow attach;
  *attach.message.mutable_attach() = request;
  const absl::Status sent = stream->Send(attach);
  if (!sent.ok()) return stream->Next().status();
  return stream;
}

absl::StatusOr<std::vector<Tensor>> RemoteFlows::Call(const v1::CallFlowRequest& request,
                                                      const std::vector<Tensor>& record) {
  v1::CallFlowRequest whole = request;
  for (const Tensor& column : record) ToMessage(column, whole.add_record());
  WEIR_ASSIGN_OR_RETURN(
      const v1::CallFlowResponse response,
      CallOnce<v1::CallFlowResponse>(address_, [&](auto* context, auto* response) {
        return stub_->Call(context, whole, response);
      }));
  std::vector<Tensor> columns;
  for (const v1::Tensor& column : response.record()) {
    WEIR_ASSIGN_OR_RETURN(Tensor tensor, FromMessage(column));
    columns.push_back(std::move(tensor));
  }
  return columns;
}

absl::StatusOr<v1::FlowStatus> RemoteFlows::Get(const std::string& id) {
  v1::JobRequest request;
  request.set_id(id);
  return CallOnce<v1::FlowStatus>(address_, [&](auto* context, auto* response) {
    return stub_->Get(context, request, response);
  });
}

absl::StatusOr<std::vector<v1::FlowStatus>> RemoteFlows::List() {
  WEIR_ASSIGN_OR_RETURN(
      const v1::ListFlowsResponse response,
      CallOnce<v1::ListFlowsResponse>(address_, [&](auto* context, auto* response) {
        return stub_->List(context, v1::ListFlowsRequest(), response);
      }));
  return std::vector<v1::FlowStatus>(response.flows().begin(), response.flows().end());
}

absl::StatusOr<v1::ExplainFrontierResponse> RemoteFlows::Explain(
    const v1::ExplainFrontierRequest& request) {
  return CallOnce<v1::ExplainFrontierResponse>(address_, [&](auto* context, auto* response) {
    return stub_->Explain(context, request, response);
  });
}

}  // namespace weir
