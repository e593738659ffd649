// How the interpreter runs a pfor whose iterations meet (in reductions over them, or in reads of
// variables that they wrote) or write variables: node by node, each node for all iterations that
// are active there, in their order. Branches and loops narrow the active ones. A pfor that assigns
// in order runs one iteration after the other. Lives for one evaluation, on one thread.
#ifndef WEIR_COMMON_INTERP_LOCKSTEP_H_
#define WEIR_COMMON_INTERP_LOCKSTEP_H_

#include <memory>
#include <string>
#include <vector>

#include "common/interp/interpretation.h"

namespace weir {

class Lockstep {
 public:
  // True if a pfor runs so. REQUIRES: it is one.
  static bool Needs(const Graph& graph, NodeId id);
  // True if the iterations of some pfor both meet and run in order: a part of it only does.
  static bool MeetsInOrder(const Graph& graph);

  Lockstep(Interpretation* run, NodeId pfor);

  absl::StatusOr<Values> RunPfor(Scope* scope, Values* slots);

 private:
  // An iteration, with its own copy of the function's values.
  struct Lane {
    int64_t index;
    Values slots;
    Variables variables;
  };
  // A lane in a region that it runs.
  struct Active {
    Lane* lane;
    const Scope* around;
    std::unique_ptr<Scope> scope;
  };
  using Lanes = std::vector<Active>;
  // Results or operands of each active lane.
  using Rows = std::vector<Values>;

  bool Meets(NodeId id) const;
  const Tensor& At(const Active& active, ValueId value) const;
  static Lanes Inside(const Lanes& lanes, const std::vector<size_t>& which);

  // Runs a region for lanes that enter it. Returns: the results of each.
  absl::StatusOr<Rows> RunRegion(RegionId id, Rows args, Lanes lanes);
  absl::Status RunNode(NodeId id, bool in_body, const Lanes& lanes);
  absl::StatusOr<Rows> RunMeeting(NodeId id, const Lanes& lanes);
  absl::StatusOr<Rows> Reduce(const Node& node, const Lanes& lanes);
  absl::StatusOr<Rows> RunBranches(const Node& node, const Lanes& lanes);
  absl::StatusOr<Rows> RunWhile(const Node& node, const Lanes& lanes);
  absl::StatusOr<Rows> RunFor(const Node& node, const Lanes& lanes);
  absl::StatusOr<Rows> Read(const Node& node, const Lanes& lanes);

  // What all iterations wrote to a variable, of which one wrote something.
  absl::StatusOr<Variables::Written> Written(const std::string& name) const;
  absl::Status WriteBehind();
  absl::StatusOr<Values> Stacked(const Rows& results, const Scope& scope) const;

  Interpretation* const run_;
  const Graph& graph_;
  const Node& pfor_;
  int64_t extent_ = 0;
  Variables::Names in_order_;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace weir

#endif  // WEIR_COMMON_INTERP_LOCKSTEP_H_
