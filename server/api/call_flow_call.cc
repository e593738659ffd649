#include <utility>

#include "common/base/status.h"
#include "common/plan/tensor_chunks.h"
#include "server/api/flow_calls.h"
#include "server/flows/flow_batchers.h"

namespace weir {
namespace {

// One record into a flow, and its answer.
class CallFlowCall : public Call<grpc::ServerUnaryReactor> {
 public:
  CallFlowCall(const ServiceContext& context, v1::CallFlowResponse* response)
      : Call(context, "Flows.Call"), response_(response) {}

  void Begin(const v1::CallFlowRequest& request, FlowBatchers* batchers) {
    std::vector<Tensor> record;
    for (int i = 0; i < request.record_size(); ++i) {
      absl::StatusOr<Tensor> column = FromMessage(request.record(i));
      if (!column.ok()) return End(Annotate(column.status(), StrCat("column ", i)));
      record.push_back(*std::move(column));
    }
    auto self = SharedCall(this);
    batchers->Call(request, std::move(record), [self](absl::StatusOr<std::vector<Tensor>> columns) {
      if (!columns.ok()) return self->End(columns.status());
      self->Answer(*columns);
    });
  }

  void OnCancel() override { End(absl::CancelledError("the client left")); }

 private:
  void Answer(const std::vector<Tensor>& columns) {
    End(absl::OkStatus(), [&] {
      for (const Tensor& column : columns) ToMessage(column, response_->add_record());
    });
  }

  v1::CallFlowResponse* const response_;
};

}  // namespace

grpc::ServerUnaryReactor* BeginCallFlow(const ServiceContext& context, FlowBatchers* batchers,
                                        const v1::CallFlowRequest* request,
                                        v1::CallFlowResponse* response) {
  auto call = MakeCall<CallFlowCall>(context, response);
  call->Begin(*request, batchers);
  return call.get();
}

}  // namespace weir
