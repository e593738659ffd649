// The part of the core that talks with clients that feed flows and take what comes out.
#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "common/base/status.h"
#include "common/flow/flow_wire.h"
#include "server/flows/flow_core.h"

namespace weir {
namespace {

// The vertex of this name among `ports`; names all if there is none.
template <class Ports>
absl::StatusOr<VertexId> FindPort(const Ports& ports, const std::string& name,
                                  std::string_view kind) {
  std::vector<std::string> names;
  for (const auto& [vertex, port] : ports) {
    if (port.name() == name) return vertex;
    names.push_back(port.name());
  }
  return absl::NotFoundError(StrCat("the flow has no ", kind, " '", name, "'; it has ",
                                    names.empty() ? "none" : absl::StrJoin(names, ", ")));
}

absl::Status CheckKnown(const InputLedger& input, uint64_t known) {
  if (known <= input.taken()) return absl::OkStatus();
  return absl::DataLossError(StrCat("the client knows that message ", known, " of input '",
                                    input.name(), "' was taken, but only ", input.taken(),
                                    " were taken here"));
}

}  // namespace

absl::StatusOr<FlowEntry*> FlowCore::FindFlow(std::string_view job_id) {
  JobEntry* job = shared_.jobs->Find(job_id);
  if (job == nullptr) return absl::NotFoundError(StrCat("there is no job '", job_id, "'"));
  FlowEntry* flow = At(job->sequence);
  if (flow != nullptr) return flow;
  if (job->view.is_flow()) {
    return absl::FailedPreconditionError(StrCat(
        "flow ", job_id, " is of an earlier life of the coordinator: nothing of it is left"));
  }
  return absl::FailedPreconditionError(StrCat("job ", job_id, " is no flow"));
}

// ---- Attaching ----

absl::StatusOr<uint64_t> FlowCore::Attach(const v1::FlowAttach& request,
                                          std::function<void()> on_news) {
  WEIR_ASSIGN_OR_RETURN(FlowEntry * flow, FindFlow(request.id()));
  if (request.client().empty() || request.client().size() > limits_.max_name_bytes) {
    return InvalidArgument("the name of a client has 1 to ", limits_.max_name_bytes, " bytes");
  }
  FlowAttachment attachment;
  attachment.flow = flow->id;
  attachment.client = request.client();
  attachment.on_news = std::move(on_news);
  WEIR_RETURN_IF_ERROR(Resume(flow, request, &attachment));
  const uint64_t id = attachment.id = next_attachment_++;
  for (const VertexId vertex : attachment.inputs) {
    flow->clients[vertex] = id;
    if (flow->progress != nullptr) flow->progress->OnClientFeeds(vertex, attachment.client);
  }
  for (const VertexId vertex : attachment.outputs) flow->clients[vertex] = id;
  attachments_.emplace(id, std::move(attachment));
  return id;
}

// Finds what the client asks for and, once nothing can go wrong any more, begins where it left off.
absl::Status FlowCore::Resume(FlowEntry* flow, const v1::FlowAttach& request,
                              FlowAttachment* attachment) {
  for (const v1::FlowResume& input : request.inputs()) {
    WEIR_ASSIGN_OR_RETURN(const VertexId vertex, FindPort(flow->inputs, input.name(), "input"));
    WEIR_RETURN_IF_ERROR(CheckFree(*flow, vertex, request.client()));
    WEIR_RETURN_IF_ERROR(CheckKnown(flow->inputs.at(vertex), input.number()));
    attachment->inputs.push_back(vertex);
  }
  for (const v1::FlowResume& output : request.outputs()) {
    WEIR_ASSIGN_OR_RETURN(const VertexId vertex, FindPort(flow->outputs, output.name(), "output"));
    WEIR_RETURN_IF_ERROR(CheckFree(*flow, vertex, request.client()));
    WEIR_RETURN_IF_ERROR(flow->outputs.at(vertex).CheckKnown(output.number()));
    attachment->outputs.push_back(vertex);
  }
  TakeOver(flow, request.client());
  for (int i = 0; i < request.outputs_size(); ++i) {
    flow->outputs.at(attachment->outputs[i]).Rewind(request.outputs(i).number());
  }
  return absl::OkStatus();
}

absl::Status FlowCore::CheckFree(const FlowEntry& flow, VertexId vertex,
                                 const std::string& client) const {
  const auto holder = flow.clients.find(vertex);
  if (holder == flow.clients.end()) return absl::OkStatus();
  const std::string& other = attachments_.at(holder->second).client;
  if (other == client) return absl::OkStatus();
  const FlowVertex& named = flow.flow().vertex(vertex);
  return absl::FailedPreconditionError(StrCat("client '", other, "' is attached to ", named.kind,
                                              " '", named.name, "'; one at a time can be"));
}

// A client that attaches again has lost its former connection, whether that is known here or not.
void FlowCore::TakeOver(FlowEntry* flow, const std::string& client) {
  for (auto& [id, attachment] : attachments_) {
    if (attachment.flow != flow->id || attachment.client != client) continue;
    Release(&attachment);
    attachment.over = absl::AbortedError(StrCat("client '", client, "' has attached again"));
    Wake(&attachment);
  }
}

void FlowCore::Release(FlowAttachment* attachment) {
  FlowEntry* flow = At(attachment->flow);
  if (flow == nullptr) return;
  std::erase_if(flow->clients, [&](const auto& item) { return item.second == attachment->id; });
  if (flow->progress != nullptr && !attachment->inputs.empty()) {
    flow->progress->OnClientLost(attachment->client, Now());
  }
  attachment->inputs.clear();
  attachment->outputs.clear();
}

void FlowCore::Detach(uint64_t id) {
  const auto found = attachments_.find(id);
  if (found == attachments_.end()) return;
  Release(&found->second);
  attachments_.erase(found);
}

// ---- From a client ----

absl::Status FlowCore::Take(uint64_t id, ToFlow message) {
  const auto found = attachments_.find(id);
  if (found == attachments_.end()) return absl::AbortedError("the flow is not kept any more");
  FlowAttachment& attachment = found->second;
  WEIR_RETURN_IF_ERROR(attachment.over);
  FlowEntry* flow = At(attachment.flow);
  if (flow == nullptr) return absl::AbortedError("the flow is not kept any more");
  if (!attachment.is_told) {
    return absl::FailedPreconditionError("a client waits until it is told that it is attached");
  }
  const absl::Status status = TakeFrom(attachment, flow, std::move(message));
  if (!status.ok()) {
    Release(&attachment);
    attachment.over = status;
    Wake(&attachment);
  }
  return status;
}

absl::Status FlowCore::TakeFrom(const FlowAttachment& attachment, FlowEntry* flow, ToFlow message) {
  switch (message.message.kind_case()) {
    case v1::AttachRequest::kRecords: {
      WEIR_ASSIGN_OR_RETURN(const VertexId input,
                            OwnPort(*flow, attachment.inputs, message.message.records().port()));
      return TakeRecords(flow, input, std::move(message));
    }
    case v1::AttachRequest::kAdvance: {
      const v1::FlowAdvance& advance = message.message.advance();
      WEIR_ASSIGN_OR_RETURN(const VertexId input,
                            OwnPort(*flow, attachment.inputs, advance.input()));
      return TakeAdvance(flow, input, advance);
    }
    case v1::AttachRequest::kAck: {
      const v1::FlowAck& ack = message.message.ack();
      WEIR_ASSIGN_OR_RETURN(const VertexId output,
                            OwnPort(*flow, attachment.outputs, ack.output()));
      return TakeAck(flow, output, ack.number());
    }
    default:
      return InvalidArgument("a client attaches once, and then sends records, advances or acks");
  }
}

absl::StatusOr<VertexId> FlowCore::OwnPort(const FlowEntry& flow,
                                           const std::vector<VertexId>& ports,
                                           const std::string& name) const {
  for (const VertexId vertex : ports) {
    if (flow.flow().vertex(vertex).name == name) return vertex;
  }
  return InvalidArgument("the client is not attached to '", name, "'");
}

absl::Status FlowCore::TakeRecords(FlowEntry* flow, VertexId input, ToFlow message) {
  // Who has not heard of the end yet is told soon.
  if (flow->stage != Stage::kRunning) return absl::OkStatus();
  const v1::FlowRecords& records = message.message.records();
  InputLedger& ledger = flow->inputs.at(input);
  WEIR_ASSIGN_OR_RETURN(const bool is_next, ledger.IsNext(records.number()));
  if (!is_next) return absl::OkStatus();
  WEIR_ASSIGN_OR_RETURN(const RecordBatch batch, ledger.Take(records, std::move(message.tensors)));
  stats_.records_in += batch.size();
  stats_.bytes_in += batch.bytes();
  const uint64_t worker = NextWorker(flow, input, batch.bytes());
  v1::CoordinatorMessage out;
  v1::FeedFlow* feed = flow->Label(out.mutable_feed_flow());
  feed->set_vertex(static_cast<uint32_t>(input.value()));
  feed->set_epoch(records.epoch());
  *feed->mutable_batch() = HeaderOf(batch);
  shared_.outbox->SendToWorker(worker, out, PayloadsOf(batch));
  WakeAt(*flow, input);
  return absl::OkStatus();
}

// In turn among those that have least to do: who is busy with something slow does not get more.
uint64_t FlowCore::NextWorker(FlowEntry* flow, VertexId input, int64_t bytes) {
  std::map<uint64_t, int64_t>& unconsumed = flow->unconsumed[input];
  const size_t workers = flow->workers.size();
  const size_t turn = flow->next_ranks[input];
  size_t best = turn;
  for (size_t i = 1; i < workers; ++i) {
    const size_t rank = (turn + i) % workers;
    if (unconsumed[flow->workers[rank]] < unconsumed[flow->workers[best]]) best = rank;
  }
  flow->next_ranks[input] = (best + 1) % workers;
  unconsumed[flow->workers[best]] += bytes;
  return flow->workers[best];
}

absl::Status FlowCore::TakeAdvance(FlowEntry* flow, VertexId input,
                                   const v1::FlowAdvance& advance) {
  if (flow->stage != Stage::kRunning) return absl::OkStatus();
  InputLedger& ledger = flow->inputs.at(input);
  WEIR_ASSIGN_OR_RETURN(const bool is_next, ledger.IsNext(advance.number()));
  if (!is_next) return absl::OkStatus();
  const int64_t before = ledger.epoch();
  WEIR_RETURN_IF_ERROR(ledger.Take(advance));
  WakeAt(*flow, input);
  if (!ledger.closed() && ledger.epoch() == before) return absl::OkStatus();
  v1::CoordinatorMessage out;
  v1::AdvanceFlow* message = flow->Label(out.mutable_advance_flow());
  message->set_vertex(static_cast<uint32_t>(input.value()));
  message->set_epoch(ledger.epoch());
  message->set_closed(ledger.closed());
  for (const uint64_t worker : flow->workers) shared_.outbox->SendToWorker(worker, out, {});
  return absl::OkStatus();
}

absl::Status FlowCore::TakeAck(FlowEntry* flow, VertexId output, uint64_t number) {
  WEIR_ASSIGN_OR_RETURN(const OutputLog::Bytes forgotten,
                        flow->outputs.at(output).Acknowledge(number));
  for (const auto& [worker, bytes] : forgotten) {
    if (!flow->takes_part()) break;
    v1::CoordinatorMessage out;
    v1::FlowOutputTaken* taken = flow->Label(out.mutable_flow_output_taken());
    taken->set_vertex(static_cast<uint32_t>(output.value()));
    taken->set_bytes(bytes);
    shared_.outbox->SendToWorker(worker, out, {});
  }
  // There may be room for what waits.
  WakeAt(*flow, output);
  return absl::OkStatus();
}

// ---- To a client ----

absl::StatusOr<std::optional<FromFlow>> FlowCore::Next(uint64_t id) {
  const auto found = attachments_.find(id);
  if (found == attachments_.end()) return absl::AbortedError("the flow is not kept any more");
  FlowAttachment& attachment = found->second;
  WEIR_RETURN_IF_ERROR(attachment.over);
  FlowEntry* flow = At(attachment.flow);
  if (flow == nullptr) return absl::AbortedError("the flow is not kept any more");
  for (const VertexId output : attachment.outputs) {
    const OutputLog& log = flow->outputs.at(output);
    if (log.is_dropped()) WEIR_RETURN_IF_ERROR(log.CheckKnown(0));
  }
  std::optional<FromFlow> next = NextOf(flow, &attachment);
  attachment.waits = !next.has_value();
  return next;
}

std::optional<FromFlow> FlowCore::NextOf(FlowEntry* flow, FlowAttachment* attachment) {
  FromFlow out;
  if (!attachment->is_told) {
    if (flow->stage != Stage::kRunning && !flow->ended()) return std::nullopt;
    attachment->is_told = true;
    *out.message.mutable_attached() = AttachedTo(*flow, *attachment);
    return out;
  }
  if (!attachment->changed.empty()) {
    const VertexId input = *attachment->changed.begin();
    attachment->changed.erase(input);
    *out.message.mutable_input() = flow->inputs.at(input).ToMessage();
    return out;
  }
  if (!attachment->failed.empty()) {
    *out.message.mutable_record_failed() = std::move(attachment->failed.front());
    attachment->failed.pop_front();
    return out;
  }
  const std::vector<VertexId>& outputs = attachment->outputs;
  bool all_sent = true;
  for (size_t i = 0; i < outputs.size(); ++i) {
    OutputLog& log = flow->outputs.at(outputs[attachment->next_output++ % outputs.size()]);
    if (std::optional<FromFlow> next = log.Next()) return next;
    all_sent = all_sent && log.all_sent();
  }
  if (!flow->ended() || !all_sent || attachment->is_told_end) return std::nullopt;
  attachment->is_told_end = true;
  *out.message.mutable_ended() = JobOf(*flow)->view;
  return out;
}

v1::FlowAttached FlowCore::AttachedTo(const FlowEntry& flow, const FlowAttachment& attachment) {
  v1::FlowAttached attached;
  *attached.mutable_job() = JobOf(flow)->view;
  for (const VertexId input : attachment.inputs) {
    *attached.add_inputs() = flow.inputs.at(input).ToMessage();
  }
  for (const VertexId output : attachment.outputs) {
    const OutputLog& log = flow.outputs.at(output);
    v1::FlowPortType* port = attached.add_outputs();
    port->set_name(log.name());
    for (const TensorType& column : log.type()) port->add_types(column.ToString());
  }
  return attached;
}

void FlowCore::Wake(FlowAttachment* attachment) {
  if (!std::exchange(attachment->waits, false)) return;
  shared_.outbox->Defer(attachment->on_news);
}

void FlowCore::WakeAt(const FlowEntry& flow, VertexId vertex) {
  const auto client = flow.clients.find(vertex);
  if (client == flow.clients.end()) return;
  FlowAttachment* attachment = &attachments_.at(client->second);
  if (flow.inputs.contains(vertex)) attachment->changed.insert(vertex);
  Wake(attachment);
}

void FlowCore::WakeAll(const FlowEntry& flow) {
  for (auto& [id, attachment] : attachments_) {
    if (attachment.flow == flow.id) Wake(&attachment);
  }
}

}  // namespace weir
