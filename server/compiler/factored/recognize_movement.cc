// What moves values about: their operands move instead.
#include <algorithm>
#include <utility>

#include "common/ops/lang.h"
#include "server/compiler/factored/recognize.h"

namespace weir::factored {
namespace {

// Axes that a reshape makes of others, one of both single.
struct Group {
  std::vector<int> from;
  std::vector<int> to;

  bool same() const { return from.size() == 1 && to.size() == 1; }
};

// Grows a group until both sides count the same. Returns: whether they do.
bool Complete(const Shape& from, const Shape& to, Group* group) {
  auto count = [](const Shape& shape, const std::vector<int>& axes) {
    int64_t product = 1;
    for (int axis : axes) product *= shape[axis].is_number() ? shape[axis].number() : 0;
    return product;
  };
  while (true) {
    const int64_t have = count(from, group->from), want = count(to, group->to);
    if (have <= 0 || want <= 0) return false;
    if (have == want) return true;
    std::vector<int>& axes = have < want ? group->from : group->to;
    if (axes.back() + 1 == (have < want ? from : to).rank()) return false;
    axes.push_back(axes.back() + 1);
  }
}

std::optional<std::vector<Group>> GroupsOf(const Shape& from, const Shape& to) {
  std::vector<Group> groups;
  int i = 0, k = 0;
  while (i < from.rank() || k < to.rank()) {
    Group group;
    if (i < from.rank() && k < to.rank() && from[i] == to[k]) {
      group = {{i}, {k}};
    } else if (i < from.rank() && from[i] == Dim(1)) {
      group = {{i}, {}};
    } else if (k < to.rank() && to[k] == Dim(1)) {
      group = {{}, {k}};
    } else if (i < from.rank() && k < to.rank()) {
      group = {{i}, {k}};
      if (!Complete(from, to, &group)) return std::nullopt;
      if (group.from.size() > 1 && group.to.size() > 1) return std::nullopt;
    } else {
      return std::nullopt;
    }
    i += static_cast<int>(group.from.size());
    k += static_cast<int>(group.to.size());
    groups.push_back(std::move(group));
  }
  return groups;
}

// The groups with the axes of one value in front and those of its reshape behind.
class Regrouping {
 public:
  Regrouping(const Axes& from, const Axes& to, std::vector<Group> groups)
      : from_(from), to_(to), groups_(std::move(groups)) {}

  // The operand with the new axes. Returns: nothing where it has some only of those that join.
  std::optional<Operand> Of(const Operand& operand) const {
    Axes axes;
    bool moves = false;
    for (size_t i = 0; i < operand.axes.size();) {
      const Group* group = GroupOf(operand.axes[i]);
      if (group == nullptr) {
        axes.push_back(operand.axes[i++]);
        continue;
      }
      const size_t width = Width(operand.axes, i, *group);
      if (width == 0) return std::nullopt;
      moves = moves || !group->same();
      for (int axis : group->to) axes.push_back(to_[axis]);
      i += width;
    }
    Operand out = operand;
    out.axes = axes;
    if (moves && operand.value.valid()) {
      out = OperandOf(operand.value, axes);
      out.role = operand.role;
      out.hot = operand.hot;
      out.windows = operand.windows;
      out.is_row = operand.is_row;
    } else if (moves) {
      out = Changed(operand, axes, [shape = ShapeOf(axes)](Builder& b, ValueId x) {
        return weir::Reshape(b, x, shape.dims());
      });
    }
    if (out.hot && !Rename(&*out.hot)) return std::nullopt;
    if (!out.windows) return out;
    for (Axes* some : {&out.windows->positions, &out.windows->taps}) {
      for (Axis& axis : *some) {
        if (!Rename(&axis)) return std::nullopt;
      }
    }
    return out;
  }

  Axes Lifted(const Axes& lifted) const {
    Axes out;
    for (const Axis& axis : lifted) {
      const Group* group = GroupOf(axis);
      if (group == nullptr) {
        out.push_back(axis);
        continue;
      }
      for (int made : group->to) Unite({to_[made]}, &out);
    }
    return out;
  }

 private:
  const Group* GroupOf(const Axis& axis) const {
    for (const Group& group : groups_) {
      for (int from : group.from) {
        if (from_[from] == axis) return &group;
      }
    }
    return nullptr;
  }

  // Returns: whether the axis stays one by itself, or was one of extent 1 that goes.
  bool Rename(Axis* axis) const {
    const Group* group = GroupOf(*axis);
    if (group == nullptr || group->to.empty()) return true;
    if (!group->same()) return false;
    *axis = to_[group->to[0]];
    return true;
  }

  // How many axes from place `i` on are those of the group, without some of extent 1; 0: not all.
  size_t Width(const Axes& axes, size_t i, const Group& group) const {
    size_t width = 0;
    for (int from : group.from) {
      if (i + width < axes.size() && axes[i + width] == from_[from]) {
        ++width;
      } else if (!(from_[from].extent == Dim(1))) {
        return 0;
      }
    }
    return width;
  }

  const Axes& from_;
  const Axes& to_;
  std::vector<Group> groups_;
};

// True for what TakeRow builds.
bool TakesRow(const Graph& graph, const Node& node) {
  if (node.op != "gather" || graph.type(node.inputs[1]).rank() != 0) return false;
  const Shape& shape = graph.type(node.inputs[0]).shape;
  if (node.attr("collapsed_slice_dims").AsInts() != Int64s{0} ||
      node.attr("start_index_map").AsInts() != Int64s{0}) {
    return false;
  }
  const std::vector<Dim>& sizes = node.attr("slice_sizes").AsDims();
  return std::equal(sizes.begin() + 1, sizes.end(), shape.dims().begin() + 1, shape.dims().end());
}

// True for a row of what is there outside of the loop, by any index: chunks count their own way.
bool IsRowOfOutside(const Graph& graph, ValueId value, RegionId body) {
  const Node* node = graph.producer(value);
  return node != nullptr && TakesRow(graph, *node) &&
         !graph.Contains(body, graph.value(node->inputs[0]).region);
}

// What `value` is a row of, by the iteration, if that is there outside of the loop.
ValueId RowsOf(const Graph& graph, ValueId value, const Node& loop) {
  const Node* node = graph.producer(value);
  const Region& body = graph.region(loop.regions[0]);
  if (node == nullptr || !TakesRow(graph, *node) || node->inputs[1] != body.args[0]) {
    return ValueId();
  }
  const ValueId rows = node->inputs[0];
  if (!(graph.type(rows).shape[0] == loop.attr("extent").AsDims()[0])) return ValueId();
  return graph.Contains(loop.regions[0], graph.value(rows).region) ? ValueId() : rows;
}

// The rows of a value of the body as a result of the loop.
ValueId ResultOf(Graph* graph, NodeId loop, ValueId value) {
  const ValueId rows = RowsOf(*graph, value, graph->node(loop));
  if (rows.valid()) return rows;
  std::vector<ValueId>& results = graph->region(graph->node(loop).regions[0]).results;
  const Node& node = graph->node(loop);
  const size_t carried = node.op == "for" ? node.inputs.size() - 1 : 0;
  for (size_t i = carried; i < results.size(); ++i) {
    if (results[i] == value) return node.outputs[i];
  }
  results.push_back(value);
  TensorType type = graph->type(value);
  type.shape.dims().insert(type.shape.dims().begin(), node.attr("extent").AsDims()[0]);
  return graph->InsertOutput(loop, static_cast<int>(node.outputs.size()), std::move(type));
}

// The axes of a term in the order in which its operands mention them.
Axes Mentioned(const Term& term) {
  Axes axes;
  for (Operand operand : term.operands) {
    operand.ChangeAxes([&](const Axis& axis) { Unite({axis}, &axes); });
  }
  return axes;
}

bool IsLike(const Operand& a, const Operand& b) {
  if (a.axes != b.axes || a.role != b.role || a.hot != b.hot) return false;
  if (!a.windows || !b.windows) return !a.windows && !b.windows;
  return a.windows->space == b.windows->space && a.windows->positions == b.windows->positions &&
         a.windows->taps == b.windows->taps && a.windows->along == b.windows->along;
}

// Gives the axes of `term` the names of `model`, which has the same operands but for the extent of
// one axis. Returns: whether it has.
bool Imitate(const Term& model, const Axis& joined, Term* term) {
  const Axes wanted = Mentioned(model), have = Mentioned(*term);
  if (term->operands.size() != model.operands.size() || term->weight != model.weight ||
      wanted.size() != have.size()) {
    return false;
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!(wanted[i] == joined) && !(wanted[i].extent == have[i].extent)) return false;
  }
  for (size_t i = 0; i < model.operands.size(); ++i) {
    Operand& operand = term->operands[i];
    operand.ChangeAxes([&](Axis& axis) { axis = wanted[PlaceOf(have, axis)]; });
    if (!IsLike(operand, model.operands[i])) return false;
  }
  return true;
}

// Operands of one axis order, one behind the other. Returns: nothing if they do not have that axis.
std::optional<Operand> Joined(const std::vector<Operand>& parts, const Axis& axis,
                              const Axis& whole) {
  const int place = PlaceOf(parts[0].axes, axis);
  if (place < 0) return std::nullopt;
  Operand out = parts[0];
  out.axes[place] = whole;
  out.value = ValueId();
  for (size_t i = 1; i < parts.size(); ++i) {
    out.reads.insert(out.reads.end(), parts[i].reads.begin(), parts[i].reads.end());
    out.is_row = out.is_row && parts[i].is_row;
  }
  out.build = [parts, place](Builder& b) {
    std::vector<ValueId> values;
    for (const Operand& part : parts) values.push_back(part.build(b));
    return weir::Concatenate(b, std::move(values), place);
  };
  return out;
}

}  // namespace

std::optional<Factored> Recognizer::Transpose(const Node& node) {
  Found found = Find(node.inputs[0]);
  if (!found) return found;
  Axes axes;
  for (int64_t axis : node.attr("permutation").AsInts()) axes.push_back(found->axes[axis]);
  found->axes = std::move(axes);
  return found;
}

std::optional<Factored> Recognizer::Reshape(ValueId value, const Node& node) {
  Found found = Find(node.inputs[0]);
  std::optional<std::vector<Group>> groups = GroupsOf(ShapeOf(node.inputs[0]), ShapeOf(value));
  if (!found || !groups) return std::nullopt;
  const Axes axes = NewAxes(ShapeOf(value));
  const Regrouping regrouping(found->axes, axes, *std::move(groups));
  for (Term& term : found->terms) {
    for (Operand& operand : term.operands) {
      std::optional<Operand> regrouped = regrouping.Of(operand);
      if (!regrouped) return std::nullopt;
      operand = *std::move(regrouped);
    }
  }
  found->lifted = regrouping.Lifted(found->lifted);
  found->axes = axes;
  return found;
}

std::optional<Factored> Recognizer::Row(const Node& node) {
  if (!TakesRow(*graph_, node)) return std::nullopt;
  Found found = Find(node.inputs[0]);
  if (!found) return found;
  const Axis rows = found->axes[0];
  for (Term& term : found->terms) {
    for (Operand& operand : term.operands) {
      const int place = PlaceOf(operand.axes, rows);
      if (place > 0 || (operand.hot && *operand.hot == rows)) return std::nullopt;
      if (place < 0) continue;
      operand =
          Changed(operand, Axes(operand.axes.begin() + 1, operand.axes.end()),
                  [index = node.inputs[1]](Builder& b, ValueId x) { return TakeRow(b, x, index); });
      operand.reads.push_back(node.inputs[1]);
    }
  }
  found->axes.erase(found->axes.begin());
  std::erase(found->lifted, rows);
  return found;
}

std::optional<Factored> Recognizer::Concatenate(ValueId value, const Node& node) {
  const int64_t place = node.attr("axis").AsInt();
  std::vector<Factored> parts;
  for (ValueId input : node.inputs) {
    Found found = Find(input);
    if (!found || found->is_product) return std::nullopt;
    parts.push_back(*std::move(found));
    if (parts.back().terms.size() != parts[0].terms.size()) return std::nullopt;
  }
  Factored whole = parts[0];
  const Axis axis = whole.axes[place];
  whole.axes[place] = NewAxis(ShapeOf(value)[static_cast<int>(place)]);
  for (size_t k = 1; k < parts.size(); ++k) {
    for (size_t t = 0; t < whole.terms.size(); ++t) {
      if (!Imitate(parts[0].terms[t], axis, &parts[k].terms[t])) return std::nullopt;
    }
    const Axes lifted = whole.lifted;
    AddSources(parts[k], &whole);
    whole.lifted = lifted;
  }
  for (Axis& lifted : whole.lifted) {
    if (lifted == axis) lifted = whole.axes[place];
  }
  for (size_t t = 0; t < whole.terms.size(); ++t) {
    for (size_t i = 0; i < whole.terms[t].operands.size(); ++i) {
      std::vector<Operand> pieces;
      for (const Factored& part : parts) pieces.push_back(part.terms[t].operands[i]);
      std::optional<Operand> joined = Joined(pieces, axis, whole.axes[place]);
      if (!joined) return std::nullopt;
      whole.terms[t].operands[i] = *std::move(joined);
    }
  }
  return whole;
}

// Each iteration's operands are rows of what the loop then yields in place of the product.
std::optional<Factored> Recognizer::Loop(ValueId value, const Node& node) {
  const Value& output = graph_->value(value);
  const size_t carried = node.op == "for" ? node.inputs.size() - 1 : 0;
  if (static_cast<size_t>(output.index) < carried) return std::nullopt;
  const NodeId loop = output.producer;
  Found found = Find(graph_->region(node.regions[0]).results[output.index]);
  if (!found || found->is_product) return std::nullopt;
  const Axis axis = NewAxis(node.attr("extent").AsDims()[0]);
  for (Term& term : found->terms) {
    term.operands = Folded(std::move(term.operands));
    int varying = 0;
    for (Operand& operand : term.operands) {
      operand = Lifted(operand, loop, axis);
      varying += operand.role == Operand::Role::kFactor && Has(operand.axes, axis) ? 1 : 0;
    }
    if (varying < 2) return std::nullopt;
  }
  found->axes.insert(found->axes.begin(), axis);
  for (Factored::Source& product : found->products) product.cost *= Elements({axis});
  found->lifted.push_back(axis);
  found->stacked.push_back(value);
  return found;
}

Operand Recognizer::Lifted(const Operand& operand, NodeId loop, const Axis& axis) const {
  const Node& node = graph_->node(loop);
  const RegionId body = node.regions[0];
  const bool inside = std::any_of(operand.reads.begin(), operand.reads.end(), [&](ValueId read) {
    return graph_->Contains(body, graph_->value(read).region);
  });
  if (!inside) return operand;
  Operand out = operand;
  out.axes.insert(out.axes.begin(), axis);
  if (const ValueId value = operand.value; value.valid()) {
    out.is_row = IsRowOfOutside(*graph_, value, body);
    const ValueId rows = RowsOf(*graph_, value, node);
    out.value = rows;
    if (rows.valid()) out.reads = {rows};
    out.build = [graph = graph_, loop, value, axes = out.axes](Builder& b) {
      return OperandOf(ResultOf(graph, loop, value), axes).build(b);
    };
    return out;
  }
  out.value = ValueId();
  out.build = [graph = graph_, loop, body, build = operand.build](Builder& b) {
    Builder inner = b.In(body);
    return ResultOf(graph, loop, build(inner));
  };
  return out;
}

}  // namespace weir::factored
