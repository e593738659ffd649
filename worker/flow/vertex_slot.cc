#include "worker/flow/vertex_slot.h"

#include <algorithm>
#include <utility>

#include "common/base/status.h"
#include "common/flow/flow_wire.h"
#include "common/timely/outer_time.h"

namespace weir {
namespace {

// Frames that one call takes together: up to so many records that a call of its own would cost more
// than copying the next ones.
constexpr int64_t kEnoughRecords = int64_t{8} << 10;
constexpr int64_t kMostRecords = int64_t{64} << 10;
constexpr int64_t kMostBytes = int64_t{4} << 20;
// And frames that it looks at: records that take different ways through a loop come in ever smaller
// frames, which must be brought together again.
constexpr int kMostLookedAt = 64;
// A frame that is not worth a place on disk.
constexpr int64_t kLeastSpilled = int64_t{4} << 10;

}  // namespace

VertexSlot::VertexSlot(VertexId id, const FlowVertex& def, std::shared_ptr<Vertex> vertex,
                       std::shared_ptr<FlowShare> memory)
    : id_(id),
      def_(def),
      vertex_(std::move(vertex)),
      queues_(def.inputs.size()),
      charge_(std::move(memory)) {}

absl::Status VertexSlot::AddFrame(int input, Timestamp time, RecordBatch batch, int from_rank) {
  const int64_t bytes = batch.bytes();
  QueuedFrame frame = {std::move(time), {}, {}, from_rank, bytes, batch.size()};
  FlowShare* memory = charge_.share();
  // What stands in front goes next.
  if (memory != nullptr && !queues_[input].empty() && bytes >= kLeastSpilled && memory->is_over()) {
    WEIR_ASSIGN_OR_RETURN(frame.on_disk, memory->Spill(batch));
  } else {
    frame.batch = std::move(batch);
    charge_.Set(charge_.bytes() + bytes);
  }
  queues_[input].push_back(std::move(frame));
  ++queued_frames_;
  queued_bytes_ += bytes;
  return absl::OkStatus();
}

bool VertexSlot::AddRequest(int input, const Timestamp& time) {
  return requests_.emplace(time, input).second;
}

RecordBatch VertexSlot::Taken(QueuedFrame* frame, int input) {
  if (frame->on_disk.has_value()) return std::move(*frame->on_disk).Read(def_.input_types[input]);
  charge_.Set(charge_.bytes() - frame->bytes);
  return std::move(frame->batch);
}

std::unique_ptr<FlowCall> VertexSlot::TakeFrames() {
  if (!has_frames()) return nullptr;
  while (queues_[next_input_].empty()) next_input_ = (next_input_ + 1) % inputs();
  const int input = next_input_;
  next_input_ = (next_input_ + 1) % inputs();
  std::deque<QueuedFrame>& queue = queues_[input];
  auto call =
      std::make_unique<FlowCall>(id_, vertex_, FlowCall::Kind::kFrames, input, queue.front().time);
  std::vector<RecordBatch> batches;
  int64_t records = 0;
  int64_t bytes = 0;
  size_t at = 0;
  for (int looked = 0; at < queue.size() && looked < kMostLookedAt; ++looked) {
    QueuedFrame& frame = queue[at];
    if (frame.time != call->activation.time()) {
      ++at;
      continue;
    }
    const bool fits = records < kEnoughRecords && records + frame.records <= kMostRecords &&
                      bytes + frame.bytes <= kMostBytes;
    if (!batches.empty() && !fits) break;
    records += frame.records;
    bytes += frame.bytes;
    call->frames.push_back({frame.from_rank, frame.bytes});
    batches.push_back(Taken(&frame, input));
    queue.erase(queue.begin() + static_cast<int64_t>(at));
  }
  call->batch = ConcatBatches(batches, def_.input_types[input]);
  call->records = records;
  queued_frames_ -= static_cast<int64_t>(batches.size());
  queued_bytes_ -= bytes;
  stats_.frames += static_cast<int64_t>(batches.size());
  stats_.records += records;
  if (vertex_ != nullptr && vertex_->keeps_state()) with_state_.insert(call->activation.time());
  if (vertex_ != nullptr && vertex_->keeps_outer_state()) {
    outer_.insert(OuterOf(call->activation.time()));
  }
  return call;
}

bool VertexSlot::IsComplete(const FlowProgress& progress, const Timestamp& time) const {
  for (int i = 0; i < inputs(); ++i) {
    if (!progress.IsComplete(id_, i, time)) return false;
  }
  return true;
}

bool VertexSlot::IsLast(const FlowProgress& progress, const Timestamp& time) const {
  for (int i = 0; i < inputs(); ++i) {
    for (const Timestamp& element : progress.frontier(id_, i)) {
      if (!(time < element)) return false;
    }
  }
  return true;
}

std::unique_ptr<FlowCall> VertexSlot::TakeComplete(const FlowProgress& progress) {
  if (requests_.empty() || !progress.is_known()) return nullptr;
  auto found = requests_.begin();
  if (vertex_->notify_order() == NotifyOrder::kSequential) {
    if (!IsLast(progress, found->first)) return nullptr;
  } else {
    while (found != requests_.end() && !IsComplete(progress, found->first)) ++found;
    if (found == requests_.end()) return nullptr;
  }
  auto call = std::make_unique<FlowCall>(id_, vertex_, FlowCall::Kind::kNotify, found->second,
                                         found->first);
  requests_.erase(found);
  return call;
}

void VertexSlot::OnDone(const FlowCall& call) {
  std::erase_if(calls_, [&](const CallUnderWay& one) { return one.call == &call; });
  stats_.busy_ns += call.run_ns;
  if (call.kind == FlowCall::Kind::kNotify) {
    notify_pace_.Took(1, call.run_ns);
  } else if (call.kind == FlowCall::Kind::kFrames) {
    frames_pace_.Took(std::max<int64_t>(call.records, 1), call.run_ns);
  }
  stats_.dropped += call.activation.dropped();
  if (call.kind == FlowCall::Kind::kTurn) {
    for (const VertexActivation::Sent& sent : call.activation.sent()) {
      stats_.records += sent.batch.size();
    }
  }
  if (running() || vertex_ == nullptr) return;
  stats_.state_bytes = vertex_->state_bytes();
  stats_.spilled_bytes = vertex_->spilled_bytes();
}

bool VertexSlot::NoteFull(VertexId vertex, absl::Time now) {
  const bool is_new = full_ != vertex;
  if (!full_.valid()) full_since_ = now;
  full_ = vertex;
  return is_new;
}

void VertexSlot::Describe(absl::Time now, v1::FlowReport::Vertex* report) const {
  report->set_vertex(static_cast<uint32_t>(id_.value()));
  report->set_frames(stats_.frames);
  report->set_records(stats_.records);
  report->set_peer_frames(stats_.peer_frames);
  report->set_queued_frames(queued_frames_);
  report->set_queued_bytes(queued_bytes_);
  report->set_state_bytes(stats_.state_bytes);
  report->set_spilled_bytes(stats_.spilled_bytes + queued_on_disk());
  report->set_dropped(stats_.dropped);
  report->set_busy_ns(stats_.busy_ns);
  if (running()) {
    const CallUnderWay& longest = calls_.front();
    report->set_running_ns(absl::ToInt64Nanoseconds(now - longest.began));
    *report->mutable_running_time() = ToWire(longest.call->activation.time());
  }
  if (full_.valid() && has_waiting()) {
    report->set_blocked_ns(absl::ToInt64Nanoseconds(now - full_since_));
    report->set_blocked_by(static_cast<uint32_t>(full_.value()));
  }
}

std::optional<int64_t> VertexSlot::Predict(const FlowCall& call) const {
  if (call.kind == FlowCall::Kind::kTurn) return std::nullopt;
  if (call.kind == FlowCall::Kind::kNotify) return notify_pace_.Predict(1);
  return frames_pace_.Predict(call.records);
}

template <class PartOf>
bool VertexSlot::IsOver(const FlowProgress& progress, const Timestamp& time, PartOf part_of) const {
  for (const auto& [requested, input] : requests_) {
    if (LessEqual(part_of(requested), time)) return false;
  }
  for (int i = 0; i < inputs(); ++i) {
    for (const Timestamp& element : progress.frontier(id_, i)) {
      if (LessEqual(part_of(element), time)) return false;
    }
  }
  return true;
}

void VertexSlot::DropState(const FlowProgress& progress) {
  if (with_state_.empty() && outer_.empty()) return;
  if (running() || has_frames() || !progress.is_known()) return;
  std::erase_if(with_state_, [&](const Timestamp& time) {
    const auto whole = [](const Timestamp& other) -> const Timestamp& { return other; };
    if (!IsOver(progress, time, whole)) return false;
    stats_.dropped += vertex_->OnOver(time);
    return true;
  });
  std::erase_if(outer_, [&](const Timestamp& time) {
    if (!IsOver(progress, time, OuterOf)) return false;
    vertex_->OnOuterComplete(time);
    return true;
  });
  stats_.state_bytes = vertex_->state_bytes();
  stats_.spilled_bytes = vertex_->spilled_bytes();
}

}  // namespace weir
