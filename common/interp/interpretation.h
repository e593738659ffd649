// One run of a program: what the interpreter knows while it runs. Only common/interp includes this;
// lives for one run, on one thread.
#ifndef WEIR_COMMON_INTERP_INTERPRETATION_H_
#define WEIR_COMMON_INTERP_INTERPRETATION_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "common/interp/interpreter.h"
#include "common/interp/lifetimes.h"
#include "common/interp/variables.h"
#include "common/ops/control/recursion.h"
#include "common/ops/op_def.h"

namespace weir {

// The symbols of a region: those of the region around it until it binds one of its own.
struct Scope {
  explicit Scope(const SymbolBindings& outer) : symbols(&outer) {}
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  SymbolBindings& Own() {
    if (symbols != &own) own = *symbols;
    symbols = &own;
    return own;
  }

  const SymbolBindings* symbols;
  SymbolBindings own;
};

using Values = std::vector<Tensor>;

class Interpretation {
 public:
  Interpretation(const Graph& graph, const InterpretOptions& options, Variables* variables);

  absl::StatusOr<Values> Call(const Function& function, Values args, const SymbolBindings& symbols);
  // The call that a node of a function makes.
  absl::StatusOr<Values> CallFrom(NodeId node, const Function& function, Values args);
  absl::StatusOr<Values> RunRegion(RegionId id, Values args, Scope* scope, Values* slots);

  const Graph& graph() const { return graph_; }
  const InterpretOptions& options() const { return options_; }
  Variables* variables() const { return variables_; }

 private:
  friend class Lockstep;

  bool RunsInLockstep(NodeId id);
  absl::Status Step();
  absl::Status BindArguments(const Function& function, const Values& args, Scope* scope) const;
  // Checks and places the arguments of a region.
  absl::Status Enter(const Region& region, Values args, Scope* scope, Values* slots);
  // Checks and places the results of a node; lets go of what nothing needs any more.
  absl::Status Keep(NodeId id, Values results, Scope* scope, Values* slots);
  absl::StatusOr<Values> RunNodes(RegionId id, Scope* scope, Values* slots);
  absl::Status RunNode(NodeId id, Scope* scope, Values* slots);
  absl::StatusOr<Values> Evaluate(NodeId id, Scope* scope, Values* slots);
  absl::Status CheckSize(const OpDef& op, const Node& node, const SymbolBindings& symbols) const;
  absl::StatusOr<const OpDef*> Find(NodeId id);
  absl::Status WithNode(const absl::Status& status, NodeId node) const;

  const Graph& graph_;
  const InterpretOptions& options_;
  Variables* variables_;  // of the iteration that runs
  const Lifetimes lifetimes_;
  const Recursion recursion_;
  std::vector<int64_t> waiting_;                // calls, by set of recursive functions
  std::vector<const OpDef*> ops_;               // by node, found at its first run
  absl::flat_hash_map<NodeId, bool> lockstep_;  // by pfor
  int64_t steps_ = 0;
  int depth_ = 0;
};

}  // namespace weir

#endif  // WEIR_COMMON_INTERP_INTERPRETATION_H_
