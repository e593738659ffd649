// The part of the core that brings flows to workers.
#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "common/base/status.h"
#include "common/net/link.h"
#include "server/flows/flow_core.h"
#include "server/jobs/send_program.h"

namespace weir {
namespace {

// Inputs, outputs and probes, as nobody has fed or taken anything.
void MakePorts(const Limits& limits, FlowEntry* flow) {
  const Flow& graph = flow->flow();
  for (size_t v = 0; v < graph.vertices.size(); ++v) {
    const VertexId id(static_cast<int64_t>(v));
    const FlowVertex& vertex = graph.vertices[v];
    if (vertex.kind == "input") {
      flow->inputs.try_emplace(id, vertex.name, vertex.output_types[0], limits.flow_input_bytes);
    }
    if (vertex.kind == "output") {
      flow->outputs.try_emplace(id, vertex.name, vertex.input_types[0], limits.flow_window_bytes);
    }
    if (vertex.kind == "feedback") flow->going_round.try_emplace(id);
    if (vertex.kind == "probe") flow->probes.try_emplace(id, vertex.name, RecordType(), 0);
  }
}

}  // namespace

absl::StatusOr<JobEntry*> FlowCore::Deploy(PreparedFlow prepared, v1::Job view) {
  if (alive_.size() >= static_cast<size_t>(limits_.max_flows)) {
    return absl::ResourceExhaustedError(StrCat(alive_.size(), " flows are deployed; at most ",
                                               limits_.max_flows,
                                               " may be: cancel one that is not needed"));
  }
  Forget();
  view.set_is_flow(true);
  JobEntry* job = shared_.jobs->Add(std::move(view), prepared.digest);
  FlowEntry* flow = &flows_[job->sequence];
  flow->id = job->sequence;
  flow->prepared = std::move(prepared);
  MakePorts(limits_, flow);
  alive_.insert(flow->id);
  for (const auto& [name, function] : flow->prepared.functions) {
    ProgramEntry* program = shared_.programs->FindByKey(function.key);
    if (program == nullptr) {
      program = shared_.programs->Add(function.key);
      shared_.outbox->Compile(program->id, function.program);
    }
    ++program->jobs;
    flow->programs[name] = program->id;
  }
  shared_.outbox->OnJob(*job, JobEvent::kAccepted);
  return job;
}

void FlowCore::OnCompileFailed(uint64_t program, const absl::Status& status) {
  for (const uint64_t id : Alive()) {
    FlowEntry* flow = At(id);
    for (const auto& [name, number] : flow->programs) {
      if (number != program) continue;
      Fail(flow, FailureOf(Annotate(status, StrCat("function @", name)), ""));
      break;
    }
  }
}

void FlowCore::Advance() {
  for (const uint64_t id : Alive()) {
    if (FlowEntry* flow = At(id); flow->stage == Stage::kWaiting) TryStart(flow);
  }
}

bool FlowCore::IsCompiled(const FlowEntry& flow) const {
  return std::all_of(flow.programs.begin(), flow.programs.end(), [this](const auto& item) {
    const ProgramEntry* program = shared_.programs->Find(item.second);
    return program != nullptr && program->compiled != nullptr;
  });
}

void FlowCore::TryStart(FlowEntry* flow) {
  JobEntry* job = JobOf(*flow);
  if (!IsCompiled(*flow)) return job->view.set_waits_for("the compiler");
  WorkerTable::Choice choice = shared_.workers->Choose(flow->prepared.request.workers());
  if (!choice.workers.empty()) return Load(flow, std::move(choice.workers));
  if (job->view.waits_for() == choice.waits_for) return;
  job->view.set_waits_for(choice.waits_for);
  Note(*flow, StrCat("waiting for ", choice.waits_for));
}

void FlowCore::Load(FlowEntry* flow, std::vector<uint64_t> workers) {
  JobEntry* job = JobOf(*flow);
  flow->stage = Stage::kLoading;
  flow->workers = std::move(workers);
  flow->names.clear();
  job->view.clear_workers();
  job->view.set_waits_for("the workers");
  for (const uint64_t id : flow->workers) {
    WorkerEntry* worker = shared_.workers->Find(id);
    ++worker->runs;
    flow->names[id] = worker->name();
    job->view.add_workers(worker->name());
    for (const auto& [name, program] : flow->programs) {
      SendProgram(*shared_.programs->Find(program), worker, shared_.outbox);
    }
  }
  DeployIfLoaded(flow);
}

// Nothing has been deployed yet, so others may do it.
void FlowCore::BackToWaiting(FlowEntry* flow) {
  for (const uint64_t id : flow->workers) {
    if (WorkerEntry* worker = shared_.workers->Find(id)) --worker->runs;
  }
  flow->workers.clear();
  flow->stage = Stage::kWaiting;
}

void FlowCore::OnProgramLoaded(const WorkerEntry& worker, const v1::ProgramLoaded& loaded) {
  for (const uint64_t id : Alive()) {
    FlowEntry* flow = At(id);
    if (flow->stage != Stage::kLoading || !flow->names.contains(worker.id)) continue;
    if (!loaded.has_failure()) {
      DeployIfLoaded(flow);
      continue;
    }
    const auto uses = [&](const auto& item) { return item.second == loaded.program_id(); };
    if (std::none_of(flow->programs.begin(), flow->programs.end(), uses)) continue;
    v1::Failure failure = loaded.failure();
    failure.set_worker(worker.name());
    Fail(flow, std::move(failure));
  }
}

void FlowCore::DeployIfLoaded(FlowEntry* flow) {
  bool drains = false;
  for (const uint64_t id : flow->workers) {
    const WorkerEntry* worker = shared_.workers->Find(id);
    drains = drains || worker->state != v1::Worker::READY;
    for (const auto& [name, program] : flow->programs) {
      if (worker->programs.at(program) != WorkerEntry::Load::kLoaded) return;
    }
  }
  if (drains) return BackToWaiting(flow);
  flow->stage = Stage::kDeploying;
  JobProgress::Setup setup;
  setup.job = flow->id;
  setup.generation = FlowEntry::kGeneration;
  for (const auto& [vertex, attachment] : flow->clients) {
    if (flow->inputs.contains(vertex)) setup.clients[vertex] = attachments_.at(attachment).client;
  }
  flow->progress = std::make_unique<JobProgress>(std::move(setup), flow->prepared.topology, Now());
  for (size_t rank = 0; rank < flow->workers.size(); ++rank) {
    const absl::Status status = DeployOn(flow, rank);
    if (!status.ok()) return Fail(flow, FailureOf(status, ""));
  }
}

absl::Status FlowCore::DeployOn(FlowEntry* flow, size_t rank) {
  const uint64_t worker = flow->workers[rank];
  WEIR_ASSIGN_OR_RETURN(JobProgress::Joined joined,
                        flow->progress->Join(worker, flow->names.at(worker), Now()));
  v1::CoordinatorMessage message;
  v1::DeployFlow* deploy = flow->Label(message.mutable_deploy_flow());
  deploy->set_flow(flow->prepared.text);
  for (const auto& [name, program] : flow->programs) (*deploy->mutable_programs())[name] = program;
  deploy->set_rank(static_cast<uint32_t>(rank));
  for (const uint64_t peer : flow->workers) {
    *deploy->add_peers() = PeerOf(*shared_.workers->Find(peer));
  }
  *deploy->mutable_grants() = std::move(joined.grants);
  deploy->mutable_limits()->set_channel_bytes(limits_.flow_channel_bytes);
  if (message.ByteSizeLong() > LinkOptions().max_header_bytes) {
    return absl::ResourceExhaustedError(
        StrCat("the flow has ", message.ByteSizeLong(), " bytes without its large constants; ",
               LinkOptions().max_header_bytes, " can be sent to workers"));
  }
  shared_.outbox->SendToWorker(worker, message, {});
  return absl::OkStatus();
}

void FlowCore::OnDeployed(FlowEntry* flow, const WorkerEntry& worker,
                          const v1::FlowDeployed& deployed) {
  if (flow->stage != Stage::kDeploying) return;
  if (deployed.has_failure()) {
    v1::Failure failure = deployed.failure();
    failure.set_worker(worker.name());
    return Fail(flow, std::move(failure));
  }
  flow->deployed.insert(worker.id);
  if (flow->deployed.size() == flow->workers.size()) Run(flow);
}

void FlowCore::Run(FlowEntry* flow) {
  absl::StatusOr<v1::FrontierUpdate> first = flow->progress->Start(Now());
  if (!first.ok()) return Fail(flow, FailureOf(first.status(), ""));
  flow->stage = Stage::kRunning;
  JobEntry* job = JobOf(*flow);
  job->view.clear_waits_for();
  job->view.set_state(v1::Job::RUNNING);
  const auto& names = job->view.workers();
  Note(*flow, StrCat("runs on ", absl::StrJoin(names.begin(), names.end(), ", ")));
  WakeAll(*flow);
  TellFrontiers(flow, *first);
}

}  // namespace weir
