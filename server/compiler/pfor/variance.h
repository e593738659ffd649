// First analysis of the pfor pass: which values of a body differ between iterations. Owned by one
// conversion; thread-compatible.
//
// Marks only ever grow, and each op's rule marks outputs from inputs, so the least fixed point is
// exact and is found before any code is made. Loops reach theirs inside their own rule, which keeps
// nested loops at one pass.
#ifndef WEIR_SERVER_COMPILER_PFOR_VARIANCE_H_
#define WEIR_SERVER_COMPILER_PFOR_VARIANCE_H_

#include "absl/container/flat_hash_set.h"
#include "common/ir/graph.h"

namespace weir {

class Variance {
 public:
  // REQUIRES: the graph outlives this and does not lose values.
  explicit Variance(const Graph& graph) : graph_(graph) {}

  void MarkVarying(ValueId value) { varying_.insert(value); }
  bool varies(ValueId value) const { return varying_.contains(value); }
  // Propagates marks through the nodes of a region, in order.
  void AnalyzeRegion(RegionId region);
  // True if an input of the node, or a value that its regions capture, varies.
  bool Touched(NodeId node) const;

  const Graph& graph() const { return graph_; }

 private:
  const Graph& graph_;
  absl::flat_hash_set<ValueId> varying_;
};

}  // namespace weir

#endif  // WEIR_SERVER_COMPILER_PFOR_VARIANCE_H_
