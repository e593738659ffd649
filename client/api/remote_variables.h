// Variables over gRPC, as RemoteSession has them. Thread-safe.
#ifndef WEIR_CLIENT_API_REMOTE_VARIABLES_H_
#define WEIR_CLIENT_API_REMOTE_VARIABLES_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/tensor/tensor.h"
#include "weir/v1/variables.grpc.pb.h"

namespace weir {

class RemoteVariables {
 public:
  RemoteVariables(std::string address, const std::shared_ptr<grpc::Channel>& channel);

  absl::StatusOr<v1::Variable> Create(const v1::NewVariable& request, const Tensor& value);
  absl::StatusOr<Tensor> Read(const std::string& id);
  absl::Status Delete(const std::string& id);
  absl::StatusOr<std::vector<v1::Variable>> List();

 private:
  const std::string address_;
  const std::unique_ptr<v1::Variables::Stub> stub_;
};

}  // namespace weir

#endif  // WEIR_CLIENT_API_REMOTE_VARIABLES_H_
