#include "common/timely/logical_graph.h"

#include <utility>

#include "common/base/str_cat.h"

namespace weir {
namespace {

std::string ToString(const std::vector<ScopeId>& scopes) {
  std::string text;
  for (const ScopeId scope : scopes) StrAppend(&text, text.empty() ? "" : ", ", scope.value());
  return text;
}

}  // namespace

LogicalGraph::LogicalGraph() { scopes_.push_back({"root", ScopeId(), 0}); }

ScopeId LogicalGraph::AddScope(ScopeId parent, std::string name) {
  scopes_.push_back({std::move(name), parent, scope(parent).depth + 1});
  return ScopeId(static_cast<int64_t>(scopes_.size()) - 1);
}

VertexId LogicalGraph::AddVertex(std::string name, ScopeId scope, int inputs, int outputs) {
  const VertexId id = AddVertex(std::move(name), std::vector<ScopeId>(inputs, scope),
                                std::vector<ScopeId>(outputs, scope));
  const PathSummary same = PathSummary::Identity(this->scope(scope).depth);
  for (int input = 0; input < inputs; ++input) {
    for (int output = 0; output < outputs; ++output) AddSummary(id, input, output, same);
  }
  return id;
}

VertexId LogicalGraph::AddVertex(std::string name, std::vector<ScopeId> inputs,
                                 std::vector<ScopeId> outputs) {
  Vertex vertex = {std::move(name), std::move(inputs), std::move(outputs), {}};
  vertex.summaries.assign(vertex.inputs.size(),
                          std::vector<Antichain<PathSummary>>(vertex.outputs.size()));
  vertices_.push_back(std::move(vertex));
  return VertexId(static_cast<int64_t>(vertices_.size()) - 1);
}

VertexId LogicalGraph::AddEnter(std::string name, ScopeId loop, int64_t constant) {
  const ScopeId outside = scope(loop).parent;
  const VertexId id = AddVertex(std::move(name), std::vector{outside}, std::vector{loop});
  AddSummary(id, 0, 0, PathSummary::Enter(scope(outside).depth, constant));
  return id;
}

VertexId LogicalGraph::AddLeave(std::string name, ScopeId loop) {
  const VertexId id =
      AddVertex(std::move(name), std::vector{loop}, std::vector{scope(loop).parent});
  AddSummary(id, 0, 0, PathSummary::Leave(scope(loop).depth));
  return id;
}

VertexId LogicalGraph::AddFeedback(std::string name, ScopeId loop, int64_t by) {
  const int depth = scope(loop).depth;
  const VertexId id = AddVertex(std::move(name), std::vector{loop}, std::vector{loop});
  AddSummary(id, 0, 0, PathSummary::Advance(depth, depth, by));
  return id;
}

void LogicalGraph::AddSummary(VertexId vertex, int input, int output, const PathSummary& summary) {
  vertices_[vertex.value()].summaries[input][output].Insert(summary);
}

void LogicalGraph::RemoveSummaries(VertexId vertex, int input, int output) {
  vertices_[vertex.value()].summaries[input][output] = {};
}

void LogicalGraph::Connect(Port output, Port input) { edges_.push_back({output, input}); }

ScopeId LogicalGraph::CommonScope(ScopeId a, ScopeId b) const {
  while (a != b) {
    if (scope(a).depth >= scope(b).depth) {
      a = scope(a).parent;
    } else {
      b = scope(b).parent;
    }
  }
  return a;
}

ScopeId LogicalGraph::Ancestor(ScopeId scope, int depth) const {
  if (this->scope(scope).depth < depth) return ScopeId();
  while (this->scope(scope).depth > depth) scope = this->scope(scope).parent;
  return scope;
}

std::string ToString(const LogicalGraph& graph) {
  std::string text;
  for (size_t i = 1; i < graph.scopes().size(); ++i) {
    const LogicalGraph::Scope& scope = graph.scopes()[i];
    StrAppend(&text, "scope ", i, " '", scope.name, "' in ", scope.parent.value(), "\n");
  }
  for (size_t v = 0; v < graph.vertices().size(); ++v) {
    const LogicalGraph::Vertex& vertex = graph.vertices()[v];
    StrAppend(&text, "vertex ", v, " '", vertex.name, "' (", ToString(vertex.inputs), ") -> (",
              ToString(vertex.outputs), ")");
    for (size_t i = 0; i < vertex.inputs.size(); ++i) {
      for (size_t o = 0; o < vertex.outputs.size(); ++o) {
        StrAppend(&text, " ", i, "->", o, " ", ToString(vertex.summaries[i][o]));
      }
    }
    text += "\n";
  }
  for (const LogicalGraph::Edge& edge : graph.edges()) {
    StrAppend(&text, "edge ", edge.from.vertex.value(), ":", edge.from.number, " -> ",
              edge.to.vertex.value(), ":", edge.to.number, "\n");
  }
  return text;
}

}  // namespace weir
