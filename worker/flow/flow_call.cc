#include "worker/flow/flow_call.h"

#include <chrono>
#include <new>

namespace weir {

namespace {

absl::Status Call(FlowCall* call) {
  switch (call->kind) {
    case FlowCall::Kind::kFrames:
      return call->target->OnFrame(call->input, std::move(call->batch), &call->activation);
    case FlowCall::Kind::kNotify:
      return call->target->OnNotify(&call->activation);
    case FlowCall::Kind::kTurn:
      return call->target->OnTurn(&call->activation);
  }
  return absl::InternalError("a call of no kind");
}

}  // namespace

void RunFlowCall(FlowCall* call) {
  const auto began = std::chrono::steady_clock::now();
  const FlowShare::Scope scope(call->memory.get());
  try {
    call->status = Call(call);
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
