#include "server/jobs/coordinator.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "common/base/log.h"
#include "common/base/random.h"
#include "common/base/status.h"
#include "common/base/version.h"
#include "common/ir/text.h"
#include "common/net/event_loop.h"
#include "common/plan/frames.h"
#include "common/tensor/digest.h"
#include "server/jobs/compile_threads.h"
#include "server/jobs/waiters.h"

namespace weir {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(100);
// Larger constants are named in explanations, not written out.
constexpr int64_t kExplainedElements = 65536;

std::string BlobName(const Tensor& tensor) {
  return tensor.num_elements() > kExplainedElements ? ContentDigest(tensor) : "";
}

JobOutcome OutcomeOf(const JobEntry& job) { return {job.view, job.results, job.results_kept}; }

v1::Fallback ToMessage(const Fallback& fallback) {
  v1::Fallback out;
  out.set_op(fallback.op);
  out.set_node(fallback.node);
  out.set_location(fallback.location.ToString());
  out.set_reason(fallback.reason);
  return out;
}

absl::StatusOr<std::shared_ptr<const CompiledProgram>> CompileWithStages(const v1::Program& program,
                                                                         Explanation* explanation) {
  const StageFn on_stage = [explanation](const Pass& pass, const Graph& graph) {
    v1::ExplainStage& stage = explanation->stages.emplace_back();
    stage.set_name(std::string(pass.name));
    stage.set_why(std::string(pass.why));
    stage.set_text(Print(graph, {.blob_name = BlobName}));
  };
  WEIR_ASSIGN_OR_RETURN(std::shared_ptr<const CompiledProgram> compiled,
                        CompileProgram(program, on_stage));
  for (const Fallback& fallback : compiled->report.fallbacks) {
    explanation->fallbacks.push_back(ToMessage(fallback));
  }
  explanation->notes = compiled->report.notes;
  return compiled;
}

}  // namespace

// The core runs under a mutex, on whichever thread brings it something to do: a request or a frame
// needs no hop to another thread. Callbacks are collected and called after the mutex is released.
class Coordinator::Impl : public CoordinatorOutbox, public std::enable_shared_from_this<Impl> {
 public:
  // One entry into the core.
  class Turn {
   public:
    explicit Turn(Impl* impl) : impl_(impl), lock_(impl->mutex_) {}
    ~Turn() {
      impl_->NoteWorkers();
      std::vector<std::function<void()>> calls = std::move(impl_->deferred_);
      impl_->deferred_.clear();
      lock_.unlock();
      for (std::function<void()>& call : calls) call();
    }

   private:
    Impl* const impl_;
    std::unique_lock<std::mutex> lock_;
  };

  Impl(CoordinatorOptions options, std::unique_ptr<Journal> journal)
      : options_(options),
        journal_(std::move(journal)),
        core_(
            options.limits, RealClock(), [] { return UniqueName("job-"); }, this),
        ticker_(MakeThreadEventLoop("coordinator")),
        loop_(ticker_.get()),
        compilers_(std::make_unique<CompileThreads>(options.compile_threads)) {}

  void Begin() {
    Restore();
    loop_->Post([weak = weak_from_this()] {
      if (auto self = weak.lock()) self->Tick();
    });
  }

  void Stop() {
    std::map<uint64_t, std::shared_ptr<Link>> links;
    {
      Turn turn(this);
      stopping_ = true;
      core_.Drain();
      core_.FailAll(absl::CancelledError("the coordinator stops"));
      links.swap(links_);
    }
    for (auto& [id, link] : links) link->Close(absl::OkStatus());
    compilers_.reset();
    // The loop may be in the middle of a tick, which needs loop_ until the thread has been joined.
    ticker_.reset();
  }

  void Accept(std::shared_ptr<Link> link) {
    uint64_t id = 0;
    {
      Turn turn(this);
      if (stopping_) return;
      id = next_worker_++;
      links_[id] = link;
      core_.OnWorkerConnected(id);
    }
    Log(LogLevel::kDebug, "a worker connects", {{"from", link->peer_address()}});
    std::weak_ptr<Impl> weak = weak_from_this();
    // The callbacks keep the link until it has ended, so that a last message leaves.
    link->Start({.on_frame =
                     [weak, id](Frame frame, Credit) {
                       if (auto self = weak.lock()) self->OnFrame(id, frame);
                     },
                 .on_writable = [] {},
                 .on_closed =
                     [weak, id, link](const absl::Status& reason) {
                       if (auto self = weak.lock()) self->OnClosed(id, reason);
                     }});
  }

  // --- CoordinatorOutbox. Called in a Turn.

  void SendToWorker(uint64_t worker, const v1::CoordinatorMessage& message,
                    std::vector<Tensor> payloads) override {
    auto link = links_.find(worker);
    if (link == links_.end()) return;
    const absl::Status status = link->second->Send(EncodeFrame(message, payloads));
    if (!status.ok()) Log(LogLevel::kDebug, "cannot send to a worker", {{"why", status}});
  }

  void CloseWorker(uint64_t worker, const absl::Status& reason) override {
    auto link = links_.extract(worker);
    if (link.empty()) return;
    if (!reason.ok()) {
      Log(LogLevel::kWarning, "connection to a worker closed",
          {{"worker", link.mapped()->peer_greeting()}, {"why", reason}});
    }
    link.mapped()->Close(reason);
  }

  void Compile(uint64_t program, const v1::Program& source) override {
    compilers_->Submit([this, program, source] {
      auto compiled = CompileProgram(source);
      Turn turn(this);
      core_.OnCompiled(program, std::move(compiled));
    });
  }

  void OnJob(const JobEntry& job, JobEvent event) override {
    if (event != JobEvent::kProgress) journal_->Put({job.view, job.digest.ToString()});
    if (event == JobEvent::kEnded && job.view.state() == v1::Job::FAILED) {
      Log(LogLevel::kInfo, "job failed",
          {{"job", job.view.id()},
           {"worker", job.view.failure().worker()},
           {"why", job.view.failure().message()}});
    }
    if (event == JobEvent::kAccepted) return;
    for (OnOutcome& done : waiters_.Take(job.view.id(), job.ended(), job.next_log_offset)) {
      deferred_.push_back([done = std::move(done), outcome = OutcomeOf(job)]() mutable {
        done(std::move(outcome));
      });
    }
  }

  void Defer(std::function<void()> call) override { deferred_.push_back(std::move(call)); }

  // --- What the public methods need. REQUIRES: in a Turn.

  CoordinatorCore& core() { return core_; }

  absl::StatusOr<uint64_t> AddWaiter(std::string_view job_id, uint64_t log_offset, OnOutcome done) {
    WEIR_ASSIGN_OR_RETURN(JobEntry * job, core_.Find(job_id));
    const bool news =
        log_offset != Waiters<JobOutcome>::kEndOnly && log_offset < job->next_log_offset;
    if (!job->ended() && !news) return waiters_.Add(job->view.id(), log_offset, std::move(done));
    deferred_.push_back([done = std::move(done), outcome = OutcomeOf(*job)]() mutable {
      done(std::move(outcome));
    });
    return 0;
  }

  void RemoveWaiter(uint64_t waiter) { waiters_.Remove(waiter); }

  uint64_t WatchWorkers(std::function<void(int ready)> callback) {
    deferred_.push_back([callback, ready = ready_workers_] { callback(ready); });
    watchers_[next_watcher_] = std::move(callback);
    return next_watcher_++;
  }

  void StopWatchingWorkers(uint64_t watcher) { watchers_.erase(watcher); }

  // --- Outside of turns.

  void Explain(v1::Program program, OnExplained done) {
    compilers_->Submit([this, program = std::move(program), done = std::move(done)] {
      Explanation explanation;
      auto compiled = CompileWithStages(program, &explanation);
      if (!compiled.ok()) return done(compiled.status());
      const std::string key = ProgramKey(program);
      {
        Turn turn(this);
        explanation.compilations = core_.Install(key, *std::move(compiled));
      }
      done(std::move(explanation));
    });
  }

  absl::Status Drain(absl::Duration limit) {
    const absl::Time deadline = RealClock()->Now() + limit;
    while (true) {
      {
        Turn turn(this);
        core_.Drain();
        if (core_.idle()) return absl::OkStatus();
        if (RealClock()->Now() >= deadline) {
          core_.FailAll(absl::UnavailableError("the coordinator was stopped"));
          return absl::DeadlineExceededError(
              StrCat("jobs were still running after ", absl::FormatDuration(limit)));
        }
      }
      absl::SleepFor(absl::Milliseconds(20));
    }
  }

  const Limits& limits() const { return options_.limits; }
  Journal& journal() { return *journal_; }

 private:
  void Restore() {
    absl::StatusOr<std::vector<JournalEntry>> entries = journal_->Load();
    if (!entries.ok()) {
      Log(LogLevel::kError, "the journal cannot be read", {{"why", entries.status()}});
      return;
    }
    Turn turn(this);
    for (JournalEntry& entry : *entries) {
      core_.Restore(std::move(entry.job), SpecDigest::FromString(entry.spec_digest));
    }
  }

  void Tick() {
    {
      Turn turn(this);
      core_.OnTick();
    }
    loop_->PostAfter(kTick, [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->Tick();
    });
  }

  void OnFrame(uint64_t worker, const Frame& frame) {
    absl::StatusOr<FromWorker> decoded = DecodeFromWorker(frame);
    Turn turn(this);
    if (!decoded.ok()) {
      CloseWorker(worker, decoded.status());
      return core_.OnWorkerClosed(worker, decoded.status());
    }
    core_.OnWorkerMessage(worker, decoded->message, std::move(decoded->payloads));
  }

  void OnClosed(uint64_t worker, const absl::Status& reason) {
    Turn turn(this);
    if (links_.erase(worker) > 0 && !stopping_) {
      Log(LogLevel::kInfo, "the connection to a worker ended", {{"why", reason}});
    }
    core_.OnWorkerClosed(worker, reason);
  }

  // REQUIRES: in a Turn.
  void NoteWorkers() {
    const int ready = core_.workers().CountReady();
    if (ready == ready_workers_) return;
    Log(LogLevel::kInfo, "the number of ready workers changed", {{"ready", ready}});
    ready_workers_ = ready;
    for (const auto& [id, callback] : watchers_) {
      deferred_.push_back([callback, ready] { callback(ready); });
    }
  }

  const CoordinatorOptions options_;
  const std::unique_ptr<Journal> journal_;

  std::mutex mutex_;  // guards what follows, up to core_
  bool stopping_ = false;
  std::vector<std::function<void()>> deferred_;
  Waiters<JobOutcome> waiters_;
  std::map<uint64_t, std::shared_ptr<Link>> links_;
  uint64_t next_worker_ = 1;
  int ready_workers_ = 0;
  uint64_t next_watcher_ = 1;
  std::map<uint64_t, std::function<void(int ready)>> watchers_;
  CoordinatorCore core_;

  std::unique_ptr<EventLoop> ticker_;
  EventLoop* const loop_;
  std::unique_ptr<CompileThreads> compilers_;
};

Coordinator::Coordinator(CoordinatorOptions options, std::unique_ptr<Journal> journal)
    : impl_(std::make_shared<Impl>(options, std::move(journal))) {
  impl_->Begin();
}

Coordinator::~Coordinator() { impl_->Stop(); }

OnAccept Coordinator::Acceptor() {
  return [weak = std::weak_ptr<Impl>(impl_)](std::shared_ptr<Link> link) {
    if (auto impl = weak.lock()) impl->Accept(std::move(link));
  };
}

absl::StatusOr<CoordinatorCore::Accepted> Coordinator::Submit(Submission submission) {
  WEIR_ASSIGN_OR_RETURN(PreparedSubmission prepared,
                        Prepare(std::move(submission), impl_->limits()));
  Impl::Turn turn(impl_.get());
  return impl_->core().Submit(std::move(prepared));
}

void Coordinator::WhenDurable(OnDurable done) { impl_->journal().WhenDurable(std::move(done)); }

absl::StatusOr<v1::Job> Coordinator::Get(std::string_view job_id) {
  Impl::Turn turn(impl_.get());
  WEIR_ASSIGN_OR_RETURN(JobEntry * job, impl_->core().Find(job_id));
  return job->view;
}

absl::StatusOr<v1::ListResponse> Coordinator::List(const v1::ListRequest& request) {
  Impl::Turn turn(impl_.get());
  return impl_->core().List(request);
}

absl::StatusOr<v1::Job> Coordinator::Cancel(std::string_view job_id) {
  Impl::Turn turn(impl_.get());
  return impl_->core().Cancel(job_id);
}

absl::StatusOr<uint64_t> Coordinator::WhenEnded(std::string_view job_id, OnOutcome done) {
  Impl::Turn turn(impl_.get());
  return impl_->AddWaiter(job_id, Waiters<JobOutcome>::kEndOnly, std::move(done));
}

absl::StatusOr<uint64_t> Coordinator::WhenChanged(std::string_view job_id, uint64_t log_offset,
                                                  OnOutcome done) {
  Impl::Turn turn(impl_.get());
  return impl_->AddWaiter(job_id, log_offset, std::move(done));
}

void Coordinator::StopWaiting(uint64_t waiter) {
  Impl::Turn turn(impl_.get());
  impl_->RemoveWaiter(waiter);
}

absl::StatusOr<JobOutcome> Coordinator::Wait(std::string_view job_id, absl::Time deadline) {
  // Shared with the callback, which may come after this has returned.
  struct Slot {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<JobOutcome> outcome;
  };
  auto slot = std::make_shared<Slot>();
  WEIR_ASSIGN_OR_RETURN(const uint64_t waiter, WhenEnded(job_id, [slot](JobOutcome outcome) {
                          std::lock_guard lock(slot->mutex);
                          slot->outcome = std::move(outcome);
                          slot->changed.notify_all();
                        }));
  {
    std::unique_lock lock(slot->mutex);
    auto ended = [&] { return slot->outcome.has_value(); };
    if (deadline == absl::InfiniteFuture()) {
      slot->changed.wait(lock, ended);
    } else {
      slot->changed.wait_until(lock, absl::ToChronoTime(deadline), ended);
    }
    if (ended()) return *std::move(slot->outcome);
  }
  StopWaiting(waiter);
  WEIR_ASSIGN_OR_RETURN(v1::Job job, Get(job_id));
  return JobOutcome{std::move(job), {}, false};
}

absl::StatusOr<JobOutcome> Coordinator::Result(std::string_view job_id) {
  Impl::Turn turn(impl_.get());
  WEIR_ASSIGN_OR_RETURN(JobEntry * job, impl_->core().Find(job_id));
  if (job->view.is_flow()) {
    return absl::FailedPreconditionError(
        StrCat("job ", job_id, " is a flow: what comes out of it goes to who is attached to it"));
  }
  if (job->view.state() != v1::Job::SUCCEEDED) {
    return absl::FailedPreconditionError(StrCat("job ", job_id, " has no results: its state is ",
                                                v1::Job::State_Name(job->view.state())));
  }
  if (!job->results_kept) {
    return absl::FailedPreconditionError(
        StrCat("the results of job ", job_id, " are not kept any more"));
  }
  return OutcomeOf(*job);
}

void Coordinator::ReleaseResults(std::string_view job_id) {
  Impl::Turn turn(impl_.get());
  impl_->core().ReleaseResults(job_id);
}

absl::StatusOr<std::vector<v1::LogEntry>> Coordinator::Logs(std::string_view job_id,
                                                            uint64_t offset) {
  Impl::Turn turn(impl_.get());
  WEIR_ASSIGN_OR_RETURN(JobEntry * job, impl_->core().Find(job_id));
  std::vector<v1::LogEntry> entries;
  for (const v1::LogEntry& entry : job->log) {
    if (entry.offset() >= offset) entries.push_back(entry);
  }
  return entries;
}

void Coordinator::Explain(v1::Program program, OnExplained done) {
  impl_->Explain(std::move(program), std::move(done));
}

absl::StatusOr<Explanation> Coordinator::Explain(v1::Program program) {
  Explanation explanation;
  WEIR_ASSIGN_OR_RETURN(auto compiled, CompileWithStages(program, &explanation));
  const std::string key = ProgramKey(program);
  Impl::Turn turn(impl_.get());
  explanation.compilations = impl_->core().Install(key, std::move(compiled));
  return explanation;
}

std::optional<KnownProgram> Coordinator::FindProgram(std::string_view program_id) {
  Impl::Turn turn(impl_.get());
  const ProgramEntry* program = impl_->core().FindCompiled(program_id);
  if (program == nullptr) return std::nullopt;
  return KnownProgram{program->id, program->compiled};
}

std::vector<v1::Worker> Coordinator::Workers() {
  Impl::Turn turn(impl_.get());
  std::vector<v1::Worker> workers = impl_->core().workers().List(RealClock()->Now());
  const std::map<uint64_t, int64_t>& owned = impl_->core().variables().owned_bytes();
  for (v1::Worker& worker : workers) {
    const auto found = owned.find(worker.id());
    if (found != owned.end()) worker.set_variable_bytes(static_cast<uint64_t>(found->second));
  }
  return workers;
}

v1::Info Coordinator::Info() const {
  v1::Info info;
  info.set_version(kVersion);
  info.set_git_revision(kGitRevision);
  info.set_inline_bytes(impl_->limits().inline_bytes);
  info.set_max_program_bytes(impl_->limits().max_program_bytes);
  info.set_max_nodes(impl_->limits().max_nodes);
  return info;
}

CoordinatorStats Coordinator::Stats() {
  Impl::Turn turn(impl_.get());
  return impl_->core().Stats();
}

void Coordinator::Enter(const std::function<void(CoordinatorCore& core)>& visit) {
  Impl::Turn turn(impl_.get());
  visit(impl_->core());
}

const Limits& Coordinator::limits() const { return impl_->limits(); }

uint64_t Coordinator::OnWorkersChanged(std::function<void(int ready)> callback) {
  Impl::Turn turn(impl_.get());
  return impl_->WatchWorkers(std::move(callback));
}

void Coordinator::StopWatchingWorkers(uint64_t watcher) {
  Impl::Turn turn(impl_.get());
  impl_->StopWatchingWorkers(watcher);
}

absl::Status Coordinator::Drain(absl::Duration limit) { return impl_->Drain(limit); }

bool Coordinator::draining() {
  Impl::Turn turn(impl_.get());
  return impl_->core().draining();
}

}  // namespace weir
