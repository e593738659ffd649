#include "server/jobs/coordinator_core.h"

#include <algorithm>
#include <utility>

#include "common/base/status.h"

namespace weir {

CoordinatorCore::CoordinatorCore(Limits limits, Clock* clock,
                                 std::function<std::string()> new_job_id, CoordinatorOutbox* outbox)
    : limits_(limits),
      clock_(clock),
      new_job_id_(std::move(new_job_id)),
      outbox_(outbox),
      workers_(limits),
      jobs_(limits),
      flows_(limits, {clock, outbox, &workers_, &programs_, &jobs_}),
      variables_(limits, {clock, outbox, &workers_}),
      last_tick_(clock->Now()) {}

// ---- Clients ----

absl::StatusOr<CoordinatorCore::Accepted> CoordinatorCore::Repeated(
    const JobEntry& job, const SpecDigest& digest) const {
  const std::string_view field = job.digest.DifferenceFrom(digest);
  if (!field.empty()) {
    return absl::AlreadyExistsError(StrCat("submission id '", job.view.submission_id(),
                                           "' is that of job ", job.view.id(),
                                           ", which differs in: ", field));
  }
  return Accepted{job.view, true, digest.program};
}

absl::StatusOr<ProgramEntry*> CoordinatorCore::ProgramFor(const PreparedSubmission& prepared) {
  ProgramEntry* program = programs_.FindByKey(prepared.program_key);
  if (program != nullptr) return program;
  if (!prepared.submission.spec.program_id().empty()) {
    return UnknownProgram(prepared.program_key);
  }
  program = programs_.Add(prepared.program_key);
  outbox_->Compile(program->id, prepared.submission.spec.program());
  return program;
}

absl::StatusOr<std::optional<CoordinatorCore::Accepted>> CoordinatorCore::Known(
    const std::string& submission_id, const SpecDigest& digest) {
  if (!submission_id.empty()) {
    if (JobEntry* existing = jobs_.FindBySubmission(submission_id)) {
      return Repeated(*existing, digest);
    }
  }
  if (draining_) return absl::UnavailableError("the coordinator is shutting down");
  return std::nullopt;
}

v1::Job CoordinatorCore::NewJob(const std::string& submission_id, const std::string& name,
                                Labels labels) {
  v1::Job view;
  view.set_id(new_job_id_());
  view.set_submission_id(submission_id);
  view.set_state(v1::Job::QUEUED);
  view.set_program_name(name);
  view.set_created_unix_ms(absl::ToUnixMillis(clock_->WallNow()));
  view.mutable_labels()->swap(labels);
  return view;
}

absl::StatusOr<CoordinatorCore::Accepted> CoordinatorCore::Submit(PreparedSubmission prepared) {
  Submission& submission = prepared.submission;
  v1::JobSpec& spec = submission.spec;
  WEIR_ASSIGN_OR_RETURN(std::optional<Accepted> known,
                        Known(spec.submission_id(), prepared.digest));
  if (known.has_value()) return *std::move(known);
  if (queue_.size() >= static_cast<size_t>(limits_.max_queued_jobs)) {
    return absl::ResourceExhaustedError(
        StrCat(queue_.size(), " jobs are waiting; at most ", limits_.max_queued_jobs, " may"));
  }
  WEIR_ASSIGN_OR_RETURN(JobVariables variables, variables_.Find(spec));
  WEIR_ASSIGN_OR_RETURN(ProgramEntry * program, ProgramFor(prepared));
  jobs_.Prune();
  JobEntry* job = jobs_.Add(NewJob(spec.submission_id(), spec.program().name(), spec.labels()),
                            std::move(prepared.digest));
  job->program = program->id;
  job->workers_wanted = spec.workers();
  job->runs_left = 1 + spec.repeat();
  job->profile = spec.profile();
  job->memory_budget = spec.memory_budget();
  job->input_names.assign(spec.input_names().begin(), spec.input_names().end());
  job->inputs = std::move(submission.inputs);
  job->variables = std::move(variables);
  variables_.Enter(job->sequence, job->view.id(), job->variables);
  ++program->jobs;
  ++stats_.jobs_accepted;
  queue_.push_back(job->sequence);
  outbox_->OnJob(*job, JobEvent::kAccepted);
  Advance();
  return Accepted{job->view, false, prepared.program_key};
}

absl::StatusOr<CoordinatorCore::Accepted> CoordinatorCore::Deploy(PreparedFlow prepared) {
  const v1::DeployRequest& request = prepared.request;
  WEIR_ASSIGN_OR_RETURN(std::optional<Accepted> known,
                        Known(request.submission_id(), prepared.digest));
  if (known.has_value()) return *std::move(known);
  jobs_.Prune();
  const std::string name = request.name().empty() ? prepared.flow->name : request.name();
  v1::Job view = NewJob(request.submission_id(), name, request.labels());
  WEIR_ASSIGN_OR_RETURN(JobEntry * job, flows_.Deploy(std::move(prepared), std::move(view)));
  ++stats_.jobs_accepted;
  Advance();
  return Accepted{job->view, false, ""};
}

absl::StatusOr<JobEntry*> CoordinatorCore::Find(std::string_view job_id) {
  JobEntry* job = jobs_.Find(job_id);
  if (job == nullptr) return absl::NotFoundError(StrCat("there is no job '", job_id, "'"));
  return job;
}

absl::StatusOr<v1::Job> CoordinatorCore::Cancel(std::string_view job_id) {
  WEIR_ASSIGN_OR_RETURN(JobEntry * job, Find(job_id));
  if (flows_.Has(*job)) {
    flows_.Cancel(*job);
  } else if (!job->ended()) {
    AbandonRun(job, "the job was cancelled");
    *job->view.mutable_failure() = FailureOf(absl::CancelledError("the job was cancelled"), "");
    Note(job, "cancelled");
    End(job, v1::Job::CANCELLED);
  }
  const v1::Job view = job->view;
  Advance();
  return view;
}

void CoordinatorCore::Restore(v1::Job job, SpecDigest digest) {
  const bool ended = HasEnded(job.state());
  if (!ended) {
    const absl::Status why = absl::AbortedError("the coordinator restarted");
    job.set_state(v1::Job::FAILED);
    job.set_ended_unix_ms(absl::ToUnixMillis(clock_->WallNow()));
    job.clear_waits_for();
    *job.mutable_failure() = FailureOf(why, "");
  }
  jobs_.Prune();
  JobEntry* entry = jobs_.Add(std::move(job), std::move(digest));
  if (!ended) outbox_->OnJob(*entry, JobEvent::kEnded);
}

int64_t CoordinatorCore::Install(const std::string& key,
                                 std::shared_ptr<const CompiledProgram> program) {
  ProgramEntry* entry = programs_.FindByKey(key);
  if (entry != nullptr) return std::max<int64_t>(1, entry->compilations);
  entry = programs_.Add(key);
  entry->compiled = std::move(program);
  entry->compilations = 1;
  ++stats_.compilations;
  return 1;
}

// ---- The compiler and time ----

void CoordinatorCore::OnCompiled(uint64_t id,
                                 absl::StatusOr<std::shared_ptr<const CompiledProgram>> compiled) {
  ProgramEntry* program = programs_.Find(id);
  if (program == nullptr) return;
  ++program->compilations;
  ++stats_.compilations;
  if (compiled.ok()) {
    program->compiled = *std::move(compiled);
  } else {
    const std::vector<uint64_t> waiting = queue_;
    for (uint64_t sequence : waiting) {
      JobEntry* job = jobs_.Get(sequence);
      if (job != nullptr && job->program == id) Fail(job, compiled.status());
    }
    flows_.OnCompileFailed(id, compiled.status());
    programs_.Remove(id);
  }
  Advance();
}

void CoordinatorCore::OnTick() {
  const absl::Time now = clock_->Now();
  // Who was not running himself has heard nothing, and nobody is to blame for it.
  const absl::Duration slept = now - last_tick_ - limits_.heartbeat;
  last_tick_ = now;
  std::vector<uint64_t> silent;
  v1::CoordinatorMessage probe;
  probe.mutable_probe();
  for (auto& [id, worker] : workers_.entries()) {
    if (slept > absl::ZeroDuration()) worker.last_heard += slept;
    const absl::Duration limit = worker.registered() ? limits_.lost_after : limits_.register_within;
    if (now - worker.last_heard >= limit) {
      silent.push_back(id);
    } else if (worker.registered() && now - worker.last_probed >= limits_.heartbeat * 0.8) {
      worker.last_probed = now;
      outbox_->SendToWorker(id, probe, {});
    }
  }
  for (uint64_t id : silent) {
    const absl::Status why = absl::UnavailableError(
        StrCat("silent for ", absl::FormatDuration(now - workers_.Find(id)->last_heard)));
    outbox_->CloseWorker(id, why);
    LoseWorker(id, why);
  }
  const std::vector<uint64_t> running = running_;
  for (uint64_t sequence : running) {
    JobEntry* job = jobs_.Get(sequence);
    if (job != nullptr && job->run != nullptr && now >= job->run->cause_until) {
      Fail(job, v1::Failure(job->run->consequence));
    }
  }
  flows_.OnTick();
  Advance();
}

void CoordinatorCore::FailAll(const absl::Status& reason) {
  std::vector<uint64_t> all = queue_;
  all.insert(all.end(), running_.begin(), running_.end());
  for (uint64_t sequence : all) Fail(jobs_.Get(sequence), reason);
  flows_.FailAll(reason);
  Advance();
}

std::vector<VariableCore::DirectUse::Value> CoordinatorCore::EndDirect(
    const VariableCore::DirectUse& use, VariableCore::Ending ending) {
  std::vector<VariableCore::DirectUse::Value> free = variables_.EndDirect(use, ending);
  if (!queue_.empty()) Advance();
  return free;
}

void CoordinatorCore::ReleaseResults(std::string_view job_id) {
  if (JobEntry* job = jobs_.Find(job_id)) jobs_.DropResults(job);
}

CoordinatorStats CoordinatorCore::Stats() const {
  CoordinatorStats stats = stats_;
  stats.flows = flows_.Stats();
  stats.feed_bytes += stats.flows.bytes_in;
  stats.result_bytes += stats.flows.bytes_out;
  for (const auto& [state, count] : stats.flows.ended) stats.jobs_ended[state] += count;
  stats.jobs_queued = static_cast<int64_t>(queue_.size()) + stats.flows.waiting;
  stats.jobs_running =
      static_cast<int64_t>(running_.size()) + stats.flows.deployed - stats.flows.waiting;
  for (const auto& [id, worker] : workers_.entries()) {
    if (worker.state == v1::Worker::READY) ++stats.workers_ready;
    if (worker.state == v1::Worker::DRAINING) ++stats.workers_draining;
    if (!worker.registered()) continue;
    const auto owned = variables_.owned_bytes().find(id);
    stats.variable_bytes[worker.name()] =
        owned == variables_.owned_bytes().end() ? 0 : owned->second;
  }
  return stats;
}

// ---- The ends of jobs ----

void CoordinatorCore::Note(JobEntry* job, std::string_view text, std::string_view worker) {
  jobs_.AppendLog(job, clock_->WallNow(), worker, text);
  outbox_->OnJob(*job, JobEvent::kProgress);
}

void CoordinatorCore::NotePrinted(JobEntry* job) {
  if (job->run == nullptr || job->run->printed.empty()) return;
  const PrintedLines printed = std::exchange(job->run->printed, PrintedLines());
  const absl::Time now = clock_->WallNow();
  for (const auto& [place, text] : printed.lines()) {
    jobs_.AppendLog(job, now, "", text)->set_is_printed(true);
  }
  if (printed.dropped() > 0) {
    jobs_.AppendLog(job, now, "", StrCat("... and ", printed.dropped(), " more lines"))
        ->set_is_printed(true);
  }
  outbox_->OnJob(*job, JobEvent::kProgress);
}

void CoordinatorCore::AbandonRun(JobEntry* job, std::string_view why) {
  if (job->run == nullptr) return;
  NotePrinted(job);
  ActiveRun& run = *job->run;
  v1::CoordinatorMessage message;
  message.mutable_cancel_run()->set_run_id(run.id);
  message.mutable_cancel_run()->set_reason(std::string(why));
  for (size_t rank = 0; rank < run.workers.size(); ++rank) {
    WorkerEntry* worker = workers_.Find(run.workers[rank]);
    if (worker == nullptr || run.finished[rank]) continue;
    --worker->runs;
    if (run.id != 0) outbox_->SendToWorker(worker->id, message, {});
  }
  run_jobs_.erase(run.id);
  variables_.Abandon(run.id);
  job->run = nullptr;
}

void CoordinatorCore::Requeue(JobEntry* job) {
  AbandonRun(job, "the run begins again on other workers");
  std::erase(running_, job->sequence);
  queue_.insert(std::lower_bound(queue_.begin(), queue_.end(), job->sequence), job->sequence);
  job->view.set_state(v1::Job::QUEUED);
  outbox_->OnJob(*job, JobEvent::kProgress);
}

void CoordinatorCore::Succeed(JobEntry* job, std::vector<Tensor> results) {
  v1::JobReport* report = job->view.mutable_report();
  std::vector<int64_t> repeats = job->run_ns;
  if (repeats.size() > 1) repeats.erase(repeats.begin());
  std::nth_element(repeats.begin(), repeats.begin() + repeats.size() / 2, repeats.end());
  report->set_first_run_ns(job->run_ns.front());
  report->set_best_run_ns(*std::min_element(repeats.begin(), repeats.end()));
  report->set_run_ns(repeats[repeats.size() / 2]);
  jobs_.KeepResults(job, std::move(results));
  End(job, v1::Job::SUCCEEDED);
}

void CoordinatorCore::Fail(JobEntry* job, const absl::Status& status) {
  Fail(job, FailureOf(status, ""));
}

void CoordinatorCore::Fail(JobEntry* job, const v1::Failure& failure) {
  AbandonRun(job, StrCat("the job failed: ", failure.message()));
  *job->view.mutable_failure() = failure;
  jobs_.AppendLog(job, clock_->WallNow(), failure.worker(), StrCat("failed: ", failure.message()));
  End(job, v1::Job::FAILED);
}

void CoordinatorCore::End(JobEntry* job, v1::Job::State state) {
  if (ProgramEntry* program = programs_.Find(job->program)) --program->jobs;
  std::erase(queue_, job->sequence);
  std::erase(running_, job->sequence);
  variables_.Leave(job->sequence, std::exchange(job->variables, {}));
  job->run = nullptr;
  job->inputs.clear();
  job->bound = {};
  job->view.clear_waits_for();
  job->view.set_state(state);
  job->view.set_ended_unix_ms(absl::ToUnixMillis(clock_->WallNow()));
  ++stats_.jobs_ended[state];
  outbox_->OnJob(*job, JobEvent::kEnded);
}

}  // namespace weir
