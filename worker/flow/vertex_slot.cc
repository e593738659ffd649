#include "worker/flow/vertex_slot.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/base/status.h"
#include "common/flow/flow_wire.h"
#include "common/timely/outer_time.h"
#include "worker/flow/own_records.h"

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

// At once, or, as the event loop waits for no disk, when the call runs.
void PutTogether(std::vector<FlowCall::Queued> taken, const RecordType& type, FlowCall* call) {
  if (std::any_of(taken.begin(), taken.end(),
                  [](const FlowCall::Queued& one) { return one.on_disk.has_value(); })) {
    call->queued = std::move(taken);
    return;
  }
  std::vector<RecordBatch> batches;
  for (FlowCall::Queued& one : taken) batches.push_back(std::move(one.batch));
  call->batch = ConcatBatches(batches, type);
}

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
  const int64_t records = batch.size();
  FlowShare* memory = charge_.share();
  // Parts of one batch go different ways, and those that stay must not keep the others in memory.
  if (memory != nullptr && memory->kept_bytes() > memory->budget() / 4) {
    batch = OwnRecords(std::move(batch));
  }
  const bool is_first = queues_[input].empty();
  queues_[input].push_back(
      {next_number_++, std::move(time), std::move(batch), {}, from_rank, bytes, records});
  ++queued_frames_;
  queued_bytes_ += bytes;
  charge_.Set(charge_.bytes() + bytes);
  // What is the first goes next.
  if (memory == nullptr || is_first || bytes < kLeastSpilled || !memory->is_over()) {
    return absl::OkStatus();
  }
  QueuedFrame& frame = queues_[input].back();
  if (!memory->is_far_over()) {
    to_spill_.emplace_back(input, frame.number);
    return absl::OkStatus();
  }
  WEIR_ASSIGN_OR_RETURN(SpilledRecords spilled, memory->Spill(frame.batch));
  SetOnDisk(&frame, std::move(spilled));
  return absl::OkStatus();
}

void VertexSlot::SetOnDisk(QueuedFrame* frame, SpilledRecords records) {
  frame->on_disk = std::move(records);
  frame->batch = RecordBatch();
  charge_.Set(charge_.bytes() - frame->bytes);
}

VertexSlot::QueuedFrame* VertexSlot::FindFrame(int input, uint64_t number) {
  std::deque<QueuedFrame>& queue = queues_[input];
  const auto found = std::lower_bound(
      queue.begin(), queue.end(), number,
      [](const QueuedFrame& frame, uint64_t wanted) { return frame.number < wanted; });
  return found == queue.end() || found->number != number ? nullptr : &*found;
}

std::unique_ptr<FlowCall> VertexSlot::TakeSpill() {
  std::unique_ptr<FlowCall> call;
  for (int64_t bytes = 0; !to_spill_.empty() && bytes < kMostBytes; to_spill_.pop_front()) {
    const auto [input, number] = to_spill_.front();
    if (call != nullptr && call->input != input) break;
    const QueuedFrame* const frame = FindFrame(input, number);
    if (frame == nullptr) continue;
    if (call == nullptr) {
      call = std::make_unique<FlowCall>(id_, nullptr, FlowCall::Kind::kSpill, input, frame->time);
    }
    bytes += frame->bytes;
    call->queued.push_back({number, frame->batch, {}});
  }
  return call;
}

void VertexSlot::OnSpilled(FlowCall* call) {
  for (FlowCall::Queued& queued : call->queued) {
    QueuedFrame* const frame = FindFrame(call->input, queued.number);
    if (frame != nullptr) SetOnDisk(frame, *std::move(queued.on_disk));
  }
}

bool VertexSlot::AddRequest(int input, const Timestamp& time) {
  return requests_.emplace(time, input).second;
}

FlowCall::Queued VertexSlot::Taken(QueuedFrame* frame) {
  if (!frame->on_disk.has_value()) charge_.Set(charge_.bytes() - frame->bytes);
  return {frame->number, std::move(frame->batch), std::move(frame->on_disk)};
}

std::unique_ptr<FlowCall> VertexSlot::TakeFrames() {
  if (!has_frames()) return nullptr;
  while (queues_[next_input_].empty()) next_input_ = (next_input_ + 1) % inputs();
  const int input = next_input_;
  next_input_ = (next_input_ + 1) % inputs();
  std::deque<QueuedFrame>& queue = queues_[input];
  auto call =
      std::make_unique<FlowCall>(id_, vertex_, FlowCall::Kind::kFrames, input, queue.front().time);
  std::vector<FlowCall::Queued> taken;
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
    if (!taken.empty() && !fits) break;
    records += frame.records;
    bytes += frame.bytes;
    call->frames.push_back({frame.from_rank, frame.bytes});
    taken.push_back(Taken(&frame));
    queue.erase(queue.begin() + static_cast<int64_t>(at));
  }
  queued_frames_ -= std::ssize(taken);
  queued_bytes_ -= bytes;
  stats_.frames += std::ssize(taken);
  PutTogether(std::move(taken), def_.input_types[input], call.get());
  call->records = records;
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
