#include "worker/flow/vertex_slot.h"

#include <algorithm>
#include <utility>

namespace weir {
namespace {

// Frames that one call takes together: up to so many records that a call of its own would cost more
// than copying the next ones.
constexpr int64_t kEnoughRecords = int64_t{8} << 10;
constexpr int64_t kMostRecords = int64_t{64} << 10;
constexpr int64_t kMostBytes = int64_t{4} << 20;

Timestamp OuterOf(const Timestamp& time) {
  return Timestamp(Coordinates(time.coordinates().begin(), time.coordinates().end() - 1));
}

}  // namespace

VertexSlot::VertexSlot(VertexId id, const FlowVertex& def, std::shared_ptr<Vertex> vertex)
    : id_(id), def_(def), vertex_(std::move(vertex)), queues_(def.inputs.size()) {}

void VertexSlot::AddFrame(int input, Timestamp time, RecordBatch batch, int from_rank) {
  const int64_t bytes = batch.bytes();
  queues_[input].push_back({std::move(time), std::move(batch), from_rank, bytes});
  ++queued_frames_;
  queued_bytes_ += bytes;
}

bool VertexSlot::AddRequest(int input, const Timestamp& time) {
  return requests_.emplace(time, input).second;
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
  do {
    QueuedFrame& frame = queue.front();
    records += frame.batch.size();
    bytes += frame.bytes;
    call->frames.push_back({frame.from_rank, frame.bytes});
    batches.push_back(std::move(frame.batch));
    queue.pop_front();
  } while (!queue.empty() && queue.front().time == call->activation.time() &&
           records < kEnoughRecords && records + queue.front().batch.size() <= kMostRecords &&
           bytes + queue.front().bytes <= kMostBytes);
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
  --running_;
  stats_.busy_ns += call.run_ns;
  if (call.kind == FlowCall::Kind::kNotify) {
    notify_pace_.Took(1, call.run_ns);
  } else {
    frames_pace_.Took(std::max<int64_t>(call.records, 1), call.run_ns);
  }
  stats_.dropped += call.activation.dropped();
  if (running_ == 0 && vertex_ != nullptr) stats_.state_bytes = vertex_->state_bytes();
}

std::optional<int64_t> VertexSlot::Predict(const FlowCall& call) const {
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
}

}  // namespace weir
