// Random nested graphs for tests, a pure function of the numbers drawn.
//
// Up to three loops inside of each other or side by side, sources, vertices of one to three ports
// that keep times, delay them in one or in two incomparable ways or lead nowhere, feedback of loops
// and of epochs, and vertices between any two scopes. Most are legal; Topology::Of says.
#ifndef WEIR_COMMON_TIMELY_RANDOM_GRAPH_TESTING_H_
#define WEIR_COMMON_TIMELY_RANDOM_GRAPH_TESTING_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/random.h"
#include "common/base/str_cat.h"
#include "common/timely/topology.h"

namespace weir {

class RandomGraph {
 public:
  explicit RandomGraph(Random* random) : random_(*random) {}

  LogicalGraph Draw() {
    outputs_.resize(1);
    AddOutputs(graph_.AddSource("source"), 1);
    if (random_.Chance(0.4)) AddOutputs(graph_.AddSource("source"), 1);
    Fill(LogicalGraph::kRoot);
    for (const auto& [vertex, scope] : connected_last_) {
      graph_.Connect(AnyOutput(scope), {vertex, 0});
    }
    return std::move(graph_);
  }

 private:
  int64_t Below(int64_t bound) { return static_cast<int64_t>(random_.Below(bound)); }
  int depth(ScopeId scope) const { return graph_.scope(scope).depth; }

  Port AnyOutput(ScopeId scope) {
    const std::vector<Port>& ports = outputs_[scope.value()];
    return ports[Below(static_cast<int64_t>(ports.size()))];
  }
  void AddOutputs(VertexId vertex, int count) {
    for (int i = 0; i < count; ++i) {
      outputs_[graph_.vertex(vertex).outputs[i].value()].push_back({vertex, i});
    }
  }
  std::string Name(const char* kind) { return StrCat(kind, " ", graph_.vertices().size()); }

  // What comes earlier leads to what comes later; only feedback leads back, so cycles are drawn
  // that a counter grows on, as long as they stay in its loop.
  void Fill(ScopeId scope) {
    if (scope != LogicalGraph::kRoot || random_.Chance(0.3)) AddFeedback(scope);
    const int64_t parts = 1 + Below(scope == LogicalGraph::kRoot ? 4 : 3);
    for (int64_t i = 0; i < parts; ++i) {
      const double kind = random_.Unit();
      if (kind < 0.3 && depth(scope) < 2 && graph_.scopes().size() < 4) {
        AddLoop(scope);
      } else if (kind < 0.4) {
        AddBetweenScopes(scope);
      } else {
        AddOrdinary(scope);
      }
    }
  }

  void AddFeedback(ScopeId scope) {
    const VertexId feedback = graph_.AddFeedback(Name("feedback"), scope, 1 + Below(2));
    AddOutputs(feedback, 1);
    connected_last_.emplace_back(feedback, scope);
  }

  void AddLoop(ScopeId scope) {
    const ScopeId loop = graph_.AddScope(scope, StrCat("loop ", graph_.scopes().size()));
    outputs_.emplace_back();
    for (int64_t i = 0, enters = 1 + Below(2); i < enters; ++i) {
      const VertexId enter = graph_.AddEnter(Name("enter"), loop, random_.Chance(0.2) ? 1 : 0);
      graph_.Connect(AnyOutput(scope), {enter, 0});
      AddOutputs(enter, 1);
    }
    Fill(loop);
    const VertexId leave = graph_.AddLeave(Name("leave"), loop);
    graph_.Connect(AnyOutput(loop), {leave, 0});
    AddOutputs(leave, 1);
  }

  void AddOrdinary(ScopeId scope) {
    const int inputs = 1 + static_cast<int>(Below(3));
    const int outputs = 1 + static_cast<int>(Below(2));
    const VertexId vertex = graph_.AddVertex(Name("vertex"), scope, inputs, outputs);
    for (int i = 0; i < inputs; ++i) {
      graph_.Connect(AnyOutput(scope), {vertex, i});
      for (int o = 0; o < outputs; ++o) DrawSummaries(vertex, i, o, depth(scope));
    }
    AddOutputs(vertex, outputs);
  }

  void DrawSummaries(VertexId vertex, int input, int output, int depth) {
    const double kind = random_.Unit();
    if (kind < 0.5) return;
    graph_.RemoveSummaries(vertex, input, output);
    if (kind < 0.65) return;
    const int coordinate = static_cast<int>(Below(depth + 1));
    graph_.AddSummary(vertex, input, output, PathSummary::Advance(depth, coordinate, 1 + Below(2)));
    if (kind < 0.75) return;
    const int other = (coordinate + 1) % (depth + 1);
    graph_.AddSummary(vertex, input, output, PathSummary::Advance(depth, other));
  }

  // From `scope` to any scope that has begun; what leads to some of them is drawn last, as that of
  // feedback is, so that cycles go through several scopes.
  void AddBetweenScopes(ScopeId scope) {
    const ScopeId to(Below(static_cast<int64_t>(graph_.scopes().size())));
    const VertexId vertex = graph_.AddVertex(Name("between"), std::vector{scope}, std::vector{to});
    const int kept = depth(graph_.CommonScope(scope, to)) + 1;
    Coordinates append;
    while (kept + static_cast<int>(append.size()) < depth(to) + 1) append.push_back(Below(2));
    graph_.AddSummary(vertex, 0, 0, PathSummary(Coordinates(kept, 0), append));
    if (random_.Chance(0.3)) {
      connected_last_.emplace_back(vertex, scope);
    } else {
      graph_.Connect(AnyOutput(scope), {vertex, 0});
    }
    AddOutputs(vertex, 1);
  }

  Random& random_;
  LogicalGraph graph_;
  std::vector<std::vector<Port>> outputs_;  // of each scope, so far
  std::vector<std::pair<VertexId, ScopeId>> connected_last_;
};

// Draws until one is legal.
inline std::shared_ptr<const Topology> RandomTopology(Random* random) {
  while (true) {
    auto topology = Topology::Of(RandomGraph(random).Draw());
    if (topology.ok()) return *std::move(topology);
  }
}

}  // namespace weir

#endif  // WEIR_COMMON_TIMELY_RANDOM_GRAPH_TESTING_H_
