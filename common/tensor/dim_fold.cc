// Simplification of // % min max. Every rule holds for all integers, except that an exact quotient
// drops the case of a zero divisor.
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "common/tensor/dim_expr.h"

namespace weir {
namespace {

using Expr = Dim::Expr;
using Op = Expr::Op;
using Term = Expr::Term;

// Returns: a / b where b is one term that divides every term of a.
std::optional<Dim> ExactQuotient(const Dim& a, const Dim& b) {
  const std::vector<Term> divisor = Expr::TermsOf(b);
  if (divisor.size() != 1) return std::nullopt;
  const Term& by = divisor[0];
  std::vector<Term> quotient;
  for (const Term& term : Expr::TermsOf(a)) {
    if (by.coefficient == -1 && term.coefficient == std::numeric_limits<int64_t>::min()) {
      return std::nullopt;
    }
    if (term.coefficient % by.coefficient != 0) return std::nullopt;
    Term rest{term.coefficient / by.coefficient, {}};
    size_t matched = 0;
    for (const Expr::AtomPtr& factor : term.factors) {
      if (matched < by.factors.size() && factor->text == by.factors[matched]->text) {
        ++matched;
      } else {
        rest.factors.push_back(factor);
      }
    }
    if (matched != by.factors.size()) return std::nullopt;
    quotient.push_back(std::move(rest));
  }
  return Expr::FromUnsortedTerms(std::move(quotient));
}

// a == by * whole + divisor_gcd * rest + constant, with the coefficients of `rest` in
// [0, by/divisor_gcd) and constant in [0, divisor_gcd).
struct Split {
  Dim whole;
  Dim rest;
  int64_t divisor_gcd = 1;
  int64_t constant = 0;
};

// REQUIRES: by > 0.
Split SplitBy(const Dim& a, int64_t by) {
  std::vector<Term> whole;
  std::vector<Term> rest;
  Split out;
  out.divisor_gcd = by;
  for (const Term& term : Expr::TermsOf(a)) {
    const int64_t quotient = FloorDivNumber(term.coefficient, by);
    const int64_t remainder = FloorModNumber(term.coefficient, by);
    if (quotient != 0) whole.push_back(Term{quotient, term.factors});
    if (remainder == 0) continue;
    if (term.factors.empty()) {
      out.constant = remainder;
    } else {
      rest.push_back(Term{remainder, term.factors});
      out.divisor_gcd = std::gcd(out.divisor_gcd, remainder);
    }
  }
  for (Term& term : rest) term.coefficient /= out.divisor_gcd;
  if (out.constant >= out.divisor_gcd) {
    rest.push_back(Term{out.constant / out.divisor_gcd, {}});
    out.constant %= out.divisor_gcd;
  }
  out.whole = Expr::FromTerms(std::move(whole));
  out.rest = Expr::FromTerms(std::move(rest));
  return out;
}

// Returns: the atom and the constant c when `dim` is atom or atom+c with an atom of `op` by a
// positive number.
struct AtomPlus {
  const Expr::Atom* atom = nullptr;
  int64_t divisor = 0;
  int64_t constant = 0;
};
std::optional<AtomPlus> MatchQuotient(const std::vector<Term>& terms, Op op) {
  if (terms.empty() || terms.size() > 2) return std::nullopt;
  if (terms[0].coefficient != 1 || terms[0].factors.size() != 1) return std::nullopt;
  if (terms.size() == 2 && !terms[1].factors.empty()) return std::nullopt;
  const Expr::Atom* atom = terms[0].factors[0].get();
  if (atom->op != op || !atom->args[1].is_number() || atom->args[1].number() <= 0) {
    return std::nullopt;
  }
  return AtomPlus{atom, atom->args[1].number(), terms.size() == 2 ? terms[1].coefficient : 0};
}

// REQUIRES: by > 1.
Dim FloorDivByNumber(const Dim& a, int64_t by) {
  const Split split = SplitBy(a, by);
  if (split.rest.is_unknown() || split.whole.is_unknown()) return Dim::Unknown();
  // rest * gcd + constant < by holds for a rest that is a number.
  if (split.rest.is_number()) return split.whole;
  const int64_t divisor = by / split.divisor_gcd;
  if (divisor == 1) return split.whole + split.rest;
  const std::vector<Term> terms = Expr::TermsOf(split.rest);
  if (const auto inner = MatchQuotient(terms, Op::kFloorDiv)) {
    int64_t product = 0;
    if (!__builtin_mul_overflow(inner->divisor, divisor, &product)) {
      const Dim numerator = inner->atom->args[0] + Dim(inner->constant) * Dim(inner->divisor);
      return split.whole + FloorDiv(numerator, Dim(product));
    }
  }
  return split.whole + Expr::MakeAtom(Op::kFloorDiv, {split.rest, Dim(divisor)});
}

// REQUIRES: by > 1.
Dim ModByNumber(const Dim& a, int64_t by) {
  const Split split = SplitBy(a, by);
  if (split.rest.is_unknown()) return Dim::Unknown();
  const Dim scale = split.divisor_gcd;
  const Dim constant = split.constant;
  if (split.rest.is_number()) return split.rest * scale + constant;
  const int64_t divisor = by / split.divisor_gcd;
  if (divisor == 1) return constant;
  const std::vector<Term> terms = Expr::TermsOf(split.rest);
  if (const auto inner = MatchQuotient(terms, Op::kMod)) {
    if (inner->divisor % divisor == 0) {
      return Mod(inner->atom->args[0] + Dim(inner->constant), Dim(divisor)) * scale + constant;
    }
    if (inner->constant == 0 && inner->divisor <= divisor) return split.rest * scale + constant;
  }
  return Expr::MakeAtom(Op::kMod, {split.rest, Dim(divisor)}) * scale + constant;
}

std::vector<Dim> OperandsOf(Op op, const Dim& dim) {
  const Expr::Atom* atom = Expr::AsAtom(dim);
  if (atom != nullptr && atom->op == op) return atom->args;
  return {dim};
}

// Adds `candidate` unless an operand at a constant distance decides against it; replaces one that
// it decides against.
void AddOperand(Op op, const Dim& candidate, std::vector<Dim>* operands) {
  for (Dim& operand : *operands) {
    const Dim difference = candidate - operand;
    if (!difference.is_number()) continue;
    const bool candidate_wins = op == Op::kMin ? difference.number() < 0 : difference.number() > 0;
    if (candidate_wins) operand = candidate;
    return;
  }
  operands->push_back(candidate);
}

}  // namespace

Dim Expr::FoldFloorDiv(const Dim& a, const Dim& b) {
  if (b.is_number()) {
    if (b.number() == 0) return Dim::Unknown();
    if (b.number() == 1) return a;
    if (b.number() == -1) return a * b;
    if (b.number() < 0) {
      const Dim minus = Dim(0) - b;
      if (minus.is_unknown()) return minus;
      return FloorDiv(Dim(0) - a, minus);
    }
    return FloorDivByNumber(a, b.number());
  }
  if (a == b) return Dim(1);
  if (const auto quotient = ExactQuotient(a, b); quotient && !(a == Dim(0))) return *quotient;
  return MakeAtom(Op::kFloorDiv, {a, b});
}

Dim Expr::FoldMod(const Dim& a, const Dim& b) {
  if (b.is_number()) {
    if (b.number() == 0) return Dim::Unknown();
    if (b.number() == 1 || b.number() == -1) return Dim(0);
    if (b.number() < 0) {
      const Dim minus = Dim(0) - b;
      if (minus.is_unknown()) return minus;
      return Dim(0) - Mod(Dim(0) - a, minus);
    }
    return ModByNumber(a, b.number());
  }
  if (a == b) return Dim(0);
  if (const auto quotient = ExactQuotient(a, b); quotient && !(a == Dim(0))) return Dim(0);
  return MakeAtom(Op::kMod, {a, b});
}

Dim Expr::FoldMinMax(Op op, const Dim& a, const Dim& b) {
  std::vector<Dim> kept = OperandsOf(op, a);
  for (const Dim& operand : OperandsOf(op, b)) AddOperand(op, operand, &kept);
  if (kept.size() == 1) return kept[0];
  std::vector<std::pair<std::string, Dim>> sorted;
  for (Dim& operand : kept) sorted.emplace_back(operand.ToString(), std::move(operand));
  std::sort(sorted.begin(), sorted.end(), [](const auto& x, const auto& y) {
    if (x.second.is_number() != y.second.is_number()) return y.second.is_number();
    return x.first < y.first;
  });
  std::vector<Dim> args;
  for (auto& [text, operand] : sorted) args.push_back(std::move(operand));
  return MakeAtom(op, std::move(args));
}

}  // namespace weir
