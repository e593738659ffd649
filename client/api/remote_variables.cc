#include "client/api/remote_variables.h"

#include <chrono>
#include <limits>
#include <utility>

#include "client/api/grpc_status.h"
#include "common/base/status.h"
#include "common/plan/tensor_chunks.h"

namespace weir {
namespace {

void SetDeadline(grpc::ClientContext* context) {
  context->set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
}

v1::VariableRequest Request(const std::string& id) {
  v1::VariableRequest request;
  request.set_id(id);
  return request;
}

}  // namespace

RemoteVariables::RemoteVariables(std::string address, const std::shared_ptr<grpc::Channel>& channel)
    : address_(std::move(address)), stub_(v1::Variables::NewStub(channel)) {}

absl::StatusOr<v1::Variable> RemoteVariables::Create(const v1::NewVariable& request,
                                                     const Tensor& value) {
  grpc::ClientContext context;
  v1::Variable made;
  std::unique_ptr<grpc::ClientWriter<v1::CreateVariableRequest>> stream =
      stub_->Create(&context, &made);
  v1::CreateVariableRequest message;
  *message.mutable_variable() = request;
  bool open = stream->Write(message);
  ChunkCutter cutter({value});
  while (open && cutter.Next(message.mutable_value())) open = stream->Write(message);
  stream->WritesDone();
  WEIR_RETURN_IF_ERROR(FromGrpc(stream->Finish(), address_));
  return made;
}

absl::StatusOr<Tensor> RemoteVariables::Read(const std::string& id) {
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReader<v1::ReadVariableResponse>> stream =
      stub_->Read(&context, Request(id));
  v1::ReadVariableResponse message;
  ChunkAssembler reader({.max_tensors = 1, .max_bytes = std::numeric_limits<uint64_t>::max()});
  absl::Status added;
  while (added.ok() && stream->Read(&message)) {
    if (message.has_value()) added = reader.Add(message.value());
  }
  if (!added.ok()) context.TryCancel();
  const absl::Status finished = FromGrpc(stream->Finish(), address_);
  WEIR_RETURN_IF_ERROR(added);
  WEIR_RETURN_IF_ERROR(finished);
  WEIR_ASSIGN_OR_RETURN(std::vector<Tensor> values, reader.Finish());
  if (values.size() != 1) {
    return absl::DataLossError(StrCat("variable ", id, " came without its value"));
  }
  return std::move(values[0]);
}

absl::Status RemoteVariables::Delete(const std::string& id) {
  grpc::ClientContext context;
  SetDeadline(&context);
  v1::DeleteVariableResponse response;
  return FromGrpc(stub_->Delete(&context, Request(id), &response), address_);
}

absl::StatusOr<std::vector<v1::Variable>> RemoteVariables::List() {
  grpc::ClientContext context;
  SetDeadline(&context);
  v1::ListVariablesResponse response;
  WEIR_RETURN_IF_ERROR(
      FromGrpc(stub_->List(&context, v1::ListVariablesRequest(), &response), address_));
  return std::vector<v1::Variable>(response.variables().begin(), response.variables().end());
}

}  // namespace weir
