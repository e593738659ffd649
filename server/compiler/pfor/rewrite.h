// Rewrites the body of one pfor node by node: values that do not vary are used as they are, the
// others are made by the rules of their ops, and what has no rule runs in a loop over the
// iterations. Owned by one conversion; thread-compatible.
#ifndef WEIR_SERVER_COMPILER_PFOR_REWRITE_H_
#define WEIR_SERVER_COMPILER_PFOR_REWRITE_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "common/ir/builder.h"
#include "common/ir/clone.h"
#include "common/ir/graph.h"
#include "common/ops/pfor_rule.h"
#include "server/compiler/pfor/symbols.h"
#include "server/compiler/pfor/variance.h"
#include "server/compiler/report.h"

namespace weir {

class BodyRewrite {
 public:
  // `extent` iterations run together, with the indices in `indices` (i64[extent]); nodes of the
  // body that do not vary are appended by `invariant`, outside of what is converted.
  BodyRewrite(Graph* graph, Dim extent, ValueId indices, Builder invariant, Symbols* symbols,
              CompileReport* report);

  // Finds the rows of an invariant value at the iteration indices, or an invalid id.
  void set_iteration_rows(std::function<ValueId(ValueId)> find) {
    iteration_rows_ = std::move(find);
  }

  // Converts the body of a pfor (one argument: the loop variable). Returns: the converted results,
  // stacked where varies() says so. Errors name node and location.
  absl::StatusOr<std::vector<ValueId>> Convert(RegionId body, Builder into);

  bool varies(ValueId value) const { return variance_.varies(value); }
  // A view of an invariant value with the iteration axis in front.
  ValueId Stack(Builder& builder, ValueId value) const;

 private:
  friend class NodeRewrite;

  absl::Status ConvertNodes(RegionId region, Builder into);
  absl::StatusOr<std::vector<ValueId>> ConvertPart(RegionId region, Builder into, const Dim& part,
                                                   absl::Span<const PforRewrite::PartRows> rows);
  std::vector<ValueId> Images(const std::vector<ValueId>& sources) const;
  absl::Status ConvertNode(NodeId id, Builder into);
  bool MayHoist(NodeId id) const;
  // Runs one node in a `for` over the iterations.
  absl::Status RunInLoop(NodeId id, Builder into, std::string_view reason);
  ValueId Image(ValueId source) const;

  Graph* graph_;
  Dim extent_;
  ValueId indices_;
  Builder invariant_;
  Symbols* symbols_;
  CompileReport* report_;
  std::function<ValueId(ValueId)> iteration_rows_;
  Variance variance_;
  RegionId body_;
  ValueId loop_variable_;
  ValueMap
      map_;  // source value -> converted value; values from outside the body stand for themselves
};

}  // namespace weir

#endif  // WEIR_SERVER_COMPILER_PFOR_REWRITE_H_
