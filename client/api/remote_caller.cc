#include "client/api/remote_caller.h"

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>

#include "client/api/grpc_status.h"
#include "common/base/status.h"
#include "common/plan/gathered_messages.h"
#include "common/plan/tensor_chunks.h"

namespace weir {
namespace {

absl::StatusOr<std::vector<Tensor>> ColumnsOf(const v1::CallManyResponse::Answer& answer) {
  if (answer.has_failure()) {
    return absl::Status(static_cast<absl::StatusCode>(answer.failure().code()),
                        answer.failure().message());
  }
  std::vector<Tensor> columns;
  columns.reserve(static_cast<size_t>(answer.record_size()));
  for (const v1::Tensor& column : answer.record()) {
    WEIR_ASSIGN_OR_RETURN(Tensor tensor, FromMessage(column));
    columns.push_back(std::move(tensor));
  }
  return columns;
}

// Calls that come while a write is under way go together with the next one.
class RemoteCaller : public FlowCaller,
                     public grpc::ClientBidiReactor<v1::CallManyRequest, v1::CallManyResponse> {
 public:
  RemoteCaller(std::string address, std::shared_ptr<v1::Flows::Stub> stub,
               const v1::CallFlowRequest& request)
      : address_(std::move(address)), stub_(std::move(stub)) {
    v1::CallManyRequest* first = next_.ToAdd(0);
    first->set_id(request.id());
    first->set_input(request.input());
    first->set_output(request.output());
    stub_->async()->CallMany(&context_, this);
    AddHold();  // for Call, until nothing comes any more
    StartRead(&response_);
    StartCall();
  }

  ~RemoteCaller() override {
    context_.TryCancel();
    std::unique_lock lock(mutex_);
    ended_changed_.wait(lock, [this] { return ended_; });
  }

  void Call(const std::vector<Tensor>& record, OnAnswer on_answer) override {
    size_t bytes = 0;
    for (const Tensor& column : record) bytes += static_cast<size_t>(column.num_bytes());
    absl::Status over;
    {
      std::lock_guard lock(mutex_);
      over = over_;
      if (over.ok()) {
        v1::CallManyRequest::Call* call = next_.ToAdd(bytes)->add_calls();
        call->set_number(next_number_);
        for (const Tensor& column : record) ToMessage(column, call->add_record());
        open_.emplace(next_number_++, std::move(on_answer));
        WriteNext();
      }
    }
    if (!over.ok()) on_answer(over);
  }

  void OnWriteDone(bool ok) override {
    std::lock_guard lock(mutex_);
    writing_ = false;
    written_.Clear();
    if (ok) WriteNext();  // else the reader hears why
  }

  void OnReadDone(bool ok) override {
    if (!ok) return StopCalling();
    for (const v1::CallManyResponse::Answer& answer : response_.answers()) {
      OnAnswer on_answer;
      {
        std::lock_guard lock(mutex_);
        const auto call = open_.find(answer.number());
        if (call == open_.end()) continue;
        on_answer = std::move(call->second);
        open_.erase(call);
      }
      on_answer(ColumnsOf(answer));
    }
    StartRead(&response_);
  }

  void OnDone(const grpc::Status& status) override {
    std::map<uint64_t, OnAnswer> open;
    absl::Status why;
    {
      std::lock_guard lock(mutex_);
      over_ = why = status.ok() ? absl::AbortedError("the flow takes no more calls")
                                : FromGrpc(status, address_);
      open.swap(open_);
    }
    for (auto& [number, on_answer] : open) on_answer(why);
    // The destructor may return as soon as the lock is free.
    std::lock_guard lock(mutex_);
    ended_ = true;
    ended_changed_.notify_all();
  }

 private:
  // REQUIRES: mutex_ is held.
  void WriteNext() {
    if (writing_ || stopped_ || next_.empty()) return;
    next_.TakeInto(&written_);
    writing_ = true;
    StartWrite(&written_);
  }

  // OnDone comes when no write is under way any more, and tells why.
  void StopCalling() {
    {
      std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    RemoveHold();
  }

  const std::string address_;
  const std::shared_ptr<v1::Flows::Stub> stub_;
  grpc::ClientContext context_;
  v1::CallManyResponse response_;

  std::recursive_mutex mutex_;  // a write may be done on the stack that starts it
  std::condition_variable_any ended_changed_;
  // What follows is guarded by mutex_.
  GatheredMessages<v1::CallManyRequest> next_;  // the first one says where calls go
  v1::CallManyRequest written_;                 // of the write under way
  std::map<uint64_t, OnAnswer> open_;
  uint64_t next_number_ = 1;
  bool writing_ = false;
  bool stopped_ = false;  // no write begins any more
  absl::Status over_;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<FlowCaller> MakeRemoteCaller(std::string address,
                                             std::shared_ptr<v1::Flows::Stub> stub,
                                             const v1::CallFlowRequest& request) {
  return std::make_unique<RemoteCaller>(std::move(address), std::move(stub), request);
}

}  // namespace weir
