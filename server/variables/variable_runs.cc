// The part of the variables' core that concerns runs: what owners hand to them and take from them.
#include <algorithm>

#include "common/base/status.h"
#include "server/jobs/send_program.h"
#include "server/variables/variable_core.h"

namespace weir {
namespace {

int InputOf(const v1::Plan& plan, uint32_t value) {
  return static_cast<int>(std::find(plan.inputs().begin(), plan.inputs().end(), value) -
                          plan.inputs().begin());
}

}  // namespace

void VariableCore::BeginRun(const RunSetup& setup) {
  if (setup.variables->empty()) return;
  RunValues& run = runs_[setup.id];
  for (const JobVariables::Use& use : setup.variables->Uses()) {
    run.used.push_back(use.variable);
    ++use.variable->runs;
  }
  ValueOrdersByWorker orders;
  MakeResults(setup, &run, &orders);
  FeedRanks(setup, &orders);
  ReadResults(setup, &run, &orders);
  Send(std::move(orders));
}

// A result that is an input comes from who has that.
void VariableCore::MakeResults(const RunSetup& setup, RunValues* run, ValueOrdersByWorker* orders) {
  for (const JobVariables::Output& output : setup.variables->outputs) {
    VariableEntry* variable = output.variable;
    const uint64_t id = next_value_++;
    MadeValue& made = run->made.emplace_back(MadeValue{variable, id, output.result, false});
    const uint32_t value = setup.plan->outputs(static_cast<int>(output.result));
    const int input = InputOf(*setup.plan, value);
    const bool is_input = IsFeed(*setup.plan, value);
    const VariableEntry* source = is_input ? setup.inputs->variables[input] : nullptr;
    if (is_input && source == nullptr) {
      made.is_whole = true;
      orders->Store(variable->worker, id, setup.inputs->feeds[input]);
      continue;
    }
    awaited_[id] = setup.id;
    orders->Expect(variable->worker, id, variable->type);
    if (!is_input) continue;
    v1::HandOver* hand = orders->Hand(source->worker, source->value);
    hand->set_new_id(id);
    *hand->mutable_peer() = PeerAt(variable->worker);
  }
}

void VariableCore::FeedRanks(const RunSetup& setup, ValueOrdersByWorker* orders) {
  for (int i = 0; i < setup.plan->inputs_size(); ++i) {
    const VariableEntry* variable = setup.inputs->variables[i];
    if (variable == nullptr) continue;
    const uint32_t value = setup.plan->inputs(i);
    for (int rank = 0; rank < setup.shape->world(); ++rank) {
      const Need need = setup.shape->NeedAt(rank, value);
      if (need == Need::kNothing) continue;
      v1::HandOver* hand = orders->Hand(variable->worker, variable->value);
      *hand->mutable_peer() = PeerAt((*setup.workers)[rank]);
      v1::RunFeed* feed = hand->mutable_feed();
      feed->set_run_id(setup.id);
      feed->set_generation(setup.generation);
      feed->set_value(value);
      if (need == Need::kWhole) continue;
      const RowRange range = setup.shape->RowsOf(value, rank);
      feed->mutable_rows()->set_first(range.begin);
      feed->mutable_rows()->set_count(range.size());
    }
  }
}

// Of the job's own results those that are the value of a variable.
void VariableCore::ReadResults(const RunSetup& setup, RunValues* run, ValueOrdersByWorker* orders) {
  std::vector<uint32_t> asked;
  for (int i = 0; i < setup.plan->outputs_size(); ++i) {
    const uint32_t value = setup.plan->outputs(i);
    if (!IsFeed(*setup.plan, value)) continue;
    VariableEntry* variable = setup.inputs->variables[InputOf(*setup.plan, value)];
    if (variable == nullptr || setup.variables->OutputOf(static_cast<uint32_t>(i)) != nullptr ||
        std::find(asked.begin(), asked.end(), value) != asked.end()) {
      continue;
    }
    asked.push_back(value);
    ++run->reads;
    const uint64_t reader = NewRead(variable, {.run = setup.id, .value = value});
    orders->Hand(variable->worker, variable->value)->set_reader(reader);
  }
}

void VariableCore::AddStores(uint64_t run, v1::StartRun* start) const {
  const auto found = runs_.find(run);
  if (found == runs_.end()) return;
  for (const MadeValue& made : found->second.made) {
    v1::StoredResult* store = start->add_stores();
    store->set_output(made.result);
    store->set_id(made.id);
    *store->mutable_owner() = PeerAt(made.variable->worker);
  }
}

bool VariableCore::IsComplete(uint64_t run) const {
  const auto found = runs_.find(run);
  if (found == runs_.end()) return true;
  const std::vector<MadeValue>& made = found->second.made;
  return found->second.reads == 0 &&
         std::all_of(made.begin(), made.end(), [](const MadeValue& each) { return each.is_whole; });
}

void VariableCore::Commit(uint64_t run) {
  auto found = runs_.extract(run);
  if (found.empty()) return;
  for (VariableEntry* variable : found.mapped().used) --variable->runs;
  for (const MadeValue& made : found.mapped().made) {
    DropLater(made.variable->worker, made.variable->value);
    made.variable->value = made.id;
    ++made.variable->version;
  }
}

void VariableCore::Abandon(uint64_t run) {
  auto found = runs_.extract(run);
  if (found.empty()) return;
  for (VariableEntry* variable : found.mapped().used) --variable->runs;
  for (const MadeValue& made : found.mapped().made) {
    awaited_.erase(made.id);
    if (made.variable->lost.ok()) DropLater(made.variable->worker, made.id);
  }
}

uint64_t VariableCore::NewRead(VariableEntry* variable, PendingRead read) {
  ++variable->reads;
  read.variable = variable->id;
  read.worker = variable->worker;
  reads_.emplace(next_read_, std::move(read));
  return next_read_++;
}

std::optional<VariableCore::RunNews> VariableCore::EndRead(uint64_t reader,
                                                           absl::StatusOr<Tensor> value) {
  auto found = reads_.extract(reader);
  if (found.empty()) return std::nullopt;
  PendingRead& read = found.mapped();
  VariableEntry* variable = FindById(read.variable);
  if (variable != nullptr) --variable->reads;
  if (variable != nullptr && value.ok() &&
      (value->dtype() != variable->type.dtype() || value->extents() != variable->type.extents())) {
    value = absl::InternalError(
        StrCat("variable ", NameOf(*variable), " came as ", value->type().ToString()));
  }
  if (read.run != 0) {
    const auto run = runs_.find(read.run);
    if (run == runs_.end()) return std::nullopt;
    if (value.ok()) --run->second.reads;
    RunNews news{.run = read.run, .value = read.value};
    if (value.ok()) news.tensor = *std::move(value);
    if (!value.ok()) news.failure = FailureOf(value.status(), "");
    return news;
  }
  absl::StatusOr<ReadOutcome> outcome = ReadOutcome();
  if (value.ok()) {
    if (variable != nullptr) outcome->variable = ViewOf(*variable);
    outcome->value = *std::move(value);
  } else {
    const bool is_lost = variable != nullptr && !variable->lost.ok();
    outcome = is_lost ? variable->lost : value.status();
  }
  world_.outbox->Defer([done = std::move(read.done), outcome = std::move(outcome)]() mutable {
    done(std::move(outcome));
  });
  return std::nullopt;
}

std::optional<VariableCore::RunNews> VariableCore::OnReport(const WorkerEntry& worker,
                                                            const v1::ValueReport& report,
                                                            std::vector<Tensor> payloads) {
  if (report.has_failure()) {
    // A worker without a value that it was to hand over: it is nowhere else.
    for (auto& [number, variable] : entries_) {
      if (variable->worker != worker.id || variable->value != report.id()) continue;
      Lose(variable.get(), report.failure().message());
    }
  }
  if (report.reader() != 0) {
    const auto read = reads_.find(report.reader());
    if (read == reads_.end() || read->second.worker != worker.id) return std::nullopt;
    absl::StatusOr<Tensor> value = absl::InternalError(report.failure().message());
    if (payloads.size() == 1) value = std::move(payloads[0]);
    return EndRead(report.reader(), std::move(value));
  }
  if (const auto moving = moving_.find(report.id()); moving != moving_.end()) {
    if (moving->second->next_worker != worker.id) return std::nullopt;
    VariableEntry* variable = moving->second;
    if (report.has_failure()) {
      CancelMove(variable);
    } else {
      moving_.erase(moving);
      EndMove(variable);
    }
    return std::nullopt;
  }
  const auto awaited = awaited_.find(report.id());
  if (awaited == awaited_.end()) return std::nullopt;
  RunNews news{.run = awaited->second};
  std::vector<MadeValue>& all = runs_.at(news.run).made;
  const auto made = std::find_if(all.begin(), all.end(),
                                 [&](const MadeValue& each) { return each.id == report.id(); });
  if (made->variable->worker != worker.id) return std::nullopt;
  awaited_.erase(awaited);
  made->is_whole = !report.has_failure();
  if (report.has_failure()) news.failure = report.failure();
  return news;
}

}  // namespace weir
