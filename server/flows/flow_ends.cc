// The ends of flows.
#include <utility>

#include "absl/strings/str_join.h"
#include "common/base/aligned_memory.h"
#include "common/base/status.h"
#include "server/flows/flow_core.h"
#include "server/flows/flow_waits.h"
#include "server/progress/explain_progress.h"

namespace weir {
namespace {

// After the end of a flow, its records go piece by piece, as connections let go of them.
constexpr int kTicksOfRelease = 20;
constexpr int kTicksBetween = 5;

absl::Status ToStatus(const v1::Failure& failure) {
  return absl::Status(static_cast<absl::StatusCode>(failure.code()), failure.message());
}

void AddTo(ProgressCounters* sum, const ProgressCounters& counters) {
  sum->bytes_in += counters.bytes_in;
  sum->bytes_out += counters.bytes_out;
  sum->batches += counters.batches;
  sum->changes += counters.changes;
  sum->refused += counters.refused;
  sum->updates += counters.updates;
  sum->frontier_moves += counters.frontier_moves;
  sum->pops += counters.pops;
}

}  // namespace

void FlowCore::Note(const FlowEntry& flow, std::string_view text, std::string_view worker) {
  JobEntry* job = JobOf(flow);
  shared_.jobs->AppendLog(job, shared_.clock->WallNow(), worker, text);
  shared_.outbox->OnJob(*job, JobEvent::kProgress);
}

void FlowCore::Cancel(const JobEntry& job) {
  FlowEntry* flow = At(job.sequence);
  if (flow->stage == Stage::kEnding || flow->ended()) return;
  Note(*flow, "cancelled");
  End(flow, v1::Job::CANCELLED, FailureOf(absl::CancelledError("the job was cancelled"), ""));
}

void FlowCore::Fail(FlowEntry* flow, v1::Failure failure) {
  if (flow->stage == Stage::kEnding || flow->ended()) return;
  shared_.jobs->AppendLog(JobOf(*flow), shared_.clock->WallNow(), failure.worker(),
                          StrCat("failed: ", failure.message()));
  End(flow, v1::Job::FAILED, std::move(failure));
}

// What a cancelled flow has not told yet must not look complete; of a failed one it is.
void FlowCore::End(FlowEntry* flow, v1::Job::State state, v1::Failure failure) {
  flow->ends_as = state;
  flow->failure = std::move(failure);
  if (state == v1::Job::CANCELLED) {
    for (auto& [vertex, log] : flow->outputs) log.Clear();
  }
  if (flow->progress == nullptr) return Finish(flow);
  const FlowWaits known(*flow, attachments_, *shared_.workers, Now());
  flow->last_words = Dump(*flow->progress, known.WithDetails(WaitsOf(*flow->progress)), Now());
  flow->stage = Stage::kEnding;
  flow->progress->Cancel(ToStatus(flow->failure), Now());
  TellToStop(*flow, flow->failure.message());
  FinishIfStopped(flow);
}

void FlowCore::TellToStop(const FlowEntry& flow, std::string_view why) {
  v1::CoordinatorMessage message;
  flow.Label(message.mutable_stop_flow())->set_reason(std::string(why));
  for (const uint64_t worker : flow.workers) {
    if (shared_.workers->Find(worker) != nullptr) {
      shared_.outbox->SendToWorker(worker, message, {});
    }
  }
}

void FlowCore::FinishIfStopped(FlowEntry* flow) {
  if (flow->progress->state() == JobProgress::State::kCancelled) return Finish(flow);
  std::vector<std::string> names;
  for (const uint64_t worker : flow->progress->not_stopped(Now())) {
    names.push_back(flow->names.at(worker));
  }
  JobEntry* job = JobOf(*flow);
  job->view.set_waits_for(StrCat("the end on ", absl::StrJoin(names, ", ")));
  *job->view.mutable_failure() = flow->failure;
  shared_.outbox->OnJob(*job, JobEvent::kProgress);
}

// Nothing is outstanding and nothing can come: workers only have to forget the flow.
void FlowCore::Complete(FlowEntry* flow) {
  flow->ends_as = v1::Job::SUCCEEDED;
  TellToStop(*flow, "the flow is complete");
  Finish(flow);
}

void FlowCore::Finish(FlowEntry* flow) {
  for (const auto& [name, program] : flow->programs) {
    if (ProgramEntry* entry = shared_.programs->Find(program)) --entry->jobs;
  }
  for (const uint64_t id : flow->workers) {
    if (WorkerEntry* worker = shared_.workers->Find(id)) --worker->runs;
  }
  if (flow->progress != nullptr) {
    flow->counters = flow->progress->counters();
    AddTo(&stats_.progress, flow->counters);
    flow->progress = nullptr;
  }
  flow->stage = Stage::kEnded;
  alive_.erase(flow->id);
  ++stats_.ended[flow->ends_as];
  JobEntry* job = JobOf(*flow);
  job->view.clear_waits_for();
  job->view.set_state(flow->ends_as);
  if (flow->ends_as != v1::Job::SUCCEEDED) *job->view.mutable_failure() = flow->failure;
  job->view.set_ended_unix_ms(absl::ToUnixMillis(shared_.clock->WallNow()));
  shared_.outbox->OnJob(*job, JobEvent::kEnded);
  WakeAll(*flow);
  BoundKept();
  ticks_of_release_ = kTicksOfRelease;
}

void FlowCore::BoundKept() {
  int64_t bytes = 0;
  for (auto at = flows_.rbegin(); at != flows_.rend(); ++at) {
    FlowEntry& flow = at->second;
    if (!flow.ended()) continue;
    for (const auto& [vertex, log] : flow.outputs) bytes += log.kept_bytes();
    if (bytes <= limits_.max_kept_result_bytes) continue;
    for (auto& [vertex, log] : flow.outputs) log.Drop();
    WakeAll(flow);
  }
}

void FlowCore::FailAll(const absl::Status& reason) {
  for (const uint64_t id : Alive()) {
    FlowEntry* flow = At(id);
    Fail(flow, FailureOf(reason, ""));
    if (!flow->ended()) Finish(flow);
  }
}

void FlowCore::OnTick() {
  if (ticks_of_release_ > 0 && --ticks_of_release_ % kTicksBetween == 0) ReleaseKeptMemory();
  for (const uint64_t id : Alive()) {
    FlowEntry* flow = At(id);
    if (flow->takes_part() && Now() >= flow->cause_until) {
      Fail(flow, v1::Failure(flow->consequence));
    }
    if (flow->stage != Stage::kEnding) continue;
    flow->progress->OnTick(Now());
    if (flow->progress->state() == JobProgress::State::kCancelled) Finish(flow);
  }
}

FlowEntry* FlowCore::At(uint64_t id) {
  const auto found = flows_.find(id);
  if (found == flows_.end()) return nullptr;
  if (shared_.jobs->Get(id) != nullptr) return &found->second;
  flows_.erase(found);
  return nullptr;
}

void FlowCore::Forget() {
  std::vector<uint64_t> ids;
  for (const auto& [id, flow] : flows_) ids.push_back(id);
  for (const uint64_t id : ids) At(id);
}

FlowStats FlowCore::Stats() const {
  FlowStats stats = stats_;
  stats.deployed = static_cast<int64_t>(alive_.size());
  stats.clients = static_cast<int64_t>(attachments_.size());
  for (const uint64_t id : alive_) {
    const FlowEntry& flow = flows_.at(id);
    if (flow.stage < Stage::kRunning) ++stats.waiting;
    if (flow.progress != nullptr) AddTo(&stats.progress, flow.progress->counters());
    for (const auto& [worker, report] : flow.reports) {
      stats.kept_bytes += report.message.kept_bytes();
      stats.spilled_bytes += report.message.spilled_bytes();
    }
  }
  return stats;
}

}  // namespace weir
