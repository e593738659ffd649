// The functions of one recursive set as they are seen from one of them, the root: copies whose
// types are in the symbols of the root, and what later steps ask about them. Owned by the pass;
// thread-compatible.
#ifndef WEIR_SERVER_COMPILER_RECURSION_MEMBERS_H_
#define WEIR_SERVER_COMPILER_RECURSION_MEMBERS_H_

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "common/ir/clone.h"
#include "common/ir/graph.h"
#include "common/ops/control/recursion.h"

namespace weir {

class Members {
 public:
  struct Member {
    std::string name;
    RegionId body;  // a detached copy
    // For each parameter the one of the root that it always equals, or -1: it is handed on from
    // call to call as it is.
    std::vector<int> same_as;
  };
  struct Call {
    int caller = 0;
    int callee = 0;
    bool is_tail = false;
  };

  // Copies the functions; member 0 is the root.
  static absl::StatusOr<Members> Create(Graph* graph, const Recursion::Set& set,
                                        std::string_view root);

  const std::vector<Member>& all() const { return members_; }
  // Null for nodes other than the recursive calls.
  const Call* FindCall(NodeId node) const;
  // Whether a recursive call lies inside of a node.
  bool Splits(NodeId node) const { return splits_.contains(node); }
  // The place of a node in its region.
  size_t Position(NodeId node) const { return positions_.at(node); }
  // How many regions of an `if` or `case` can be run through without a recursive call.
  int WaysThrough(NodeId branch) const;
  // Whether the function only returns behind a node.
  bool IsLast(NodeId node) const;
  // What the function needs, in whatever regions around, to go on with node `from` of a region;
  // also values that are made only then. In the order of use.
  std::vector<ValueId> NeededFrom(RegionId region, size_t from) const;
  // What a loop needs besides the values that it carries, and what follows it.
  std::vector<ValueId> NeededByLoop(NodeId loop) const;

 private:
  explicit Members(Graph* graph) : graph_(graph) {}

  absl::Status Copy(const Recursion::Set& set, std::string_view root);
  void CopyMember(const std::string& name, absl::flat_hash_map<std::string, int>* number);
  absl::Status Bind(NodeId call, const Member& callee) const;
  void Index(RegionId region);
  absl::Status CheckAround(const Member& member, NodeId call);
  void FindSame();
  bool RunsThrough(RegionId region) const;

  Graph* graph_;
  std::vector<Member> members_;
  absl::flat_hash_map<NodeId, Call> calls_;
  std::vector<NodeId> call_order_;
  absl::flat_hash_set<NodeId> splits_;
  absl::flat_hash_map<NodeId, size_t> positions_;
};

}  // namespace weir

#endif  // WEIR_SERVER_COMPILER_RECURSION_MEMBERS_H_
