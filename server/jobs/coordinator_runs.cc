// The part of the core that brings jobs to workers and their results back.
#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "common/base/status.h"
#include "common/plan/frames.h"
#include "common/plan/printed.h"
#include "common/plan/run_counters.h"
#include "server/jobs/coordinator_core.h"
#include "server/jobs/send_program.h"

namespace weir {
namespace {

constexpr uint64_t kGeneration = 1;

// A job whose run takes this long does not count as one of those in flight any more, so that it
// keeps no others waiting; unless there are so many of them.
constexpr absl::Duration kSlowAfter = absl::Milliseconds(100);
constexpr int64_t kMostSlowJobs = 60;

// Whether a worker's failure is what another one's end looks like from there.
bool MayBeConsequence(const v1::Failure& failure) {
  const auto code = static_cast<absl::StatusCode>(failure.code());
  return code == absl::StatusCode::kAborted || code == absl::StatusCode::kCancelled ||
         code == absl::StatusCode::kUnavailable;
}

int RankOf(const ActiveRun& run, uint64_t worker) {
  auto it = std::find(run.workers.begin(), run.workers.end(), worker);
  return it == run.workers.end() ? -1 : static_cast<int>(it - run.workers.begin());
}

// Whether several workers would have something to do.
bool IsShared(const JobEntry& job, ProgramEntry* program) {
  constexpr int kSeveral = 2;
  if (!program->compiled->may_run_whole) return program->compiled->sharded;
  const auto shape =
      program->shared_shape.For(program->compiled->plan.plan, job.bound.symbols, kSeveral);
  return !shape.ok() || (*shape)->is_shared();
}

// Positions among the plan's outputs of those that no variable takes.
std::vector<int> ResultsOf(const JobEntry& job, const v1::Plan& plan) {
  std::vector<int> results;
  for (int output = 0; output < plan.outputs_size(); ++output) {
    if (job.variables.OutputOf(static_cast<uint32_t>(output)) == nullptr) results.push_back(output);
  }
  return results;
}

std::string Milliseconds(int64_t ns) { return StrCat(ns / 1000 / 1000.0, " ms"); }

}  // namespace

void CoordinatorCore::Advance() {
  const std::vector<uint64_t> waiting = queue_;
  for (uint64_t sequence : waiting) {
    if (!HasPlace()) break;
    if (JobEntry* job = jobs_.Get(sequence)) TryStart(job);
  }
  flows_.Advance();
  variables_.Advance();
  for (uint64_t program : programs_.Prune(limits_.max_programs)) {
    v1::CoordinatorMessage message;
    message.mutable_unload_program()->set_program_id(program);
    for (auto& [id, worker] : workers_.entries()) {
      if (worker.programs.erase(program) > 0) outbox_->SendToWorker(id, message, {});
    }
  }
}

bool CoordinatorCore::HasPlace() {
  const int64_t running = static_cast<int64_t>(running_.size());
  if (running < limits_.max_jobs_in_flight) return true;
  const absl::Time slow = clock_->Now() - kSlowAfter;
  const int64_t slow_jobs = std::count_if(running_.begin(), running_.end(), [&](uint64_t sequence) {
    const JobEntry* job = jobs_.Get(sequence);
    const bool is_started = job != nullptr && job->run != nullptr && job->run->id != 0;
    return is_started && job->run->started <= slow;
  });
  return slow_jobs < kMostSlowJobs && running - slow_jobs < limits_.max_jobs_in_flight;
}

absl::Status CoordinatorCore::Bind(JobEntry* job, const CompiledProgram& program) {
  if (job->is_bound) return absl::OkStatus();
  std::vector<std::string> names = job->input_names;
  for (const JobVariables::Input& input : job->variables.inputs) {
    names.push_back(input.name);
    job->inputs.push_back(input.variable->type);
  }
  WEIR_ASSIGN_OR_RETURN(job->bound, BindInputs(program.inputs, names, std::move(job->inputs)));
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    job->bound.variables[i] = job->variables.InputOf(program.inputs[i].name);
  }
  job->inputs.clear();
  job->is_bound = true;
  v1::JobReport* report = job->view.mutable_report();
  report->set_compile_ns(program.compile_ns);
  for (const Fallback& fallback : program.report.fallbacks) {
    v1::Fallback* out = report->add_fallbacks();
    out->set_op(fallback.op);
    out->set_node(fallback.node);
    out->set_location(fallback.location.ToString());
    out->set_reason(fallback.reason);
    Note(job, StrCat("fallback: ", fallback.ToString()));
  }
  for (int output : ResultsOf(*job, program.plan.plan)) {
    job->view.add_result_names(program.plan.output_names[output]);
  }
  return absl::OkStatus();
}

absl::Status CoordinatorCore::CheckOutputs(const JobEntry& job, const v1::Plan& plan,
                                           const RunShape& shape) const {
  for (const JobVariables::Output& output : job.variables.outputs) {
    const VariableEntry& variable = *output.variable;
    if (output.result >= static_cast<uint32_t>(plan.outputs_size())) {
      return InvalidArgument("variable ", NameOf(variable), " is to become result ", output.result,
                             ", but the program has ", plan.outputs_size(), ", counted from 0 on");
    }
    const uint32_t value = plan.outputs(static_cast<int>(output.result));
    if (shape.dtype(value) == variable.type.dtype() &&
        shape.extents(value) == variable.type.extents()) {
      continue;
    }
    return InvalidArgument("variable ", NameOf(variable), " is ", variable.type.type().ToString(),
                           ", but result ", output.result, ", which it is to become, is ",
                           DTypeName(shape.dtype(value)), ExtentsToString(shape.extents(value)),
                           "; the type of a variable never changes");
  }
  return absl::OkStatus();
}

void CoordinatorCore::TryStart(JobEntry* job) {
  ProgramEntry* program = programs_.Find(job->program);
  if (program == nullptr || program->compiled == nullptr) {
    job->view.set_waits_for("the compiler");
    return;
  }
  const absl::Status status = Bind(job, *program->compiled);
  if (!status.ok()) return Fail(job, status);
  const absl::StatusOr<std::string> variable = variables_.WaitsFor(job->sequence, job->variables);
  if (!variable.ok()) return Fail(job, variable.status());
  if (!variable->empty()) return NoteWaiting(job, *variable);
  if (program->compiled->plan.plan.steps_size() == 0) {
    if (job->variables.empty()) return FinishWithoutWorkers(job, program);
    // Only owners have something to do.
    job->runs_left = 1;
    return BeginRun(job, program, {});
  }
  WorkerTable::Choice choice = workers_.Choose(IsShared(*job, program) ? job->workers_wanted : 1,
                                               variables_.OwnersOf(job->variables));
  if (choice.workers.empty()) return NoteWaiting(job, choice.waits_for);
  BeginRun(job, program, std::move(choice.workers));
}

void CoordinatorCore::NoteWaiting(JobEntry* job, const std::string& what) {
  if (job->view.waits_for() == what) return;
  job->view.set_waits_for(what);
  Note(job, StrCat("waiting for ", what));
}

void CoordinatorCore::FinishWithoutWorkers(JobEntry* job, ProgramEntry* program) {
  auto shape = program->last_shape.For(program->compiled->plan.plan, job->bound.symbols, 1);
  if (!shape.ok()) return Fail(job, shape.status());
  auto results = ResultAssembly::Make(program->compiled, *shape, job->bound,
                                      ResultsOf(*job, program->compiled->plan.plan));
  if (!results.ok()) return Fail(job, results.status());
  job->run_ns.push_back(0);
  job->view.mutable_report()->set_compilations(program->compilations);
  Succeed(job, *results->Take());
}

void CoordinatorCore::BeginRun(JobEntry* job, ProgramEntry* program,
                               std::vector<uint64_t> workers) {
  auto run = std::make_unique<ActiveRun>();
  const int world = std::max<int>(1, static_cast<int>(workers.size()));
  auto shape = program->last_shape.For(program->compiled->plan.plan, job->bound.symbols, world);
  if (!shape.ok()) return Fail(job, shape.status());
  const v1::Plan& plan = program->compiled->plan.plan;
  const absl::Status fits = CheckOutputs(*job, plan, **shape);
  if (!fits.ok()) return Fail(job, fits);
  auto results = ResultAssembly::Make(program->compiled, *shape, job->bound, ResultsOf(*job, plan));
  if (!results.ok()) return Fail(job, results.status());
  run->workers = workers;
  run->finished.assign(workers.size(), false);
  run->shape = *std::move(shape);
  run->results = *std::move(results);
  std::erase(queue_, job->sequence);
  if (std::find(running_.begin(), running_.end(), job->sequence) == running_.end()) {
    running_.push_back(job->sequence);
  }
  job->view.clear_waits_for();
  job->view.clear_workers();
  for (uint64_t id : run->workers) {
    WorkerEntry* worker = workers_.Find(id);
    ++worker->runs;
    job->view.add_workers(worker->name());
    SendProgram(*program, worker, outbox_);
  }
  job->run = std::move(run);
  if (job->view.state() != v1::Job::RUNNING) {
    job->view.set_state(v1::Job::RUNNING);
    outbox_->OnJob(*job, JobEvent::kProgress);
  }
  StartIfLoaded(job);
}

void CoordinatorCore::StartIfLoaded(JobEntry* job) {
  ActiveRun& run = *job->run;
  if (run.id != 0) return;
  bool drains = false;
  for (uint64_t id : run.workers) {
    const WorkerEntry* worker = workers_.Find(id);
    if (worker->programs.at(job->program) != WorkerEntry::Load::kLoaded) return;
    drains = drains || worker->state != v1::Worker::READY;
  }
  // Meanwhile an owner may have begun to drain.
  const auto variable = variables_.WaitsFor(job->sequence, job->variables);
  if (drains || !variable.ok() || !variable->empty()) return Requeue(job);
  // Ids rise in the order in which every worker hears of the runs.
  run.id = next_run_++;
  run_jobs_[run.id] = job->sequence;
  if (job->run_ns.empty() && !run.workers.empty()) {
    const auto& names = job->view.workers();
    const int64_t epoch = programs_.Find(job->program)->epochs++;
    Note(job, StrCat("runs on ", absl::StrJoin(names.begin(), names.end(), ", "), ", as epoch ",
                     epoch, " of its program"));
  }
  run.started = clock_->Now();
  variables_.BeginRun({.id = run.id,
                       .generation = kGeneration,
                       .plan = &programs_.Find(job->program)->compiled->plan.plan,
                       .shape = run.shape.get(),
                       .workers = &run.workers,
                       .inputs = &job->bound,
                       .variables = &job->variables});
  for (size_t rank = 0; rank < run.workers.size(); ++rank) {
    SendStart(job, static_cast<int>(rank));
  }
  if (run.workers.empty()) CompleteRun(job);
}

void CoordinatorCore::SendStart(JobEntry* job, int rank) {
  const ActiveRun& run = *job->run;
  const v1::Plan& plan = programs_.Find(job->program)->compiled->plan.plan;
  v1::CoordinatorMessage message;
  v1::StartRun* start = message.mutable_start_run();
  start->set_run_id(run.id);
  start->set_program_id(job->program);
  start->set_generation(kGeneration);
  start->set_rank(static_cast<uint32_t>(rank));
  start->set_profile(job->profile);
  start->set_memory_budget(job->memory_budget);
  for (uint64_t id : run.workers) *start->add_peers() = PeerOf(*workers_.Find(id));
  for (const auto& [symbol, value] : job->bound.symbols)
    (*start->mutable_symbols())[symbol] = value;
  std::vector<Tensor> payloads;
  for (int i = 0; i < plan.inputs_size(); ++i) {
    const uint32_t value = plan.inputs(i);
    const Need need = run.shape->NeedAt(rank, value);
    if (need == Need::kNothing || job->bound.variables[i] != nullptr) continue;
    Tensor rows = job->bound.feeds[i];
    v1::Feed* feed = start->add_feeds();
    feed->set_value(value);
    if (need == Need::kRows) {
      const RowRange range = run.shape->RowsOf(value, rank);
      feed->set_first_row(range.begin);
      rows = rows.Rows(range.begin, range.end);
    }
    *feed->mutable_header() = HeaderOf(rows);
    stats_.feed_bytes += rows.num_bytes();
    payloads.push_back(std::move(rows));
  }
  variables_.AddStores(run.id, start);
  outbox_->SendToWorker(run.workers[rank], message, std::move(payloads));
}

// ---- Workers ----

void CoordinatorCore::OnWorkerConnected(uint64_t worker) {
  workers_.Connect(worker, clock_->Now());
}

void CoordinatorCore::OnWorkerMessage(uint64_t id, const v1::WorkerMessage& message,
                                      std::vector<Tensor> payloads) {
  WorkerEntry* worker = workers_.Find(id);
  if (worker == nullptr) return;
  worker->last_heard = clock_->Now();
  if (!message.has_run_finished() && !message.has_flow_output() && !message.has_value_report()) {
    for (const Tensor& tensor : payloads) stats_.other_tensor_bytes += tensor.num_bytes();
  }
  if (message.has_register_()) return OnRegister(id, message.register_());
  if (!worker->registered()) {
    const absl::Status why = absl::FailedPreconditionError("a worker registers first");
    outbox_->CloseWorker(id, why);
    return LoseWorker(id, why);
  }
  switch (message.kind_case()) {
    case v1::WorkerMessage::kHeartbeat:
      // Answers to probes carry no size.
      if (message.heartbeat().resident_bytes() != 0) {
        worker->resident_bytes = message.heartbeat().resident_bytes();
      }
      return;
    case v1::WorkerMessage::kLog: {
      auto run = run_jobs_.find(message.log().run_id());
      if (run != run_jobs_.end())
        Note(jobs_.Get(run->second), message.log().text(), worker->name());
      return;
    }
    case v1::WorkerMessage::kDraining:
      worker->state = v1::Worker::DRAINING;
      flows_.OnWorkerDraining(*worker);
      break;
    case v1::WorkerMessage::kProgramLoaded:
      OnProgramLoaded(worker, message.program_loaded());
      break;
    case v1::WorkerMessage::kRunFinished:
      OnRunFinished(worker, message.run_finished(), std::move(payloads));
      break;
    case v1::WorkerMessage::kValueReport:
      OnValueReport(*worker, message.value_report(), std::move(payloads));
      break;
    case v1::WorkerMessage::kPeerLost:
      OnPeerLost(*worker, message.peer_lost());
      break;
    case v1::WorkerMessage::kRegister:
    case v1::WorkerMessage::KIND_NOT_SET:
      return;
    default:
      return flows_.OnWorkerMessage(*worker, message, std::move(payloads));
  }
  Advance();
}

void CoordinatorCore::OnRegister(uint64_t id, const v1::Register& hello) {
  const absl::Status status = workers_.Register(id, hello);
  v1::CoordinatorMessage message;
  if (!status.ok()) {
    message.mutable_refused()->set_reason(std::string(ToStd(status.message())));
    outbox_->SendToWorker(id, message, {});
    // With OK what is queued still leaves.
    outbox_->CloseWorker(id, absl::OkStatus());
    return LoseWorker(id, status);
  }
  v1::Registered* registered = message.mutable_registered();
  registered->set_worker_id(id);
  registered->set_heartbeat_ms(static_cast<uint32_t>(absl::ToInt64Milliseconds(limits_.heartbeat)));
  registered->set_fence_ms(static_cast<uint32_t>(absl::ToInt64Milliseconds(limits_.fence)));
  outbox_->SendToWorker(id, message, {});
  Advance();
}

void CoordinatorCore::OnProgramLoaded(WorkerEntry* worker, const v1::ProgramLoaded& loaded) {
  auto program = worker->programs.find(loaded.program_id());
  if (program == worker->programs.end()) return;
  if (loaded.has_failure()) {
    worker->programs.erase(program);
  } else {
    program->second = WorkerEntry::Load::kLoaded;
  }
  flows_.OnProgramLoaded(*worker, loaded);
  const std::vector<uint64_t> running = running_;
  for (uint64_t sequence : running) {
    JobEntry* job = jobs_.Get(sequence);
    if (job == nullptr || job->run == nullptr || job->program != loaded.program_id()) continue;
    if (RankOf(*job->run, worker->id) < 0) continue;
    if (loaded.has_failure()) {
      v1::Failure failure = loaded.failure();
      failure.set_worker(worker->name());
      Fail(job, failure);
    } else {
      StartIfLoaded(job);
    }
  }
}

void CoordinatorCore::OnRunFinished(WorkerEntry* worker, const v1::RunFinished& finished,
                                    std::vector<Tensor> payloads) {
  auto found = run_jobs_.find(finished.run_id());
  if (found == run_jobs_.end()) return;  // abandoned in the meantime
  JobEntry* job = jobs_.Get(found->second);
  ActiveRun& run = *job->run;
  const int rank = RankOf(run, worker->id);
  if (rank < 0 || run.finished[rank]) return;
  run.finished[rank] = true;
  --worker->runs;
  TakePrinted(finished, &run.printed);
  if (finished.has_failure()) return OnFailedRun(job, worker, finished.failure());
  for (const Tensor& tensor : payloads) stats_.result_bytes += tensor.num_bytes();
  const absl::Status status = run.results->Add(rank, finished, std::move(payloads));
  if (!status.ok()) {
    stats_.other_tensor_bytes += run.results->stray_bytes();
    return Fail(job, FailureOf(status, worker->name()));
  }
  AddCounters(finished.counters(), &run.counters);
  CompleteRun(job);
}

void CoordinatorCore::OnValueReport(const WorkerEntry& worker, const v1::ValueReport& report,
                                    std::vector<Tensor> payloads) {
  for (const Tensor& tensor : payloads) stats_.result_bytes += tensor.num_bytes();
  auto news = variables_.OnReport(worker, report, std::move(payloads));
  FailWithoutVariables();
  const auto found = news.has_value() ? run_jobs_.find(news->run) : run_jobs_.end();
  if (found == run_jobs_.end()) return;
  JobEntry* job = jobs_.Get(found->second);
  if (news->failure.code() != 0) {
    news->failure.set_worker(worker.name());
    return Fail(job, news->failure);
  }
  if (news->tensor.has_value()) job->run->results->AddInput(news->value, *std::move(news->tensor));
  CompleteRun(job);
}

// Of a worker that was lost the coordinator itself will know; else the job waits in vain.
void CoordinatorCore::OnPeerLost(const WorkerEntry& worker, const v1::PeerLost& lost) {
  variables_.OnPeerLost(worker.id, lost.worker_id());
  const std::vector<uint64_t> running = running_;
  for (uint64_t sequence : running) {
    JobEntry* job = jobs_.Get(sequence);
    if (job == nullptr || job->run == nullptr || job->run->consequence.code() != 0) continue;
    if (!VariableCore::Concerns(job->variables, job->run->workers, worker.id, lost.worker_id())) {
      continue;
    }
    const WorkerEntry* peer = workers_.Find(lost.worker_id());
    job->run->consequence =
        FailureOf(absl::AbortedError(
                      StrCat("worker ", peer != nullptr ? peer->name() : "of another run",
                             " cannot be reached with the value of a variable: ", lost.reason())),
                  worker.name());
    job->run->cause_until = clock_->Now() + limits_.cause_within;
  }
}

void CoordinatorCore::FailWithoutVariables() {
  const std::vector<uint64_t> running = running_;
  for (uint64_t sequence : running) {
    JobEntry* job = jobs_.Get(sequence);
    if (job == nullptr) continue;
    const absl::Status loss = variables_.LossOf(job->variables);
    if (!loss.ok()) Fail(job, loss);
  }
}

void CoordinatorCore::OnFailedRun(JobEntry* job, WorkerEntry* worker, const v1::Failure& failure) {
  ActiveRun& run = *job->run;
  // The start and the worker's farewell crossed each other.
  const bool drains = worker->state == v1::Worker::DRAINING &&
                      failure.code() == static_cast<uint32_t>(absl::StatusCode::kUnavailable);
  if (drains) return Requeue(job);
  v1::Failure named = failure;
  named.set_worker(worker->name());
  if (run.workers.size() == 1 || !MayBeConsequence(failure)) return Fail(job, named);
  if (run.consequence.code() != 0) return;
  run.consequence = std::move(named);
  run.cause_until = clock_->Now() + limits_.cause_within;
}

void CoordinatorCore::CompleteRun(JobEntry* job) {
  ActiveRun& run = *job->run;
  if (run.consequence.code() != 0) return;  // the tick decides
  const bool is_over =
      std::find(run.finished.begin(), run.finished.end(), false) == run.finished.end();
  if (!is_over || !variables_.IsComplete(run.id)) return;
  ProgramEntry* program = programs_.Find(job->program);
  job->run_ns.push_back(absl::ToInt64Nanoseconds(clock_->Now() - run.started));
  v1::JobReport* report = job->view.mutable_report();
  *report->mutable_counters() = run.counters;
  report->set_coordinator_tensor_bytes(report->coordinator_tensor_bytes() +
                                       run.results->stray_bytes());
  report->set_compilations(program->compilations);
  run_jobs_.erase(run.id);
  NotePrinted(job);
  absl::StatusOr<std::vector<Tensor>> results = run.results->Take();
  if (!results.ok()) return Fail(job, results.status());
  if (--job->runs_left == 0) {
    variables_.Commit(run.id);
    Note(job,
         StrCat("done on ", run.workers.size(), " workers in ", Milliseconds(job->run_ns.back())));
    return Succeed(job, *std::move(results));
  }
  std::vector<uint64_t> workers = std::move(run.workers);
  const bool all_ready = std::all_of(workers.begin(), workers.end(), [&](uint64_t id) {
    const WorkerEntry* worker = workers_.Find(id);
    return worker != nullptr && worker->state == v1::Worker::READY;
  });
  variables_.Abandon(run.id);
  job->run = nullptr;
  if (!all_ready) return Requeue(job);
  BeginRun(job, program, std::move(workers));
}

void CoordinatorCore::OnWorkerClosed(uint64_t worker, const absl::Status& reason) {
  LoseWorker(worker, reason);
  Advance();
}

void CoordinatorCore::LoseWorker(uint64_t id, const absl::Status& reason) {
  WorkerEntry* worker = workers_.Find(id);
  if (worker == nullptr) return;
  const std::string name = worker->name();
  const bool drains = worker->state == v1::Worker::DRAINING;
  if (workers_.Disconnect(id, clock_->Now())) ++stats_.workers_lost;
  flows_.OnWorkerLost(id, name, reason);
  const std::string_view why = reason.ok() ? "it closed its connection" : ToStd(reason.message());
  variables_.OnWorkerLost(id, name, why);
  FailWithoutVariables();
  const std::vector<uint64_t> running = running_;
  for (uint64_t sequence : running) {
    JobEntry* job = jobs_.Get(sequence);
    if (job == nullptr || job->run == nullptr) continue;
    const int rank = RankOf(*job->run, id);
    if (rank < 0) continue;
    // One that drains has flushed what it owed to others.
    if (drains && job->run->finished[rank]) continue;
    // A worker that drains ends its runs before it closes: this one crossed its farewell.
    const bool never_began = job->run->id == 0 || (drains && reason.ok());
    if (never_began) {
      Requeue(job);
      continue;
    }
    Fail(job, FailureOf(absl::AbortedError(StrCat("worker ", name, " was lost: ", why)), name));
  }
}

}  // namespace weir
