// A flow: the dataflow graph of a job in virtual time, as a user writes it. Vertices of some kind
// (vertex_kind.h) with streams of records between them, in nested loops, and the functions that
// vertices call for one record each.
//
// Made by a parser (flow_text.h) or by hand; CheckFlow then fills in scopes and types and finds
// what is wrong. A value; thread-compatible, and immutable once checked.
#ifndef WEIR_COMMON_FLOW_FLOW_H_
#define WEIR_COMMON_FLOW_FLOW_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/ids.h"
#include "common/flow/record_batch.h"
#include "common/ir/attr.h"
#include "common/ir/graph.h"
#include "common/timely/logical_graph.h"

namespace weir {

struct VertexKind;

// An output of a vertex and what comes out of it.
struct FlowPort {
  VertexId vertex;
  int output = 0;

  friend bool operator==(const FlowPort&, const FlowPort&) = default;
};

struct FlowLoop {
  std::string name;
  ScopeId parent;  // LogicalGraph::kRoot outside of loops
};

struct FlowVertex {
  std::string name;  // unique in the flow
  // Names of outputs 1, 2, ..., for people; may be missing.
  std::vector<std::string> other_outputs;
  std::string kind;  // "map"
  std::vector<FlowPort> inputs;
  Attrs attrs;
  Location location;

  // Set by CheckFlow.
  const VertexKind* def = nullptr;
  ScopeId scope;  // of its inputs; of a vertex without inputs, of its outputs
  ScopeId output_scope;
  std::vector<RecordType> input_types;
  std::vector<RecordType> output_types;

  // REQUIRES: present and of the kind's type (the flow was checked).
  const Attr& attr(std::string_view attr_name) const { return attrs.find(attr_name)->second; }
  const Attr* FindAttr(std::string_view attr_name) const;
  int64_t IntOr(std::string_view attr_name, int64_t otherwise) const;
  std::string StringOr(std::string_view attr_name, std::string_view otherwise) const;
};

struct Flow {
  std::string name;
  // Functions that vertices name, for one record each.
  std::shared_ptr<const Graph> functions;
  // Scope i + 1 is loop i; scope 0 is outside of loops.
  std::vector<FlowLoop> loops;
  std::vector<FlowVertex> vertices;

  const FlowVertex& vertex(VertexId id) const { return vertices[id.value()]; }
  // Returns: none for a name that no vertex has.
  VertexId FindVertex(std::string_view vertex_name) const;
  // The inputs that an output leads to, in the order of vertices.
  std::vector<Port> Readers(FlowPort output) const;
  int DepthOf(ScopeId scope) const;  // how many loops are around
};

// Fills in what follows from the rest, and checks all of it: kinds, attributes, functions, scopes,
// types. Errors: InvalidArgument that starts with the vertex's place and names what is wrong.
absl::Status CheckFlow(Flow* flow);

// What progress tracking sees: vertex i of the flow is vertex i of the graph.
// REQUIRES: the flow is checked. Topology::Of checks cycles.
LogicalGraph GraphOf(const Flow& flow);

}  // namespace weir

#endif  // WEIR_COMMON_FLOW_FLOW_H_
