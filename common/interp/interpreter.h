// The oracle: runs a program one node at a time through the ops' reference evaluations, without
// fusion, threads or memory tricks. Everything else must agree with it. Stateless; usable from any
// thread, one run on one thread.
//
//   Graph graph = ...;
//   absl::StatusOr<std::vector<Tensor>> out = Interpret(graph, {Tensor::Of<float>({2}, {1, 2})});
//
// Variables are arguments behind those of the entry function and results behind its own, in the
// order of their names (common/ops/control/state.h); nodes read and write them in place. A pfor
// whose iterations meet or write variables runs node by node (lockstep.h), others one iteration
// after the other.
//
// As many calls of a recursive function may wait for one another as its calls say (max_depth,
// common/ops/control/recursion.h); beyond, the run fails as by a `check`.
//
// Symbols of parameter shapes are bound to the extents of the inputs, once per activation of a
// function. A symbol that a node's result brings in (a size known only from data) is bound when the
// node has run, for its region and the regions inside.
#ifndef WEIR_COMMON_INTERP_INTERPRETER_H_
#define WEIR_COMMON_INTERP_INTERPRETER_H_

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/ir/graph.h"
#include "common/tensor/tensor.h"

namespace weir {

class PrintedLines;

struct InterpretOptions {
  // Into how many ranges a `shard` node cuts its iterations; the results do not depend on it.
  int64_t shard_ranges = 1;
  // Symbols of the program that no parameter shape binds.
  SymbolBindings symbols;

  // Where `print` writes; null: nowhere.
  PrintedLines* lines = nullptr;

  // Beyond a limit a run ends with RESOURCE_EXHAUSTED.
  int64_t max_steps = std::numeric_limits<int64_t>::max();  // nodes run and regions entered
  int max_depth = 500;                                      // regions and calls inside each other
  int64_t max_tensor_bytes = int64_t{1} << 40;              // of one result
};

// Runs the entry function. REQUIRES: Verify(graph, Ops()) is OK. Returns: the function's results;
// an error that names the argument and both types, or the node and the source location.
absl::StatusOr<std::vector<Tensor>> Interpret(const Graph& graph, absl::Span<const Tensor> inputs,
                                              const InterpretOptions& options = {});

// Runs the function of this name.
absl::StatusOr<std::vector<Tensor>> InterpretFunction(const Graph& graph, std::string_view name,
                                                      absl::Span<const Tensor> inputs,
                                                      const InterpretOptions& options = {});

}  // namespace weir

#endif  // WEIR_COMMON_INTERP_INTERPRETER_H_
