// What an op's reference evaluation sees: its node, concrete operands and, for ops with regions, a
// way to run them. Implemented by common/interp; a context lives for one evaluation and stays on
// one thread.
#ifndef WEIR_COMMON_OPS_EVAL_H_
#define WEIR_COMMON_OPS_EVAL_H_

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/ir/graph.h"
#include "common/tensor/tensor.h"

namespace weir {

class PrintedLines;

class EvalContext {
 public:
  EvalContext(const Graph& graph, const Node& node, absl::Span<const Tensor> inputs,
              const SymbolBindings& symbols)
      : graph_(graph), node_(node), inputs_(inputs), symbols_(symbols) {}
  virtual ~EvalContext() = default;

  const Graph& graph() const { return graph_; }
  const Node& node() const { return node_; }
  const Attr& attr(std::string_view name) const { return node_.attr(name); }
  absl::Span<const Tensor> inputs() const { return inputs_; }
  const Tensor& input(int i) const { return inputs_[i]; }
  const SymbolBindings& symbols() const { return symbols_; }

  absl::StatusOr<int64_t> Evaluate(const Dim& dim) const { return dim.Evaluate(symbols_); }
  // A dims attribute as numbers.
  absl::StatusOr<Extents> Evaluate(std::string_view dims_attr) const;
  // The extents that type inference promised for output `i`.
  absl::StatusOr<Extents> OutputExtents(int i) const;
  DType output_dtype(int i) const { return graph_.type(node_.outputs[i]).dtype; }

  // Runs the node's i-th region; `extra` adds or replaces symbols inside it.
  virtual absl::StatusOr<std::vector<Tensor>> RunRegion(int region, std::vector<Tensor> args,
                                                        const SymbolBindings& extra) = 0;
  absl::StatusOr<std::vector<Tensor>> RunRegion(int region, std::vector<Tensor> args) {
    return RunRegion(region, std::move(args), {});
  }
  virtual absl::StatusOr<std::vector<Tensor>> CallFunction(std::string_view name,
                                                           std::vector<Tensor> args) = 0;
  // The variable of this name, of a program that runs as it is written; null if there is none.
  virtual Tensor* Variable(std::string_view name) { return nullptr; }
  // Where lines go that the node prints; null if nobody reads them.
  virtual PrintedLines* printed_lines() { return nullptr; }
  // Into how many ranges a `shard` node cuts its iterations; any number gives the same result.
  virtual int64_t shard_ranges() const { return 1; }

 private:
  const Graph& graph_;
  const Node& node_;
  absl::Span<const Tensor> inputs_;
  const SymbolBindings& symbols_;
};

using EvalFn = absl::StatusOr<std::vector<Tensor>> (*)(EvalContext&);

}  // namespace weir

#endif  // WEIR_COMMON_OPS_EVAL_H_
