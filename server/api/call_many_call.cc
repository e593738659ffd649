#include <optional>
#include <utility>

#include "common/base/status.h"
#include "common/plan/gathered_messages.h"
#include "common/plan/tensor_chunks.h"
#include "server/api/flow_calls.h"
#include "server/flows/flow_batchers.h"

namespace weir {
namespace {

// Calls of one stream that are not answered, or whose answer has not left: then it is not read on.
constexpr int kMostOpen = 1024;

absl::StatusOr<std::vector<Tensor>> RecordOf(const v1::CallManyRequest::Call& call) {
  std::vector<Tensor> record;
  record.reserve(static_cast<size_t>(call.record_size()));
  for (int i = 0; i < call.record_size(); ++i) {
    absl::StatusOr<Tensor> column = FromMessage(call.record(i));
    if (!column.ok()) return Annotate(column.status(), StrCat("column ", i));
    record.push_back(*std::move(column));
  }
  return record;
}

// Records into one flow, and their answers. Answers that come while a write is under way go
// together with the next one.
class CallManyCall
    : public Call<grpc::ServerBidiReactor<v1::CallManyRequest, v1::CallManyResponse>> {
 public:
  CallManyCall(const ServiceContext& context, FlowBatchers* batchers)
      : Call(context, "Flows.CallMany"), batchers_(batchers) {}

  // Writes and reads on as far as it may, or ends the call if nothing is left to do.
  void Continue() {
    std::optional<absl::Status> over;
    Operate([&] {
      if (!writing_ && !left_.has_value() && !ready_.empty()) {
        ready_.TakeInto(&written_);
        writing_ = true;
        StartWrite(&written_);
      }
      if (!reading_ && !closed_ && !left_.has_value() && open_ < kMostOpen) {
        reading_ = true;
        StartRead(&request_);
      }
      if (writing_) return;
      if (left_.has_value()) over = left_;
      if (closed_ && open_ == 0) over = absl::OkStatus();
    });
    if (over.has_value()) End(*over);
  }

  void OnReadDone(bool ok) override {
    if (ended()) return;
    const absl::Status taken = ok ? Take() : absl::OkStatus();
    Operate([&] {
      reading_ = false;
      closed_ = closed_ || !ok;
      if (!taken.ok() && !left_.has_value()) left_ = taken;
    });
    Continue();
  }

  void OnWriteDone(bool ok) override {
    Operate([&] {
      writing_ = false;
      open_ -= written_.answers_size();
      written_.Clear();
      if (!ok && !left_.has_value()) left_ = absl::CancelledError("the client left");
    });
    Continue();
  }

  void OnCancel() override {
    Operate([&] { left_ = absl::CancelledError("the client left"); });
    Continue();
  }

 private:
  // Errors: the stream makes no sense. What is wrong with a call is its answer.
  absl::Status Take() {
    if (batcher_ == nullptr) {
      to_.set_id(request_.id());
      to_.set_input(request_.input());
      to_.set_output(request_.output());
    }
    if (batcher_ == nullptr || !batcher_->over().ok()) {
      WEIR_ASSIGN_OR_RETURN(batcher_, batchers_->Find(to_));
    }
    Operate([&] { open_ += request_.calls_size(); });
    for (const v1::CallManyRequest::Call& call : request_.calls()) {
      auto on_answer = [self = SharedCall(this),
                        number = call.number()](absl::StatusOr<std::vector<Tensor>> columns) {
        self->Answer(number, columns);
      };
      absl::StatusOr<std::vector<Tensor>> record = RecordOf(call);
      if (record.ok()) {
        batcher_->Call(*std::move(record), std::move(on_answer));
      } else {
        on_answer(record.status());
      }
    }
    return absl::OkStatus();
  }

  void Answer(uint64_t number, const absl::StatusOr<std::vector<Tensor>>& columns) {
    size_t bytes = 0;
    if (columns.ok()) {
      for (const Tensor& column : *columns) bytes += static_cast<size_t>(column.num_bytes());
    }
    Operate([&] {
      v1::CallManyResponse::Answer* answer = ready_.ToAdd(bytes)->add_answers();
      answer->set_number(number);
      if (!columns.ok()) {
        answer->mutable_failure()->set_code(static_cast<uint32_t>(columns.status().code()));
        answer->mutable_failure()->set_message(std::string(ToStd(columns.status().message())));
        return;
      }
      for (const Tensor& column : *columns) ToMessage(column, answer->add_record());
    });
    Continue();
  }

  FlowBatchers* const batchers_;
  // Known from the first message on.
  v1::CallFlowRequest to_;
  std::shared_ptr<RequestBatcher> batcher_;
  v1::CallManyRequest request_;
  // What follows is used in Operate.
  GatheredMessages<v1::CallManyResponse> ready_;
  v1::CallManyResponse written_;  // of the write under way
  int open_ = 0;
  bool reading_ = false;
  bool writing_ = false;
  bool closed_ = false;               // by the client: no call follows
  std::optional<absl::Status> left_;  // why it ends before that
};

}  // namespace

grpc::ServerBidiReactor<v1::CallManyRequest, v1::CallManyResponse>* BeginCallMany(
    const ServiceContext& context, FlowBatchers* batchers) {
  auto call = MakeCall<CallManyCall>(context, batchers);
  call->Continue();
  return call.get();
}

}  // namespace weir
