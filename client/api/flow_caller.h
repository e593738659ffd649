// A client's calls of one record into a flow, many of which may be under way: for programs that
// call often, or serve others. Owned by the client; thread-safe.
//
//   std::unique_ptr<FlowCaller> caller = session->OpenCaller(request);
//   caller->Call(record, [](absl::StatusOr<std::vector<Tensor>> columns) { ... });
#ifndef WEIR_CLIENT_API_FLOW_CALLER_H_
#define WEIR_CLIENT_API_FLOW_CALLER_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "common/tensor/tensor.h"

namespace weir {

class FlowCaller {
 public:
  // As Session::CallFlow. Called once for each call, on a thread that must not be held up; it may
  // call again.
  using OnAnswer = std::function<void(absl::StatusOr<std::vector<Tensor>> columns)>;

  // What is not answered is answered with CANCELLED before it returns. REQUIRES: not from an
  // OnAnswer, and no Call is under way.
  virtual ~FlowCaller() = default;

  // Returns at once. When the flow or the connection is over, so are the calls under way, and later
  // ones, which are answered before it returns.
  virtual void Call(const std::vector<Tensor>& record, OnAnswer on_answer) = 0;
};

}  // namespace weir

#endif  // WEIR_CLIENT_API_FLOW_CALLER_H_
