// The automatic batching of all flows: one RequestBatcher for each input and output that somebody
// calls, made at the first call. Owned by whoever lets clients call flows; thread-safe.
#ifndef WEIR_SERVER_FLOWS_FLOW_BATCHERS_H_
#define WEIR_SERVER_FLOWS_FLOW_BATCHERS_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "common/net/event_loop.h"
#include "server/flows/flow_gateway.h"
#include "server/flows/request_batcher.h"
#include "weir/v1/flows.pb.h"

namespace weir {

class FlowBatchers {
 public:
  FlowBatchers(FlowGateway gateway, std::shared_ptr<EventLoop> timers)
      : gateway_(gateway), timers_(std::move(timers)) {}

  // One record in, the one that comes out for it back. Without names: the only input, the only
  // output. Answers with NotFound for a flow, an input or an output that is not there, and as
  // RequestBatcher::Call.
  void Call(const v1::CallFlowRequest& request, std::vector<Tensor> record,
            RequestBatcher::OnAnswer on_answer);
  // The one that such calls go to; `request` has no record. Errors: as above.
  absl::StatusOr<std::shared_ptr<RequestBatcher>> Find(const v1::CallFlowRequest& request);

  // As FlowGateway::Explain, and what calls wait for.
  absl::StatusOr<v1::ExplainFrontierResponse> Explain(const v1::ExplainFrontierRequest& request);

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // flow, input, output

  absl::StatusOr<std::shared_ptr<RequestBatcher>> Make(const Key& key,
                                                       const v1::FlowStatus& status);

  const FlowGateway gateway_;
  const std::shared_ptr<EventLoop> timers_;
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<RequestBatcher>> batchers_;
};

}  // namespace weir

#endif  // WEIR_SERVER_FLOWS_FLOW_BATCHERS_H_
