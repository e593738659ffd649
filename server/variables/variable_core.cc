#include "server/variables/variable_core.h"

#include <algorithm>

#include "common/base/status.h"
#include "common/plan/frames.h"
#include "server/jobs/send_program.h"

namespace weir {
namespace {

absl::Status Unknown(std::string_view id) {
  return absl::NotFoundError(StrCat("there is no variable '", id,
                                    "': it was deleted, or the coordinator has started",
                                    " again since; create it (again)"));
}

std::string_view DoingOf(VariableAccess access) {
  return access == VariableAccess::kWrite ? "writes" : "reads";
}

// The use that `user` waits for; null if it may begin.
const VariableClaim* Before(const VariableEntry& variable, uint64_t user, VariableAccess access) {
  for (const VariableClaim& use : variable.uses) {
    if (use.user == user) return nullptr;
    if (access == VariableAccess::kWrite || use.access == VariableAccess::kWrite) return &use;
  }
  return nullptr;
}

}  // namespace

// ---- The table ----

VariableEntry* VariableCore::FindById(std::string_view id) {
  const auto found = by_id_.find(ToAbsl(id));
  return found == by_id_.end() ? nullptr : entries_.at(found->second).get();
}

absl::StatusOr<VariableEntry*> VariableCore::Get(std::string_view id) {
  VariableEntry* variable = FindById(id);
  if (variable == nullptr) return Unknown(id);
  if (!variable->lost.ok()) return variable->lost;
  return variable;
}

const WorkerEntry* VariableCore::LeastLoaded() const {
  const WorkerEntry* least = nullptr;
  int64_t least_bytes = 0;
  for (const auto& [id, worker] : world_.workers->entries()) {
    if (worker.state != v1::Worker::READY) continue;
    const auto owned = owned_bytes_.find(id);
    const int64_t bytes = owned == owned_bytes_.end() ? 0 : owned->second;
    if (least != nullptr && bytes >= least_bytes) continue;
    least = &worker;
    least_bytes = bytes;
  }
  return least;
}

void VariableCore::SetOwner(VariableEntry* variable, uint64_t worker, std::string name) {
  variable->worker = worker;
  variable->worker_name = std::move(name);
  owned_bytes_[worker] += variable->type.num_bytes();
  bytes_ += variable->type.num_bytes();
}

void VariableCore::Disown(VariableEntry* variable) {
  const auto owned = owned_bytes_.find(variable->worker);
  if (owned == owned_bytes_.end()) return;
  bytes_ -= variable->type.num_bytes();
  owned->second -= variable->type.num_bytes();
}

void VariableCore::DropLater(uint64_t worker, uint64_t value) { drops_[worker].push_back(value); }

v1::Peer VariableCore::PeerAt(uint64_t worker) const {
  return PeerOf(*world_.workers->Find(worker));
}

void VariableCore::Send(ValueOrdersByWorker orders) {
  for (auto& [worker, values] : drops_) {
    if (world_.workers->Find(worker) == nullptr) continue;
    auto& message = orders.to[worker].orders;
    message.mutable_drops()->Add(values.begin(), values.end());
  }
  drops_.clear();
  for (auto& [worker, one] : orders.to) {
    v1::CoordinatorMessage message;
    message.mutable_values()->Swap(&one.orders);
    world_.outbox->SendToWorker(worker, message, std::move(one.stored));
  }
}

// ---- Clients ----

absl::StatusOr<v1::Variable> VariableCore::Create(std::string id, const v1::NewVariable& request,
                                                  std::string digest, Tensor value) {
  const std::string& submission = request.submission_id();
  if (std::max(request.name().size(), submission.size()) > limits_.max_name_bytes) {
    return absl::ResourceExhaustedError(StrCat("the name of a variable and its submission id have",
                                               " at most ", limits_.max_name_bytes, " bytes"));
  }
  const auto known = by_submission_.find(submission);
  if (!submission.empty() && known != by_submission_.end()) {
    const VariableEntry& variable = *entries_.at(known->second);
    if (variable.name == request.name() && variable.digest == digest) return ViewOf(variable);
    return absl::AlreadyExistsError(StrCat("submission id '", submission, "' is that of variable ",
                                           NameOf(variable), ", which began as another"));
  }
  if (entries_.size() >= limits_.max_variables) {
    return absl::ResourceExhaustedError(StrCat("there are ", entries_.size(),
                                               " variables; at most ", limits_.max_variables,
                                               " may be: delete those that nobody needs"));
  }
  if (value.num_bytes() > limits_.max_variable_bytes - bytes_) {
    return absl::ResourceExhaustedError(StrCat(
        "variables have ", bytes_, " bytes and may have ", limits_.max_variable_bytes, "; '",
        request.name(), "' has ", value.num_bytes(), " more: delete those that nobody needs"));
  }
  const WorkerEntry* worker = LeastLoaded();
  if (worker == nullptr) {
    return absl::UnavailableError(
        StrCat("no worker is ready to hold variable '", request.name(), "'"));
  }
  auto variable = std::make_unique<VariableEntry>();
  variable->id = std::move(id);
  variable->name = request.name();
  variable->submission_id = submission;
  variable->digest = std::move(digest);
  variable->created_unix_ms = absl::ToUnixMillis(world_.clock->WallNow());
  variable->type =
      Tensor(value.dtype(), value.extents(), RowMajorStrides(value.extents()), 0, nullptr);
  variable->value = next_value_++;
  SetOwner(variable.get(), worker->id, worker->name());
  by_id_[variable->id] = next_entry_;
  if (!submission.empty()) by_submission_[submission] = next_entry_;
  ValueOrdersByWorker orders;
  orders.Store(worker->id, variable->value, std::move(value));
  Send(std::move(orders));
  return ViewOf(*(entries_[next_entry_++] = std::move(variable)));
}

void VariableCore::Read(std::string_view id, OnRead done) {
  absl::StatusOr<VariableEntry*> variable = Get(id);
  if (!variable.ok()) {
    return world_.outbox->Defer([done = std::move(done), why = variable.status()] { done(why); });
  }
  const uint64_t reader = NewRead(*variable, {.done = std::move(done)});
  ValueOrdersByWorker orders;
  orders.Hand((*variable)->worker, (*variable)->value)->set_reader(reader);
  Send(std::move(orders));
}

absl::Status VariableCore::Delete(std::string_view id) {
  VariableEntry* variable = FindById(id);
  if (variable == nullptr) return Unknown(id);
  if (!variable->uses.empty()) {
    const VariableClaim& use = variable->uses.front();
    return absl::FailedPreconditionError(StrCat(
        "variable ", NameOf(*variable),
        " cannot be deleted: ", use.job.empty() ? std::string("a run") : StrCat("job ", use.job),
        " ", DoingOf(use.access), " it; cancel that or wait for its end"));
  }
  if (variable->lost.ok()) {
    DropLater(variable->worker, variable->value);
    CancelMove(variable);
    Disown(variable);
  }
  by_submission_.erase(variable->submission_id);
  const auto by_id = by_id_.find(variable->id);
  entries_.erase(by_id->second);
  by_id_.erase(by_id);
  Send({});
  return absl::OkStatus();
}

v1::ListVariablesResponse VariableCore::List() const {
  v1::ListVariablesResponse response;
  for (const auto& [number, variable] : entries_) *response.add_variables() = ViewOf(*variable);
  return response;
}

// ---- Jobs ----

absl::StatusOr<JobVariables> VariableCore::Find(const v1::JobSpec& spec) {
  JobVariables variables;
  for (const v1::VariableInput& input : spec.variable_inputs()) {
    WEIR_ASSIGN_OR_RETURN(VariableEntry * variable, Get(input.variable()));
    variables.inputs.push_back({input.input(), variable});
  }
  for (const v1::VariableOutput& output : spec.variable_outputs()) {
    WEIR_ASSIGN_OR_RETURN(VariableEntry * variable, Get(output.variable()));
    variables.outputs.push_back({output.result(), variable});
  }
  return variables;
}

void VariableCore::Enter(uint64_t user, const std::string& job, const JobVariables& variables) {
  for (const JobVariables::Use& use : variables.Uses()) {
    use.variable->uses.push_back({user, use.access, job});
  }
}

void VariableCore::Leave(uint64_t user, const JobVariables& variables) {
  for (const JobVariables::Use& use : variables.Uses()) {
    std::erase_if(use.variable->uses, [&](const VariableClaim& each) { return each.user == user; });
  }
}

absl::StatusOr<std::string> VariableCore::WaitsFor(uint64_t user,
                                                   const JobVariables& variables) const {
  WEIR_RETURN_IF_ERROR(LossOf(variables));
  for (const auto& [variable, access] : variables.Uses()) {
    if (const VariableClaim* before = Before(*variable, user, access)) {
      return StrCat("variable ", NameOf(*variable), ", which ",
                    before->job.empty() ? std::string("a run") : StrCat("job ", before->job), " ",
                    DoingOf(before->access), " before");
    }
    const WorkerEntry* owner = world_.workers->Find(variable->worker);
    if (variable->moves() || owner == nullptr || owner->state != v1::Worker::READY) {
      return StrCat("variable ", NameOf(*variable), ", which moves away from worker ",
                    variable->worker_name);
    }
  }
  return std::string();
}

absl::Status VariableCore::LossOf(const JobVariables& variables) const {
  for (const JobVariables::Use& use : variables.Uses()) {
    if (!use.variable->lost.ok()) return use.variable->lost;
  }
  return absl::OkStatus();
}

std::vector<uint64_t> VariableCore::OwnersOf(const JobVariables& variables) const {
  std::map<uint64_t, int64_t> bytes;
  for (const JobVariables::Use& use : variables.Uses()) {
    bytes[use.variable->worker] += use.variable->type.num_bytes();
  }
  std::vector<uint64_t> owners;
  for (const auto& [worker, owned] : bytes) owners.push_back(worker);
  std::stable_sort(owners.begin(), owners.end(),
                   [&](uint64_t a, uint64_t b) { return bytes.at(a) > bytes.at(b); });
  return owners;
}

// ---- Runs without a job ----

std::optional<VariableCore::DirectUse> VariableCore::BeginDirect(
    const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  DirectUse use;
  // Everything is looked at before anything is noted down.
  const auto find = [&](const std::string& id) {
    VariableEntry* variable = FindById(id);
    const bool is_there = variable != nullptr && variable->lost.ok() && !variable->moves() &&
                          world_.workers->Find(variable->worker)->state == v1::Worker::READY;
    return is_there ? variable : nullptr;
  };
  const auto is_written = [](const VariableClaim& each) {
    return each.access == VariableAccess::kWrite;
  };
  for (const std::string& id : inputs) {
    VariableEntry* variable = find(id);
    if (variable == nullptr ||
        std::any_of(variable->uses.begin(), variable->uses.end(), is_written))
      return std::nullopt;
    use.inputs.push_back({variable, variable->worker, variable->value, 0});
  }
  for (const std::string& id : outputs) {
    VariableEntry* variable = find(id);
    if (variable == nullptr || !variable->uses.empty()) return std::nullopt;
    for (const DirectUse::Value& other : use.outputs) {
      if (other.variable == variable) return std::nullopt;
    }
    use.outputs.push_back({variable, variable->worker, variable->value, next_value_++});
  }
  use.user = next_direct_++;
  for (const DirectUse::Value& value : use.outputs) {
    value.variable->uses.push_back({use.user, VariableAccess::kWrite, ""});
    ++value.variable->runs;
  }
  for (const DirectUse::Value& value : use.inputs) {
    value.variable->uses.push_back({use.user, VariableAccess::kRead, ""});
    ++value.variable->runs;
  }
  return use;
}

std::vector<VariableCore::DirectUse::Value> VariableCore::EndDirect(const DirectUse& use,
                                                                    Ending ending) {
  std::vector<DirectUse::Value> free;
  const auto leave = [&](VariableEntry* variable) {
    std::erase_if(variable->uses, [&](const VariableClaim& each) { return each.user == use.user; });
    --variable->runs;
  };
  for (const DirectUse::Value& value : use.outputs) {
    leave(value.variable);
    if (ending != Ending::kCommit || !value.variable->lost.ok()) continue;
    if (value.variable->reads == 0) {
      free.push_back(value);
    } else {
      DropLater(value.worker, value.value);
    }
    value.variable->value = value.new_value;
    ++value.variable->version;
  }
  for (const DirectUse::Value& value : use.inputs) leave(value.variable);
  return free;
}

// ---- Workers ----

bool VariableCore::Concerns(const JobVariables& variables, const std::vector<uint64_t>& run_workers,
                            uint64_t worker, uint64_t peer) {
  const auto takes_part = [&](uint64_t id) {
    const std::vector<JobVariables::Use> uses = variables.Uses();
    return std::find(run_workers.begin(), run_workers.end(), id) != run_workers.end() ||
           std::any_of(uses.begin(), uses.end(),
                       [&](const JobVariables::Use& use) { return use.variable->worker == id; });
  };
  return !variables.empty() && takes_part(worker) && takes_part(peer);
}

void VariableCore::Lose(VariableEntry* variable, std::string_view why) {
  if (!variable->lost.ok()) return;
  variable->lost = absl::AbortedError(
      StrCat("variable ", NameOf(*variable), " is lost with worker ", variable->worker_name,
             ", which held it: ", why, "; delete it and create it again"));
  Disown(variable);
  CancelMove(variable);
}

void VariableCore::OnWorkerLost(uint64_t worker, const std::string& name, std::string_view why) {
  for (auto& [number, variable] : entries_) {
    if (variable->worker == worker) Lose(variable.get(), why);
    if (variable->next_worker == worker) CancelMove(variable.get());
  }
  owned_bytes_.erase(worker);
  drops_.erase(worker);
  std::vector<uint64_t> unanswered;
  for (const auto& [reader, read] : reads_) {
    if (read.worker == worker) unanswered.push_back(reader);
  }
  for (uint64_t reader : unanswered) {
    // The job that waits for a read fails with its variable.
    EndRead(reader, absl::AbortedError(
                        StrCat("worker ", name, ", which held the variable, is", " lost: ", why)));
  }
}

void VariableCore::OnPeerLost(uint64_t worker, uint64_t peer) {
  for (auto& [number, variable] : entries_) {
    const bool is_between = variable->worker == worker && variable->next_worker == peer;
    if (is_between) CancelMove(variable.get());  // Advance tries again
  }
}

void VariableCore::Advance() {
  if (std::any_of(world_.workers->entries().begin(), world_.workers->entries().end(),
                  [](const auto& each) { return each.second.state == v1::Worker::DRAINING; })) {
    for (auto& [number, variable] : entries_) Move(variable.get());
  }
  if (!drops_.empty()) Send({});
}

void VariableCore::Move(VariableEntry* variable) {
  if (!variable->lost.ok() || variable->moves() || variable->runs > 0) return;
  const WorkerEntry* owner = world_.workers->Find(variable->worker);
  if (owner == nullptr || owner->state != v1::Worker::DRAINING) return;
  const WorkerEntry* next = LeastLoaded();
  if (next == nullptr) {
    // What nobody can take would keep the worker from its end, and no longer than it lives.
    DropLater(variable->worker, variable->value);
    return Lose(variable, "it drained, and no other worker was ready to take the variable");
  }
  variable->next_worker = next->id;
  variable->next_value = next_value_++;
  moving_[variable->next_value] = variable;
  // So that many do not all go to the one that had least.
  owned_bytes_[next->id] += variable->type.num_bytes();
  ValueOrdersByWorker orders;
  orders.Expect(next->id, variable->next_value, variable->type);
  v1::HandOver* hand = orders.Hand(variable->worker, variable->value);
  hand->set_new_id(variable->next_value);
  *hand->mutable_peer() = PeerOf(*next);
  Send(std::move(orders));
}

void VariableCore::CancelMove(VariableEntry* variable) {
  if (!variable->moves()) return;
  moving_.erase(variable->next_value);
  owned_bytes_[variable->next_worker] -= variable->type.num_bytes();
  DropLater(variable->next_worker, variable->next_value);
  variable->next_worker = 0;
}

void VariableCore::EndMove(VariableEntry* variable) {
  DropLater(variable->worker, variable->value);
  Disown(variable);
  variable->value = variable->next_value;
  const WorkerEntry* next = world_.workers->Find(variable->next_worker);
  owned_bytes_[next->id] -= variable->type.num_bytes();
  SetOwner(variable, next->id, next->name());
  variable->next_worker = 0;
}

}  // namespace weir
