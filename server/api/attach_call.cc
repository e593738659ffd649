#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "common/base/status.h"
#include "common/flow/attach_stream.h"
#include "server/api/flow_calls.h"
#include "server/flows/flow_gateway.h"

namespace weir {
namespace {

// A client that feeds a flow and takes what comes out. What it sends is read at once; how much that
// may be is bounded by its credit. What goes to it is made when the message before has left, so a
// slow reader holds back what is made for it.
class AttachCall : public Call<grpc::ServerBidiReactor<v1::AttachRequest, v1::AttachResponse>> {
 public:
  explicit AttachCall(const ServiceContext& context)
      : Call(context, "Flows.Attach"),
        gateway_(context.coordinator),
        batches_({.max_bytes = context.coordinator->limits().max_batch_bytes}) {}

  void Read() {
    Operate([this] { StartRead(&request_); });
  }

  void OnReadDone(bool ok) override {
    if (ended()) return;
    if (!ok) return Leave(absl::OkStatus());
    const absl::Status status = Take();
    if (!status.ok()) return Leave(status);
    Read();
  }

  void OnWriteDone(bool ok) override {
    std::optional<absl::Status> left;
    Operate([&] {
      writing_ = false;
      left = left_;
    });
    if (left.has_value()) return End(*left);
    if (!ok) return End(absl::CancelledError("the client left"));
    Pump();
  }

  void OnCancel() override { Leave(absl::CancelledError("the client left")); }

 private:
  absl::Status Take() {
    if (request_.has_attach()) {
      if (attachment_.load() != 0) return absl::FailedPreconditionError("a client attaches once");
      std::weak_ptr<AttachCall> weak = SharedCall(this);
      WEIR_ASSIGN_OR_RETURN(const uint64_t attachment, gateway_.Attach(request_.attach(), [weak] {
        if (auto call = weak.lock()) call->Pump();
      }));
      attachment_.store(attachment);
      Pump();
      return absl::OkStatus();
    }
    if (attachment_.load() == 0) return InvalidArgument("the first message is attach");
    ToFlow message;
    if (request_.has_records()) {
      WEIR_ASSIGN_OR_RETURN(const bool is_whole,
                            batches_.Add(request_.mutable_records(), &message.tensors));
      if (!is_whole) return absl::OkStatus();
    }
    message.message = std::move(request_);
    return gateway_.Take(attachment_.load(), std::move(message));
  }

  // Writes the next message, if there is one and none is under way. It is made without the mutex of
  // this call, as the coordinator may call others on the way.
  void Pump() {
    bool mine = false;
    Operate([&] {
      news_ = writing_;
      mine = !writing_ && !left_.has_value();
      writing_ = writing_ || mine;
    });
    while (mine) {
      const absl::StatusOr<bool> made = MakeNext();
      std::optional<absl::Status> over;
      mine = false;
      Operate([&] {
        if (left_.has_value()) {
          over = left_;
        } else if (!made.ok()) {
          over = made.status();
        } else if (*made) {
          StartWrite(&response_);
        } else {
          mine = writing_ = std::exchange(news_, false);
        }
      });
      if (over.has_value()) return End(*over);
    }
  }

  absl::StatusOr<bool> MakeNext() {
    if (pieces_ != nullptr && pieces_->Next(response_.mutable_records())) return true;
    pieces_ = nullptr;
    WEIR_ASSIGN_OR_RETURN(std::optional<FromFlow> next, gateway_.Next(attachment_.load()));
    if (!next.has_value()) return false;
    response_ = std::move(next->message);
    if (!response_.has_records()) return true;
    pieces_ = std::make_unique<RecordsCutter>(response_.records(), std::move(next->tensors),
                                              coordinator().limits().chunk_bytes);
    return pieces_->Next(response_.mutable_records());
  }

  // Ends the call once the message under way has left.
  void Leave(const absl::Status& status) {
    bool is_idle = false;
    Operate([&] {
      if (!left_.has_value()) left_ = status;
      is_idle = !writing_;
    });
    if (is_idle) End(status);
  }

  void OnGone() override {
    if (const uint64_t attachment = attachment_.load(); attachment != 0) {
      gateway_.Detach(attachment);
    }
  }

  const FlowGateway gateway_;
  std::atomic<uint64_t> attachment_{0};
  v1::AttachRequest request_;
  RecordsAssembler batches_;
  bool writing_ = false;              // somebody makes or writes a message
  bool news_ = false;                 // there is something since he began to make it
  std::optional<absl::Status> left_;  // how the call ends after that
  // Used by who writes only.
  v1::AttachResponse response_;
  std::unique_ptr<RecordsCutter> pieces_;
};

class DeployCall : public Call<grpc::ServerUnaryReactor> {
 public:
  explicit DeployCall(const ServiceContext& context) : Call(context, "Flows.Deploy") {}

  void Begin(const v1::DeployRequest& request, v1::DeployResponse* response) {
    absl::StatusOr<v1::DeployResponse> deployed =
        FlowGateway(context().coordinator).Deploy(request);
    if (!deployed.ok()) return End(deployed.status());
    coordinator().WhenDurable([self = SharedCall(this), response,
                               deployed = *std::move(deployed)](const absl::Status& status) {
      self->End(status, [&] { *response = deployed; });
    });
  }

  void OnCancel() override { End(absl::CancelledError("the client left")); }
};

}  // namespace

grpc::ServerUnaryReactor* BeginDeploy(const ServiceContext& context,
                                      grpc::CallbackServerContext* call,
                                      const v1::DeployRequest* request,
                                      v1::DeployResponse* response) {
  auto deploy = MakeCall<DeployCall>(context);
  deploy->Begin(*request, response);
  return deploy.get();
}

grpc::ServerBidiReactor<v1::AttachRequest, v1::AttachResponse>* BeginAttach(
    const ServiceContext& context, grpc::CallbackServerContext* call) {
  auto attach = MakeCall<AttachCall>(context);
  attach->Read();
  return attach.get();
}

}  // namespace weir
