#include "worker/flow/flow_call.h"

#include <chrono>

namespace weir {

void RunFlowCall(FlowCall* call) {
  const auto began = std::chrono::steady_clock::now();
  switch (call->kind) {
    case FlowCall::Kind::kFrames:
      call->status = call->target->OnFrame(call->input, std::move(call->batch), &call->activation);
      break;
    case FlowCall::Kind::kNotify:
      call->status = call->target->OnNotify(&call->activation);
      break;
    case FlowCall::Kind::kTurn:
      call->status = call->target->OnTurn(&call->activation);
      break;
  }
  call->batch = RecordBatch();
  const auto took = std::chrono::steady_clock::now() - began;
  call->run_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(took).count();
}

}  // namespace weir
