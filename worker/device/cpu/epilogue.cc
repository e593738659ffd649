#include "worker/device/cpu/epilogue.h"

#include <algorithm>

namespace weir::cpu {
namespace {

using Axes = std::vector<int>;

bool IsOne(const Dim& dim) { return dim.is_number() && dim.number() == 1; }

// The axes along which the elements of `value` may differ.
Axes VaryingAxes(const Graph& graph, ValueId value) {
  const Shape& shape = graph.type(value).shape;
  const Node* producer = graph.producer(value);
  Axes varying;
  if (producer != nullptr && producer->op == "broadcast_in_dim") {
    const Int64s& axes = producer->attr("axes").AsInts();
    for (int axis : VaryingAxes(graph, producer->inputs[0])) {
      varying.push_back(static_cast<int>(axes[axis]));
    }
    std::sort(varying.begin(), varying.end());
    return varying;
  }
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (!IsOne(shape[axis])) varying.push_back(axis);
  }
  return varying;
}

// The axis of the anchor's result that a bias varies along, or -1.
int BiasAxis(const Graph& graph, const Node& anchor) {
  const int rank = graph.type(anchor.outputs[0]).rank();
  if (anchor.op == "convolution") return 1;
  const int rhs_free = graph.type(anchor.inputs[1]).rank() -
                       static_cast<int>(anchor.attr("rhs_batch").AsInts().size() +
                                        anchor.attr("rhs_contract").AsInts().size());
  return rhs_free == 1 ? rank - 1 : -1;
}

// True if the axes from `axis` on stay what they are.
bool KeepsAxesFrom(const Shape& from, int axis, const Shape& to) {
  const int tail = from.rank() - axis;
  if (to.rank() < tail) return false;
  for (int i = 1; i <= tail; ++i) {
    if (from[from.rank() - i] != to[to.rank() - i]) return false;
  }
  return true;
}

bool IsBias(const Graph& graph, ValueId value, int axis) {
  const Axes varying = VaryingAxes(graph, value);
  return varying.empty() || (varying.size() == 1 && varying[0] == axis);
}

bool IsPositiveZero(const Graph& graph, ValueId value) {
  const Node* producer = graph.producer(value);
  while (producer != nullptr && producer->op == "broadcast_in_dim") {
    producer = graph.producer(producer->inputs[0]);
  }
  if (producer == nullptr || producer->op != "constant") return false;
  const Tensor& tensor = producer->attr("value").AsTensor();
  if (tensor.num_elements() != 1) return false;
  return tensor.BitEquals(Tensor::Zeros(tensor.dtype(), tensor.extents()));
}

bool IsRelu(const Graph& graph, const Node& node, ValueId value) {
  if (node.op == "relu") return true;
  if (node.op != "maximum") return false;
  return IsPositiveZero(graph, node.inputs[0] == value ? node.inputs[1] : node.inputs[0]);
}

bool AllEqual(const Int64s& values, int64_t value) {
  return std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == value; });
}

// True for max pooling over the last `space` axes with windows side by side.
bool IsPooling(const Node& node, int space) {
  if (node.op != "reduce_window" || node.attr("kind").AsString() != "max") return false;
  const Int64s& window = node.attr("window_dimensions").AsInts();
  const int leading = static_cast<int>(window.size()) - space;
  return window == node.attr("window_strides").AsInts() &&
         AllEqual(Int64s(window.begin(), window.begin() + leading), 1) &&
         AllEqual(node.attr("padding_low").AsInts(), 0) &&
         AllEqual(node.attr("padding_high").AsInts(), 0) &&
         AllEqual(node.attr("base_dilations").AsInts(), 1) &&
         AllEqual(node.attr("window_dilations").AsInts(), 1);
}

}  // namespace

std::vector<NodeId> FindEpilogue(const Graph& graph, NodeId anchor_id, SingleUser single_user) {
  std::vector<NodeId> nodes = {anchor_id};
  const Node& anchor = graph.node(anchor_id);
  if (anchor.op != "convolution" && anchor.op != "dot_general") return nodes;
  ValueId value = anchor.outputs[0];
  const DType dtype = graph.type(value).dtype;
  if (dtype != DType::kF32 && dtype != DType::kF64) return nodes;
  int axis = BiasAxis(graph, anchor);
  auto next = [&]() -> const Node* {
    const NodeId user = single_user(value);
    return user.valid() && graph.node(user).control_inputs.empty() ? &graph.node(user) : nullptr;
  };
  auto take = [&](const Node& node) {
    nodes.push_back(single_user(value));
    value = node.outputs[0];
  };
  const Node* node = next();
  if (node != nullptr && node->op == "reshape" && anchor.op == "convolution" &&
      KeepsAxesFrom(graph.type(value).shape, axis, graph.type(node->outputs[0]).shape)) {
    axis += graph.type(node->outputs[0]).rank() - graph.type(value).rank();
    take(*node);
    node = next();
  }
  const size_t before = nodes.size();
  if (node != nullptr && node->op == "add" && axis >= 0 && node->inputs[0] != node->inputs[1]) {
    const ValueId bias = node->inputs[0] == value ? node->inputs[1] : node->inputs[0];
    if (IsBias(graph, bias, axis)) {
      take(*node);
      node = next();
    }
  }
  if (node != nullptr && IsRelu(graph, *node, value)) {
    take(*node);
    node = next();
  }
  if (node != nullptr && anchor.op == "convolution" &&
      IsPooling(*node, graph.type(anchor.outputs[0]).rank() - 2)) {
    take(*node);
  }
  // A reshape alone is a view, better left to the caller.
  if (nodes.size() == before) nodes.resize(1);
  return nodes;
}

Epilogue EpilogueOf(const Graph& graph, absl::Span<const NodeId> nodes) {
  Epilogue epilogue;
  ValueId value = graph.node(nodes[0]).outputs[0];
  for (NodeId id : nodes.subspan(1)) {
    const Node& node = graph.node(id);
    if (node.op == "add") {
      epilogue.bias = node.inputs[0] == value ? node.inputs[1] : node.inputs[0];
      const int rank = graph.type(value).rank();
      const int from_end = graph.type(graph.node(nodes[0]).outputs[0]).rank() -
                           BiasAxis(graph, graph.node(nodes[0]));
      epilogue.bias_axis = rank - from_end;
    } else if (node.op == "reduce_window") {
      const Int64s& window = node.attr("window_dimensions").AsInts();
      const int space = graph.type(graph.node(nodes[0]).outputs[0]).rank() - 2;
      epilogue.pool.assign(window.end() - space, window.end());
    } else if (node.op != "reshape") {
      epilogue.relu = true;
    }
    value = node.outputs[0];
  }
  return epilogue;
}

}  // namespace weir::cpu
