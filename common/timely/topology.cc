#include "common/timely/topology.h"

#include <utility>

#include "common/base/str_cat.h"
#include "common/timely/causal_order.h"

namespace weir {
namespace {

bool Exists(const LogicalGraph& graph, const Port& port,
            std::vector<ScopeId> LogicalGraph::Vertex::*ports) {
  if (port.vertex.value() < 0) return false;
  if (port.vertex.value() >= static_cast<int64_t>(graph.vertices().size())) return false;
  return port.number >= 0 &&
         port.number < static_cast<int>((graph.vertex(port.vertex).*ports).size());
}

// Why a summary cannot be between an input and an output, or nothing.
std::string Fault(const LogicalGraph& graph, const PathSummary& summary, ScopeId from, ScopeId to) {
  const int shared = graph.scope(graph.CommonScope(from, to)).depth + 1;
  if (summary.kept() != shared) {
    return StrCat("keeps ", summary.kept(), " coordinates where the scopes share ", shared);
  }
  const int size = graph.scope(to).depth + 1;
  if (summary.result_size() != size) {
    return StrCat("gives ", summary.result_size(), " coordinates where times have ", size);
  }
  for (const absl::Span<const int64_t> numbers : {summary.add(), summary.append()}) {
    for (const int64_t number : numbers) {
      if (number < 0) return "has a negative number";
    }
  }
  return "";
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Topology>> Topology::Of(LogicalGraph graph) {
  const std::shared_ptr<Topology> topology(new Topology(std::move(graph)));
  WEIR_RETURN_IF_ERROR(topology->CheckPorts());
  WEIR_RETURN_IF_ERROR(topology->CheckSummaries());
  topology->NumberLocations();
  topology->CollectHops();
  topology->CollectBackHops();
  WEIR_RETURN_IF_ERROR(CausalOrder(topology.get()).Compute());
  return topology;
}

absl::Status Topology::CheckPorts() const {
  std::vector<std::vector<int>> edges_to;
  for (const LogicalGraph::Vertex& vertex : graph_.vertices()) {
    edges_to.emplace_back(vertex.inputs.size(), 0);
    for (const std::vector<ScopeId>& ports : {vertex.inputs, vertex.outputs}) {
      for (const ScopeId scope : ports) {
        if (!scope.valid() || scope.value() >= static_cast<int64_t>(graph_.scopes().size())) {
          return InvalidArgument("vertex '", vertex.name, "' has a port in no scope");
        }
      }
    }
  }
  for (const LogicalGraph::Edge& edge : graph_.edges()) {
    if (!Exists(graph_, edge.from, &LogicalGraph::Vertex::outputs) ||
        !Exists(graph_, edge.to, &LogicalGraph::Vertex::inputs)) {
      return InvalidArgument("an edge from output ", edge.from.number, " of vertex ",
                             edge.from.vertex.value(), " to input ", edge.to.number, " of vertex ",
                             edge.to.vertex.value(), ": there is no such port");
    }
    const LogicalGraph::Vertex& from = graph_.vertex(edge.from.vertex);
    const LogicalGraph::Vertex& to = graph_.vertex(edge.to.vertex);
    if (from.outputs[edge.from.number] != to.inputs[edge.to.number]) {
      return InvalidArgument("the edge from '", from.name, "' to '", to.name, "' goes from scope '",
                             graph_.scope(from.outputs[edge.from.number]).name, "' to '",
                             graph_.scope(to.inputs[edge.to.number]).name,
                             "': only vertices lead from scope to scope");
    }
    ++edges_to[edge.to.vertex.value()][edge.to.number];
  }
  for (size_t v = 0; v < edges_to.size(); ++v) {
    for (size_t i = 0; i < edges_to[v].size(); ++i) {
      if (edges_to[v][i] == 1) continue;
      return InvalidArgument("input ", i, " of '", graph_.vertices()[v].name, "' has ",
                             edges_to[v][i], " edges; it needs one (a concat joins several)");
    }
  }
  return absl::OkStatus();
}

absl::Status Topology::CheckSummaries() const {
  for (const LogicalGraph::Vertex& vertex : graph_.vertices()) {
    for (size_t i = 0; i < vertex.inputs.size(); ++i) {
      for (size_t o = 0; o < vertex.outputs.size(); ++o) {
        for (const PathSummary& summary : vertex.summaries[i][o]) {
          const std::string fault = Fault(graph_, summary, vertex.inputs[i], vertex.outputs[o]);
          if (fault.empty()) continue;
          return InvalidArgument("the summary {", ToString(summary), "} from input ", i,
                                 " to output ", o, " of '", vertex.name, "' ", fault);
        }
      }
    }
  }
  return absl::OkStatus();
}

void Topology::NumberLocations() {
  for (size_t v = 0; v < graph_.vertices().size(); ++v) {
    const LogicalGraph::Vertex& vertex = graph_.vertices()[v];
    first_.push_back(num_locations());
    const auto number = [&](PortLocation::Kind kind, const std::vector<ScopeId>& scopes) {
      for (size_t i = 0; i < scopes.size(); ++i) {
        locations_.push_back({kind,
                              {VertexId(static_cast<int64_t>(v)), static_cast<int>(i)},
                              scopes[i],
                              graph_.scope(scopes[i]).depth});
      }
    };
    number(PortLocation::Kind::kInput, vertex.inputs);
    number(PortLocation::Kind::kRequest, vertex.inputs);
    number(PortLocation::Kind::kOutput, vertex.outputs);
  }
}

void Topology::CollectInner(const LogicalGraph::Vertex& vertex, int input,
                            std::vector<Hop>* hops) const {
  const int64_t first = first_[&vertex - graph_.vertices().data()];
  const int64_t inputs = static_cast<int64_t>(vertex.inputs.size());
  for (size_t o = 0; o < vertex.outputs.size(); ++o) {
    for (const PathSummary& summary : vertex.summaries[input][o]) {
      const bool keeps = vertex.inputs[input] == vertex.outputs[o] && summary.adds_nothing();
      hops->push_back({LocationId(first + 2 * inputs + static_cast<int64_t>(o)), summary, keeps});
    }
  }
}

void Topology::CollectHops() {
  std::vector<std::vector<Hop>> hops(locations_.size());
  for (size_t l = 0; l < locations_.size(); ++l) {
    const PortLocation& location = locations_[l];
    if (location.kind == PortLocation::Kind::kOutput) continue;
    CollectInner(graph_.vertex(location.port.vertex), location.port.number, &hops[l]);
    if (location.kind == PortLocation::Kind::kInput) {
      hops[l].push_back({request(location.port.vertex, location.port.number),
                         PathSummary::Identity(location.depth), true});
    }
  }
  for (const LogicalGraph::Edge& edge : graph_.edges()) {
    const LocationId to = input(edge.to.vertex, edge.to.number);
    hops[output(edge.from.vertex, edge.from.number).value()].push_back(
        {to, PathSummary::Identity(location(to).depth), true});
  }
  for (std::vector<Hop>& some : hops) {
    first_hop_.push_back(static_cast<int64_t>(hops_.size()));
    for (Hop& hop : some) hops_.push_back(std::move(hop));
  }
  first_hop_.push_back(static_cast<int64_t>(hops_.size()));
}

void Topology::CollectBackHops() {
  first_back_hop_.assign(locations_.size() + 1, 0);
  for (const Hop& hop : hops_) ++first_back_hop_[hop.to.value() + 1];
  for (size_t l = 0; l < locations_.size(); ++l) first_back_hop_[l + 1] += first_back_hop_[l];
  back_hops_.resize(hops_.size());
  std::vector<int64_t> next = first_back_hop_;
  for (size_t from = 0; from < locations_.size(); ++from) {
    for (int64_t h = first_hop_[from]; h < first_hop_[from + 1]; ++h) {
      back_hops_[next[hops_[h].to.value()]++] = {LocationId(static_cast<int64_t>(from)), h};
    }
  }
}

LocationId Topology::input(VertexId vertex, int number) const {
  return LocationId(first_[vertex.value()] + number);
}

LocationId Topology::request(VertexId vertex, int number) const {
  const int64_t inputs = static_cast<int64_t>(graph_.vertex(vertex).inputs.size());
  return LocationId(first_[vertex.value()] + inputs + number);
}

LocationId Topology::output(VertexId vertex, int number) const {
  const int64_t inputs = static_cast<int64_t>(graph_.vertex(vertex).inputs.size());
  return LocationId(first_[vertex.value()] + 2 * inputs + number);
}

absl::Span<const Hop> Topology::hops(LocationId from) const {
  const int64_t first = first_hop_[from.value()];
  return absl::MakeConstSpan(hops_).subspan(first, first_hop_[from.value() + 1] - first);
}

absl::Span<const BackHop> Topology::hops_to(LocationId to) const {
  const int64_t first = first_back_hop_[to.value()];
  return absl::MakeConstSpan(back_hops_).subspan(first, first_back_hop_[to.value() + 1] - first);
}

bool Topology::ComesBefore(LocationId a, const Timestamp& time_a, LocationId b,
                           const Timestamp& time_b) const {
  const int32_t* rank_a = &ranks_[first_rank_[a.value()]];
  const int32_t* rank_b = &ranks_[first_rank_[b.value()]];
  const int size = std::min(time_a.size(), time_b.size());
  for (int level = 0; level < size; ++level) {
    if (time_a[level] != time_b[level]) return time_a[level] < time_b[level];
    if (rank_a[level] != rank_b[level]) return rank_a[level] < rank_b[level];
  }
  return false;  // the same place, the same time: different places differ in a rank
}

std::string Topology::Describe(LocationId id) const {
  if (!id.valid() || id.value() >= num_locations()) return StrCat("no location ", id.value());
  const PortLocation& place = location(id);
  const char* const kind = place.kind == PortLocation::Kind::kInput     ? "input "
                           : place.kind == PortLocation::Kind::kRequest ? "request at input "
                                                                        : "output ";
  return StrCat(kind, place.port.number, " of '", graph_.vertex(place.port.vertex).name, "'");
}

absl::Status Topology::CheckPointstamp(LocationId id, const Timestamp& time) const {
  if (!id.valid() || id.value() >= num_locations()) {
    return InvalidArgument("there is no location ", id.value(), "; the job has ", num_locations());
  }
  if (time.depth() != location(id).depth) {
    return InvalidArgument("time ", ToString(time), " at ", Describe(id), ", which is inside of ",
                           location(id).depth, " loops");
  }
  for (const int64_t coordinate : time.coordinates()) {
    if (coordinate < 0) {
      return InvalidArgument("time ", ToString(time), " at ", Describe(id), " is negative");
    }
  }
  return absl::OkStatus();
}

}  // namespace weir
