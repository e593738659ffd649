// What the core tells about its flows.
#include <utility>

#include "common/base/status.h"
#include "server/flows/flow_core.h"
#include "server/flows/flow_waits.h"
#include "server/progress/explain_progress.h"

namespace weir {
namespace {

void Fill(const OutputLog& log, v1::FlowStatus::Output* out) {
  out->set_name(log.name());
  out->set_epoch(log.epoch());
  out->set_finished(log.finished());
  out->set_records(log.records());
  out->set_kept_bytes(log.kept_bytes());
}

void AddVertices(const FlowEntry& flow, v1::FlowStatus* status) {
  const Topology& topology = *flow.prepared.topology;
  for (size_t v = 0; v < flow.flow().vertices.size(); ++v) {
    const VertexId id(static_cast<int64_t>(v));
    const FlowVertex& vertex = flow.flow().vertex(id);
    v1::FlowStatus::Vertex* out = status->add_vertices();
    out->set_name(vertex.name);
    out->set_kind(vertex.kind);
    if (flow.stage != FlowEntry::Stage::kRunning) continue;
    for (int i = 0; i < static_cast<int>(vertex.inputs.size()); ++i) {
      out->add_frontiers(ToString(flow.progress->tracker().frontier(topology.input(id, i))));
    }
  }
}

void AddReports(const FlowEntry& flow, v1::FlowStatus* status) {
  for (const auto& [worker, last] : flow.reports) {
    const v1::FlowReport& report = last.message;
    status->set_sent_bytes(status->sent_bytes() + report.sent_bytes());
    status->set_sent_frames(status->sent_frames() + report.sent_frames());
    status->set_kept_bytes(status->kept_bytes() + report.kept_bytes());
    status->set_spilled_bytes(status->spilled_bytes() + report.spilled_bytes());
    for (const v1::FlowReport::Vertex& part : report.vertices()) {
      if (part.vertex() >= static_cast<uint32_t>(status->vertices_size())) continue;
      v1::FlowStatus::Vertex* sum = status->mutable_vertices(static_cast<int>(part.vertex()));
      sum->set_frames(sum->frames() + part.frames());
      sum->set_records(sum->records() + part.records());
      sum->set_peer_frames(sum->peer_frames() + part.peer_frames());
      sum->set_spilled_bytes(sum->spilled_bytes() + part.spilled_bytes());
      sum->set_dropped(sum->dropped() + part.dropped());
      sum->set_busy_ns(sum->busy_ns() + part.busy_ns());
      if (flow.ended()) continue;  // nothing of it is left there
      sum->set_queued_bytes(sum->queued_bytes() + part.queued_bytes());
      sum->set_state_bytes(sum->state_bytes() + part.state_bytes());
      sum->set_running_ns(std::max(sum->running_ns(), part.running_ns()));
    }
  }
}

v1::FlowProgress ToMessage(const ProgressCounters& counters) {
  v1::FlowProgress message;
  message.set_bytes_in(counters.bytes_in);
  message.set_bytes_out(counters.bytes_out);
  message.set_batches(counters.batches);
  message.set_changes(counters.changes);
  message.set_updates(counters.updates);
  message.set_frontier_moves(counters.frontier_moves);
  return message;
}

v1::ExplainFrontierResponse::Wait ToMessage(const FullOutput& full, const FlowEntry& flow,
                                            absl::Time now) {
  v1::ExplainFrontierResponse::Wait message;
  message.set_vertex(flow.flow().vertex(full.vertex).name);
  message.set_kind(v1::ExplainFrontierResponse::Wait::ROOM);
  message.set_count(full.kept_bytes);
  message.set_age_ms(absl::ToInt64Milliseconds(now - full.since));
  for (const uint64_t worker : full.workers) message.add_workers(flow.names.at(worker));
  message.set_client(full.client);
  return message;
}

v1::ExplainFrontierResponse::Wait ToMessage(const Wait& wait, const FlowEntry& flow,
                                            absl::Time now) {
  using Message = v1::ExplainFrontierResponse::Wait;
  const PortLocation& place = flow.prepared.topology->location(wait.outstanding.location);
  Message message;
  message.set_vertex(flow.flow().vertex(place.port.vertex).name);
  message.set_kind(place.kind == PortLocation::Kind::kInput     ? Message::FRAME
                   : place.kind == PortLocation::Kind::kRequest ? Message::REQUEST
                                                                : Message::CAPABILITY);
  message.set_port(static_cast<uint32_t>(place.port.number));
  for (const int64_t coordinate : wait.outstanding.time.coordinates()) {
    message.add_time(coordinate);
  }
  message.set_count(wait.count);
  message.set_age_ms(absl::ToInt64Milliseconds(now - wait.since));
  for (const uint64_t worker : wait.workers) message.add_workers(flow.names.at(worker));
  message.set_client(wait.client);
  message.set_detail(
      StrCat(wait.place, wait.place.empty() || wait.detail.empty() ? "" : "; ", wait.detail));
  return message;
}

// While there is no progress to speak of.
absl::StatusOr<v1::ExplainFrontierResponse> ExplainOutside(const FlowEntry& flow,
                                                           const v1::Job& job) {
  v1::ExplainFrontierResponse response;
  std::string* text = response.mutable_text();
  if (!flow.ended()) {
    *text = StrCat("flow ", job.id(), " does not run yet: it waits for ", job.waits_for(), "\n");
    return response;
  }
  *text = StrCat("flow ", job.id(), " has ended: ", v1::Job::State_Name(job.state()));
  if (job.has_failure()) StrAppend(text, ": ", job.failure().message());
  StrAppend(text, "\n");
  if (!flow.last_words.empty()) StrAppend(text, "when it began to end: ", flow.last_words);
  return response;
}

}  // namespace

v1::FlowStatus FlowCore::StatusOf(const FlowEntry& flow) const {
  v1::FlowStatus status;
  *status.mutable_job() = JobOf(flow)->view;
  const auto client_of = [&](VertexId vertex) -> std::string {
    const auto client = flow.clients.find(vertex);
    return client == flow.clients.end() ? "" : attachments_.at(client->second).client;
  };
  for (const auto& [vertex, ledger] : flow.inputs) {
    v1::FlowStatus::Input* input = status.add_inputs();
    *input->mutable_input() = ledger.ToMessage();
    input->set_records(ledger.records());
    input->set_client(client_of(vertex));
    input->set_max_batch(flow.flow().vertex(vertex).IntOr("max_batch", 0));
    input->set_max_wait_us(flow.flow().vertex(vertex).IntOr("max_wait_us", 0));
  }
  for (const auto& [vertex, log] : flow.outputs) {
    v1::FlowStatus::Output* output = status.add_outputs();
    Fill(log, output);
    output->set_client(client_of(vertex));
  }
  for (const auto& [vertex, log] : flow.probes) Fill(log, status.add_probes());
  AddVertices(flow, &status);
  AddReports(flow, &status);
  *status.mutable_progress() =
      ToMessage(flow.progress != nullptr ? flow.progress->counters() : flow.counters);
  status.set_unix_ms(absl::ToUnixMillis(shared_.clock->WallNow()));
  return status;
}

absl::StatusOr<v1::FlowStatus> FlowCore::Get(std::string_view job_id) {
  WEIR_ASSIGN_OR_RETURN(const FlowEntry* flow, FindFlow(job_id));
  return StatusOf(*flow);
}

v1::ListFlowsResponse FlowCore::List() const {
  v1::ListFlowsResponse response;
  for (auto id = alive_.rbegin(); id != alive_.rend(); ++id) {
    *response.add_flows() = StatusOf(flows_.at(*id));
  }
  return response;
}

absl::StatusOr<v1::ExplainFrontierResponse> FlowCore::Explain(
    const v1::ExplainFrontierRequest& request) {
  WEIR_ASSIGN_OR_RETURN(const FlowEntry* flow, FindFlow(request.id()));
  if (!request.vertex().empty() && !flow->flow().FindVertex(request.vertex()).valid()) {
    std::string names;
    for (const FlowVertex& vertex : flow->flow().vertices) {
      StrAppend(&names, names.empty() ? "" : ", ", vertex.name);
    }
    return absl::NotFoundError(
        StrCat("the flow has no vertex '", request.vertex(), "'; it has ", names));
  }
  if (flow->stage != Stage::kRunning && flow->stage != Stage::kEnding) {
    return ExplainOutside(*flow, JobOf(*flow)->view);
  }
  const JobProgress& progress = *flow->progress;
  const FlowWaits known(*flow, attachments_, *shared_.workers, Now());
  v1::ExplainFrontierResponse response;
  std::vector<Wait> waits;
  if (request.vertex().empty()) {
    waits = known.WithDetails(WaitsOf(progress));
    response.set_text(Dump(progress, waits, Now()));
  } else {
    const int input = static_cast<int>(request.input());
    WEIR_ASSIGN_OR_RETURN(waits, WaitsAt(progress, request.vertex(), input));
    waits = known.WithDetails(std::move(waits));
    WEIR_ASSIGN_OR_RETURN(*response.mutable_text(),
                          ExplainFrontier(progress, request.vertex(), input, waits, Now()));
  }
  for (const Wait& wait : waits) *response.add_waits() = ToMessage(wait, *flow, Now());
  for (const FullOutput& full : known.FullOutputs()) {
    *response.add_waits() = ToMessage(full, *flow, Now());
    StrAppend(response.mutable_text(), "  ", known.ToString(full), "\n");
  }
  return response;
}

}  // namespace weir
