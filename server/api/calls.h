// Calls that do not end at once: each is an object that lives until gRPC is done with it. The
// functions begin one; they are called by the services.
#ifndef WEIR_SERVER_API_CALLS_H_
#define WEIR_SERVER_API_CALLS_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <mutex>
#include <utility>

#include "server/api/grpc_status.h"
#include "server/api/jobs_service.h"
#include "weir/v1/service.pb.h"

namespace weir {

grpc::ServerReadReactor<v1::SubmitRequest>* BeginSubmit(const ServiceContext& context,
                                                        grpc::CallbackServerContext* call,
                                                        v1::SubmitResponse* response);
grpc::ServerUnaryReactor* BeginWait(const ServiceContext& context,
                                    grpc::CallbackServerContext* call,
                                    const v1::JobRequest* request, v1::Job* response);
grpc::ServerUnaryReactor* BeginRun(const ServiceContext& context, grpc::CallbackServerContext* call,
                                   const v1::RunRequest* request, v1::RunResponse* response);
grpc::ServerWriteReactor<v1::ResultResponse>* BeginResult(const ServiceContext& context,
                                                          grpc::CallbackServerContext* call,
                                                          const v1::JobRequest* request);
grpc::ServerWriteReactor<v1::LogsResponse>* BeginLogs(const ServiceContext& context,
                                                      grpc::CallbackServerContext* call,
                                                      const v1::LogsRequest* request);
grpc::ServerWriteReactor<v1::ExplainResponse>* BeginExplain(const ServiceContext& context,
                                                            grpc::CallbackServerContext* call,
                                                            const v1::ExplainRequest* request);

// Answers a call whose outcome is known now.
template <class Message>
grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* call, const CallTimer& timer,
                                 absl::StatusOr<Message> outcome, Message* response) {
  grpc::ServerUnaryReactor* reactor = call->DefaultReactor();
  if (outcome.ok()) *response = *std::move(outcome);
  timer.Done(static_cast<int>(outcome.status().code()));
  reactor->Finish(ToGrpc(outcome.status()));
  return reactor;
}

// A call that others finish from their threads. gRPC holds one reference, from the construction
// until OnDone; whoever may finish it holds another.
//
// `Reactor` is one of gRPC's. A derived class is made with MakeCall.
template <class Reactor>
class Call : public Reactor, public std::enable_shared_from_this<Call<Reactor>> {
 public:
  Call(const ServiceContext& context, const char* method)
      : context_(context), timer_(context.metrics, method) {}

  void KeepUntilDone() { self_ = this->shared_from_this(); }

  // The first caller decides; later ones change nothing.
  void End(const absl::Status& status) {
    End(status, [] {});
  }
  // `fill` writes the response, if this call has not ended.
  template <class Fill>
  void End(const absl::Status& status, Fill fill) {
    {
      std::lock_guard lock(mutex_);
      if (ended_) return;
      ended_ = true;
    }
    fill();
    timer_.Done(static_cast<int>(status.code()));
    this->Finish(ToGrpc(status));
  }

  bool ended() const {
    std::lock_guard lock(mutex_);
    return ended_;
  }

  void OnDone() override {
    const std::shared_ptr<Call> self = std::move(self_);
    OnGone();
  }

 protected:
  // The call is over on the wire.
  virtual void OnGone() {}
  // Begins an operation of the reactor, which must not happen after its end.
  template <class Begin>
  void Operate(Begin begin) {
    std::lock_guard lock(mutex_);
    if (!ended_) begin();
  }

  Coordinator& coordinator() { return *context_.coordinator; }
  const ServiceContext& context() const { return context_; }

 private:
  const ServiceContext context_;
  const CallTimer timer_;
  mutable std::recursive_mutex mutex_;  // an operation may end on the stack that begins it
  bool ended_ = false;
  std::shared_ptr<Call> self_;
};

// A call that answers with a stream. One write is under way at a time and the next message is made
// when it is done, so a slow reader holds back what is made for it.
template <class Message>
class WriteCall : public Call<grpc::ServerWriteReactor<Message>> {
 public:
  using Call<grpc::ServerWriteReactor<Message>>::Call;

  void OnWriteDone(bool ok) override {
    bool left = false;
    this->Operate([&] {
      writing_ = false;
      left = cancelled_;
    });
    if (!ok || left) return this->End(absl::CancelledError("the client left"));
    Continue();
  }

  // With a write under way, its end comes first.
  void OnCancel() override {
    bool idle = false;
    this->Operate([&] {
      cancelled_ = true;
      idle = !writing_;
    });
    if (idle) this->End(absl::CancelledError("the client left"));
  }

 protected:
  // Writes the next message, or ends the call, or waits for somebody to call it again.
  virtual void Continue() = 0;
  void Write() {
    this->Operate([this] {
      if (cancelled_) return;
      writing_ = true;
      this->StartWrite(&message_);
    });
  }

  Message message_;  // of the write under way

 private:
  bool writing_ = false;
  bool cancelled_ = false;
};

// A call that takes a stream and answers once. One read is under way at a time.
template <class Message>
class ReadCall : public Call<grpc::ServerReadReactor<Message>> {
 public:
  ReadCall(const ServiceContext& context, grpc::CallbackServerContext* call, const char* method)
      : Call<grpc::ServerReadReactor<Message>>(context, method), call_(call) {}

  void Begin() {
    this->Operate([this] { this->StartRead(&message_); });
  }

  void OnReadDone(bool ok) override {
    if (this->ended()) return;
    if (!ok) {
      if (call_->IsCancelled()) return OnCancel();
      return Accept();
    }
    const absl::Status status = Take(message_);
    if (!status.ok()) return this->End(status);
    Begin();
  }

  void OnCancel() override { this->End(absl::CancelledError("the client left")); }

 protected:
  // Takes a message, which it may move from. Returns: an error that ends the call.
  virtual absl::Status Take(Message& message) = 0;
  // The client has sent everything: ends the call, now or later.
  virtual void Accept() = 0;

 private:
  grpc::CallbackServerContext* const call_;
  Message message_;  // of the read under way
};

template <class Derived, class... Args>
std::shared_ptr<Derived> MakeCall(Args&&... args) {
  auto call = std::make_shared<Derived>(std::forward<Args>(args)...);
  call->KeepUntilDone();
  return call;
}

template <class Derived>
std::shared_ptr<Derived> SharedCall(Derived* call) {
  return std::static_pointer_cast<Derived>(call->shared_from_this());
}

}  // namespace weir

#endif  // WEIR_SERVER_API_CALLS_H_
