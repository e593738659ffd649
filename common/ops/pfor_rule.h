// What an op's pfor rule sees: the node to convert, which of its operands vary over the iterations,
// and a builder for what replaces it. Implemented by server/compiler/pfor; lives for one rule call
// and stays on one thread.
//
// Layout: a varying value of logical type T[s...] is held as T[m,s...], with the iteration axis in
// front, m = extent(). An invariant value is held as it is. Rules speak of logical axes and add one
// where they name a physical axis.
#ifndef WEIR_COMMON_OPS_PFOR_RULE_H_
#define WEIR_COMMON_OPS_PFOR_RULE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/ir/builder.h"
#include "common/ir/graph.h"

namespace weir {

// Which values differ between iterations; a fixed point over the body, solved before any code is
// made.
class VarianceContext {
 public:
  virtual ~VarianceContext() = default;
  virtual const Graph& graph() const = 0;
  virtual const Node& node() const = 0;
  virtual bool varies(ValueId value) const = 0;
  bool input_varies(int i) const { return varies(node().inputs[i]); }
  virtual void MarkVarying(ValueId value) = 0;
  // Propagates through the nodes of a region of this node, given what is marked so far.
  virtual void AnalyzeRegion(RegionId region) = 0;
};

// Marks the outputs that vary. Called again until nothing changes; only ever adds marks.
using VarianceFn = void (*)(VarianceContext&);

class PforRewrite {
 public:
  virtual ~PforRewrite() = default;

  virtual const Graph& source() const = 0;
  virtual const Node& node() const = 0;
  const Attr& attr(std::string_view name) const { return node().attr(name); }
  int num_inputs() const { return static_cast<int>(node().inputs.size()); }
  const TensorType& input_type(int i) const { return source().type(node().inputs[i]); }  // logical
  const TensorType& output_type(int i) const {
    return source().type(node().outputs[i]);
  }  // logical
  virtual bool varies(ValueId value) const = 0;
  bool input_varies(int i) const { return varies(node().inputs[i]); }
  bool output_varies(int i) const { return varies(node().outputs[i]); }

  // Number of iterations converted together, a symbol or a number.
  virtual Dim extent() const = 0;
  // Builder for the replacement.
  virtual Builder& build() = 0;
  // The converted operand: stacked if it varies, else as it is.
  virtual ValueId operand(int i) = 0;
  // The converted operand with the iteration axis in front in any case (a free broadcast if
  // invariant).
  ValueId stacked(int i);
  // Any source value in scope, likewise.
  virtual ValueId converted(ValueId value) = 0;
  ValueId Stack(ValueId converted_invariant);
  // i64[m]: the iteration indices.
  virtual ValueId iteration_indices() = 0;
  // True if input i is the loop variable itself.
  virtual bool is_iteration_index(int i) const = 0;
  // The rows of the invariant input `i` at the iteration indices: input[m-range, ...], a slice or
  // nothing at all. Returns: an invalid id if the rows of the input are not the iterations (leading
  // extent differs).
  virtual ValueId IterationRows(int i) = 0;

  // Says what the node's outputs become. REQUIRES: output i stacked exactly if output_varies(i).
  virtual void Return(std::vector<ValueId> outputs) = 0;
  void Return(ValueId output) { Return(std::vector<ValueId>{output}); }

  // Region ops: maps a region argument to a converted value (stacked exactly if it varies), then
  // converts the region's nodes with `into`. Returns: the converted region results (stacked exactly
  // if they vary).
  virtual void Bind(ValueId source_arg, ValueId converted) = 0;
  virtual absl::StatusOr<std::vector<ValueId>> ConvertRegion(RegionId region, Builder into) = 0;

  // The same for `part` of the iterations, or for several lanes an iteration: what varies around
  // the region is there as `rows` says, with `part` in front. REQUIRES: `rows` names every varying
  // value that the region captures.
  struct PartRows {
    ValueId source;
    ValueId rows;
  };
  virtual absl::StatusOr<std::vector<ValueId>> ConvertPart(RegionId region, Builder into,
                                                           const Dim& part,
                                                           absl::Span<const PartRows> rows) = 0;
  // A symbol that means nothing yet.
  virtual std::string FreshSymbol(std::string_view stem) = 0;
};

// Converts one node at least one of whose outputs varies. Returns: OK after calling Return;
// UNIMPLEMENTED with the reason if the rule does not cover this case, upon which the node runs in a
// loop over the iterations (reported).
using PforFn = absl::Status (*)(PforRewrite&);

}  // namespace weir

#endif  // WEIR_COMMON_OPS_PFOR_RULE_H_
