// The definition of an op: every rule of it in one record, made by one function in one file
// (common/ops/<family>/<op>.cc) and listed in list.inc. Immutable after start; usable from any
// thread.
//
// A family constructor (Elementwise, Reduction, ...) fills in what the family shares. A rule that
// is missing has a reason in its place.
#ifndef WEIR_COMMON_OPS_OP_DEF_H_
#define WEIR_COMMON_OPS_OP_DEF_H_

#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/ir/graph.h"
#include "common/ops/eval.h"
#include "common/ops/pfor_rule.h"
#include "common/ops/sample.h"

namespace weir {

// What a type rule sees: node with attributes checked against the schema, and operand types.
class InferContext {
 public:
  InferContext(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}
  const Graph& graph() const { return graph_; }
  const Node& node() const { return node_; }
  int num_inputs() const { return static_cast<int>(node_.inputs.size()); }
  const TensorType& input(int i) const { return graph_.type(node_.inputs[i]); }
  const Attr& attr(std::string_view name) const { return node_.attr(name); }
  const Region& region(int i) const { return graph_.region(node_.regions[i]); }
  std::vector<TensorType> ResultTypes(int region) const;

 private:
  const Graph& graph_;
  const Node& node_;
};
using InferFn = absl::StatusOr<std::vector<TensorType>> (*)(const InferContext&);

struct AttrDef {
  std::string_view name;
  Attr::Kind kind;
  // An optional attribute has no default; the rules say what its absence means.
  bool required = true;
};

inline constexpr int kAny = 1 << 20;
struct Count {
  int min = 1;
  int max = 1;
};

enum class Effect {
  kPure,
  kReadsState,
  kCommutativeUpdate,
  kOrderedUpdate,
};

// Which value of an op is brought from, or put to, the places that indices name.
enum class ByIndex { kNothing, kResult, kLastOperand };

enum class Isa { kBaseline, kAvx2, kAvx512 };

// Runs one scalar op over n contiguous elements of each operand.
using TileFn = void (*)(const void* const* operands, void* result, int64_t n);

// What an element-wise op adds: its tile loops, chosen by attributes and dtypes; null where the op
// is not defined.
struct ElementwiseRule {
  TileFn (*find)(const Node& node, absl::Span<const DType> operands, DType result,
                 Isa isa) = nullptr;
  // Relative cost of one element (1: add; 10: exp), for fusion.
  int cost = 1;
};

struct OpDef {
  std::string_view name;
  std::string_view summary;  // one line for `weir ops`, with the public source of the semantics
  Count inputs;
  Count outputs;
  Count regions = {0, 0};
  std::vector<AttrDef> attrs;
  InferFn infer = nullptr;

  EvalFn reference = nullptr;

  PforFn pfor = nullptr;
  std::string_view no_pfor;  // why there is no rule
  // Null: every output varies if any operand (or capture of a region) does.
  VarianceFn variance = nullptr;

  Effect effect = Effect::kPure;
  // The reference evaluation returns a view of operand 0 and computes nothing.
  bool is_view = false;
  // Kernels may add (or multiply) floats in another order than the reference evaluation.
  bool reassociates = false;
  // Operands whose memory the result may take over when this is their last use.
  std::vector<int> may_overwrite;
  std::optional<ElementwiseRule> elementwise;
  ByIndex by_index = ByIndex::kNothing;

  SamplesFn samples = nullptr;
};

}  // namespace weir

#endif  // WEIR_COMMON_OPS_OP_DEF_H_
