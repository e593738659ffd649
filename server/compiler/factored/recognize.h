// Finds what a value of a program is a product of. Looks only; thread-compatible.
#ifndef WEIR_SERVER_COMPILER_FACTORED_RECOGNIZE_H_
#define WEIR_SERVER_COMPILER_FACTORED_RECOGNIZE_H_

#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/ir/graph.h"
#include "server/compiler/factored/terms.h"

namespace weir::factored {

// Owned by one pass. What it finds may be used until the graph changes.
class Recognizer {
 public:
  // REQUIRES: the graph outlives this and the operands that it finds.
  explicit Recognizer(Graph* graph) : graph_(graph) {}

  // Returns: nothing if the value is no sum of products that is larger than what it is made of.
  std::optional<Factored> Find(ValueId value);
  // The same for what a reduction of the value has left.
  std::optional<Factored> FindSum(const Node& reduction);

 private:
  using Found = std::optional<Factored>;
  // What a value repeats or moves: axis k of `base` is axis place[k] of it, or has extent 1 (-1).
  struct Cover {
    ValueId base;
    std::vector<int> place;
  };

  Found FindNew(ValueId value);
  Found Sum(ValueId value, const Node& node);
  Found Multiply(ValueId value, const Node& node);
  Found Divide(const Node& node);
  Found Square(const Node& node);
  Found Outer(ValueId value, const Cover& x, const Cover& y);
  Found Scale(ValueId factored, const Cover& scale, Operand::Role role);
  Found Pairs(ValueId x, ValueId y);
  Found DotGeneral(ValueId value, const Node& node);
  Found Convolve(ValueId value, const Node& node);
  Found Scatter(ValueId value, const Node& node);
  Found Transpose(const Node& node);
  Found Reshape(ValueId value, const Node& node);
  Found Row(const Node& node);
  Found Concatenate(ValueId value, const Node& node);
  Found Loop(ValueId value, const Node& node);

  Cover CoverOf(ValueId value) const;
  bool CoversAll(const Cover& cover, const Shape& shape) const;
  Operand Covering(const Cover& cover, const Axes& axes) const;
  // The value, or what is transposed to it, perhaps without some axes of extent 1.
  Operand Moved(ValueId value, const Axes& axes) const;
  bool IsZero(ValueId value) const;
  Operand Lifted(const Operand& operand, NodeId loop, const Axis& axis) const;
  Axis NewAxis(const Dim& extent) { return {AxisId(next_axis_++), extent}; }
  Axes NewAxes(const Shape& shape);
  const Shape& ShapeOf(ValueId value) const { return graph_->type(value).shape; }

  Graph* graph_;
  absl::flat_hash_map<ValueId, Found> known_;
  int64_t next_axis_ = 0;
  int depth_ = 0;
};

}  // namespace weir::factored

#endif  // WEIR_SERVER_COMPILER_FACTORED_RECOGNIZE_H_
