// Which calls of a program recurse, and how deep they may. The compiler and the interpreter share
// it. Immutable after construction; thread-compatible, REQUIRES that the graph does not change.
#ifndef WEIR_COMMON_OPS_CONTROL_RECURSION_H_
#define WEIR_COMMON_OPS_CONTROL_RECURSION_H_

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "common/ir/graph.h"

namespace weir {

// A call without the attribute max_depth.
inline constexpr int64_t kDefaultMaxDepth = 64;

// The functions that calls inside of a region name, those in inner regions too.
using FunctionNames = std::set<std::string, std::less<>>;
FunctionNames CalleesOf(const Graph& graph, RegionId region);

class Recursion {
 public:
  // Functions that call one another, each of which reaches every other.
  struct Set {
    std::vector<std::string> functions;  // in the order of the program
    // How many calls of the set may wait for one another: the most that a call inside of the set
    // asks for.
    int64_t max_depth = kDefaultMaxDepth;
  };
  // A call by which a function of a set calls one of the same set.
  struct Call {
    int set = 0;
    // Nothing is left to do behind it, so the caller does not wait.
    bool is_tail = false;
  };

  explicit Recursion(const Graph& graph);

  const std::vector<Set>& sets() const { return sets_; }
  // Returns: the number of the function's set, or -1 if it does not recurse.
  int SetOf(std::string_view function) const;
  // Null for other nodes.
  const Call* Find(NodeId node) const;

 private:
  void FindSets(const Graph& graph);
  void FindCalls(const Graph& graph, RegionId region, int set);

  std::vector<Set> sets_;
  std::map<std::string, int, std::less<>> set_of_;
  absl::flat_hash_map<NodeId, Call> calls_;
};

// For a call by which a function of a set calls one of the same set: whether it is the last node of
// the function, in whatever branches, and what it gives is all that the function returns.
bool IsTailCall(const Graph& graph, NodeId call);

// What the run says that went too deep: what `check` would.
std::string TooDeepText(const Recursion::Set& set);

}  // namespace weir

#endif  // WEIR_COMMON_OPS_CONTROL_RECURSION_H_
