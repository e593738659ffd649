// A program: functions made of nodes, values and nested regions in static single assignment form.
// One owner; thread-compatible (const use from many threads, changes from one).
//
// There is one table of nodes, one of values and one of regions. A value is produced once: by a
// node, or as an argument of a region. A region lists its nodes in an order in which every value is
// produced before its uses; nodes may use values of enclosing regions (captures). Functions are the
// outermost regions and capture nothing.
#ifndef WEIR_COMMON_IR_GRAPH_H_
#define WEIR_COMMON_IR_GRAPH_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "common/base/ids.h"
#include "common/ir/attr.h"
#include "common/tensor/shape.h"

namespace weir {

using NodeId = Id<struct NodeTag>;
using ValueId = Id<struct ValueTag>;
using RegionId = Id<struct RegionTag>;

// Where the user wrote something; empty file means unknown.
struct Location {
  std::string file;
  int line = 0;
  int column = 0;

  bool known() const { return !file.empty(); }
  std::string ToString() const;  // "model.py:12:3"
  friend bool operator==(const Location&, const Location&) = default;
};

struct Value {
  TensorType type;
  std::string name;  // may be empty; a hint, made unique when printed
  NodeId producer;   // invalid for region arguments
  RegionId region;   // region whose argument this is, else the producer's region
  int index = 0;     // among the producer's outputs or the region's arguments
};

struct Node {
  std::string op;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  std::vector<NodeId> control_inputs;  // nodes of the same region that must have run before
  std::vector<RegionId> regions;
  Attrs attrs;
  std::string name;  // of the user's model, for messages
  Location location;
  RegionId parent;

  const Attr* FindAttr(std::string_view name) const;
  // REQUIRES: present (the op's attribute schema was checked).
  const Attr& attr(std::string_view name) const;
};

struct Region {
  std::vector<ValueId> args;
  std::vector<NodeId> nodes;
  std::vector<ValueId> results;
  NodeId parent;  // invalid for a function body or a detached region
};

struct Function {
  std::string name;
  RegionId body;
  std::vector<std::string> result_names;  // one for each result of the body
};

class Graph {
 public:
  const Node& node(NodeId id) const { return nodes_[id.value()]; }
  Node& node(NodeId id) { return nodes_[id.value()]; }
  const Value& value(ValueId id) const { return values_[id.value()]; }
  Value& value(ValueId id) { return values_[id.value()]; }
  const Region& region(RegionId id) const { return regions_[id.value()]; }
  Region& region(RegionId id) { return regions_[id.value()]; }
  const TensorType& type(ValueId id) const { return value(id).type; }
  int num_nodes() const { return static_cast<int>(nodes_.size()); }
  int num_values() const { return static_cast<int>(values_.size()); }
  int num_regions() const { return static_cast<int>(regions_.size()); }

  const std::vector<Function>& functions() const { return functions_; }
  std::vector<Function>& functions() { return functions_; }
  const Function* FindFunction(std::string_view name) const;
  // REQUIRES: the graph has a function; by convention the first is the entry and is named "main".
  const Function& entry() const { return functions_.front(); }

  // REQUIRES: no function of this name yet.
  Function& AddFunction(std::string name);
  // A region that no node owns yet; AddNode attaches it.
  RegionId AddRegion();
  ValueId AddArg(RegionId region, TensorType type, std::string name = "");
  // Appends a node with one output per type; attaches `regions`.
  NodeId AddNode(RegionId parent, std::string op, std::vector<ValueId> inputs, Attrs attrs,
                 absl::Span<const TensorType> output_types, std::vector<RegionId> regions = {});
  // Adds an output in front of output `at`, or behind the last one.
  ValueId InsertOutput(NodeId node, int at, TensorType type);
  // The node that makes `value`, or null for a region argument.
  const Node* producer(ValueId value) const;

  // Replaces every use of `from` (node inputs and region results) by `to`.
  void ReplaceUses(ValueId from, ValueId to);
  // Does many replacements in one pass over the graph (a pass that replaces values one by one takes
  // quadratic time). A value whose replacement is replaced too ends at the last one. REQUIRES: the
  // replacements have no cycle.
  void ReplaceUses(const absl::flat_hash_map<ValueId, ValueId>& replacements);
  // True if `inner` is `outer` or lies inside it.
  bool Contains(RegionId outer, RegionId inner) const;
  // Values of enclosing regions that `region` or a region inside it uses, in first-use order.
  std::vector<ValueId> Captures(RegionId region) const;
  // The function whose body contains `region`.
  const Function* FunctionOf(RegionId region) const;

  // One line for messages: `convolution "conv1" (model.onnx:3:1)`.
  std::string Describe(NodeId id) const;

 private:
  std::vector<Node> nodes_;
  std::vector<Value> values_;
  std::vector<Region> regions_;
  std::vector<Function> functions_;
};

}  // namespace weir

#endif  // WEIR_COMMON_IR_GRAPH_H_
