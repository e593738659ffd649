#include "common/plan/progress_wire.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "common/base/status.h"

namespace weir {
namespace {

using Numbers = google::protobuf::RepeatedField<uint64_t>;

uint64_t ZigZag(int64_t number) {
  return (static_cast<uint64_t>(number) << 1) ^ static_cast<uint64_t>(number >> 63);
}
int64_t UnZigZag(uint64_t number) {
  return static_cast<int64_t>(number >> 1) ^ -static_cast<int64_t>(number & 1);
}

// Packs groups of location, time and, for changes of counts, delta.
class Packer {
 public:
  explicit Packer(Numbers* packed) : packed_(*packed) {}

  void Add(const Pointstamp& pointstamp) {
    packed_.Add(static_cast<uint64_t>(pointstamp.location.value() - location_));
    packed_.Add(ZigZag(pointstamp.time.epoch() - epoch_));
    for (int i = 1; i < pointstamp.time.size(); ++i) {
      packed_.Add(static_cast<uint64_t>(pointstamp.time[i]));
    }
    location_ = pointstamp.location.value();
    epoch_ = pointstamp.time.epoch();
  }
  void AddDelta(int64_t delta) { packed_.Add(ZigZag(delta)); }

 private:
  Numbers& packed_;
  int64_t location_ = 0;
  int64_t epoch_ = 0;
};

class Unpacker {
 public:
  Unpacker(const Numbers& packed, const Topology& topology)
      : next_(packed.data()), end_(packed.data() + packed.size()), topology_(topology) {}

  bool done() const { return next_ == end_; }

  // Reads a location and a time there, with a delta behind it (kCounted) or 0 as the delta.
  enum class Group { kCounted, kPlain };
  absl::Status Take(Group group, std::vector<Change>* changes) {
    WEIR_RETURN_IF_ERROR(TakeLocation());
    const int depth = topology_.location(LocationId(location_)).depth;
    if (end_ - next_ <= depth + (group == Group::kCounted ? 1 : 0)) return Ends();
    if (__builtin_add_overflow(epoch_, UnZigZag(*next_++), &epoch_)) return BadTime();
    if (epoch_ < 0) return BadTime();
    Coordinates time(1, epoch_);
    for (int i = 1; i <= depth; ++i) {
      time.push_back(static_cast<int64_t>(*next_++));
      if (time.back() < 0) return BadTime();
    }
    const int64_t delta = group == Group::kCounted ? UnZigZag(*next_++) : 0;
    changes->push_back({{LocationId(location_), Timestamp(std::move(time))}, delta});
    return absl::OkStatus();
  }

 private:
  absl::Status TakeLocation() {
    const uint64_t gap = *next_++;
    if (gap >= static_cast<uint64_t>(topology_.num_locations() - location_)) {
      return InvalidArgument("there is no location ", location_, " + ", gap, "; the job has ",
                             topology_.num_locations());
    }
    location_ += static_cast<int64_t>(gap);
    return absl::OkStatus();
  }
  absl::Status Ends() const {
    return InvalidArgument("the numbers end in the middle of ",
                           topology_.Describe(LocationId(location_)));
  }
  absl::Status BadTime() const {
    return InvalidArgument("a coordinate of a time at ", topology_.Describe(LocationId(location_)),
                           " is negative or beyond int64");
  }

  const uint64_t* next_;
  const uint64_t* const end_;
  const Topology& topology_;
  int64_t location_ = 0;
  int64_t epoch_ = 0;
};

absl::Status TooMany(std::string_view what, int64_t count, int64_t limit) {
  return InvalidArgument(count, " ", what, " in one message; at most ", limit, " are taken");
}

// Appends the elements of a list, each with the same delta.
absl::Status UnpackElements(const Numbers& packed, int64_t delta, const Topology& topology,
                            const ProgressLimits& limits, std::vector<Change>* changes) {
  Unpacker unpacker(packed, topology);
  while (!unpacker.done()) {
    const int64_t number = static_cast<int64_t>(changes->size()) + 1;
    if (number > limits.changes) return TooMany("changes or more", number, limits.changes);
    const absl::Status status = unpacker.Take(Unpacker::Group::kPlain, changes);
    if (!status.ok()) return Annotate(status, StrCat("element ", number));
    changes->back().delta = delta;
  }
  return absl::OkStatus();
}

v1::LogicalGraph::Vertex ToWire(const LogicalGraph::Vertex& vertex) {
  v1::LogicalGraph::Vertex message;
  message.set_name(vertex.name);
  for (const ScopeId scope : vertex.inputs) {
    message.add_inputs(static_cast<uint32_t>(scope.value()));
  }
  for (const ScopeId scope : vertex.outputs) {
    message.add_outputs(static_cast<uint32_t>(scope.value()));
  }
  for (size_t i = 0; i < vertex.inputs.size(); ++i) {
    for (size_t o = 0; o < vertex.outputs.size(); ++o) {
      for (const PathSummary& summary : vertex.summaries[i][o]) {
        v1::LogicalGraph::Summary* const added = message.add_summaries();
        added->set_input(static_cast<uint32_t>(i));
        added->set_output(static_cast<uint32_t>(o));
        for (const int64_t by : summary.add()) added->add_add(static_cast<uint64_t>(by));
        for (const int64_t constant : summary.append()) {
          added->add_append(static_cast<uint64_t>(constant));
        }
      }
    }
  }
  return message;
}

// Nothing if some number is beyond int64 or there are more than a time can have.
std::optional<Coordinates> CoordinatesFrom(const Numbers& numbers, const ProgressLimits& limits) {
  if (numbers.size() > limits.depth + 1) return std::nullopt;
  Coordinates coordinates;
  for (const uint64_t number : numbers) {
    if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
    coordinates.push_back(static_cast<int64_t>(number));
  }
  return coordinates;
}

absl::Status CheckSizes(const v1::LogicalGraph& message, const ProgressLimits& limits) {
  if (message.scopes_size() > limits.scopes) {
    return TooMany("scopes", message.scopes_size(), limits.scopes);
  }
  if (message.vertices_size() > limits.vertices) {
    return TooMany("vertices", message.vertices_size(), limits.vertices);
  }
  if (message.edges_size() > limits.edges) {
    return TooMany("edges", message.edges_size(), limits.edges);
  }
  int64_t pairs = 0, ports = 0;
  for (const v1::LogicalGraph::Vertex& vertex : message.vertices()) {
    pairs += static_cast<int64_t>(vertex.inputs_size()) * vertex.outputs_size();
    ports += vertex.inputs_size() + vertex.outputs_size();
    if (ports > limits.ports) return TooMany("ports or more", ports, limits.ports);
    if (pairs > limits.port_pairs) {
      return TooMany("pairs of an input and an output or more", pairs, limits.port_pairs);
    }
  }
  return absl::OkStatus();
}

absl::Status AddScopes(const v1::LogicalGraph& message, const ProgressLimits& limits,
                       LogicalGraph* graph) {
  for (const v1::LogicalGraph::Scope& scope : message.scopes()) {
    if (scope.parent() >= graph->scopes().size()) {
      return InvalidArgument("scope '", scope.name(), "' is in scope ", scope.parent(),
                             ", which does not come before it");
    }
    const ScopeId id = graph->AddScope(ScopeId(scope.parent()), scope.name());
    if (graph->scope(id).depth > limits.depth) {
      return InvalidArgument("scope '", scope.name(), "' is inside of ", graph->scope(id).depth,
                             " loops; at most ", limits.depth, " are taken");
    }
  }
  return absl::OkStatus();
}

absl::Status AddSummary(const v1::LogicalGraph::Summary& summary, VertexId id,
                        const ProgressLimits& limits, LogicalGraph* graph) {
  const LogicalGraph::Vertex& vertex = graph->vertex(id);
  const std::string where = StrCat("the summary from input ", summary.input(), " to output ",
                                   summary.output(), " of '", vertex.name, "' ");
  if (summary.input() >= vertex.inputs.size() || summary.output() >= vertex.outputs.size()) {
    return InvalidArgument(where, "is between ports that are not there");
  }
  std::optional<Coordinates> add = CoordinatesFrom(summary.add(), limits);
  std::optional<Coordinates> append = CoordinatesFrom(summary.append(), limits);
  if (!add.has_value() || !append.has_value()) {
    return InvalidArgument(where, "has a number beyond int64, or more than ", limits.depth + 1);
  }
  if (add->empty()) return InvalidArgument(where, "keeps nothing, not even the epoch");
  // Only summaries between the same two scopes can be compared.
  const ScopeId from = vertex.inputs[summary.input()];
  const ScopeId to = vertex.outputs[summary.output()];
  const size_t kept = graph->scope(graph->CommonScope(from, to)).depth + 1;
  const size_t size = graph->scope(to).depth + 1;
  if (add->size() != kept || add->size() + append->size() != size) {
    return InvalidArgument(where, "keeps ", add->size(), " coordinates and appends ",
                           append->size(), " where the scopes share ", kept, " and times have ",
                           size);
  }
  graph->AddSummary(id, static_cast<int>(summary.input()), static_cast<int>(summary.output()),
                    PathSummary(*std::move(add), *std::move(append)));
  return absl::OkStatus();
}

absl::Status AddVertex(const v1::LogicalGraph::Vertex& vertex, const ProgressLimits& limits,
                       LogicalGraph* graph) {
  std::vector<ScopeId> inputs, outputs;
  for (const auto& [scopes, ids] :
       {std::pair{&vertex.inputs(), &inputs}, std::pair{&vertex.outputs(), &outputs}}) {
    for (const uint32_t scope : *scopes) {
      if (scope >= graph->scopes().size()) {
        return InvalidArgument("vertex '", vertex.name(), "' has a port in scope ", scope,
                               "; there are ", graph->scopes().size());
      }
      ids->push_back(ScopeId(scope));
    }
  }
  const VertexId id = graph->AddVertex(vertex.name(), std::move(inputs), std::move(outputs));
  for (const v1::LogicalGraph::Summary& summary : vertex.summaries()) {
    WEIR_RETURN_IF_ERROR(AddSummary(summary, id, limits, graph));
  }
  return absl::OkStatus();
}

}  // namespace

v1::LogicalGraph ToWire(const LogicalGraph& graph) {
  v1::LogicalGraph message;
  for (size_t s = 1; s < graph.scopes().size(); ++s) {
    v1::LogicalGraph::Scope* const added = message.add_scopes();
    added->set_name(graph.scopes()[s].name);
    added->set_parent(static_cast<uint32_t>(graph.scopes()[s].parent.value()));
  }
  for (const LogicalGraph::Vertex& vertex : graph.vertices()) {
    *message.add_vertices() = ToWire(vertex);
  }
  for (const LogicalGraph::Edge& edge : graph.edges()) {
    v1::LogicalGraph::Edge* const added = message.add_edges();
    added->set_from_vertex(static_cast<uint32_t>(edge.from.vertex.value()));
    added->set_output(static_cast<uint32_t>(edge.from.number));
    added->set_to_vertex(static_cast<uint32_t>(edge.to.vertex.value()));
    added->set_input(static_cast<uint32_t>(edge.to.number));
  }
  return message;
}

absl::StatusOr<LogicalGraph> LogicalGraphFrom(const v1::LogicalGraph& message,
                                              const ProgressLimits& limits) {
  WEIR_RETURN_IF_ERROR(CheckSizes(message, limits));
  LogicalGraph graph;
  WEIR_RETURN_IF_ERROR(AddScopes(message, limits, &graph));
  for (const v1::LogicalGraph::Vertex& vertex : message.vertices()) {
    WEIR_RETURN_IF_ERROR(AddVertex(vertex, limits, &graph));
  }
  for (const v1::LogicalGraph::Edge& edge : message.edges()) {
    if (edge.output() > limits.ports || edge.input() > limits.ports) {
      return InvalidArgument("an edge is between output ", edge.output(), " and input ",
                             edge.input(), "; a graph has at most ", limits.ports, " ports");
    }
    graph.Connect({VertexId(edge.from_vertex()), static_cast<int>(edge.output())},
                  {VertexId(edge.to_vertex()), static_cast<int>(edge.input())});
  }
  return graph;
}

void PackChanges(absl::Span<const Change> changes, Numbers* packed) {
  Packer packer(packed);
  for (const Change& change : changes) {
    packer.Add(change.key);
    packer.AddDelta(change.delta);
  }
}

absl::StatusOr<std::vector<Change>> UnpackChanges(const Numbers& packed, const Topology& topology,
                                                  const ProgressLimits& limits) {
  std::vector<Change> changes;
  changes.reserve(std::min<int64_t>(packed.size() / 3, limits.changes));
  Unpacker unpacker(packed, topology);
  while (!unpacker.done()) {
    const int64_t number = static_cast<int64_t>(changes.size()) + 1;
    if (number > limits.changes) return TooMany("changes or more", number, limits.changes);
    const absl::Status status = unpacker.Take(Unpacker::Group::kCounted, &changes);
    if (!status.ok()) return Annotate(status, StrCat("change ", number));
  }
  return changes;
}

v1::ProgressBatch ToWire(const ProgressBatch& batch) {
  v1::ProgressBatch message;
  message.set_number(static_cast<uint64_t>(batch.sequence));
  PackChanges(batch.changes, message.mutable_changes());
  return message;
}

absl::StatusOr<ProgressBatch> ProgressBatchFrom(const v1::ProgressBatch& message,
                                                const Topology& topology,
                                                const ProgressLimits& limits) {
  if (message.number() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return InvalidArgument("the number is beyond int64");
  }
  ProgressBatch batch;
  batch.sequence = static_cast<int64_t>(message.number());
  WEIR_ASSIGN_OR_RETURN(batch.changes, UnpackChanges(message.changes(), topology, limits));
  return batch;
}

v1::FrontierUpdate ToWire(const FrontierUpdate& update) {
  v1::FrontierUpdate message;
  message.set_number(static_cast<uint64_t>(update.sequence));
  Packer additions(message.mutable_additions()), removals(message.mutable_removals());
  for (const Change& change : update.changes) {
    (change.delta > 0 ? additions : removals).Add(change.key);
  }
  return message;
}

absl::StatusOr<FrontierUpdate> FrontierUpdateFrom(const v1::FrontierUpdate& message,
                                                  const Topology& topology,
                                                  const ProgressLimits& limits) {
  if (message.number() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return InvalidArgument("the number is beyond int64");
  }
  FrontierUpdate update;
  update.sequence = static_cast<int64_t>(message.number());
  WEIR_RETURN_IF_ERROR(Annotate(
      UnpackElements(message.additions(), 1, topology, limits, &update.changes), "additions"));
  WEIR_RETURN_IF_ERROR(Annotate(
      UnpackElements(message.removals(), -1, topology, limits, &update.changes), "removals"));
  return update;
}

absl::StatusOr<std::vector<Change>> GrantsFrom(const v1::ProgressGrants& message,
                                               const Topology& topology,
                                               const ProgressLimits& limits) {
  WEIR_ASSIGN_OR_RETURN(std::vector<Change> grants,
                        UnpackChanges(message.changes(), topology, limits));
  for (const Change& grant : grants) {
    const PortLocation& location = topology.location(grant.key.location);
    if (location.kind == PortLocation::Kind::kInput || grant.delta <= 0 ||
        grant.delta > std::numeric_limits<int32_t>::max()) {
      return InvalidArgument(grant.delta, " of ", ToString(grant.key.time), " at ",
                             topology.Describe(grant.key.location), " is no grant");
    }
  }
  return grants;
}

}  // namespace weir
