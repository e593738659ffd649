// Where the interpreter keeps each value and when it lets go of it. Immutable once made; usable
// from any thread.
#ifndef WEIR_COMMON_INTERP_LIFETIMES_H_
#define WEIR_COMMON_INTERP_LIFETIMES_H_

#include <vector>

#include "absl/types/span.h"
#include "common/ir/graph.h"

namespace weir {

// One activation of a function holds its values, those of nested regions included, in one row of
// slots.
class Lifetimes {
 public:
  // Cost: one pass over the graph.
  explicit Lifetimes(const Graph& graph);

  int slot(ValueId value) const { return slots_[value.value()]; }
  // REQUIRES: `body` is the body of a function.
  int num_slots(RegionId body) const { return num_slots_[body.value()]; }
  // Values of the node's region that nothing needs once `node` has run.
  absl::Span<const ValueId> last_used_by(NodeId node) const { return last_used_by_[node.value()]; }

 private:
  void VisitRegion(const Graph& graph, RegionId id, RegionId body);
  void Use(const Graph& graph, ValueId value, RegionId region, NodeId node);

  std::vector<int> slots_;
  std::vector<int> num_slots_;
  std::vector<NodeId> last_user_;
  std::vector<bool> is_result_;
  std::vector<std::vector<ValueId>> last_used_by_;
};

}  // namespace weir

#endif  // WEIR_COMMON_INTERP_LIFETIMES_H_
