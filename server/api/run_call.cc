#include <atomic>
#include <utility>

#include "common/base/status.h"
#include "common/plan/tensor_chunks.h"
#include "server/api/calls.h"

namespace weir {
namespace {

uint64_t BytesOfAll(const std::vector<Tensor>& tensors) {
  uint64_t bytes = 0;
  for (const Tensor& tensor : tensors) bytes += static_cast<uint64_t>(tensor.num_bytes());
  return bytes;
}

// Submit, wait and result in one.
class RunCall : public Call<grpc::ServerUnaryReactor> {
 public:
  RunCall(const ServiceContext& context, v1::RunResponse* response)
      : Call(context, "Jobs.Run"), response_(response) {}

  void Begin(const v1::RunRequest& request) {
    const absl::Status status = Submit(request);
    if (!status.ok()) End(status);
  }

  void OnCancel() override {
    End(absl::CancelledError("the client left"));
    // A job with a name may be asked for again; another has lost its only reader.
    if (!named_ && !job_id_.empty()) coordinator().Cancel(job_id_).IgnoreError();
  }

 private:
  absl::Status Submit(const v1::RunRequest& request) {
    Submission submission;
    submission.spec = request.spec();
    named_ = !request.spec().submission_id().empty();
    for (int i = 0; i < request.inputs_size(); ++i) {
      absl::StatusOr<Tensor> tensor = FromMessage(request.inputs(i));
      WEIR_RETURN_IF_ERROR(Annotate(tensor.status(), StrCat("tensor ", i)));
      submission.inputs.push_back(*std::move(tensor));
    }
    if (BytesOfAll(submission.inputs) > coordinator().limits().inline_bytes) {
      return absl::ResourceExhaustedError(StrCat("Run takes at most ",
                                                 coordinator().limits().inline_bytes,
                                                 " bytes of inputs; Submit takes more"));
    }
    WEIR_ASSIGN_OR_RETURN(CoordinatorCore::Accepted accepted,
                          coordinator().Submit(std::move(submission)));
    job_id_ = accepted.job.id();
    program_id_ = std::move(accepted.program_id);
    auto self = SharedCall(this);
    absl::StatusOr<uint64_t> waiter = coordinator().WhenEnded(
        job_id_, [self](JobOutcome outcome) { self->Answer(std::move(outcome)); });
    if (waiter.ok()) waiter_.store(*waiter);
    return waiter.status();
  }

  void Answer(JobOutcome outcome) {
    const v1::Job& job = outcome.job;
    // What never began was not a job that the service could take.
    if (job.state() == v1::Job::FAILED && job.workers_size() == 0) {
      return End(absl::Status(static_cast<absl::StatusCode>(job.failure().code()),
                              job.failure().message()));
    }
    const bool fits = BytesOfAll(outcome.results) <= coordinator().limits().inline_bytes;
    End(absl::OkStatus(), [&] {
      response_->set_program_id(program_id_);
      if (fits) {
        for (const Tensor& tensor : outcome.results) ToMessage(tensor, response_->add_outputs());
      }
      *response_->mutable_job() = std::move(outcome.job);
    });
    if (fits && !named_) coordinator().ReleaseResults(job_id_);
  }

  void OnGone() override { coordinator().StopWaiting(waiter_.load()); }

  v1::RunResponse* const response_;
  bool named_ = false;
  std::string job_id_;
  std::string program_id_;
  std::atomic<uint64_t> waiter_{0};
};

}  // namespace

grpc::ServerUnaryReactor* BeginRun(const ServiceContext& context, grpc::CallbackServerContext* call,
                                   const v1::RunRequest* request, v1::RunResponse* response) {
  auto run = MakeCall<RunCall>(context, response);
  run->Begin(*request);
  return run.get();
}

}  // namespace weir
