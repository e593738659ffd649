#include "worker/flow/flow_call.h"

#include <chrono>
#include <new>
#include <utility>
#include <vector>

#include "common/base/status.h"

namespace weir {
namespace {

// Puts frames together that are not all in memory.
absl::Status LoadFrames(FlowCall* call) {
  const RecordType& type = call->flow->vertex(call->id).input_types[call->input];
  std::vector<RecordBatch> batches;
  for (FlowCall::Queued& queued : call->queued) {
    RecordBatch& batch = batches.emplace_back(std::move(queued.batch));
    if (!queued.on_disk.has_value()) continue;
    WEIR_ASSIGN_OR_RETURN(batch, std::move(*queued.on_disk).Load(type));
  }
  call->queued.clear();
  call->batch = ConcatBatches(batches, type);
  return absl::OkStatus();
}

absl::Status SpillFrames(FlowCall* call) {
  for (FlowCall::Queued& queued : call->queued) {
    WEIR_ASSIGN_OR_RETURN(queued.on_disk, call->memory->Spill(queued.batch));
    queued.batch = RecordBatch();
  }
  return absl::OkStatus();
}

absl::Status Call(FlowCall* call) {
  switch (call->kind) {
    case FlowCall::Kind::kFrames:
      if (!call->queued.empty()) WEIR_RETURN_IF_ERROR(LoadFrames(call));
      if (call->target == nullptr) return absl::OkStatus();
      return call->target->OnFrame(call->input, std::move(call->batch), &call->activation);
    case FlowCall::Kind::kNotify:
      return call->target->OnNotify(&call->activation);
    case FlowCall::Kind::kTurn:
      return call->target->OnTurn(&call->activation);
    case FlowCall::Kind::kSpill:
      return SpillFrames(call);
  }
  return absl::InternalError("a call of no kind");
}

// Of many records this takes longer than many a vertex, so the event loop has no part in it.
void CutSent(FlowCall* call) {
  for (const VertexActivation::Sent& sent : call->activation.sent()) {
    call->routes->Cut({call->id, sent.output}, sent.time, sent.batch, &call->outgoing);
  }
}

}  // namespace

void RunFlowCall(FlowCall* call) {
  const auto began = std::chrono::steady_clock::now();
  const FlowShare::Scope scope(call->memory.get());
  try {
    call->status = Call(call);
    const auto took = std::chrono::steady_clock::now() - began;
    call->run_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(took).count();
    if (call->status.ok()) CutSent(call);
  } catch (const FlowMemoryError& error) {
    call->status = error.status;
  } catch (const std::bad_alloc&) {
    call->status = absl::ResourceExhaustedError("there is no memory left for what it does");
  }
  if (call->target != nullptr) call->batch = RecordBatch();
}

}  // namespace weir
