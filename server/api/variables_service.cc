#include "server/api/variables_service.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/plan/tensor_chunks.h"
#include "server/api/calls.h"
#include "server/variables/variable_gateway.h"

namespace weir {
namespace {

class CreateVariableCall : public ReadCall<v1::CreateVariableRequest> {
 public:
  CreateVariableCall(const ServiceContext& context, grpc::CallbackServerContext* call,
                     v1::Variable* response)
      : ReadCall(context, call, "Variables.Create"),
        response_(response),
        value_({.max_tensors = 1, .max_bytes = context.coordinator->limits().max_input_bytes}) {}

 private:
  absl::Status Take(v1::CreateVariableRequest& message) override {
    if (message.has_value()) {
      if (!variable_.has_value()) {
        return absl::FailedPreconditionError("the first message is the variable");
      }
      return value_.Add(message.value());
    }
    if (variable_.has_value()) return absl::FailedPreconditionError("a second variable came");
    variable_ = std::move(*message.mutable_variable());
    return absl::OkStatus();
  }

  void Accept() override {
    absl::StatusOr<v1::Variable> made = Create();
    End(made.status(), [&] {
      if (made.ok()) *response_ = *std::move(made);
    });
  }

  absl::StatusOr<v1::Variable> Create() {
    if (!variable_.has_value()) return InvalidArgument("the stream ended without a variable");
    WEIR_ASSIGN_OR_RETURN(std::vector<Tensor> values, value_.Finish());
    if (values.empty()) return InvalidArgument("variable '", variable_->name(), "' has no value");
    return VariableGateway(&coordinator()).Create(*variable_, std::move(values[0]));
  }

  v1::Variable* const response_;
  std::optional<v1::NewVariable> variable_;
  ChunkAssembler value_;
};

class ReadVariableCall : public WriteCall<v1::ReadVariableResponse> {
 public:
  explicit ReadVariableCall(const ServiceContext& context) : WriteCall(context, "Variables.Read") {}

  void Begin(const std::string& id) {
    VariableGateway(&coordinator())
        .Read(id, [self = SharedCall(this)](absl::StatusOr<VariableCore::ReadOutcome> outcome) {
          if (!outcome.ok()) return self->End(outcome.status());
          self->chunks_ =
              std::make_unique<ChunkCutter>(std::vector<Tensor>{std::move(outcome->value)},
                                            self->coordinator().limits().chunk_bytes);
          *self->message_.mutable_variable() = std::move(outcome->variable);
          self->Write();
        });
  }

 private:
  void Continue() override {
    message_.Clear();
    if (!chunks_->Next(message_.mutable_value())) return End(absl::OkStatus());
    Write();
  }

  std::unique_ptr<ChunkCutter> chunks_;
};

}  // namespace

grpc::ServerReadReactor<v1::CreateVariableRequest>* VariablesService::Create(
    grpc::CallbackServerContext* call, v1::Variable* response) {
  auto create = MakeCall<CreateVariableCall>(context_, call, response);
  create->Begin();
  return create.get();
}

grpc::ServerWriteReactor<v1::ReadVariableResponse>* VariablesService::Read(
    grpc::CallbackServerContext* call, const v1::VariableRequest* request) {
  auto read = MakeCall<ReadVariableCall>(context_);
  read->Begin(request->id());
  return read.get();
}

grpc::ServerUnaryReactor* VariablesService::Delete(grpc::CallbackServerContext* call,
                                                   const v1::VariableRequest* request,
                                                   v1::DeleteVariableResponse* response) {
  const CallTimer timer(context_.metrics, "Variables.Delete");
  const absl::Status status = VariableGateway(context_.coordinator).Delete(request->id());
  absl::StatusOr<v1::DeleteVariableResponse> outcome = v1::DeleteVariableResponse();
  if (!status.ok()) outcome = status;
  return Answer(call, timer, std::move(outcome), response);
}

grpc::ServerUnaryReactor* VariablesService::List(grpc::CallbackServerContext* call,
                                                 const v1::ListVariablesRequest*,
                                                 v1::ListVariablesResponse* response) {
  const CallTimer timer(context_.metrics, "Variables.List");
  return Answer<v1::ListVariablesResponse>(call, timer,
                                           VariableGateway(context_.coordinator).List(), response);
}

}  // namespace weir
