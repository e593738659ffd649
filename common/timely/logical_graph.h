// The dataflow graph of a job as progress tracking sees it: vertices with ports, what each does to
// times, edges, and nested scopes (loops). One vertex stands for its copies on all workers.
//
// Built once by the coordinator from the plan and sent to the workers; Topology::Of checks it and
// gives places their dense numbers. A plain value; thread-compatible.
//
//   LogicalGraph graph;
//   const VertexId in = graph.AddSource("images");
//   const ScopeId loop = graph.AddScope(LogicalGraph::kRoot, "refine");
//   const VertexId enter = graph.AddEnter("enter", loop);
//   const VertexId step = graph.AddVertex("step", loop, 2, 1);
//   const VertexId back = graph.AddFeedback("back", loop);
//   const VertexId leave = graph.AddLeave("leave", loop);
//   graph.Connect({in, 0}, {enter, 0});
//   graph.Connect({enter, 0}, {step, 0});
//   graph.Connect({step, 0}, {back, 0});
//   graph.Connect({back, 0}, {step, 1});
//   graph.Connect({step, 0}, {leave, 0});
#ifndef WEIR_COMMON_TIMELY_LOGICAL_GRAPH_H_
#define WEIR_COMMON_TIMELY_LOGICAL_GRAPH_H_

#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/timely/antichain.h"
#include "common/timely/path_summary.h"

namespace weir {

using ScopeId = Id<struct ScopeTag>;
using VertexId = Id<struct VertexTag>;

// An input or an output of a vertex.
struct Port {
  VertexId vertex;
  int number = 0;
};

class LogicalGraph {
 public:
  static constexpr ScopeId kRoot{0};

  struct Scope {
    std::string name;
    ScopeId parent;  // none for the root
    int depth = 0;   // of its times: how many loops are around
  };
  struct Vertex {
    std::string name;
    std::vector<ScopeId> inputs;  // the scope of each port
    std::vector<ScopeId> outputs;
    // [input][output]: what happens to a time between them at the least; empty if nothing that
    // comes in can lead to anything that goes out.
    std::vector<std::vector<Antichain<PathSummary>>> summaries;
  };
  struct Edge {
    Port from;  // an output
    Port to;    // an input
  };

  LogicalGraph();

  // A loop in `parent`; times in it have one counter more.
  ScopeId AddScope(ScopeId parent, std::string name);

  // A vertex whose ports are all in one scope and which leaves times as they are.
  VertexId AddVertex(std::string name, ScopeId scope, int inputs, int outputs);
  // A vertex that tells nothing about its summaries yet: no input leads to any output.
  VertexId AddVertex(std::string name, std::vector<ScopeId> inputs, std::vector<ScopeId> outputs);
  // One output outside of loops and no input: where data comes into the job.
  VertexId AddSource(std::string name) { return AddVertex(std::move(name), kRoot, 0, 1); }
  // From the scope around `loop` into its trip `constant`.
  VertexId AddEnter(std::string name, ScopeId loop, int64_t constant = 0);
  // From `loop` to the scope around it.
  VertexId AddLeave(std::string name, ScopeId loop);
  // Adds to the counter of `loop`; for kRoot to the epoch.
  VertexId AddFeedback(std::string name, ScopeId loop, int64_t by = 1);

  // Adds one way from an input to an output to those that there are.
  void AddSummary(VertexId vertex, int input, int output, const PathSummary& summary);
  // Says that nothing leads from the input to the output.
  void RemoveSummaries(VertexId vertex, int input, int output);
  void Connect(Port output, Port input);

  const std::vector<Scope>& scopes() const { return scopes_; }
  const std::vector<Vertex>& vertices() const { return vertices_; }
  const std::vector<Edge>& edges() const { return edges_; }
  const Scope& scope(ScopeId id) const { return scopes_[id.value()]; }
  const Vertex& vertex(VertexId id) const { return vertices_[id.value()]; }

  // Returns: the scope around both that is inside of all others around both.
  ScopeId CommonScope(ScopeId a, ScopeId b) const;
  // Returns: `scope` or the one around it with this depth; none if it is less deep.
  ScopeId Ancestor(ScopeId scope, int depth) const;

 private:
  std::vector<Scope> scopes_;
  std::vector<Vertex> vertices_;
  std::vector<Edge> edges_;
};

// Returns: one line for each scope, vertex and edge, for messages and failing tests.
std::string ToString(const LogicalGraph& graph);

}  // namespace weir

#endif  // WEIR_COMMON_TIMELY_LOGICAL_GRAPH_H_
