#include "worker/flow/keyed/keyed_vertex.h"

#include <utility>

#include "common/base/status.h"
#include "worker/flow/frame_bounds.h"

namespace weir {

KeyedVertex::KeyedVertex(const VertexSetup& setup, MakeState make_state)
    : KeyedVertex(setup, LifeOf(setup.vertex()), std::move(make_state)) {}

KeyedVertex::KeyedVertex(const VertexSetup& setup, StateLife life, MakeState make_state)
    : form_(setup.vertex()),
      life_(life),
      make_state_(std::move(make_state)),
      records_per_frame_(RecordsPerFrame(form_.output_types[0])) {}

NotifyOrder KeyedVertex::notify_order() const {
  return life_ == StateLife::kJob ? NotifyOrder::kSequential : NotifyOrder::kCausal;
}

Timestamp KeyedVertex::StateTime(const Timestamp& time) const {
  if (life_ == StateLife::kTime) return time;
  if (life_ == StateLife::kJob) return Timestamp();
  return Timestamp(Coordinates(time.coordinates().begin(), time.coordinates().end() - 1));
}

VertexState* KeyedVertex::StateFor(const Timestamp& time) {
  std::unique_ptr<VertexState>& state = states_[StateTime(time)];
  if (state == nullptr) state = make_state_();
  return state.get();
}

absl::Status KeyedVertex::OnFrame(int input, RecordBatch batch, VertexActivation* activation) {
  if (batch.empty()) return absl::OkStatus();
  TimeWork& work = times_[activation->time()];
  if (work.kept.empty()) {
    work.kept.resize(form_.inputs.size());
    activation->NotifyAt(input, activation->time());
  }
  KeptRecords& kept = work.kept[input];
  kept_bytes_ -= kept.bytes();
  kept.Add(std::move(batch), form_.input_types[input]);
  kept_bytes_ += kept.bytes();
  return absl::OkStatus();
}

absl::Status KeyedVertex::OnNotify(VertexActivation* activation) {
  const auto found = times_.find(activation->time());
  if (found == times_.end()) return absl::OkStatus();
  TimeWork& work = found->second;
  if (work.state == nullptr) {
    VertexState::Inputs inputs;
    for (KeptRecords& kept : work.kept) {
      kept_bytes_ -= kept.bytes();
      inputs.push_back(kept.Take());
    }
    work.state = StateFor(activation->time());
    WEIR_RETURN_IF_ERROR(work.state->Begin(std::move(inputs)));
  }
  bool sent = false;
  while (!sent && !work.state->done()) {
    WEIR_ASSIGN_OR_RETURN(RecordBatch batch, work.state->Next(records_per_frame_));
    sent = !batch.empty();
    if (sent) activation->Send(0, activation->time(), std::move(batch));
  }
  if (!work.state->done()) {
    activation->Continue();
    return absl::OkStatus();
  }
  if (life_ == StateLife::kTime) states_.erase(activation->time());
  times_.erase(found);
  return absl::OkStatus();
}

void KeyedVertex::OnOuterComplete(const Timestamp& time) {
  for (auto state = states_.begin(); state != states_.end();) {
    state = LessEqual(state->first, time) ? states_.erase(state) : std::next(state);
  }
}

int64_t KeyedVertex::state_bytes() const {
  int64_t bytes = kept_bytes_;
  for (const auto& [time, state] : states_) bytes += state->bytes();
  return bytes;
}

}  // namespace weir
