// What the IR must know of ops without knowing any op: implemented by common/ops, used by the
// builder, the verifier and the parser. Immutable; usable from any thread.
#ifndef WEIR_COMMON_IR_OP_CATALOG_H_
#define WEIR_COMMON_IR_OP_CATALOG_H_

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/ir/graph.h"

namespace weir {

class OpCatalog {
 public:
  virtual ~OpCatalog() = default;
  virtual bool Has(std::string_view op) const = 0;
  // Returns: all ops, for suggestions in messages; a catalog that cannot tell returns none.
  virtual std::vector<std::string_view> Names() const { return {}; }
  // Checks arity, attributes and regions of `node`. Returns: the types of its outputs by the op's
  // rule, or an error that says what is wrong with which operand (without naming the node; callers
  // add that).
  virtual absl::StatusOr<std::vector<TensorType>> Infer(const Graph& graph,
                                                        const Node& node) const = 0;
};

}  // namespace weir

#endif  // WEIR_COMMON_IR_OP_CATALOG_H_
