#include "server/flows/flow_waits.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "common/base/str_cat.h"
#include "common/flow/flow_wire.h"

namespace weir {
namespace {

// A worker that is well is heard of more often.
constexpr absl::Duration kSilent = absl::Seconds(1);

bool RunsAt(const v1::FlowReport::Vertex& vertex, const Timestamp& time) {
  const auto& coordinates = vertex.running_time().coordinates();
  return vertex.running_ns() > 0 &&
         std::equal(coordinates.begin(), coordinates.end(), time.coordinates().begin(),
                    time.coordinates().end());
}

void AddTo(std::string* text, const std::string& more) {
  if (!more.empty()) StrAppend(text, text->empty() ? "" : "; ", more);
}

}  // namespace

std::string FlowWaits::Age(absl::Time since) const {
  return absl::FormatDuration(absl::Trunc(now_ - since, absl::Milliseconds(1)));
}

std::string FlowWaits::Named(uint64_t worker) const {
  return StrCat("worker '", flow_.names.at(worker), "'");
}

std::string FlowWaits::ClientOf(VertexId vertex) const {
  const auto client = flow_.clients.find(vertex);
  return client == flow_.clients.end() ? "" : attachments_.at(client->second).client;
}

bool FlowWaits::IsSilent(uint64_t worker) const {
  const auto entry = workers_.entries().find(worker);
  return entry != workers_.entries().end() && now_ - entry->second.last_heard > kSilent;
}

std::vector<FlowWaits::Part> FlowWaits::PartsOf(VertexId vertex) const {
  std::vector<Part> parts;
  const int index = static_cast<int>(vertex.value());
  for (const auto& [worker, report] : flow_.reports) {
    if (index >= report.message.vertices_size()) continue;
    parts.push_back({worker, &report.message.vertices(index), report.came});
  }
  return parts;
}

std::vector<Wait> FlowWaits::WithDetails(std::vector<Wait> waits) const {
  for (Wait& wait : waits) AddDetail(&wait);
  return waits;
}

void FlowWaits::AddDetail(Wait* wait) const {
  const PortLocation& place = flow_.prepared.topology->location(wait->outstanding.location);
  const auto input = flow_.inputs.find(place.port.vertex);
  if (input != flow_.inputs.end()) {
    wait->detail = OfSource(input->second, *wait);
  } else {
    AddPlace(PartsOf(place.port.vertex), wait);
  }
  if (place.kind != PortLocation::Kind::kInput) {
    AddTo(&wait->detail, std::exchange(wait->place, ""));
  }
  for (const uint64_t worker : wait->workers) {
    if (!IsSilent(worker)) continue;
    AddTo(&wait->detail, StrCat("nothing has been heard of ", Named(worker), " for ",
                                Age(workers_.entries().find(worker)->second.last_heard)));
  }
  AddTo(&wait->detail, OfLoop(*wait));
}

// What runs at this time is what it waits for; else what is queued, else who does not answer.
void FlowWaits::AddPlace(const std::vector<Part>& parts, Wait* wait) const {
  const auto keep = [&](auto&& is_one) {
    std::vector<uint64_t> workers;
    for (const Part& part : parts) {
      const bool may_be = std::count(wait->workers.begin(), wait->workers.end(), part.worker) > 0;
      if (!may_be || !is_one(part)) continue;
      workers.push_back(part.worker);
      AddTo(&wait->place, OfPart(part, *wait));
    }
    if (!workers.empty()) wait->workers = std::move(workers);
    return !wait->place.empty();
  };
  if (keep([&](const Part& part) { return RunsAt(*part.vertex, wait->outstanding.time); })) return;
  if (keep([&](const Part& part) {
        return part.vertex->queued_frames() > 0 || part.vertex->blocked_ns() > 0;
      })) {
    return;
  }
  std::vector<uint64_t> silent;
  std::copy_if(wait->workers.begin(), wait->workers.end(), std::back_inserter(silent),
               [this](uint64_t worker) { return IsSilent(worker); });
  if (!silent.empty()) wait->workers = std::move(silent);
}

std::string FlowWaits::OfPart(const Part& part, const Wait& wait) const {
  const v1::FlowReport::Vertex& vertex = *part.vertex;
  const auto since = [&](int64_t ns) { return Age(part.came - absl::Nanoseconds(ns)); };
  if (RunsAt(vertex, wait.outstanding.time)) {
    return StrCat(Named(part.worker), " has run a call for ", since(vertex.running_ns()));
  }
  if (vertex.blocked_ns() > 0) {
    const VertexId full(vertex.blocked_by());
    return StrCat(Named(part.worker), " has begun no call for ", since(vertex.blocked_ns()),
                  ", as '", flow_.flow().vertex(full).name, "' has no room");
  }
  if (vertex.running_ns() > 0) {
    const Timestamp time(Coordinates(vertex.running_time().coordinates().begin(),
                                     vertex.running_time().coordinates().end()));
    return StrCat("queued on ", Named(part.worker), " behind a call at ", weir::ToString(time),
                  " that has run for ", since(vertex.running_ns()));
  }
  return StrCat("queued on ", Named(part.worker), " as it said ", Age(part.came), " ago");
}

std::string FlowWaits::OfSource(const InputLedger& input, const Wait& wait) const {
  std::string text;
  if (input.closed() || input.epoch() > wait.outstanding.time.epoch()) {
    AddTo(&text, StrCat("it was ", input.closed() ? "closed" : StrCat("moved to ", input.epoch()),
                        ", which has not come from there yet"));
    return text;
  }
  if (wait.client.empty()) AddTo(&text, "no client feeds it");
  const int64_t waiting = input.unconsumed_bytes();
  if (waiting > 0) AddTo(&text, StrCat(waiting, " bytes of its records are not consumed"));
  return text;
}

std::string FlowWaits::OfLoop(const Wait& wait) const {
  const Topology& topology = *flow_.prepared.topology;
  const PortLocation& place = topology.location(wait.outstanding.location);
  const FlowVertex& vertex = flow_.flow().vertex(place.port.vertex);
  const bool is_output = place.kind == PortLocation::Kind::kOutput;
  const ScopeId scope = is_output ? vertex.output_scope : vertex.scope;
  if (scope == LogicalGraph::kRoot) return "";
  const absl::Span<const int64_t> all = wait.outstanding.time.coordinates();
  const Timestamp outer(Coordinates(all.begin(), all.end() - 1));
  std::string text =
      StrCat("trip ", all.back(), " of loop '", flow_.flow().loops[scope.value() - 1].name, "'");
  absl::Time since = absl::InfiniteFuture();
  for (const auto& [feedback, times] : flow_.going_round) {
    if (flow_.flow().vertex(feedback).scope != scope) continue;
    const auto found = times.find(outer);
    if (found != times.end()) since = std::min(since, found->second);
  }
  if (since < now_) {
    StrAppend(&text, ", which has gone round at ", weir::ToString(outer), " for ", Age(since));
  }
  return text;
}

std::vector<FullOutput> FlowWaits::FullOutputs() const {
  std::vector<FullOutput> full;
  for (const auto& [vertex, log] : flow_.outputs) {
    FullOutput output = {vertex, {}, log.kept_bytes(), now_, ClientOf(vertex)};
    for (const Part& part : PartsOf(vertex)) {
      if (part.vertex->blocked_ns() == 0) continue;
      output.workers.push_back(part.worker);
      output.since =
          std::min(output.since, part.came - absl::Nanoseconds(part.vertex->blocked_ns()));
    }
    if (!output.workers.empty()) full.push_back(std::move(output));
  }
  return full;
}

std::string FlowWaits::ToString(const FullOutput& full) const {
  std::vector<std::string> names;
  for (const uint64_t worker : full.workers) names.push_back(Named(worker));
  return StrCat("output '", flow_.flow().vertex(full.vertex).name, "' has no room: it keeps ",
                full.kept_bytes, " bytes that ",
                full.client.empty() ? "no client takes"
                                    : StrCat("client '", full.client, "' has not acknowledged"),
                "; ", absl::StrJoin(names, ", "), names.size() == 1 ? " has" : " have",
                " waited for ", Age(full.since));
}

}  // namespace weir
