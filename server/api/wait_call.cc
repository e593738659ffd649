#include <algorithm>
#include <atomic>

#include "common/base/status.h"
#include "server/api/calls.h"

namespace weir {
namespace {

// Time that the answer needs to arrive before the client's deadline.
absl::Duration MarginOf(absl::Duration remaining) {
  return std::clamp(remaining / 5, absl::Milliseconds(10), absl::Milliseconds(500));
}

class WaitCall : public Call<grpc::ServerUnaryReactor> {
 public:
  WaitCall(const ServiceContext& context, const v1::JobRequest* request, v1::Job* response)
      : Call(context, "Jobs.Wait"), id_(request->id()), response_(response) {}

  void Begin(absl::Time deadline) {
    auto self = SharedCall(this);
    absl::StatusOr<uint64_t> waiter =
        coordinator().WhenEnded(id_, [self](JobOutcome outcome) { self->Answer(outcome.job); });
    if (!waiter.ok()) return End(waiter.status());
    waiter_.store(*waiter);
    if (ended()) coordinator().StopWaiting(*waiter);
    if (deadline == absl::InfiniteFuture()) return;
    const absl::Duration remaining = std::max(absl::ZeroDuration(), deadline - absl::Now());
    context().timers->PostAfter(std::max(absl::ZeroDuration(), remaining - MarginOf(remaining)),
                                [weak = std::weak_ptr<WaitCall>(self)] {
                                  if (auto call = weak.lock()) call->AnswerNow();
                                });
  }

  void OnCancel() override { End(absl::CancelledError("the client left")); }

 private:
  void Answer(const v1::Job& job) {
    End(absl::OkStatus(), [&] { *response_ = job; });
  }

  void AnswerNow() {
    absl::StatusOr<v1::Job> job = coordinator().Get(id_);
    if (!job.ok()) return End(job.status());
    Answer(*job);
  }

  void OnGone() override { coordinator().StopWaiting(waiter_.load()); }

  const std::string id_;
  v1::Job* const response_;
  std::atomic<uint64_t> waiter_{0};
};

}  // namespace

grpc::ServerUnaryReactor* BeginWait(const ServiceContext& context,
                                    grpc::CallbackServerContext* call,
                                    const v1::JobRequest* request, v1::Job* response) {
  auto wait = MakeCall<WaitCall>(context, request, response);
  const bool endless = call->deadline() == std::chrono::system_clock::time_point::max();
  wait->Begin(endless ? absl::InfiniteFuture() : absl::FromChrono(call->deadline()));
  return wait.get();
}

}  // namespace weir
