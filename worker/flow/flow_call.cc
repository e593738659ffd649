#include "worker/flow/flow_call.h"

#include <chrono>

namespace weir {

void RunFlowCall(FlowCall* call) {
  const auto began = std::chrono::steady_clock::now();
  call->status = call->kind == FlowCall::Kind::kFrames
                     ? call->target->OnFrame(call->input, std::move(call->batch), &call->activation)
                     : call->target->OnNotify(&call->activation);
  call->batch = RecordBatch();
  const auto took = std::chrono::steady_clock::now() - began;
  call->run_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(took).count();
}

}  // namespace weir
