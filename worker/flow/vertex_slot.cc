#include "worker/flow/vertex_slot.h"

#include <algorithm>
#include <utility>

#include "common/base/status.h"

namespace weir {
namespace {

// Frames that one call takes together.
constexpr int64_t kMostRecords = int64_t{64} << 10;
constexpr int64_t kMostBytes = int64_t{4} << 20;
// A frame that is not worth a place on disk.
constexpr int64_t kLeastSpilled = int64_t{4} << 10;

Timestamp OuterOf(const Timestamp& time) {
  return Timestamp(Coordinates(time.coordinates().begin(), time.coordinates().end() - 1));
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
    records += frame.records;
    bytes += frame.bytes;
    call->frames.push_back({frame.from_rank, frame.bytes});
    if (frame.on_disk.has_value()) {
      batches.push_back(std::move(*frame.on_disk).Read(def_.input_types[input]));
    } else {
      batches.push_back(std::move(frame.batch));
      charge_.Set(charge_.bytes() - frame.bytes);
    }
    queue.pop_front();
  } while (!queue.empty() && queue.front().time == call->activation.time() &&
           records + queue.front().records <= kMostRecords &&
           bytes + queue.front().bytes <= kMostBytes);
  call->batch = ConcatBatches(batches, def_.input_types[input]);
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
  if (call.kind == FlowCall::Kind::kFrames) {
    frames_ns_ += call.run_ns;
  } else {
    notify_ns_ = {call.run_ns, notify_ns_[0]};
  }
  stats_.dropped += call.activation.dropped();
  if (running_ > 0 || vertex_ == nullptr) return;
  stats_.state_bytes = vertex_->state_bytes();
  stats_.spilled_bytes = vertex_->spilled_bytes();
}

std::optional<int64_t> VertexSlot::Predict(const FlowCall& call) const {
  if (call.kind == FlowCall::Kind::kNotify) {
    const int64_t ns = std::max(notify_ns_[0], notify_ns_[1]);
    if (ns < 0) return std::nullopt;
    return ns;
  }
  if (stats_.records == 0) return std::nullopt;
  return frames_ns_ / stats_.records * std::max<int64_t>(call.batch.size(), 1);
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
