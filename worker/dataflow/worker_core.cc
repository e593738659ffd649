#include "worker/dataflow/worker_core.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/status.h"
#include "common/plan/frames.h"
#include "common/plan/printed.h"

namespace weir {
namespace {

absl::Time NextHeartbeat(absl::Time last, const v1::Registered& registered) {
  return last + absl::Milliseconds(registered.heartbeat_ms());
}

// Of two budgets, of which 0 is none.
int64_t Smaller(int64_t a, int64_t b) {
  if (a <= 0 || b <= 0) return std::max<int64_t>(0, std::max(a, b));
  return std::min(a, b);
}

// Never OK: a failure without a code is one too.
absl::Status StatusOf(const v1::Failure& failure) {
  const auto code = static_cast<absl::StatusCode>(failure.code());
  return absl::Status(code == absl::StatusCode::kOk ? absl::StatusCode::kUnknown : code,
                      failure.message());
}

}  // namespace

WorkerCore::WorkerCore(std::string name, WorkerOutbox* outbox, Options options)
    : name_(std::move(name)), outbox_(outbox), options_(options) {}

void WorkerCore::OnCoordinatorMessage(const v1::CoordinatorMessage& message,
                                      std::vector<Tensor> payloads, absl::Time now) {
  last_heard_ = now;
  switch (message.kind_case()) {
    case v1::CoordinatorMessage::kRegistered:
      registered_ = message.registered();
      break;
    case v1::CoordinatorMessage::kLoadProgram:
      LoadProgram(message.load_program(), std::move(payloads));
      break;
    case v1::CoordinatorMessage::kStartRun:
      StartRun(message.start_run(), std::move(payloads));
      break;
    case v1::CoordinatorMessage::kCancelRun:
      EndRun(message.cancel_run().run_id(), absl::CancelledError(message.cancel_run().reason()));
      break;
    case v1::CoordinatorMessage::kUnloadProgram:
      programs_.erase(message.unload_program().program_id());
      break;
    case v1::CoordinatorMessage::kValues:
      Obey(message.values(), std::move(payloads));
      break;
    case v1::CoordinatorMessage::kProbe: {
      v1::WorkerMessage answer;
      answer.mutable_heartbeat()->set_runs(static_cast<uint32_t>(runs_.size()));
      outbox_->SendToCoordinator(answer, {});
      break;
    }
    default:  // Refused is for the service, the rest for the flows
      break;
  }
}

v1::Failure WorkerCore::MakeFailure(const absl::Status& status) const {
  v1::Failure failure;
  failure.set_code(static_cast<uint32_t>(status.code()));
  failure.set_message(std::string(ToStd(status.message())));
  failure.set_worker(name_);
  return failure;
}

void WorkerCore::LoadProgram(const v1::LoadProgram& load, std::vector<Tensor> payloads) {
  v1::WorkerMessage refusal;
  refusal.mutable_program_loaded()->set_program_id(load.program_id());
  v1::Failure* failure = refusal.mutable_program_loaded()->mutable_failure();
  if (payloads.size() != static_cast<size_t>(load.blobs_size())) {
    *failure = MakeFailure(InvalidArgument("program ", load.program_id(), ": ", payloads.size(),
                                           " constants came for ", load.blobs_size(), " names"));
    return outbox_->SendToCoordinator(refusal, {});
  }
  for (int i = 0; i < load.blobs_size(); ++i) {
    blobs_.insert_or_assign(load.blobs(i), std::move(payloads[i]));
  }
  auto program = std::make_shared<Program>();
  program->id = load.program_id();
  program->plan = load.plan();
  for (const std::string& name : load.plan().blobs()) {
    auto it = blobs_.find(name);
    if (it == blobs_.end()) {
      *failure = MakeFailure(absl::NotFoundError(StrCat("constant ", name, " was not sent")));
      return outbox_->SendToCoordinator(refusal, {});
    }
    program->blobs.insert(*it);
  }
  programs_[program->id] = program;
  outbox_->Prepare(std::move(program));
}

void WorkerCore::OnProgramReady(uint64_t program_id, const absl::Status& status) {
  auto it = programs_.find(program_id);
  if (it == programs_.end()) return;
  v1::WorkerMessage message;
  message.mutable_program_loaded()->set_program_id(program_id);
  if (status.ok()) {
    it->second->ready = true;
  } else {
    *message.mutable_program_loaded()->mutable_failure() = MakeFailure(status);
    programs_.erase(it);
  }
  outbox_->SendToCoordinator(message, {});
}

void WorkerCore::StartRun(const v1::StartRun& start, std::vector<Tensor> payloads) {
  // Starts come in the order of their ids: what waits for an earlier run waits in vain.
  early_.erase(early_.begin(), early_.lower_bound(start.run_id()));
  early_aborts_.erase(early_aborts_.begin(), early_aborts_.lower_bound(start.run_id()));
  const absl::Status status = CreateRun(start, std::move(payloads));
  if (status.ok()) return;
  runs_.erase(start.run_id());
  early_.erase(start.run_id());
  v1::WorkerMessage message;
  message.mutable_run_finished()->set_run_id(start.run_id());
  *message.mutable_run_finished()->mutable_failure() = MakeFailure(status);
  outbox_->SendToCoordinator(message, {});
}

std::shared_ptr<Program> WorkerCore::FindProgram(uint64_t id) const {
  const auto program = programs_.find(id);
  return program != programs_.end() && program->second->ready ? program->second : nullptr;
}

absl::StatusOr<std::unique_ptr<WorkerCore::StartedRun>> WorkerCore::MakeRun(
    const v1::StartRun& start, std::shared_ptr<Program> program) const {
  const int world = start.peers_size();
  if (world == 0 || start.rank() >= static_cast<uint32_t>(world)) {
    return InvalidArgument("run ", start.run_id(), ": rank ", start.rank(), " of ", world,
                           " workers");
  }
  RunSpec spec{.id = start.run_id(),
               .rank = static_cast<int>(start.rank()),
               .symbols = {start.symbols().begin(), start.symbols().end()},
               .memory_budget = Smaller(start.memory_budget(), options_.memory_budget),
               .profile = start.profile()};
  WEIR_ASSIGN_OR_RETURN(std::shared_ptr<const RunShape> shape,
                        program->last_shape.For(program->plan, spec.symbols, world));
  return std::make_unique<StartedRun>(
      StartedRun{start, Run(std::move(spec), std::move(program), std::move(shape))});
}

absl::Status WorkerCore::CreateRun(const v1::StartRun& start, std::vector<Tensor> payloads) {
  if (draining_) return absl::UnavailableError(StrCat("worker ", name_, " is draining"));
  std::shared_ptr<Program> program = FindProgram(start.program_id());
  if (program == nullptr) {
    return absl::FailedPreconditionError(
        StrCat("run ", start.run_id(), ": program ", start.program_id(), " is not loaded"));
  }
  if (payloads.size() != static_cast<size_t>(start.feeds_size())) {
    return InvalidArgument("run ", start.run_id(), ": ", payloads.size(), " tensors came for ",
                           start.feeds_size(), " feeds");
  }
  WEIR_ASSIGN_OR_RETURN(std::unique_ptr<StartedRun> made, MakeRun(start, std::move(program)));
  StartedRun* started = (runs_[start.run_id()] = std::move(made)).get();
  Run& run = started->run;
  for (int i = 0; i < start.feeds_size(); ++i) {
    if (start.stores_size() > 0) {
      started->memory_of_clients.push_back(payloads[i].buffer().get());
    }
    WEIR_RETURN_IF_ERROR(
        run.AddRows(start.feeds(i).value(), 0, start.feeds(i).first_row(), std::move(payloads[i])));
  }
  if (auto abort = early_aborts_.extract(start.run_id()); !abort.empty()) {
    return StatusOf(abort.mapped().failure());
  }
  if (auto early = early_.extract(start.run_id()); !early.empty()) {
    for (Early& rows : early.mapped()) {
      WEIR_RETURN_IF_ERROR(AddRows(rows.rows, std::move(rows.payload), started));
    }
  }
  Advance(started);
  return absl::OkStatus();
}

void WorkerCore::Advance(StartedRun* started) {
  absl::StatusOr<std::optional<StepTask>> task = started->run.NextStep();
  SendMade(started);
  if (!task.ok()) return Finish(started, task.status());
  if (task->has_value()) return outbox_->Execute(**std::move(task));
  if (started->run.done()) Finish(started, absl::OkStatus());
}

void WorkerCore::OnStepDone(uint64_t run_id, int step, absl::StatusOr<std::vector<Tensor>> outputs,
                            const StepStats& stats) {
  auto it = runs_.find(run_id);
  if (it == runs_.end()) return;
  StartedRun* started = it->second.get();
  Run& run = started->run;
  if (stats.lines != nullptr) run.lines().Add(std::move(*stats.lines));
  if (!outputs.ok()) return Finish(started, outputs.status());
  const absl::Status status = run.FinishStep(step, *std::move(outputs), stats);
  if (!status.ok()) return Finish(started, status);
  Advance(started);
}

void WorkerCore::SendMade(StartedRun* started) {
  Run& run = started->run;
  for (Run::Outgoing& outgoing : run.TakeOutgoing()) {
    Tensor& part = outgoing.part.rows;
    v1::PeerMessage message;
    v1::Rows* rows = message.mutable_rows();
    rows->set_run_id(run.id());
    rows->set_generation(started->start.generation());
    rows->set_value(outgoing.value);
    rows->set_version(outgoing.version);
    rows->set_first_row(outgoing.part.first_row);
    rows->set_from_rank(static_cast<uint32_t>(run.rank()));
    *rows->mutable_header() = HeaderOf(part);
    v1::RunCounters& counters = run.counters();
    counters.set_peer_bytes_sent(counters.peer_bytes_sent() + part.num_bytes());
    outbox_->SendToPeer(started->start.peers(outgoing.rank), message, {std::move(part)});
  }
}

void WorkerCore::OnPeerMessage(const v1::PeerMessage& message, std::vector<Tensor> payloads) {
  if (message.has_abort()) {
    if (!runs_.contains(message.abort().run_id())) {
      if (message.abort().run_id() > last_finished_run_) {
        early_aborts_[message.abort().run_id()] = message.abort();
      }
      return;
    }
    return EndRun(message.abort().run_id(), StatusOf(message.abort().failure()));
  }
  if (payloads.size() != 1) return;
  if (message.has_rows()) {
    auto started = runs_.find(message.rows().run_id());
    if (started != runs_.end()) {
      v1::RunCounters& counters = started->second->run.counters();
      counters.set_peer_bytes_received(counters.peer_bytes_received() + payloads[0].num_bytes());
    }
    TakeRows(message.rows(), std::move(payloads[0]));
  } else if (message.has_value_rows()) {
    AddToValue(message.value_rows().id(), message.value_rows().first_row(), std::move(payloads[0]));
  }
}

void WorkerCore::TakeRows(const v1::Rows& rows, Tensor payload) {
  auto it = runs_.find(rows.run_id());
  if (it == runs_.end()) {
    if (rows.run_id() > last_finished_run_) {
      early_[rows.run_id()].push_back({rows, std::move(payload)});
    }
    return;
  }
  StartedRun* started = it->second.get();
  if (rows.generation() != started->start.generation()) return;
  const absl::Status status = AddRows(rows, std::move(payload), started);
  if (!status.ok()) return Finish(started, status);
  Advance(started);
}

absl::Status WorkerCore::AddRows(const v1::Rows& rows, Tensor payload, StartedRun* started) {
  if (started->run.IsFeed(rows.value())) {
    started->memory_of_variables.push_back(payload.buffer().get());
  }
  return started->run.AddRows(rows.value(), rows.version(), rows.first_row(), std::move(payload));
}

void WorkerCore::OnPeerLost(uint64_t worker_id, const absl::Status& reason) {
  std::vector<std::pair<uint64_t, std::string>> affected;
  for (const auto& [id, started] : runs_) {
    for (const v1::Peer& peer : started->start.peers()) {
      if (peer.worker_id() == worker_id) affected.push_back({id, peer.name()});
    }
  }
  for (const auto& [id, name] : affected) {
    EndRun(id, absl::AbortedError(StrCat("worker ", name, " is lost: ", ToStd(reason.message()))));
  }
  // Values of variables may have been under way for runs of others.
  if (!registered()) return;
  v1::WorkerMessage message;
  message.mutable_peer_lost()->set_worker_id(worker_id);
  message.mutable_peer_lost()->set_reason(std::string(ToStd(reason.message())));
  outbox_->SendToCoordinator(message, {});
}

void WorkerCore::EndRun(uint64_t run_id, const absl::Status& status) {
  auto it = runs_.find(run_id);
  if (it != runs_.end()) Finish(it->second.get(), status);
}

void WorkerCore::Finish(StartedRun* started, const absl::Status& status) {
  Run& run = started->run;
  run.Cancel();
  v1::WorkerMessage message;
  v1::RunFinished* finished = message.mutable_run_finished();
  finished->set_run_id(run.id());
  *finished->mutable_counters() = run.counters();
  AddPrinted(run.lines(), finished);
  std::vector<Tensor> payloads;
  if (status.ok()) {
    for (auto& [output, value, part] : StoreResults(started)) {
      v1::Feed* result = finished->add_results();
      result->set_value(value);
      result->set_first_row(part.first_row);
      *result->mutable_header() = HeaderOf(part.rows);
      payloads.push_back(std::move(part.rows));
    }
  } else {
    *finished->mutable_failure() = MakeFailure(status);
  }
  last_finished_run_ = std::max(last_finished_run_, run.id());
  early_.erase(run.id());
  runs_.erase(run.id());
  outbox_->SendToCoordinator(message, std::move(payloads));
}

void WorkerCore::OnCoordinatorLost(const absl::Status& reason) {
  for (const auto& [id, started] : runs_) started->run.Cancel();
  runs_.clear();
  early_.clear();
  early_aborts_.clear();
  options_.values->Clear();
  programs_.clear();
  registered_.Clear();
  last_heard_ = absl::InfiniteFuture();
  last_finished_run_ = 0;
}

bool WorkerCore::OnTick(absl::Time now, int64_t resident_bytes) {
  if (!registered()) return true;
  if (now - last_heard_ > absl::Milliseconds(registered_.fence_ms())) {
    OnCoordinatorLost(absl::UnavailableError("the coordinator is silent"));
    return false;
  }
  if (now < NextHeartbeat(last_sent_, registered_)) return true;
  last_sent_ = now;
  v1::WorkerMessage message;
  message.mutable_heartbeat()->set_resident_bytes(static_cast<uint64_t>(resident_bytes));
  message.mutable_heartbeat()->set_runs(static_cast<uint32_t>(runs_.size()));
  outbox_->SendToCoordinator(message, {});
  return true;
}

void WorkerCore::Drain() {
  draining_ = true;
  v1::WorkerMessage message;
  message.mutable_draining();
  outbox_->SendToCoordinator(message, {});
}

}  // namespace weir
