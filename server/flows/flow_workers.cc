// The part of the core that listens to workers while a flow runs.
#include <algorithm>
#include <utility>

#include "common/base/status.h"
#include "common/flow/flow_wire.h"
#include "server/flows/flow_core.h"

namespace weir {
namespace {

// What a client is to be told of may not pile up here.
constexpr size_t kMostFailed = 65'536;

// Whether a worker's failure is what another one's end looks like from there.
bool MayBeConsequence(const FlowEntry& flow, const v1::Failure& failure) {
  const auto code = static_cast<absl::StatusCode>(failure.code());
  return flow.workers.size() > 1 &&
         (code == absl::StatusCode::kAborted || code == absl::StatusCode::kCancelled ||
          code == absl::StatusCode::kUnavailable);
}

// The least epoch of which something may still come; nothing if nothing comes any more.
std::optional<int64_t> LeastEpoch(const Frontier& frontier) {
  std::optional<int64_t> least;
  for (const Timestamp& time : frontier) {
    least = std::min(least.value_or(time.epoch()), time.epoch());
  }
  return least;
}

}  // namespace

void FlowCore::OnWorkerMessage(const WorkerEntry& worker, const v1::WorkerMessage& message,
                               std::vector<Tensor> payloads) {
  FlowEntry* flow = nullptr;
  switch (message.kind_case()) {
    case v1::WorkerMessage::kFlowDeployed:
      flow = FlowOf(worker, message.flow_deployed());
      if (flow != nullptr) OnDeployed(flow, worker, message.flow_deployed());
      return;
    case v1::WorkerMessage::kProgress:
      flow = FlowOf(worker, message.progress());
      if (flow != nullptr && flow->takes_part()) OnProgress(flow, worker, message.progress());
      return;
    case v1::WorkerMessage::kFlowOutput:
      flow = FlowOf(worker, message.flow_output());
      if (flow == nullptr || !flow->takes_part()) return;
      return OnOutput(flow, worker, message.flow_output(), std::move(payloads));
    case v1::WorkerMessage::kFlowConsumed:
      flow = FlowOf(worker, message.flow_consumed());
      if (flow != nullptr && flow->takes_part()) OnConsumed(flow, worker, message.flow_consumed());
      return;
    case v1::WorkerMessage::kFlowRecordFailed:
      flow = FlowOf(worker, message.flow_record_failed());
      if (flow != nullptr && flow->takes_part()) {
        OnRecordFailed(flow, message.flow_record_failed());
      }
      return;
    case v1::WorkerMessage::kFlowFound:
      flow = FlowOf(worker, message.flow_found());
      if (flow != nullptr && flow->takes_part()) OnFound(flow, worker, message.flow_found());
      return;
    case v1::WorkerMessage::kFlowFailed:
      flow = FlowOf(worker, message.flow_failed());
      if (flow != nullptr && flow->takes_part()) OnFailed(flow, worker, message.flow_failed());
      return;
    case v1::WorkerMessage::kFlowStopped:
      flow = FlowOf(worker, message.flow_stopped());
      if (flow != nullptr) OnStopped(flow, worker);
      return;
    case v1::WorkerMessage::kFlowReport:
      flow = FlowOf(worker, message.flow_report());
      if (flow != nullptr) OnReport(flow, worker, message.flow_report());
      return;
    default:
      return;
  }
}

void FlowCore::OnProgress(FlowEntry* flow, const WorkerEntry& worker,
                          const v1::ProgressBatch& batch) {
  const absl::Status status = flow->progress->OnBatch(worker.id, batch, Now());
  if (!status.ok()) {
    if (!absl::IsFailedPrecondition(status)) Fail(flow, FailureOf(status, worker.name()));
    return;
  }
  std::optional<v1::FrontierUpdate> update = flow->progress->Propagate(Now());
  if (flow->progress->state() == JobProgress::State::kFailed) {
    return Fail(flow, FailureOf(flow->progress->status(), ""));
  }
  if (update.has_value()) return TellFrontiers(flow, *update);
  // What is done last where nothing comes out moves no frontier.
  if (flow->progress->state() == JobProgress::State::kCompleted) Complete(flow);
}

void FlowCore::TellFrontiers(FlowEntry* flow, const v1::FrontierUpdate& update) {
  v1::CoordinatorMessage message;
  *message.mutable_frontiers() = update;
  for (const uint64_t worker : flow->progress->working()) {
    shared_.outbox->SendToWorker(worker, message, {});
  }
  NoteComplete(flow);
  NoteLoops(flow);
  if (flow->progress->state() == JobProgress::State::kCompleted) Complete(flow);
}

// Records of a time come before the progress that says that they are all there.
void FlowCore::NoteComplete(FlowEntry* flow) {
  const auto note = [&](VertexId vertex, OutputLog* log) {
    const Topology& topology = *flow->prepared.topology;
    const std::optional<int64_t> epoch =
        LeastEpoch(flow->progress->tracker().frontier(topology.input(vertex, 0)));
    if (epoch.has_value() ? *epoch <= log->epoch() : log->finished()) return false;
    log->AddComplete(epoch.value_or(log->epoch()), !epoch.has_value());
    return true;
  };
  for (auto& [vertex, log] : flow->outputs) {
    const int64_t before = log.epoch();
    if (!note(vertex, &log)) continue;
    stats_.epochs += log.epoch() - before;
    WakeAt(*flow, vertex);
  }
  for (auto& [vertex, log] : flow->probes) {
    note(vertex, &log);
    log.Clear();
  }
}

// Trips are told apart by a time around the loop and a counter; while the first one is open, what
// enters holds the frontier.
void FlowCore::NoteLoops(FlowEntry* flow) {
  for (auto& [vertex, since] : flow->going_round) {
    std::map<Timestamp, absl::Time> now;
    const Topology& topology = *flow->prepared.topology;
    for (const Timestamp& time : flow->progress->tracker().frontier(topology.input(vertex, 0))) {
      const absl::Span<const int64_t> all = time.coordinates();
      if (all.back() == 0) continue;
      const Timestamp outer(Coordinates(all.begin(), all.end() - 1));
      const auto known = since.find(outer);
      now.emplace(outer, known == since.end() ? Now() : known->second);
    }
    since = std::move(now);
  }
}

void FlowCore::OnOutput(FlowEntry* flow, const WorkerEntry& worker, const v1::FlowOutput& output,
                        std::vector<Tensor> payloads) {
  const VertexId vertex(output.vertex());
  const auto log = flow->outputs.find(vertex);
  if (log == flow->outputs.end()) {
    return Fail(flow,
                FailureOf(absl::InternalError(StrCat("records came for vertex ", output.vertex(),
                                                     ", which is no output")),
                          worker.name()));
  }
  absl::StatusOr<RecordBatch> batch =
      BatchFrom(output.batch(), std::move(payloads), log->second.type(),
                StrCat("records of output '", log->second.name(), "'"));
  if (!batch.ok()) return Fail(flow, FailureOf(batch.status(), worker.name()));
  stats_.records_out += batch->size();
  stats_.bytes_out += batch->bytes();
  log->second.AddRecords(output.epoch(), *std::move(batch), worker.id);
  WakeAt(*flow, vertex);
}

void FlowCore::OnConsumed(FlowEntry* flow, const WorkerEntry& worker,
                          const v1::FlowConsumed& consumed) {
  const VertexId vertex(consumed.vertex());
  const auto input = flow->inputs.find(vertex);
  if (input == flow->inputs.end()) return;
  input->second.OnConsumed(consumed.bytes());
  int64_t& unconsumed = flow->unconsumed[vertex][worker.id];
  unconsumed -= std::clamp<int64_t>(consumed.bytes(), 0, unconsumed);
  WakeAt(*flow, vertex);
}

void FlowCore::OnRecordFailed(FlowEntry* flow, const v1::FlowRecordFailed& failed) {
  if (failed.time().coordinates().empty()) return;
  v1::FlowRecordFailure failure;
  failure.set_epoch(failed.time().coordinates(0));
  failure.set_origin(failed.origin());
  *failure.mutable_failure() = failed.failure();
  for (auto& [id, attachment] : attachments_) {
    if (attachment.flow != flow->id || attachment.inputs.empty()) continue;
    if (attachment.failed.size() < kMostFailed) {
      attachment.failed.push_back(failure);
    } else {
      attachment.failed.clear();
      Release(&attachment);
      attachment.over = absl::ResourceExhaustedError(
          StrCat(kMostFailed, " records have failed that client '", attachment.client,
                 "' has not heard of: it does not take what it is told"));
    }
    Wake(&attachment);
  }
}

void FlowCore::OnFound(FlowEntry* flow, const WorkerEntry& worker, const v1::FlowFound& found) {
  const VertexId id(found.vertex());
  if (id.value() >= static_cast<int64_t>(flow->flow().vertices.size())) return;
  const auto [at, is_first] =
      flow->found.try_emplace(id, FlowEntry::Found{worker.id, found.digest(), found.what()});
  if (is_first || at->second.digest == found.digest()) return;
  const FlowVertex& vertex = flow->flow().vertex(id);
  const std::string place = vertex.location.known() ? vertex.location.ToString() + ": " : "";
  Fail(flow, FailureOf(absl::FailedPreconditionError(StrCat(
                           place, "'", vertex.name, "' (", vertex.kind,
                           "): workers see different files: ", flow->names.at(at->second.worker),
                           " has ", at->second.what, "; ", worker.name(), " has ", found.what(),
                           ". All workers need the same ones, with the same sizes")),
                       worker.name()));
}

void FlowCore::OnReport(FlowEntry* flow, const WorkerEntry& worker, const v1::FlowReport& report) {
  for (const std::string& line : report.lines()) {
    // The last ones may come when the job has ended, of which was told already.
    if (!flow->ended()) {
      Note(*flow, line, worker.name());
    } else {
      shared_.jobs->AppendLog(JobOf(*flow), shared_.clock->WallNow(), worker.name(), line);
    }
  }
  FlowEntry::Report* last = &flow->reports[worker.id];
  *last = {report, Now()};
  last->message.clear_lines();
}

void FlowCore::OnFailed(FlowEntry* flow, const WorkerEntry& worker, const v1::FlowFailed& failed) {
  v1::Failure failure = failed.failure();
  failure.set_worker(worker.name());
  if (!MayBeConsequence(*flow, failure)) return Fail(flow, std::move(failure));
  if (flow->consequence.code() != 0) return;
  flow->consequence = std::move(failure);
  flow->cause_until = Now() + limits_.cause_within;
}

void FlowCore::OnStopped(FlowEntry* flow, const WorkerEntry& worker) {
  if (flow->stage != Stage::kEnding) return;
  flow->progress->OnStopped(worker.id, Now());
  FinishIfStopped(flow);
}

void FlowCore::OnWorkerDraining(const WorkerEntry& worker) {
  for (const uint64_t id : Alive()) {
    FlowEntry* flow = At(id);
    if (!flow->takes_part() || !flow->names.contains(worker.id)) continue;
    Fail(flow, FailureOf(absl::AbortedError(
                             StrCat("worker ", worker.name(), " leaves, and the flow is on it")),
                         worker.name()));
  }
}

void FlowCore::OnWorkerLost(uint64_t worker, const std::string& name, const absl::Status& reason) {
  const std::string_view why = reason.ok() ? "it closed its connection" : ToStd(reason.message());
  const absl::Status lost = absl::AbortedError(StrCat("worker ", name, " was lost: ", why));
  for (const uint64_t id : Alive()) {
    FlowEntry* flow = At(id);
    if (!flow->names.contains(worker)) continue;
    if (flow->stage == Stage::kLoading) BackToWaiting(flow);
    if (flow->progress == nullptr) continue;
    flow->progress->OnWorkerLost(worker, reason.ok() ? lost : reason, Now() + limits_.fence, Now());
    if (flow->takes_part()) Fail(flow, FailureOf(lost, name));
    if (flow->stage == Stage::kEnding) FinishIfStopped(flow);
  }
}

}  // namespace weir
