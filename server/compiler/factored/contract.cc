#include "server/compiler/factored/contract.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "common/ops/lang.h"

namespace weir::factored {
namespace {

// Iterations that one chain of additions takes in.
constexpr int64_t kBlock = 256;

// What the choice of an order knows of an operand.
struct Outline {
  Axes axes;
  std::optional<Axis> hot;
};

struct Choice {
  double cost = 0;
  size_t first = 0;
  size_t second = 0;
};

// Axes that are wanted, or that another than `a` and `b` has.
template <class Part>
Axes Kept(const std::vector<Part>& parts, size_t a, size_t b, const Axes& out,
          Axes (*axes_of)(const Part&)) {
  Axes keep = out;
  for (size_t k = 0; k < parts.size(); ++k) {
    if (k != a && k != b) Unite(axes_of(parts[k]), &keep);
  }
  return keep;
}

Axes AxesOfOutline(const Outline& outline) { return outline.axes; }
Axes AxesOfOperand(const Operand& operand) { return operand.AllAxes(); }

// A row by index costs nothing along its hot axis, unless the result has it.
double Multiplications(const Outline& a, const Outline& b) {
  Axes axes = a.axes;
  Unite(b.axes, &axes);
  std::erase_if(axes, [&](const Axis& axis) {
    return (a.hot && *a.hot == axis) || (b.hot && *b.hot == axis);
  });
  return Elements(axes);
}

Choice Best(const std::vector<Outline>& parts, const Axes& out) {
  if (parts.size() < 2) return {};
  Choice best{.cost = std::numeric_limits<double>::infinity()};
  for (size_t i = 0; i < parts.size(); ++i) {
    for (size_t k = i + 1; k < parts.size(); ++k) {
      Outline joined{.axes = parts[i].axes};
      Unite(parts[k].axes, &joined.axes);
      const Axes keep = Kept(parts, i, k, out, &AxesOfOutline);
      std::erase_if(joined.axes, [&](const Axis& axis) { return !Has(keep, axis); });
      std::vector<Outline> rest = parts;
      rest[i] = std::move(joined);
      rest.erase(rest.begin() + static_cast<int64_t>(k));
      const double cost =
          Multiplications(parts[i], parts[k]) + Elements(rest[i].axes) + Best(rest, out).cost;
      if (cost < best.cost) best = {cost, i, k};
    }
  }
  return best;
}

std::vector<Outline> Outlines(const std::vector<Operand>& operands) {
  std::vector<Outline> outlines;
  for (const Operand& operand : operands) outlines.push_back({operand.AllAxes(), operand.hot});
  return outlines;
}

// Summed over the axes that nobody else needs.
Operand Summed(Builder& b, Operand operand, const Axes& keep, DType dtype) {
  // The sum of an image, or of a one-hot factor's indices, means nothing.
  if (!operand.is_plain()) {
    if (HasAll(keep, operand.AllAxes())) return operand;
    operand = Dense(b, operand, dtype);
  }
  Int64s gone;
  Axes left;
  for (size_t i = 0; i < operand.axes.size(); ++i) {
    if (Has(keep, operand.axes[i])) {
      left.push_back(operand.axes[i]);
    } else {
      gone.push_back(static_cast<int64_t>(i));
    }
  }
  if (gone.empty()) return operand;
  return OperandOf(Reduce(b, "reduce_sum", operand.build(b), gone), left);
}

Operand Join(Builder& b, const Operand& x, const Operand& y, const Axes& keep, DType dtype) {
  if (x.windows || y.windows) return JoinWindows(b, x, y, keep, dtype);
  if (x.hot || y.hot) return JoinHot(b, x, y, keep, dtype);
  return JoinDense(b, x, y, keep);
}

ValueId ContractedTerm(Builder& b, const Term& term, const Axes& out, DType dtype) {
  std::vector<Operand> parts = Folded(term.operands);
  for (size_t i = 0; i < parts.size(); ++i) {
    parts[i] = Summed(b, parts[i], Kept(parts, i, i, out, &AxesOfOperand), dtype);
  }
  while (parts.size() > 1) {
    const Choice choice = Best(Outlines(parts), out);
    const Axes keep = Kept(parts, choice.first, choice.second, out, &AxesOfOperand);
    const Operand& x = parts[choice.first];
    const Operand& y = parts[choice.second];
    Operand joined = Join(b, x, y, keep, dtype);
    parts[choice.first] = Summed(b, std::move(joined), keep, dtype);
    parts.erase(parts.begin() + static_cast<int64_t>(choice.second));
  }
  const Operand whole = Dense(b, parts[0], dtype);
  const ValueId value = Spread(b, whole.build(b), whole.axes, out);
  if (term.weight == 1) return value;
  return term.weight == -1 ? b.Apply("negate", {value}) : Binary(b, "multiply", value, term.weight);
}

AxisId FreshId(const Term& term, const Axes& out) {
  Axes all = out;
  for (Operand operand : term.operands) {
    operand.ChangeAxes([&](const Axis& axis) { Unite({axis}, &all); });
  }
  int64_t largest = 0;
  for (const Axis& axis : all) largest = std::max(largest, axis.id.value());
  return AxisId(largest + 1);
}

// A range of one axis, which becomes `into`.
Operand Part(const Operand& operand, const Axis& axis, const Dim& begin, const Axes& into) {
  const int place = PlaceOf(operand.axes, axis);
  if (place < 0) return operand;
  Axes axes = operand.axes;
  axes.erase(axes.begin() + place);
  axes.insert(axes.begin() + place, into.begin(), into.end());
  const Dim end = begin + ShapeOf(into).num_elements();
  return Changed(operand, axes, [=](Builder& b, ValueId x) {
    return Reshape(b, Slice(b, x, place, begin, end), ShapeOf(axes).dims());
  });
}

Term Part(Term term, const Axis& axis, const Dim& begin, const Axes& into) {
  for (Operand& operand : term.operands) operand = Part(operand, axis, begin, into);
  return term;
}

// Summed over an axis that counts iterations: in blocks, then over the blocks, so that the chain of
// no sum gets long.
ValueId ContractedInBlocks(Builder& b, Term term, const Axes& out, const Axis& axis, DType dtype) {
  const bool one = axis.extent.is_number() && axis.extent.number() <= kBlock;
  term.operands = Folded(std::move(term.operands));
  const bool hot = std::any_of(term.operands.begin(), term.operands.end(),
                               [](const Operand& operand) { return operand.hot.has_value(); });
  if (one || hot) return ContractedTerm(b, term, out, dtype);
  for (Operand& operand : term.operands) {
    Operand made = OperandOf(operand.build(b), operand.axes);
    made.windows = operand.windows;
    operand = std::move(made);
  }
  const AxisId id = FreshId(term, out);
  const Axis blocks{id, FloorDiv(axis.extent, kBlock)};
  const Axis inner{AxisId(id.value() + 1), kBlock};
  Axes stacked = out;
  stacked.insert(stacked.begin(), blocks);
  const ValueId parts = ContractedTerm(b, Part(term, axis, 0, {blocks, inner}), stacked, dtype);
  const ValueId sum = Reduce(b, "reduce_sum", parts, {0});
  const Dim done = blocks.extent * kBlock;
  const Axis left{id, axis.extent - done};
  if (left.extent == Dim(0)) return sum;
  return b.Apply("add", {sum, ContractedTerm(b, Part(term, axis, done, {left}), out, dtype)});
}

// The first axis that counts iterations and is summed over.
std::optional<Axis> SummedIterations(const Factored& value) {
  for (const Axis& axis : value.lifted) {
    if (!Has(value.axes, axis)) return axis;
  }
  return std::nullopt;
}

}  // namespace

Operand JoinDense(Builder& b, const Operand& x, const Operand& y, const Axes& keep) {
  if (!HasAll(x.axes, y.axes) && HasAll(y.axes, x.axes)) return JoinDense(b, y, x, keep);
  // Elements by elements, which a reduction may take in.
  const bool same = HasAll(x.axes, y.axes) && HasAll(y.axes, x.axes);
  if (same || (HasAll(x.axes, y.axes) && HasAll(keep, y.axes))) {
    const ValueId spread = Spread(b, y.build(b), y.axes, x.axes);
    return OperandOf(b.Apply("multiply", {x.build(b), spread}), x.axes);
  }
  Int64s batch[2], contract[2];
  Axes result, free;
  for (size_t i = 0; i < x.axes.size(); ++i) {
    const int other = PlaceOf(y.axes, x.axes[i]);
    if (other < 0) {
      free.push_back(x.axes[i]);
      continue;
    }
    const bool kept = Has(keep, x.axes[i]);
    (kept ? batch : contract)[0].push_back(static_cast<int64_t>(i));
    (kept ? batch : contract)[1].push_back(other);
    if (kept) result.push_back(x.axes[i]);
  }
  result.insert(result.end(), free.begin(), free.end());
  Unite(y.axes, &result);
  std::erase_if(result, [&](const Axis& axis) {
    return Has(x.axes, axis) && Has(y.axes, axis) && !Has(keep, axis);
  });
  const ValueId value = b.Apply("dot_general", {x.build(b), y.build(b)},
                                {{"lhs_batch", batch[0]},
                                 {"rhs_batch", batch[1]},
                                 {"lhs_contract", contract[0]},
                                 {"rhs_contract", contract[1]}});
  return OperandOf(value, std::move(result));
}

double CostOf(const Term& term, const Axes& out) {
  const std::vector<Operand> operands = Folded(term.operands);
  double cost = 0;
  for (const Operand& operand : operands) cost += Elements(operand.axes);
  return cost + Best(Outlines(operands), out).cost;
}

double CostOf(const Factored& value) {
  double cost = 0;
  for (const Term& term : value.terms) cost += CostOf(term, value.axes);
  return cost;
}

ValueId Contracted(Builder& b, const Factored& value) {
  const std::optional<Axis> iterations = SummedIterations(value);
  ValueId sum;
  for (const Term& term : value.terms) {
    const ValueId part = iterations && !value.is_product
                             ? ContractedInBlocks(b, term, value.axes, *iterations, value.dtype)
                             : ContractedTerm(b, term, value.axes, value.dtype);
    sum = sum.valid() ? b.Apply("add", {sum, part}) : part;
  }
  // What a sum of squares by other products rounds to may be below 0.
  return value.square ? Binary(b, "maximum", sum, 0.0) : sum;
}

}  // namespace weir::factored
