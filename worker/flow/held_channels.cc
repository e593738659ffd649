#include "worker/flow/held_channels.h"

#include <map>

namespace weir {
namespace {

using Neighbours = std::vector<std::vector<int64_t>>;  // of each vertex

// The number of the cycle that each vertex is part of: vertices have the same one if and only if
// each is reached from the other. Sharir, "A strong-connectivity algorithm and its applications in
// data flow analysis" (1981): backwards from the vertex that was left last.
class Cycles {
 public:
  explicit Cycles(const Flow& flow)
      : readers_(flow.vertices.size()),
        writers_(flow.vertices.size()),
        numbers_(flow.vertices.size(), -1) {
    const auto count = static_cast<int64_t>(flow.vertices.size());
    for (int64_t v = 0; v < count; ++v) {
      for (const FlowPort& input : flow.vertices[v].inputs) {
        writers_[v].push_back(input.vertex.value());
        readers_[input.vertex.value()].push_back(v);
      }
    }
    std::vector<bool> seen(count, false);
    std::vector<int64_t> left;  // in the order in which all that is reached was seen
    const auto is_unseen = [&](int64_t at) { return !seen[at] && (seen[at] = true); };
    for (int64_t v = 0; v < count; ++v) {
      Visit(readers_, v, is_unseen, [&](int64_t at) { left.push_back(at); });
    }
    for (auto v = left.rbegin(); v != left.rend(); ++v) {
      const auto is_new = [&](int64_t at) {
        if (numbers_[at] >= 0) return false;
        numbers_[at] = *v;
        return true;
      };
      Visit(writers_, *v, is_new, [](int64_t) {});
    }
  }

  int64_t NumberOf(VertexId vertex) const { return numbers_[vertex.value()]; }

 private:
  // Depth first. `enter` says whether a vertex is new; `leave` is told once its neighbours are
  // done.
  template <class Enter, class Leave>
  static void Visit(const Neighbours& neighbours, int64_t from, const Enter& enter,
                    const Leave& leave) {
    struct Place {
      int64_t vertex;
      size_t next = 0;
    };
    std::vector<Place> way;
    if (enter(from)) way.push_back({from});
    while (!way.empty()) {
      Place& place = way.back();
      if (place.next == neighbours[place.vertex].size()) {
        leave(place.vertex);
        way.pop_back();
        continue;
      }
      const int64_t to = neighbours[place.vertex][place.next++];
      if (enter(to)) way.push_back({to});
    }
  }

  Neighbours readers_;
  Neighbours writers_;
  std::vector<int64_t> numbers_;
};

}  // namespace

namespace {

// The loop outside of all others that a scope is in.
ScopeId OutermostLoop(const Flow& flow, ScopeId loop) {
  while (flow.loops[loop.value() - 1].parent != LogicalGraph::kRoot) {
    loop = flow.loops[loop.value() - 1].parent;
  }
  return loop;
}

}  // namespace

std::vector<std::vector<Port>> HoldingInputs(const Flow& flow) {
  const Cycles cycles(flow);
  std::map<ScopeId, std::vector<VertexId>> entries;  // into loops
  for (size_t v = 0; v < flow.vertices.size(); ++v) {
    const FlowVertex& vertex = flow.vertices[v];
    if (vertex.scope != LogicalGraph::kRoot || vertex.output_scope == LogicalGraph::kRoot) continue;
    entries[vertex.output_scope].push_back(VertexId(static_cast<int64_t>(v)));
  }
  std::vector<std::vector<Port>> holding(flow.vertices.size());
  for (size_t v = 0; v < flow.vertices.size(); ++v) {
    const FlowVertex& reader = flow.vertices[v];
    const VertexId id(static_cast<int64_t>(v));
    for (size_t i = 0; i < reader.inputs.size(); ++i) {
      const VertexId from = reader.inputs[i].vertex;
      const FlowVertex& writer = flow.vertex(from);
      std::vector<VertexId> waiting;
      if (writer.scope == LogicalGraph::kRoot) {
        waiting = {from};
      } else if (writer.output_scope == LogicalGraph::kRoot) {
        waiting = entries[OutermostLoop(flow, writer.scope)];
      }
      for (const VertexId one : waiting) {
        if (cycles.NumberOf(one) == cycles.NumberOf(id)) continue;
        holding[one.value()].push_back({id, static_cast<int>(i)});
      }
    }
  }
  return holding;
}

}  // namespace weir
