// Appends vertices and functions to a flow, named after the vertex that they stand for. Owned by
// who brings a function out; thread-compatible.
#ifndef WEIR_SERVER_FLOWS_PIPELINED_FLOW_WRITER_H_
#define WEIR_SERVER_FLOWS_PIPELINED_FLOW_WRITER_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/flow/flow.h"
#include "common/ir/clone.h"

namespace weir {

class FlowWriter {
 public:
  // `flow` and `functions` outlive this; the functions of the flow are not looked at.
  FlowWriter(Flow* flow, Graph* functions, const FlowVertex& vertex)
      : flow_(flow), functions_(functions), vertex_(vertex) {}

  // Of the vertices made from now on; one that is not known stands for that of the vertex.
  void SetLocation(const Location& location) {
    location_ = location.known() ? location : vertex_.location;
  }

  // Returns: its output 0; a switch has output 1, too.
  FlowPort Add(std::string_view kind, std::vector<FlowPort> inputs, Attrs attrs = {});
  // `on_failure` is that of the vertex.
  FlowPort AddMap(FlowPort input, const std::string& function);
  void SetInput(FlowPort vertex, size_t input, FlowPort from) {
    flow_->vertices[vertex.vertex.value()].inputs[input] = from;
  }
  // A loop in this scope. Returns: its scope.
  ScopeId AddLoop(ScopeId around);
  int DepthOf(ScopeId loop) const { return flow_->DepthOf(loop); }
  const std::string& NameOf(ScopeId loop) const { return flow_->loops[loop.value() - 1].name; }

  // A function of records with these columns, values of `source`, which computes the nodes and
  // returns the values; what it uses besides follows from constants alone and is computed in it.
  // Returns: its name.
  std::string AddFunction(const Graph& source, const std::vector<ValueId>& columns,
                          const std::vector<NodeId>& nodes, const std::vector<ValueId>& values);

 private:
  Flow* const flow_;
  Graph* const functions_;
  const FlowVertex vertex_;
  Location location_ = vertex_.location;
  std::map<std::string, int, std::less<>> numbers_;  // by kind
};

}  // namespace weir

#endif  // WEIR_SERVER_FLOWS_PIPELINED_FLOW_WRITER_H_
