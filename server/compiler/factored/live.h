// Which values a program would still need if some of its nodes were made from other values. Looks
// only; thread-compatible.
#ifndef WEIR_SERVER_COMPILER_FACTORED_LIVE_H_
#define WEIR_SERVER_COMPILER_FACTORED_LIVE_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "common/ir/graph.h"

namespace weir::factored {

// The node and what it would be made from.
using Replacements = absl::flat_hash_map<NodeId, std::vector<ValueId>>;

class Live {
 public:
  // REQUIRES: both outlive this.
  Live(const Graph& graph, const Replacements& replacements);

  bool Contains(ValueId value) const { return values_.contains(value); }

 private:
  void MarkEffects(RegionId region);
  void Mark(ValueId value);
  void Visit(ValueId value);
  // Something in the node's regions runs, so they are entered.
  void Enter(NodeId node);
  void EnterRegion(RegionId region);

  const Graph& graph_;
  const Replacements& replacements_;
  absl::flat_hash_set<ValueId> values_;
  absl::flat_hash_set<NodeId> entered_;
  std::vector<ValueId> waiting_;
};

}  // namespace weir::factored

#endif  // WEIR_SERVER_COMPILER_FACTORED_LIVE_H_
