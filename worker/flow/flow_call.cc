#include "worker/flow/flow_call.h"

#include <chrono>
#include <new>

namespace weir {

void RunFlowCall(FlowCall* call) {
  const auto began = std::chrono::steady_clock::now();
  const FlowShare::Scope scope(call->memory.get());
  try {
    call->status =
        call->kind == FlowCall::Kind::kFrames
            ? call->target->OnFrame(call->input, std::move(call->batch), &call->activation)
            : call->target->OnNotify(&call->activation);
  } catch (const FlowMemoryError& error) {
    call->status = error.status;
  } catch (const std::bad_alloc&) {
    call->status = absl::ResourceExhaustedError("there is no memory left for what it does");
  }
  call->batch = RecordBatch();
  const auto took = std::chrono::steady_clock::now() - began;
  call->run_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(took).count();
}

}  // namespace weir
