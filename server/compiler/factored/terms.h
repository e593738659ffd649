// Values kept as products: the `factored` layout. A term is a product of operands, each with named
// axes, summed over the axes that the value itself does not have, as in einsum; a factored value is
// a sum of terms. Nothing here changes a graph: an operand is made only when something is built
// from it. Plain values owned by one pass; thread-compatible.
#ifndef WEIR_SERVER_COMPILER_FACTORED_TERMS_H_
#define WEIR_SERVER_COMPILER_FACTORED_TERMS_H_

#include <functional>
#include <optional>
#include <vector>

#include "common/base/ids.h"
#include "common/ir/builder.h"
#include "common/ir/graph.h"
#include "common/ops/nn/window.h"

namespace weir::factored {

using AxisId = Id<struct FactoredAxisTag>;

struct Axis {
  AxisId id;
  Dim extent;

  friend bool operator==(const Axis& a, const Axis& b) { return a.id == b.id; }
};
using Axes = std::vector<Axis>;

int PlaceOf(const Axes& axes, const Axis& axis);  // -1: not there
bool Has(const Axes& axes, const Axis& axis);
bool HasAll(const Axes& axes, const Axes& some);
// Adds those of `more` that are not there.
void Unite(const Axes& more, Axes* axes);
Shape ShapeOf(const Axes& axes);
// How many elements, with a guess in place of symbols.
double Elements(const Axes& axes);

// How a factor lies in an image: windows of it, as a convolution has them. The image has the axes
// `space`, of which the factor has none; in their place it has `positions`, where the windows are,
// and `taps`, inside of a window.
struct Windows {
  Axes space;
  Axes positions;
  Axes taps;
  std::vector<WindowAxis> along;  // for each axis of space
};

// One factor. `build` makes it where the builder stands; its axes are `axes`.
struct Operand {
  enum class Role { kFactor, kDivisor };

  Axes axes;
  Role role = Role::kFactor;
  // The factor has one axis more, along which it is 1 where the number that `build` makes says so,
  // else 0: rows of a table, by index.
  std::optional<Axis> hot;
  // `build` makes the image whose windows are the factor.
  std::optional<Windows> windows;
  std::function<ValueId(Builder&)> build;
  std::vector<ValueId> reads;  // what `build` starts from
  ValueId value;               // what `build` returns or reshapes, if that is there already
  // A row of what has one for every iteration, so that keeping it at most doubles that.
  bool is_row = false;

  // Those of the factor.
  Axes AllAxes() const;
  bool is_plain() const { return !hot && !windows; }
  // Calls change(axis) for each axis that the operand mentions, in a fixed order.
  template <class Change>
  void ChangeAxes(const Change& change) {
    for (Axis& axis : axes) change(axis);
    if (hot) change(*hot);
    if (!windows) return;
    for (Axes* some : {&windows->space, &windows->positions, &windows->taps}) {
      for (Axis& axis : *some) change(axis);
    }
  }
};
// An operand that is there, but perhaps for a reshape to the extents of `axes`.
Operand OperandOf(ValueId value, Axes axes);
// The same operand, made by `build` from what it was.
Operand Changed(Operand operand, Axes axes, std::function<ValueId(Builder&, ValueId)> change);
// `value`, which has `axes`, with all of `wanted`: broadcast and in their order.
ValueId Spread(Builder& b, ValueId value, const Axes& axes, const Axes& wanted);

struct Term {
  std::vector<Operand> operands;
  double weight = 1;
};

struct Factored {
  // A value of the program that this stands for, and what making it takes.
  struct Source {
    ValueId value;
    double cost = 0;  // multiplications
  };

  Axes axes;
  std::vector<Term> terms;
  DType dtype = DType::kF32;
  // An element-wise product of two factored values; `square`: of one with itself.
  bool is_product = false;
  bool square = false;
  std::vector<Source> products;
  std::vector<ValueId> stacked;  // results of loops
  Axes lifted;                   // axes that count iterations
};

// The same value with `axes` in place of its own. REQUIRES: as many.
Factored WithAxes(Factored value, const Axes& axes);
// Adds the products and loops that `from` stands for.
void AddSources(const Factored& from, Factored* to);
// Multiplies by `scale`, or divides. Returns: nothing if a term has no operand with all its axes.
std::optional<Factored> Scaled(Factored value, const Operand& scale);
// Puts operands whose axes another operand has, and more, into the smallest such one.
std::vector<Operand> Folded(std::vector<Operand> operands);

}  // namespace weir::factored

#endif  // WEIR_SERVER_COMPILER_FACTORED_TERMS_H_
