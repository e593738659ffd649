#include "worker/flow/flow_job.h"

#include <algorithm>
#include <utility>

#include "common/base/status.h"
#include "common/flow/flow_wire.h"
#include "common/flow/vertex_kind.h"
#include "common/plan/progress_wire.h"
#include "worker/flow/held_channels.h"

namespace weir {
namespace {

constexpr int64_t kLeastFrameBytes = int64_t{64} << 10;
constexpr int64_t kMostFrameBytes = int64_t{4} << 20;

// Inputs and outputs are the job's own.
bool HasVertex(const FlowVertex& def) { return def.kind != "input" && def.kind != "output"; }

}  // namespace

FlowJob::FlowJob(FlowSetup setup, FlowOutbox* outbox)
    : setup_(std::move(setup)),
      outbox_(outbox),
      progress_(*setup_.flow, setup_.topology, setup_.workers(), setup_.job, setup_.generation),
      channels_(setup_.workers()),
      room_(*setup_.flow, setup_.rank, setup_.workers()),
      routes_(std::make_shared<const FrameRoutes>(
          *setup_.flow, setup_.rank, setup_.workers(),
          std::clamp(setup_.channel_bytes, kLeastFrameBytes, kMostFrameBytes))) {}

absl::StatusOr<std::unique_ptr<FlowJob>> FlowJob::Make(FlowSetup setup, FlowOutbox* outbox) {
  auto job = std::unique_ptr<FlowJob>(new FlowJob(std::move(setup), outbox));
  WEIR_RETURN_IF_ERROR(job->MakeSlots());
  WEIR_RETURN_IF_ERROR(job->TakeGrants());
  return job;
}

absl::Status FlowJob::MakeSlots() {
  const Flow& flow = *setup_.flow;
  holding_ = HoldingInputs(flow);
  for (size_t v = 0; v < flow.vertices.size(); ++v) {
    const VertexId id(static_cast<int64_t>(v));
    const FlowVertex& def = flow.vertices[v];
    std::shared_ptr<Vertex> vertex;
    if (HasVertex(def)) {
      WEIR_ASSIGN_OR_RETURN(vertex, MakeOne(id));
    }
    slots_.push_back(std::make_unique<VertexSlot>(id, def, std::move(vertex), setup_.memory));
    calls_loop_.push_back(CallsLoop(def));
  }
  FindWaiting();
  return absl::OkStatus();
}

void FlowJob::FindWaiting() {
  for (size_t v = 0; v < holding_.size(); ++v) {
    const VertexId waiting(static_cast<int64_t>(v));
    for (const Port& full : holding_[v]) {
      const VertexId writer = setup_.flow->vertex(full.vertex).inputs[full.number].vertex;
      if (writer != waiting) waiting_[writer].push_back(waiting);
    }
  }
}

absl::StatusOr<std::shared_ptr<Vertex>> FlowJob::MakeOne(VertexId id) const {
  VertexSetup setup{.flow = setup_.flow.get(),
                    .id = id,
                    .rank = setup_.rank,
                    .workers = setup_.workers(),
                    .functions = {},
                    .data = setup_.data};
  for (const FlowAttr& attr : setup.vertex().def->attrs) {
    const Attr* function = setup.vertex().FindAttr(attr.name);
    if (function == nullptr || attr.calls == FlowAttr::Calls::kNothing) continue;
    const auto found = setup_.functions.find(function->AsString());
    if (found == setup_.functions.end()) {
      return InvalidArgument(Named(id), ": function @", function->AsString(), " was not sent");
    }
    setup.functions.emplace(attr.name, found->second);
  }
  auto made = MakeVertex(setup);
  if (!made.ok()) return Annotate(made.status(), Named(id));
  return std::shared_ptr<Vertex>(*std::move(made));
}

bool FlowJob::CallsLoop(const FlowVertex& def) const {
  for (const FlowAttr& attr : def.def->attrs) {
    const Attr* function = def.FindAttr(attr.name);
    if (function == nullptr || attr.calls == FlowAttr::Calls::kNothing) continue;
    const auto found = setup_.functions.find(function->AsString());
    if (found != setup_.functions.end() && found->second->has_loop()) return true;
  }
  return false;
}

absl::Status FlowJob::TakeGrants() {
  WEIR_RETURN_IF_ERROR(progress_.Grant(setup_.grants));
  WEIR_ASSIGN_OR_RETURN(const std::vector<Change> grants,
                        GrantsFrom(setup_.grants, *setup_.topology));
  for (const Change& grant : grants) {
    const VertexId source = setup_.topology->location(grant.key.location).port.vertex;
    open_epochs_[source] = grant.key.time.epoch();
  }
  return absl::OkStatus();
}

std::string FlowJob::Named(VertexId vertex) const {
  const FlowVertex& def = setup_.flow->vertex(vertex);
  const std::string place = def.location.known() ? def.location.ToString() + ": " : "";
  return StrCat(place, "'", def.name, "' (", def.kind, ")");
}

absl::StatusOr<VertexId> FlowJob::OpenInput(uint32_t vertex) const {
  const VertexId id(vertex);
  if (open_epochs_.contains(id) && slots_[vertex]->vertex() == nullptr) return id;
  return InvalidArgument("vertex ", vertex, " is no input that is open");
}

absl::Status FlowJob::OnFrontiers(const v1::FrontierUpdate& update) {
  if (stopped_) return absl::OkStatus();
  const bool was_known = progress_.is_known();
  WEIR_RETURN_IF_ERROR(progress_.Apply(update));
  if (!was_known) {
    for (const auto& slot : slots_) List(slot->id());
  }
  ListMoved();
  return absl::OkStatus();
}

absl::Status FlowJob::OnFeed(const v1::FeedFlow& feed, std::vector<Tensor> payloads,
                             absl::Time now) {
  if (stopped_) return absl::OkStatus();
  WEIR_ASSIGN_OR_RETURN(const VertexId id, OpenInput(feed.vertex()));
  if (feed.epoch() < open_epochs_[id]) {
    return InvalidArgument(Named(id), ": records of epoch ", feed.epoch(), " came after epoch ",
                           open_epochs_[id], " had begun");
  }
  WEIR_ASSIGN_OR_RETURN(const RecordBatch batch,
                        BatchFrom(feed.batch(), std::move(payloads),
                                  setup_.flow->vertex(id).output_types[0], Named(id)));
  // Let go of once nobody has the records any more.
  std::shared_ptr<void> hold(nullptr, [id, bytes = batch.bytes(), consumed = consumed_](void*) {
    (*consumed)[id] += bytes;
  });
  std::vector<OutgoingFrame> frames;
  routes_->Cut({id, 0}, Timestamp{feed.epoch()}, batch, &frames);
  Effects effects;
  effects.hold = std::move(hold);
  AddFrames(std::move(frames), &effects);
  slots_[id.value()]->stats().records += batch.size();
  has_news_ = true;
  return Commit(std::move(effects), now);
}

absl::Status FlowJob::OnAdvance(const v1::AdvanceFlow& advance, absl::Time now) {
  if (stopped_) return absl::OkStatus();
  WEIR_ASSIGN_OR_RETURN(const VertexId id, OpenInput(advance.vertex()));
  const int64_t epoch = open_epochs_[id];
  if (!advance.closed() && advance.epoch() <= epoch) {
    return InvalidArgument(Named(id), ": it cannot advance from epoch ", epoch, " to ",
                           advance.epoch());
  }
  Effects effects;
  AddAdvance(id, advance.closed() ? std::nullopt : std::optional(advance.epoch()), &effects);
  return Commit(std::move(effects), now);
}

void FlowJob::AddAdvance(VertexId source, std::optional<int64_t> epoch, Effects* effects) {
  const LocationId output = setup_.topology->output(source, 0);
  int64_t& open = open_epochs_.at(source);
  if (epoch.has_value()) effects->changes.push_back({output, Timestamp{*epoch}, 1});
  effects->changes.push_back({output, Timestamp{open}, -1});
  if (epoch.has_value()) {
    open = *epoch;
  } else {
    open_epochs_.erase(source);
  }
}

absl::Status FlowJob::OnFrame(const v1::FlowFrame& frame, std::vector<Tensor> payloads) {
  if (stopped_) return absl::OkStatus();
  const int64_t vertices = static_cast<int64_t>(slots_.size());
  if (frame.vertex() >= vertices || frame.input() >= slots_[frame.vertex()]->def().inputs.size()) {
    return InvalidArgument("a frame came for input ", frame.input(), " of vertex ", frame.vertex(),
                           ", which is not there");
  }
  if (frame.from_rank() >= static_cast<uint32_t>(setup_.workers())) {
    return InvalidArgument("a frame came from rank ", frame.from_rank());
  }
  VertexSlot& slot = *slots_[frame.vertex()];
  const int input = static_cast<int>(frame.input());
  const int rank = static_cast<int>(frame.from_rank());
  WEIR_RETURN_IF_ERROR(channels_.CheckNumber(rank, frame.number()));
  WEIR_ASSIGN_OR_RETURN(Timestamp time,
                        TimeFrom(frame.time(), setup_.flow->DepthOf(slot.def().scope)));
  WEIR_ASSIGN_OR_RETURN(RecordBatch batch,
                        BatchFrom(frame.batch(), std::move(payloads), slot.def().input_types[input],
                                  Named(slot.id())));
  if (progress_.is_known() && progress_.IsComplete(slot.id(), input, time)) {
    return absl::InternalError(StrCat(Named(slot.id()), ": records came at time ", ToString(time),
                                      ", which was complete"));
  }
  progress_.Arrived(setup_.topology->input(slot.id(), input), time);
  has_news_ = true;
  ++slot.stats().peer_frames;
  List(slot.id());
  const absl::Status added = slot.AddFrame(input, std::move(time), std::move(batch), rank);
  ListSpill(slot.id());
  return added.ok() ? added : Annotate(added, Named(slot.id()));
}

absl::Status FlowJob::OnCredit(const v1::FlowCredit& credit) {
  if (stopped_) return absl::OkStatus();
  const int64_t vertices = static_cast<int64_t>(slots_.size());
  if (credit.vertex() >= vertices ||
      credit.input() >= slots_[credit.vertex()]->def().inputs.size() ||
      credit.from_rank() >= static_cast<uint32_t>(setup_.workers())) {
    return InvalidArgument("credit came for input ", credit.input(), " of vertex ", credit.vertex(),
                           ", which is not there");
  }
  const Port port = {VertexId(credit.vertex()), static_cast<int>(credit.input())};
  WEIR_RETURN_IF_ERROR(channels_.Taken(setup_.topology->input(port.vertex, port.number),
                                       static_cast<int>(credit.from_rank()), credit.bytes()));
  ListWriter(port);
  return absl::OkStatus();
}

absl::Status FlowJob::OnOutputTaken(const v1::FlowOutputTaken& taken) {
  if (stopped_) return absl::OkStatus();
  const VertexId id(taken.vertex());
  const auto found = output_bytes_.find(id);
  if (found == output_bytes_.end() || taken.bytes() > found->second || taken.bytes() < 0) {
    return InvalidArgument("the coordinator took ", taken.bytes(), " bytes of vertex ",
                           taken.vertex(), " that were not sent");
  }
  found->second -= taken.bytes();
  List(id);
  return absl::OkStatus();
}

void FlowJob::OnPeerRoom(uint64_t worker_id) {
  for (int rank = 0; rank < setup_.workers(); ++rank) {
    if (setup_.peers[rank].worker_id() != worker_id) continue;
    for (const VertexId writer : room_.SetRoom(rank)) List(writer);
  }
}

void FlowJob::List(VertexId vertex) {
  VertexSlot& slot = *slots_[vertex.value()];
  if (slot.is_listed) return;
  slot.is_listed = true;
  listed_.push_back(vertex);
}

void FlowJob::ListSpill(VertexId vertex) {
  VertexSlot& slot = *slots_[vertex.value()];
  if (slot.is_listed_to_spill || !slot.has_to_spill()) return;
  slot.is_listed_to_spill = true;
  to_spill_.push_back(vertex);
}

void FlowJob::ListWriter(Port input) {
  const VertexId writer = setup_.flow->vertex(input.vertex).inputs[input.number].vertex;
  List(writer);
  const auto others = waiting_.find(writer);
  if (others == waiting_.end()) return;
  for (const VertexId other : others->second) List(other);
}

void FlowJob::ListMoved() {
  for (const VertexId vertex : progress_.TakeMoved()) List(vertex);
}

void FlowJob::SendDue(absl::Time now) {
  if (!progress_.is_known()) return;
  if (std::optional<v1::ProgressBatch> batch = progress_.TakeDue(now)) SendBatch(*batch);
}

void FlowJob::SendAll() {
  if (std::optional<v1::ProgressBatch> batch = progress_.Flush()) SendBatch(*batch);
  for (const auto& [to, bytes] : channels_.TakeOwed()) {
    const Port port = setup_.topology->location(to.second).port;
    v1::PeerMessage message;
    v1::FlowCredit* credit = message.mutable_flow_credit();
    Label(credit);
    credit->set_from_rank(static_cast<uint32_t>(setup_.rank));
    credit->set_vertex(static_cast<uint32_t>(port.vertex.value()));
    credit->set_input(static_cast<uint32_t>(port.number));
    credit->set_bytes(bytes);
    outbox_->SendToPeer(setup_.peers[to.first], message, {});
  }
  for (const auto& [vertex, bytes] : std::exchange(*consumed_, {})) {
    v1::WorkerMessage message;
    v1::FlowConsumed* consumed = message.mutable_flow_consumed();
    Label(consumed);
    consumed->set_vertex(static_cast<uint32_t>(vertex.value()));
    consumed->set_bytes(bytes);
    outbox_->SendToCoordinator(message, {});
  }
}

void FlowJob::SendBatch(const v1::ProgressBatch& batch) {
  v1::WorkerMessage message;
  *message.mutable_progress() = batch;
  outbox_->SendToCoordinator(message, {});
}

int64_t FlowJob::queued_bytes() const {
  int64_t sum = 0;
  for (const auto& slot : slots_) sum += slot->queued_bytes();
  return sum;
}

v1::FlowReport FlowJob::Report(absl::Time now) {
  has_news_ = false;
  v1::FlowReport report;
  Label(&report);
  for (const auto& slot : slots_) slot->Describe(now, report.add_vertices());
  report.set_sent_bytes(sent_bytes_);
  report.set_sent_frames(sent_frames_);
  if (setup_.memory != nullptr) {
    report.set_kept_bytes(setup_.memory->kept_bytes());
    report.set_spilled_bytes(setup_.memory->spilled_bytes());
  }
  for (std::string& line : std::exchange(lines_, {})) report.add_lines(std::move(line));
  return report;
}

}  // namespace weir
