// Makes vertices of the loops and branches of one function. Made for one map, used by one thread.
#ifndef WEIR_SERVER_FLOWS_PIPELINED_FUNCTION_WAYS_H_
#define WEIR_SERVER_FLOWS_PIPELINED_FUNCTION_WAYS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "common/flow/flow.h"
#include "common/ir/graph.h"
#include "server/flows/pipelined/flow_writer.h"
#include "server/flows/pipelined/own_way.h"

namespace weir {

// A record on its way: a stream, and which value of the program each of its columns holds, each
// value once.
struct WayPoint {
  FlowPort port;
  ScopeId scope;
  std::vector<ValueId> columns;
};

class FunctionWays {
 public:
  struct Options {
    BroughtOut what = BroughtOut::kLoops;
    // What a loop does not change and is of so many bytes stays out of the round.
    int64_t hold_bytes = 0;
    // Records whose function fails are left out.
    bool drops_failing = false;
  };

  // REQUIRES: MakeOwnWays(graph) was called; all outlive this.
  FunctionWays(const Graph& graph, const Options& options, FlowWriter* writer);

  // Brings records of the function's parameters on their way. Returns: where they come out, and in
  // `function` what is still to be called for them to be its results; empty if they are.
  absl::StatusOr<WayPoint> Run(FlowPort input, ScopeId scope, std::string* function);

 private:
  class AtNode;
  using Values = std::vector<ValueId>;

  // Runs the nodes of a region. The columns of the result are `wanted`, under the names `labels`.
  absl::StatusOr<WayPoint> RunRegion(RegionId region, WayPoint at, const Values& wanted,
                                     const Values& labels);
  // Runs the nodes of a region up to the last loop or branch. Returns: in `rest` those behind it.
  absl::StatusOr<WayPoint> UpToRest(RegionId region, WayPoint at, const Values& wanted,
                                    std::vector<NodeId>* rest);
  // `nodes` stand in front of the branch or loop; `needed` is what is used behind it.
  absl::StatusOr<WayPoint> If(const Node& node, WayPoint at, const std::vector<NodeId>& nodes,
                              const Values& needed);
  absl::StatusOr<WayPoint> While(const Node& node, WayPoint at, const std::vector<NodeId>& nodes,
                                 const Values& needed);
  // Brings records from the head of a loop to a switch by its condition.
  absl::StatusOr<WayPoint> Condition(const Node& node, WayPoint at);
  // Sorts what does not change into what goes round with the record and what stays out.
  struct Unchanged {
    Values goes_round;
    Values held;
    Values waits;
  };
  Unchanged Sort(const Node& node, const Values& keep, const WayPoint& at) const;
  absl::StatusOr<ScopeId> AddLoop(ScopeId around);

  // Calls a function for the values, unless they are the columns as they are.
  WayPoint Map(WayPoint at, const std::vector<NodeId>& nodes, const Values& values,
               const Values& labels);
  FlowPort Switch(const WayPoint& at, const std::vector<NodeId>& nodes, ValueId predicate);
  // In the order of first use, each once, without constants.
  void AddUses(NodeId node, Values* uses) const;
  void Add(ValueId value, Values* values) const;
  bool IsConstant(ValueId value) const { return constants_.contains(value); }
  int64_t BytesOf(ValueId value) const;

  const Graph& graph_;
  const Options options_;
  FlowWriter& writer_;
  absl::flat_hash_set<ValueId> constants_;  // follow from constants alone
  const Node* node_ = nullptr;              // that is brought out, for messages
};

}  // namespace weir

#endif  // WEIR_SERVER_FLOWS_PIPELINED_FUNCTION_WAYS_H_
