#include <optional>
#include <utility>

#include "common/base/status.h"
#include "common/plan/tensor_chunks.h"
#include "server/api/calls.h"

namespace weir {
namespace {

class SubmitCall : public ReadCall<v1::SubmitRequest> {
 public:
  SubmitCall(const ServiceContext& context, grpc::CallbackServerContext* call,
             v1::SubmitResponse* response)
      : ReadCall(context, call, "Jobs.Submit"),
        response_(response),
        inputs_({.max_tensors = static_cast<size_t>(context.coordinator->limits().max_inputs),
                 .max_bytes = context.coordinator->limits().max_input_bytes}) {}

 private:
  absl::Status Take(v1::SubmitRequest& message) override {
    if (message.has_spec()) {
      if (spec_.has_value()) return absl::FailedPreconditionError("a second spec came");
      spec_ = std::move(*message.mutable_spec());
      return absl::OkStatus();
    }
    if (!spec_.has_value()) return absl::FailedPreconditionError("the first message is the spec");
    if (message.has_input()) return inputs_.Add(message.input());
    std::string* source = spec_->mutable_program()->mutable_source();
    const uint64_t limit = coordinator().limits().max_program_bytes;
    if (source->size() + message.more_source().size() > limit) {
      return absl::ResourceExhaustedError(StrCat("the program has more than ", limit, " bytes"));
    }
    source->append(message.more_source());
    return absl::OkStatus();
  }

  void Accept() override {
    absl::StatusOr<CoordinatorCore::Accepted> accepted = Submit();
    if (!accepted.ok()) return End(accepted.status());
    coordinator().WhenDurable(
        [self = SharedCall(this), accepted = *std::move(accepted)](const absl::Status& status) {
          self->End(status, [&] {
            *self->response_->mutable_job() = accepted.job;
            self->response_->set_already_existed(accepted.already_existed);
            self->response_->set_program_id(accepted.program_id);
          });
        });
  }

  absl::StatusOr<CoordinatorCore::Accepted> Submit() {
    if (!spec_.has_value()) return InvalidArgument("the stream ended without a spec");
    Submission submission;
    WEIR_ASSIGN_OR_RETURN(submission.inputs, inputs_.Finish());
    submission.spec = *std::move(spec_);
    return coordinator().Submit(std::move(submission));
  }

  v1::SubmitResponse* const response_;
  std::optional<v1::JobSpec> spec_;
  ChunkAssembler inputs_;
};

}  // namespace

grpc::ServerReadReactor<v1::SubmitRequest>* BeginSubmit(const ServiceContext& context,
                                                        grpc::CallbackServerContext* call,
                                                        v1::SubmitResponse* response) {
  auto submit = MakeCall<SubmitCall>(context, call, response);
  submit->Begin();
  return submit.get();
}

}  // namespace weir
