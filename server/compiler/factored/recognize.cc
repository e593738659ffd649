#include "server/compiler/factored/recognize.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "common/ops/axes.h"
#include "common/ops/lang.h"
#include "common/ops/movement/gather_dims.h"
#include "common/ops/nn/convolution.h"

namespace weir::factored {
namespace {

constexpr int kMaxDepth = 64;
constexpr size_t kMaxTerms = 16;

bool IsOne(const Dim& dim) { return dim == Dim(1); }

// For each axis of `from`, where it is in `to`, -1 for extent 1; nothing if other than axes of
// extent 1 differ.
std::optional<std::vector<int>> PlacesWithoutOnes(const Shape& from, const Shape& to) {
  std::vector<int> places;
  int next = 0;
  for (const Dim& dim : from.dims()) {
    if (IsOne(dim)) {
      places.push_back(-1);
      continue;
    }
    while (next < to.rank() && IsOne(to[next])) ++next;
    if (next == to.rank() || !(to[next] == dim)) return std::nullopt;
    places.push_back(next++);
  }
  while (next < to.rank() && IsOne(to[next])) ++next;
  if (next != to.rank()) return std::nullopt;
  return places;
}

bool IsZeros(const Tensor& tensor) {
  const Tensor dense = tensor.Contiguous();
  const char* data = reinterpret_cast<const char*>(dense.raw_data());
  return std::all_of(data, data + dense.num_bytes(), [](char byte) { return byte == 0; });
}

// The value with other names for the axes that it is summed over.
Factored WithFreshSums(Factored value, const std::function<Axis(const Dim&)>& fresh) {
  absl::flat_hash_map<AxisId, Axis> made;
  auto change = [&](Axis& axis) {
    if (Has(value.axes, axis)) return;
    auto [it, added] = made.try_emplace(axis.id);
    if (added) it->second = fresh(axis.extent);
    axis = it->second;
  };
  for (Term& term : value.terms) {
    for (Operand& operand : term.operands) operand.ChangeAxes(change);
  }
  return value;
}

}  // namespace

std::optional<Factored> Recognizer::Find(ValueId value) {
  auto it = known_.find(value);
  if (it != known_.end()) return it->second;
  if (depth_ == kMaxDepth) return std::nullopt;
  ++depth_;
  Found found = FindNew(value);
  --depth_;
  if (found && found->terms.size() > kMaxTerms) found.reset();
  known_.emplace(value, found);
  return found;
}

std::optional<Factored> Recognizer::FindNew(ValueId value) {
  const Node* producer = graph_->producer(value);
  if (producer == nullptr) return std::nullopt;
  const Node& node = *producer;
  if (node.op == "multiply") return Multiply(value, node);
  if (node.op == "dot_general") return DotGeneral(value, node);
  if (node.op == "convolution") return Convolve(value, node);
  if (node.op == "add" || node.op == "subtract") return Sum(value, node);
  if (node.op == "divide") return Divide(node);
  if (node.op == "square") return Square(node);
  if (node.op == "scatter") return Scatter(value, node);
  if (node.op == "transpose") return Transpose(node);
  if (node.op == "reshape") return Reshape(value, node);
  if (node.op == "gather") return Row(node);
  if (node.op == "concatenate") return Concatenate(value, node);
  if (node.op == "reduce_sum") return FindSum(node);
  if (node.op == "pfor" || node.op == "for") return Loop(value, node);
  if (node.op == "negate") {
    Found found = Find(node.inputs[0]);
    if (found) {
      for (Term& term : found->terms) term.weight = -term.weight;
      found->square = false;
    }
    return found;
  }
  return std::nullopt;
}

std::optional<Factored> Recognizer::FindSum(const Node& reduction) {
  Found found = Find(reduction.inputs[0]);
  if (!found) return found;
  Axes left;
  for (int64_t axis :
       OtherAxes(reduction.attr("axes").AsInts(), ShapeOf(reduction.inputs[0]).rank())) {
    left.push_back(found->axes[axis]);
  }
  // An axis that no operand has would have to be counted.
  for (const Term& term : found->terms) {
    Axes there = left;
    for (const Operand& operand : term.operands) Unite(operand.AllAxes(), &there);
    for (const Axis& axis : found->axes) {
      if (!IsOne(axis.extent) && !Has(there, axis)) return std::nullopt;
    }
  }
  found->axes = std::move(left);
  return found;
}

std::optional<Factored> Recognizer::Sum(ValueId value, const Node& node) {
  Found x = Find(node.inputs[0]);
  const Found y = Find(node.inputs[1]);
  if (!x || !y || x->is_product || y->is_product) return std::nullopt;
  const Factored more = WithAxes(*y, x->axes);
  for (Term term : more.terms) {
    if (node.op == "subtract") term.weight = -term.weight;
    x->terms.push_back(std::move(term));
  }
  AddSources(more, &*x);
  x->dtype = graph_->type(value).dtype;
  return x;
}

std::optional<Factored> Recognizer::Multiply(ValueId value, const Node& node) {
  const Cover x = CoverOf(node.inputs[0]), y = CoverOf(node.inputs[1]);
  const bool all_x = CoversAll(x, ShapeOf(value)), all_y = CoversAll(y, ShapeOf(value));
  if (all_x && all_y) return Pairs(node.inputs[0], node.inputs[1]);
  if (all_x) return Scale(node.inputs[0], y, Operand::Role::kFactor);
  if (all_y) return Scale(node.inputs[1], x, Operand::Role::kFactor);
  return Outer(value, x, y);
}

std::optional<Factored> Recognizer::Divide(const Node& node) {
  const Cover divisor = CoverOf(node.inputs[1]);
  if (CoversAll(divisor, ShapeOf(node.inputs[1]))) return std::nullopt;
  return Scale(node.inputs[0], divisor, Operand::Role::kDivisor);
}

std::optional<Factored> Recognizer::Square(const Node& node) {
  return Pairs(node.inputs[0], node.inputs[0]);
}

std::optional<Factored> Recognizer::Outer(ValueId value, const Cover& x, const Cover& y) {
  Cover both = x;
  both.place.insert(both.place.end(), y.place.begin(), y.place.end());
  if (!CoversAll(both, ShapeOf(value))) return std::nullopt;
  Factored found{.axes = NewAxes(ShapeOf(value)), .dtype = graph_->type(value).dtype};
  found.terms.push_back({{Covering(x, found.axes), Covering(y, found.axes)}});
  found.products.push_back({value, Elements(found.axes)});
  return found;
}

std::optional<Factored> Recognizer::Scale(ValueId factored, const Cover& scale,
                                          Operand::Role role) {
  Found found = Find(factored);
  if (!found || found->is_product) return std::nullopt;
  Operand operand = Covering(scale, found->axes);
  operand.role = role;
  return Scaled(*std::move(found), operand);
}

std::optional<Factored> Recognizer::Pairs(ValueId x, ValueId y) {
  Found first = Find(x), second = Find(y);
  if (!first || !second || first->is_product || second->is_product) return std::nullopt;
  const Factored other = WithFreshSums(WithAxes(*std::move(second), first->axes),
                                       [this](const Dim& extent) { return NewAxis(extent); });
  Factored found = *first;
  AddSources(other, &found);
  found.terms.clear();
  found.is_product = true;
  found.square = x == y;
  for (size_t i = 0; i < first->terms.size(); ++i) {
    for (size_t k = found.square ? i : 0; k < other.terms.size(); ++k) {
      Term term = first->terms[i];
      term.operands.insert(term.operands.end(), other.terms[k].operands.begin(),
                           other.terms[k].operands.end());
      term.weight *= other.terms[k].weight * (found.square && k > i ? 2 : 1);
      found.terms.push_back(std::move(term));
    }
  }
  return found;
}

std::optional<Factored> Recognizer::DotGeneral(ValueId value, const Node& node) {
  Factored found{.dtype = graph_->type(value).dtype};
  const Axes x = NewAxes(ShapeOf(node.inputs[0]));
  Axes y = NewAxes(ShapeOf(node.inputs[1]));
  const Int64s& batch = node.attr("lhs_batch").AsInts();
  const Int64s& other_batch = node.attr("rhs_batch").AsInts();
  const Int64s& contract = node.attr("lhs_contract").AsInts();
  const Int64s& other_contract = node.attr("rhs_contract").AsInts();
  for (size_t i = 0; i < batch.size(); ++i) y[other_batch[i]] = x[batch[i]];
  for (size_t i = 0; i < contract.size(); ++i) y[other_contract[i]] = x[contract[i]];
  for (int64_t axis : batch) found.axes.push_back(x[axis]);
  for (const Axis& axis : x) {
    if (!Has(y, axis)) found.axes.push_back(axis);
  }
  for (const Axis& axis : y) {
    if (!Has(x, axis)) found.axes.push_back(axis);
  }
  Axes all = x;
  Unite(y, &all);
  found.terms.push_back({{Moved(node.inputs[0], x), Moved(node.inputs[1], y)}});
  found.products.push_back({value, Elements(all)});
  return found;
}

// The kernel is a factor as it is, and the windows of the input are the other one: what a filter's
// gradient is made of, with the output's gradient as the kernel.
std::optional<Factored> Recognizer::Convolve(ValueId value, const Node& node) {
  const Convolution convolution = Convolution::Of(node);
  const auto is_static = [&](ValueId v) {
    const std::vector<Dim>& dims = ShapeOf(v).dims();
    return std::all_of(dims.begin() + 2, dims.end(),
                       [](const Dim& dim) { return dim.is_number() && dim.number() > 0; });
  };
  if (convolution.feature_groups != Dim(1) || convolution.batch_groups != Dim(1) ||
      !is_static(node.inputs[0]) || !is_static(node.inputs[1]) || !is_static(value)) {
    return std::nullopt;
  }
  const Axes x = NewAxes(ShapeOf(node.inputs[0]));
  Axes y = NewAxes(ShapeOf(node.inputs[1]));
  y[1] = x[1];
  Factored found{.axes = NewAxes(ShapeOf(value)), .dtype = graph_->type(value).dtype};
  found.axes[0] = x[0];
  found.axes[1] = y[0];
  Operand image = Moved(node.inputs[0], x);
  image.windows = {.space = Axes(x.begin() + 2, x.end()),
                   .positions = Axes(found.axes.begin() + 2, found.axes.end()),
                   .taps = Axes(y.begin() + 2, y.end()),
                   .along = convolution.window};
  Axes all = image.AllAxes();
  Unite(y, &all);
  found.terms.push_back({{std::move(image), Moved(node.inputs[1], y)}});
  found.products.push_back({value, Elements(all)});
  return found;
}

// Rows added to zeros, by one index each.
std::optional<Factored> Recognizer::Scatter(ValueId value, const Node& node) {
  const GatherDims dims = GatherDims::Read(node, kScatterNames);
  const Shape &indices = ShapeOf(node.inputs[1]), &updates = ShapeOf(node.inputs[2]);
  const DType index_type = graph_->type(node.inputs[1]).dtype;
  const bool scalars = dims.index_vector == indices.rank();
  const int counted = scalars ? indices.rank() : indices.rank() - 1;
  if (node.attr("combiner").AsString() != "add" || !IsZero(node.inputs[0]) ||
      (index_type != DType::kI64 && index_type != DType::kI32) || dims.dropped != Int64s{0} ||
      dims.index_map != Int64s{0} || !dims.operand_batching.empty() ||
      (!scalars && dims.index_vector != counted)) {
    return std::nullopt;
  }
  Factored found{.axes = NewAxes(ShapeOf(value)), .dtype = graph_->type(value).dtype};
  Axes rows;
  for (int i = 0; i < counted; ++i) rows.push_back(NewAxis(indices[i]));
  Operand index = OperandOf(node.inputs[1], rows);
  index.hot = found.axes[0];
  for (size_t i = 0; i < dims.window.size(); ++i) {
    const int axis = counted + static_cast<int>(i);
    if (dims.window[i] != axis || !(updates[axis] == ShapeOf(value)[static_cast<int>(i) + 1])) {
      return std::nullopt;
    }
    rows.push_back(found.axes[i + 1]);
  }
  found.terms.push_back({{index, OperandOf(node.inputs[2], rows)}});
  found.products.push_back({value, Elements(rows) + Elements(found.axes)});
  return found;
}

Recognizer::Cover Recognizer::CoverOf(ValueId value) const {
  const Node* node = graph_->producer(value);
  const Shape& shape = ShapeOf(value);
  Cover cover;
  std::vector<int> places;
  if (node != nullptr && node->op == "broadcast_in_dim") {
    const Int64s& axes = node->attr("axes").AsInts();
    const Shape& from = ShapeOf(node->inputs[0]);
    for (int i = 0; i < from.rank(); ++i) {
      const int axis = static_cast<int>(axes[i]);
      places.push_back(from[i] == shape[axis] ? axis : -1);
    }
    cover = CoverOf(node->inputs[0]);
  } else if (node != nullptr && node->op == "transpose") {
    const Int64s& permutation = node->attr("permutation").AsInts();
    places.resize(permutation.size());
    for (size_t i = 0; i < permutation.size(); ++i) places[permutation[i]] = static_cast<int>(i);
    cover = CoverOf(node->inputs[0]);
  } else if (node != nullptr && node->op == "reshape") {
    std::optional<std::vector<int>> found = PlacesWithoutOnes(ShapeOf(node->inputs[0]), shape);
    if (found) {
      places = *std::move(found);
      cover = CoverOf(node->inputs[0]);
    }
  }
  if (!cover.base.valid()) {
    cover = {value, std::vector<int>(shape.rank())};
    std::iota(cover.place.begin(), cover.place.end(), 0);
    return cover;
  }
  for (int& place : cover.place) place = place < 0 ? -1 : places[place];
  return cover;
}

bool Recognizer::CoversAll(const Cover& cover, const Shape& shape) const {
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (IsOne(shape[axis])) continue;
    if (std::find(cover.place.begin(), cover.place.end(), axis) == cover.place.end()) return false;
  }
  return true;
}

Operand Recognizer::Covering(const Cover& cover, const Axes& axes) const {
  Axes covered;
  for (int place : cover.place) {
    if (place >= 0) covered.push_back(axes[place]);
  }
  return OperandOf(cover.base, covered);
}

Operand Recognizer::Moved(ValueId value, const Axes& axes) const {
  const Cover cover = CoverOf(value);
  return CoversAll(cover, ShapeOf(value)) ? Covering(cover, axes) : OperandOf(value, axes);
}

bool Recognizer::IsZero(ValueId value) const {
  const Node* node = graph_->producer(value);
  if (node == nullptr) return false;
  if (node->op == "broadcast_in_dim" || node->op == "reshape") return IsZero(node->inputs[0]);
  return node->op == "constant" && IsZeros(node->attr("value").AsTensor());
}

Axes Recognizer::NewAxes(const Shape& shape) {
  Axes axes;
  for (const Dim& dim : shape.dims()) axes.push_back(NewAxis(dim));
  return axes;
}

}  // namespace weir::factored
