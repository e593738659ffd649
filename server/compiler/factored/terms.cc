#include "server/compiler/factored/terms.h"

#include <algorithm>
#include <utility>

#include "common/ops/lang.h"

namespace weir::factored {
namespace {

constexpr double kGuessedExtent = 64;

Operand Product(const Operand& large, const Operand& small) {
  Operand out = Changed(large, large.axes, [large, small](Builder& b, ValueId x) {
    const ValueId y = Spread(b, small.build(b), small.axes, large.axes);
    return b.Apply(small.role == Operand::Role::kFactor ? "multiply" : "divide", {x, y});
  });
  out.reads.insert(out.reads.end(), small.reads.begin(), small.reads.end());
  out.is_row = false;
  return out;
}

bool MayHost(const Operand& host, const Operand& guest) {
  if (host.role != Operand::Role::kFactor || host.hot || !guest.is_plain()) return false;
  if (!HasAll(host.axes, guest.axes)) return false;
  return host.axes.size() > guest.axes.size() || guest.role == Operand::Role::kDivisor;
}

// The smallest operand that may take in operand `guest`, or -1.
int Host(const std::vector<Operand>& operands, size_t guest) {
  int best = -1;
  for (size_t k = 0; k < operands.size(); ++k) {
    if (k == guest || !MayHost(operands[k], operands[guest])) continue;
    if (best < 0 || Elements(operands[k].axes) < Elements(operands[best].axes)) {
      best = static_cast<int>(k);
    }
  }
  return best;
}

}  // namespace

int PlaceOf(const Axes& axes, const Axis& axis) {
  auto it = std::find(axes.begin(), axes.end(), axis);
  return it == axes.end() ? -1 : static_cast<int>(it - axes.begin());
}

bool Has(const Axes& axes, const Axis& axis) { return PlaceOf(axes, axis) >= 0; }

bool HasAll(const Axes& axes, const Axes& some) {
  return std::all_of(some.begin(), some.end(), [&](const Axis& axis) { return Has(axes, axis); });
}

void Unite(const Axes& more, Axes* axes) {
  for (const Axis& axis : more) {
    if (!Has(*axes, axis)) axes->push_back(axis);
  }
}

Shape ShapeOf(const Axes& axes) {
  Shape shape;
  for (const Axis& axis : axes) shape.dims().push_back(axis.extent);
  return shape;
}

double Elements(const Axes& axes) {
  double count = 1;
  for (const Axis& axis : axes) {
    count *= axis.extent.is_number() ? static_cast<double>(axis.extent.number()) : kGuessedExtent;
  }
  return count;
}

Axes Operand::AllAxes() const {
  Axes all = axes;
  if (hot) all.push_back(*hot);
  if (!windows) return all;
  std::erase_if(all, [&](const Axis& axis) { return Has(windows->space, axis); });
  Unite(windows->positions, &all);
  Unite(windows->taps, &all);
  return all;
}

Operand OperandOf(ValueId value, Axes axes) {
  Operand operand{.axes = std::move(axes), .reads = {value}, .value = value};
  operand.build = [value, shape = ShapeOf(operand.axes)](Builder& b) {
    return b.type(value).shape == shape ? value : Reshape(b, value, shape.dims());
  };
  return operand;
}

Operand Changed(Operand operand, Axes axes, std::function<ValueId(Builder&, ValueId)> change) {
  operand.axes = std::move(axes);
  operand.value = ValueId();
  operand.build = [build = std::move(operand.build), change = std::move(change)](Builder& b) {
    return change(b, build(b));
  };
  return operand;
}

ValueId Spread(Builder& b, ValueId value, const Axes& axes, const Axes& wanted) {
  if (axes == wanted) return value;
  Int64s places;
  for (const Axis& axis : axes) places.push_back(PlaceOf(wanted, axis));
  if (axes.size() < wanted.size()) {
    return b.Apply("broadcast_in_dim", {value}, {{"shape", ShapeOf(wanted)}, {"axes", places}});
  }
  Int64s permutation;
  for (const Axis& axis : wanted) permutation.push_back(PlaceOf(axes, axis));
  return b.Apply("transpose", {value}, {{"permutation", permutation}});
}

Factored WithAxes(Factored value, const Axes& axes) {
  auto change = [old = value.axes, &axes](Axis& axis) {
    const int place = PlaceOf(old, axis);
    if (place >= 0) axis = axes[place];
  };
  for (Term& term : value.terms) {
    for (Operand& operand : term.operands) operand.ChangeAxes(change);
  }
  for (Axis& axis : value.lifted) change(axis);
  value.axes = axes;
  return value;
}

void AddSources(const Factored& from, Factored* to) {
  to->stacked.insert(to->stacked.end(), from.stacked.begin(), from.stacked.end());
  Unite(from.lifted, &to->lifted);
  for (const Factored::Source& source : from.products) {
    const bool known = std::any_of(to->products.begin(), to->products.end(),
                                   [&](const auto& other) { return other.value == source.value; });
    if (!known) to->products.push_back(source);
  }
}

std::optional<Factored> Scaled(Factored value, const Operand& scale) {
  for (Term& term : value.terms) {
    const bool fits =
        std::any_of(term.operands.begin(), term.operands.end(), [&](const Operand& operand) {
          return operand.role == Operand::Role::kFactor && !operand.hot &&
                 HasAll(operand.axes, scale.axes);
        });
    if (!fits) return std::nullopt;
    term.operands.push_back(scale);
  }
  return value;
}

std::vector<Operand> Folded(std::vector<Operand> operands) {
  for (size_t i = 0; i < operands.size();) {
    const int host = Host(operands, i);
    if (host < 0) {
      ++i;
      continue;
    }
    operands[host] = Product(operands[host], operands[i]);
    operands.erase(operands.begin() + static_cast<int>(i));
    i = 0;
  }
  return operands;
}

}  // namespace weir::factored
