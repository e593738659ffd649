#include "worker/flow/keyed/keyed_vertex.h"

#include <utility>

#include "common/base/status.h"
#include "worker/flow/frame_bounds.h"
#include "worker/flow/memory/flow_memory.h"

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
  Count(work, -1);
  const absl::Status added = work.kept[input].Add(std::move(batch), form_.input_types[input]);
  Count(work, 1);
  return added;
}

void KeyedVertex::Count(const TimeWork& work, int64_t sign) {
  for (const KeptRecords& kept : work.kept) {
    kept_bytes_ += sign * kept.bytes();
    spilled_bytes_ += sign * kept.spilled_bytes();
  }
  if (work.parts == nullptr) return;
  kept_bytes_ += sign * work.parts->bytes();
  spilled_bytes_ += sign * work.parts->spilled_bytes();
}

absl::Status KeyedVertex::BeginTime(const Timestamp& time, TimeWork* work) {
  work->begun = true;
  int64_t bytes = 0;
  for (const KeptRecords& kept : work->kept) bytes += kept.bytes() + kept.spilled_bytes();
  const FlowShare* share = FlowShare::Current();
  if (share != nullptr && bytes > share->work_bytes() && life_ == StateLife::kTime &&
      KeyParts::CanCut(form_)) {
    work->parts = std::make_unique<KeyParts>(form_, std::exchange(work->kept, {}), bytes,
                                             share->work_bytes());
    return absl::OkStatus();
  }
  VertexState::Inputs inputs;
  for (size_t input = 0; input < work->kept.size(); ++input) {
    inputs.push_back(work->kept[input].Take(form_.input_types[input]));
  }
  work->state = StateFor(time);
  return work->state->Begin(std::move(inputs));
}

absl::StatusOr<bool> KeyedVertex::NextPart(const Timestamp& time, TimeWork* work) {
  if (work->parts == nullptr) return true;
  if (!work->parts->is_cut()) {
    WEIR_RETURN_IF_ERROR(work->parts->CutSome(FlowShare::Current()->work_bytes()));
    return false;
  }
  if (work->state != nullptr && !work->state->done()) return true;
  work->state = nullptr;
  states_.erase(StateTime(time));
  WEIR_ASSIGN_OR_RETURN(VertexState::Inputs inputs, work->parts->TakeNext());
  if (inputs.empty()) {
    if (!work->parts->done()) return false;
    work->parts = nullptr;
    return true;
  }
  work->state = StateFor(time);
  WEIR_RETURN_IF_ERROR(work->state->Begin(std::move(inputs)));
  return true;
}

absl::Status KeyedVertex::OnNotify(VertexActivation* activation) {
  const auto found = times_.find(activation->time());
  if (found == times_.end()) return absl::OkStatus();
  TimeWork& work = found->second;
  Count(work, -1);
  if (!work.begun) WEIR_RETURN_IF_ERROR(BeginTime(activation->time(), &work));
  WEIR_ASSIGN_OR_RETURN(const bool is_ready, NextPart(activation->time(), &work));
  Count(work, 1);
  if (is_ready && work.state != nullptr && !work.state->done()) {
    WEIR_ASSIGN_OR_RETURN(RecordBatch batch, work.state->Next(records_per_frame_));
    if (!batch.empty()) activation->Send(0, activation->time(), std::move(batch));
  }
  if (work.parts != nullptr || (work.state != nullptr && !work.state->done())) {
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

bool FitsWhole(int64_t bytes) {
  const FlowShare* share = FlowShare::Current();
  return share == nullptr || bytes <= share->budget();
}

absl::Status CheckWhole(const std::vector<RecordBatch>& batches, std::string_view who) {
  int64_t bytes = 0;
  for (const RecordBatch& batch : batches) bytes += batch.bytes();
  return CheckWhole(bytes, who);
}

absl::Status CheckWhole(int64_t bytes, std::string_view who) {
  if (FitsWhole(bytes)) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      StrCat(who, " needs all ", bytes, " bytes of the time at once, and --flow-memory of this ",
             "worker is ", FlowShare::Current()->budget(),
             ": give it more, or spread records over more epochs"));
}

}  // namespace weir
