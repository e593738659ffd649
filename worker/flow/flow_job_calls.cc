// The calls of a FlowJob: which is next, and what is made of what one did.
#include <algorithm>
#include <utility>

#include "common/base/status.h"
#include "common/flow/flow_wire.h"
#include "common/flow/vertex_kind.h"
#include "worker/flow/flow_job.h"

namespace weir {
namespace {

constexpr size_t kMostLines = 1000;  // of one report

}  // namespace

VertexId FlowJob::FullBehind(const VertexSlot& slot) const {
  const auto sent = output_bytes_.find(slot.id());
  if (sent != output_bytes_.end() && sent->second >= setup_.channel_bytes) return slot.id();
  for (const Port& reader : holding_[slot.id().value()]) {
    const LocationId input = setup_.topology->input(reader.vertex, reader.number);
    if (channels_.UnderWay(input) >= setup_.channel_bytes) return reader.vertex;
  }
  return room_.FullBehind(slot.id());
}

absl::StatusOr<std::unique_ptr<FlowCall>> FlowJob::TakeCall(absl::Time now) {
  if (std::unique_ptr<FlowCall> call = TakeSpill()) return call;
  while (!stopped_ && progress_.is_known() && !listed_.empty()) {
    VertexSlot& slot = *slots_[listed_.front().value()];
    listed_.pop_front();
    slot.is_listed = false;
    if (!slot.may_begin()) continue;  // listed again when that changes
    if (const VertexId full = FullBehind(slot); full.valid()) {
      has_news_ = slot.NoteFull(full, now) || has_news_;
      continue;  // as above
    }
    has_news_ = slot.NoteRoom() || has_news_;
    std::unique_ptr<FlowCall> call = slot.TakeFrames();
    if (call == nullptr) call = slot.TakeComplete(progress_);
    if (call == nullptr) call = TakeTurn(slot);
    if (call == nullptr) {
      slot.DropState(progress_);
      continue;
    }
    List(slot.id());
    has_news_ = true;
    if (slot.vertex() == nullptr && call->queued.empty()) {
      WEIR_RETURN_IF_ERROR(SendOutput(*call, now));
      continue;
    }
    slot.OnBegun(*call, now);
    return Begun(std::move(call));
  }
  return nullptr;
}

std::unique_ptr<FlowCall> FlowJob::TakeSpill() {
  while (!stopped_ && !is_spilling_ && !to_spill_.empty()) {
    VertexSlot& slot = *slots_[to_spill_.front().value()];
    if (std::unique_ptr<FlowCall> call = slot.TakeSpill()) {
      is_spilling_ = true;
      return Begun(std::move(call));
    }
    slot.is_listed_to_spill = false;
    to_spill_.pop_front();
  }
  return nullptr;
}

std::unique_ptr<FlowCall> FlowJob::Begun(std::unique_ptr<FlowCall> call) {
  call->job = setup_.job;
  call->generation = setup_.generation;
  call->flow = setup_.flow;
  call->memory = setup_.memory;
  call->routes = routes_;
  ++calls_under_way_;
  return call;
}

std::unique_ptr<FlowCall> FlowJob::TakeTurn(const VertexSlot& slot) const {
  const auto open = open_epochs_.find(slot.id());
  if (open == open_epochs_.end() || slot.vertex() == nullptr) return nullptr;
  return std::make_unique<FlowCall>(slot.id(), slot.vertex(), FlowCall::Kind::kTurn, 0,
                                    Timestamp{open->second});
}

bool FlowJob::IsShort(const FlowCall& call, int64_t short_ns) const {
  const bool may_wait = call.target == nullptr || call.target->may_wait() || !call.queued.empty();
  if (calls_loop_[call.id.value()] || may_wait) return false;
  const std::optional<int64_t> ns = slots_[call.id.value()]->Predict(call);
  return ns.has_value() && *ns < short_ns;
}

absl::Status FlowJob::OnCallDone(FlowCall* call, absl::Time now) {
  VertexSlot& slot = *slots_[call->id.value()];
  --calls_under_way_;
  slot.OnDone(*call);
  if (stopped_) return absl::OkStatus();
  if (!call->status.ok()) {
    return Annotate(call->status,
                    StrCat(Named(call->id), " at time ", ToString(call->activation.time())));
  }
  if (call->kind == FlowCall::Kind::kSpill) {
    is_spilling_ = false;
    slot.OnSpilled(call);
    return absl::OkStatus();
  }
  if (slot.vertex() == nullptr) {
    List(call->id);
    return SendOutput(*call, now);
  }
  Effects effects;
  AddConsumed(*call, &effects);
  AddFrames(std::move(call->outgoing), &effects);
  AddRequests(call, &effects);
  for (std::string& line : call->activation.lines()) {
    if (lines_.size() < kMostLines) lines_.push_back(std::move(line));
  }
  const absl::Status committed = Commit(std::move(effects), now);
  if (!committed.ok()) {
    return Annotate(committed,
                    StrCat(Named(call->id), " at time ", ToString(call->activation.time())));
  }
  TellFailed(*call);
  TellFound(*call);
  List(call->id);
  return GiveBack(*call);
}

void FlowJob::TellFailed(const FlowCall& call) {
  for (const VertexActivation::FailedRecord& failed : call.activation.failed()) {
    v1::WorkerMessage message;
    v1::FlowRecordFailed* told = message.mutable_flow_record_failed();
    Label(told);
    told->set_vertex(static_cast<uint32_t>(call.id.value()));
    *told->mutable_time() = ToWire(call.activation.time());
    told->set_origin(failed.origin);
    told->mutable_failure()->set_code(static_cast<uint32_t>(failed.why.code()));
    told->mutable_failure()->set_message(StrCat(Named(call.id), ": ", failed.why.message()));
    outbox_->SendToCoordinator(message, {});
  }
}

void FlowJob::TellFound(const FlowCall& call) {
  const std::optional<VertexActivation::Agreement>& agreement = call.activation.agreement();
  if (!agreement.has_value()) return;
  v1::WorkerMessage message;
  v1::FlowFound* told = message.mutable_flow_found();
  Label(told);
  told->set_vertex(static_cast<uint32_t>(call.id.value()));
  told->set_digest(agreement->digest);
  told->set_what(agreement->what);
  outbox_->SendToCoordinator(message, {});
}

absl::Status FlowJob::SendOutput(const FlowCall& call, absl::Time now) {
  v1::WorkerMessage message;
  v1::FlowOutput* output = message.mutable_flow_output();
  Label(output);
  output->set_vertex(static_cast<uint32_t>(call.id.value()));
  output->set_epoch(call.activation.time().epoch());
  *output->mutable_batch() = HeaderOf(call.batch);
  output_bytes_[call.id] += call.batch.bytes();
  outbox_->SendToCoordinator(message, PayloadsOf(call.batch));
  Effects effects;
  AddConsumed(call, &effects);
  WEIR_RETURN_IF_ERROR(Commit(std::move(effects), now));
  return GiveBack(call);
}

void FlowJob::AddFrames(std::vector<OutgoingFrame> frames, Effects* effects) const {
  for (OutgoingFrame& frame : frames) {
    const LocationId input = setup_.topology->input(frame.to.vertex, frame.to.number);
    const bool is_here = frame.part.rank == setup_.rank;
    const auto at = is_here ? FlowChange::At::kHere : FlowChange::At::kElsewhere;
    effects->changes.push_back({input, frame.time, 1, at});
    effects->frames.push_back(std::move(frame));
  }
}

void FlowJob::AddConsumed(const FlowCall& call, Effects* effects) {
  const VertexActivation& activation = call.activation;
  const Timestamp& time = activation.time();
  switch (call.kind) {
    case FlowCall::Kind::kFrames:
      effects->changes.push_back({setup_.topology->input(call.id, call.input), time,
                                  -static_cast<int64_t>(call.frames.size())});
      return;
    case FlowCall::Kind::kNotify:
      if (activation.continues()) return;
      effects->changes.push_back({setup_.topology->request(call.id, call.input), time, -1});
      return;
    case FlowCall::Kind::kTurn:
      if (activation.closes()) return AddAdvance(call.id, std::nullopt, effects);
      if (activation.next_epoch() <= time.epoch()) return;
      return AddAdvance(call.id, activation.next_epoch(), effects);
    case FlowCall::Kind::kSpill:
      return;
  }
}

void FlowJob::AddRequests(FlowCall* call, Effects* effects) {
  VertexSlot& slot = *slots_[call->id.value()];
  if (call->kind == FlowCall::Kind::kNotify && call->activation.continues()) {
    slot.AddRequest(call->input, call->activation.time());
  }
  for (const VertexActivation::Request& request : call->activation.requests()) {
    if (!slot.AddRequest(request.input, request.time)) continue;
    effects->changes.push_back(
        {setup_.topology->request(call->id, request.input), request.time, 1});
  }
}

absl::Status FlowJob::Commit(Effects effects, absl::Time now) {
  WEIR_RETURN_IF_ERROR(progress_.Report(effects.changes, now));
  for (OutgoingFrame& frame : effects.frames) {
    WEIR_RETURN_IF_ERROR(Deliver(std::move(frame), effects.hold));
  }
  ListMoved();
  return absl::OkStatus();
}

absl::Status FlowJob::Deliver(OutgoingFrame frame, std::shared_ptr<void> hold) {
  RecordBatch& batch = frame.part.batch;
  const int rank = frame.part.rank;
  const int64_t bytes = batch.bytes();
  channels_.Sent(setup_.topology->input(frame.to.vertex, frame.to.number), rank, bytes,
                 std::move(hold));
  if (rank == setup_.rank) {
    List(frame.to.vertex);
    const absl::Status added = slots_[frame.to.vertex.value()]->AddFrame(
        frame.to.number, std::move(frame.time), std::move(batch), rank);
    ListSpill(frame.to.vertex);
    return added.ok() ? added : Annotate(added, Named(frame.to.vertex));
  }
  v1::PeerMessage message;
  v1::FlowFrame* header = message.mutable_flow_frame();
  Label(header);
  header->set_from_rank(static_cast<uint32_t>(setup_.rank));
  header->set_number(channels_.NextNumber(rank));
  header->set_vertex(static_cast<uint32_t>(frame.to.vertex.value()));
  header->set_input(static_cast<uint32_t>(frame.to.number));
  *header->mutable_time() = ToWire(frame.time);
  *header->mutable_batch() = HeaderOf(batch);
  sent_bytes_ += bytes;
  ++sent_frames_;
  outbox_->SendToPeer(setup_.peers[rank], message, PayloadsOf(batch));
  if (!outbox_->HasRoom(setup_.peers[rank])) room_.SetFull(rank);
  return absl::OkStatus();
}

absl::Status FlowJob::GiveBack(const FlowCall& call) {
  if (call.frames.empty()) return absl::OkStatus();
  const LocationId input = setup_.topology->input(call.id, call.input);
  for (const FlowCall::Frame& frame : call.frames) {
    if (frame.from_rank == setup_.rank) {
      WEIR_RETURN_IF_ERROR(channels_.Taken(input, setup_.rank, frame.bytes));
    } else {
      channels_.Owe(frame.from_rank, input, frame.bytes);
    }
  }
  ListWriter({call.id, call.input});
  return absl::OkStatus();
}

}  // namespace weir
