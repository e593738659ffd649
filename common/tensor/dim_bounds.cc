// Lower bounds by two methods, of which the better counts: intervals of the terms added up, and one
// // % min max of the sum put in the place of what bounds it, so that what is common cancels.
// Upper bounds are lower bounds of the negative.
#include "common/tensor/dim_bounds.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "common/tensor/dim_expr.h"

namespace weir {
namespace {

using Expr = Dim::Expr;
using Op = Expr::Op;
using Bound = std::optional<int64_t>;

// How many atoms of a sum are put in the place of others on one path.
constexpr int kMostSteps = 4;

Bound Lower(const Dim& dim, int steps);

Bound Upper(const Dim& dim, int steps) {
  const Bound minus = Lower(dim * Dim(-1), steps);
  int64_t out = 0;
  if (!minus || __builtin_sub_overflow(int64_t{0}, *minus, &out)) return std::nullopt;
  return out;
}

// The better one of two lower bounds that both hold.
Bound Best(Bound a, Bound b) {
  if (!a || !b) return a ? a : b;
  return std::max(*a, *b);
}

// What holds where one of the two does.
Bound Worst(Bound a, Bound b) { return a && b ? Bound(std::min(*a, *b)) : std::nullopt; }

Bound Plus(Bound a, Bound b) {
  int64_t out = 0;
  if (!a || !b || __builtin_add_overflow(*a, *b, &out)) return std::nullopt;
  return out;
}

Bound Times(Bound a, Bound b) {
  int64_t out = 0;
  if (!a || !b || __builtin_mul_overflow(*a, *b, &out)) return std::nullopt;
  return out;
}

struct Range {
  Bound low;
  Bound high;
};

Range RangeOfExtreme(const Expr::Atom& atom, int steps) {
  Range out{Lower(atom.args[0], steps), Upper(atom.args[0], steps)};
  for (size_t i = 1; i < atom.args.size(); ++i) {
    const Bound low = Lower(atom.args[i], steps);
    const Bound high = Upper(atom.args[i], steps);
    if (atom.op == Op::kMin) {
      out.low = Worst(out.low, low);
      out.high = out.high && high ? std::min(*out.high, *high) : (out.high ? out.high : high);
    } else {
      out.low = Best(out.low, low);
      out.high = out.high && high ? Bound(std::max(*out.high, *high)) : std::nullopt;
    }
  }
  return out;
}

Range RangeOf(const Expr::Atom& atom, int steps) {
  if (atom.op == Op::kSymbol) return {0, std::nullopt};
  if (atom.op == Op::kMin || atom.op == Op::kMax) return RangeOfExtreme(atom, steps);
  const Bound low = Lower(atom.args[0], steps);
  const Bound high = Upper(atom.args[0], steps);
  const Bound least = Lower(atom.args[1], steps);
  const Bound most = Upper(atom.args[1], steps);
  // A divisor that may be negative says nothing; 0 is an error of the run.
  if (!least || *least < 0) return {};
  if (atom.op == Op::kMod) {
    const Bound below = Plus(most, -1);
    const bool not_negative = low && *low >= 0;
    if (!not_negative || !high) return {0, below};
    return {0, below ? Bound(std::min(*below, *high)) : high};
  }
  Range out;
  const int64_t divisor = std::max<int64_t>(*least, 1);
  if (low && *low >= 0) out.low = most && *most > 0 ? Bound(FloorDivNumber(*low, *most)) : Bound(0);
  if (low && *low < 0) out.low = FloorDivNumber(*low, divisor);
  if (high && *high >= 0) out.high = FloorDivNumber(*high, divisor);
  if (high && *high < 0) out.high = Bound(-1);
  return out;
}

// The least value of one term: intervals multiplied.
Bound LowerOfTerm(const Expr::Term& term, int steps) {
  Range product{term.coefficient, term.coefficient};
  for (const Expr::AtomPtr& factor : term.factors) {
    const Range range = RangeOf(*factor, steps);
    const bool factor_sign = range.low && *range.low >= 0;
    if (!factor_sign) return std::nullopt;
    // A factor of 0 or more moves each end away from 0 or towards it, and keeps its sign.
    const Bound low =
        product.low ? Times(product.low, *product.low >= 0 ? range.low : range.high) : product.low;
    const Bound high = product.high
                           ? Times(product.high, *product.high >= 0 ? range.high : range.low)
                           : product.high;
    product = {low, high};
  }
  return product.low;
}

// Returns: a lower bound of rest + coefficient * atom, by what the atom is at least or at most.
Bound LowerByParts(const Expr::Atom& atom, int64_t coefficient, const Dim& rest, int steps) {
  const Dim factor = coefficient;
  const bool is_extreme = atom.op == Op::kMin || atom.op == Op::kMax;
  if (is_extreme) {
    // The atom is one of its operands: the greatest of such sums, or the least.
    const bool greatest = (atom.op == Op::kMax) == (coefficient > 0);
    Bound out = Lower(rest + factor * atom.args[0], steps);
    for (size_t i = 1; i < atom.args.size(); ++i) {
      const Bound other = Lower(rest + factor * atom.args[i], steps);
      out = greatest ? Best(out, other) : Worst(out, other);
    }
    return out;
  }
  if (!atom.args[1].is_number() || atom.args[1].number() <= 0) return std::nullopt;
  const Dim divisor = atom.args[1];
  if (atom.op == Op::kMod) {
    // a%b <= a where a is not negative.
    const Bound low = Lower(atom.args[0], steps);
    if (coefficient > 0 || !low || *low < 0) return std::nullopt;
    return Lower(rest + factor * atom.args[0], steps);
  }
  // a-b+1 <= b*(a//b) <= a.
  const Dim numerator = coefficient > 0 ? atom.args[0] - divisor + Dim(1) : atom.args[0];
  const Bound scaled = Lower(rest * divisor + factor * numerator, steps);
  // Rounded up: minus the quotient of the negative.
  return scaled && *scaled > std::numeric_limits<int64_t>::min()
             ? Bound(-FloorDivNumber(-*scaled, divisor.number()))
             : std::nullopt;
}

Bound Lower(const Dim& dim, int steps) {
  if (dim.is_unknown()) return std::nullopt;
  if (dim.is_number()) return dim.number();
  if (steps == 0) return std::nullopt;
  const std::vector<Expr::Term> terms = Expr::TermsOf(dim);
  Bound best = 0;
  for (const Expr::Term& term : terms) best = Plus(best, LowerOfTerm(term, steps - 1));
  if (terms.size() == 1) return best;
  for (const Expr::Term& term : terms) {
    if (term.factors.size() != 1 || term.factors[0]->op == Op::kSymbol) continue;
    const Dim rest = dim - Expr::FromTerms({term});
    best = Best(best, LowerByParts(*term.factors[0], term.coefficient, rest, steps - 1));
  }
  return best;
}

}  // namespace

std::optional<int64_t> LowerBound(const Dim& dim) { return Lower(dim, kMostSteps); }

std::optional<int64_t> UpperBound(const Dim& dim) { return Upper(dim, kMostSteps); }

Dim SmallerOf(const Dim& a, const Dim& b) {
  const Dim difference = a - b;
  if (UpperBound(difference).value_or(1) <= 0) return a;
  return LowerBound(difference).value_or(-1) >= 0 ? b : Min(a, b);
}

Dim LargerOf(const Dim& a, const Dim& b) {
  const Dim difference = a - b;
  if (LowerBound(difference).value_or(-1) >= 0) return a;
  return UpperBound(difference).value_or(1) <= 0 ? b : Max(a, b);
}

Dim Gathered(const Dim& dim) {
  if (dim.is_number() || dim.is_unknown()) return dim;
  const std::vector<Expr::Term> terms = Expr::TermsOf(dim);
  const Expr::Term* extreme = nullptr;
  for (const Expr::Term& term : terms) {
    if (term.factors.size() != 1) continue;
    const Op op = term.factors[0]->op;
    if (op != Op::kMin && op != Op::kMax) continue;
    if (extreme != nullptr) return dim;
    extreme = &term;
  }
  if (extreme == nullptr) return dim;
  const Expr::Atom& atom = *extreme->factors[0];
  const Dim factor = extreme->coefficient;
  const Dim rest = dim - Expr::FromTerms({*extreme});
  const bool least = (atom.op == Op::kMin) == (extreme->coefficient > 0);
  Dim out = rest + factor * atom.args[0];
  for (size_t i = 1; i < atom.args.size(); ++i) {
    const Dim other = rest + factor * atom.args[i];
    out = least ? SmallerOf(out, other) : LargerOf(out, other);
  }
  return out;
}

}  // namespace weir
