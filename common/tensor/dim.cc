#include "common/tensor/dim.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "common/base/status.h"
#include "common/base/str_cat.h"
#include "common/tensor/dim_expr.h"

namespace weir {
namespace {

using Expr = Dim::Expr;
using Op = Expr::Op;
using Term = Expr::Term;

constexpr size_t kMaxSymbolLength = 64;

// A factor of a product or the left side of an operator.
std::string OperandText(const Dim& dim) {
  if (dim.is_symbol() || dim.is_unknown() || (dim.is_number() && dim.number() >= 0)) {
    return dim.ToString();
  }
  const Expr::Atom* atom = Expr::AsAtom(dim);
  if (atom != nullptr && (atom->op == Op::kMin || atom->op == Op::kMax)) return atom->text;
  return StrCat("(", dim.ToString(), ")");
}

std::string AtomText(Op op, const std::vector<Dim>& args) {
  if (op == Op::kFloorDiv) return StrCat(OperandText(args[0]), "//", OperandText(args[1]));
  if (op == Op::kMod) return StrCat(OperandText(args[0]), "%", OperandText(args[1]));
  std::string text = op == Op::kMin ? "min(" : "max(";
  for (size_t i = 0; i < args.size(); ++i) {
    StrAppend(&text, i == 0 ? "" : ",", args[i].ToString());
  }
  return text + ")";
}

void AppendTerm(const Term& term, std::string* out) {
  // The magnitude of the least number does not parse, so its sign goes with it.
  const bool least = term.coefficient == std::numeric_limits<int64_t>::min();
  if (!out->empty() && (term.coefficient >= 0 || least)) *out += '+';
  if (term.factors.empty()) {
    StrAppend(out, term.coefficient);
    return;
  }
  if (term.coefficient < 0) *out += '-';
  const bool alone = term.factors.size() == 1 && term.coefficient == 1;
  const bool has_coefficient = term.coefficient != 1 && term.coefficient != -1;
  if (has_coefficient) {
    const uint64_t bits = static_cast<uint64_t>(term.coefficient);
    StrAppend(out, term.coefficient < 0 ? 0 - bits : bits);
  }
  for (size_t i = 0; i < term.factors.size(); ++i) {
    const Expr::Atom& atom = *term.factors[i];
    const bool quotient = atom.op == Op::kFloorDiv || atom.op == Op::kMod;
    const bool parentheses = quotient && !alone;
    StrAppend(out, i > 0 || has_coefficient ? "*" : "", parentheses ? "(" : "", atom.text,
              parentheses ? ")" : "");
  }
}

// The sum of two sorted lists of terms, or false on overflow.
bool AddTerms(const std::vector<Term>& a, const std::vector<Term>& b, std::vector<Term>* out) {
  out->reserve(a.size() + b.size());
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() || j < b.size()) {
    const int order = i == a.size() ? 1 : j == b.size() ? -1 : CompareTerms(a[i], b[j]);
    if (order < 0) {
      out->push_back(a[i++]);
    } else if (order > 0) {
      out->push_back(b[j++]);
    } else {
      Term sum = a[i++];
      if (__builtin_add_overflow(sum.coefficient, b[j++].coefficient, &sum.coefficient)) {
        return false;
      }
      if (sum.coefficient != 0) out->push_back(std::move(sum));
    }
  }
  return true;
}

absl::Status OverflowError(std::string_view text) {
  return absl::OutOfRangeError(StrCat("dimension ", text, " overflows 64 bits"));
}

absl::StatusOr<int64_t> EvaluateQuotient(const Expr::Atom& atom, int64_t a, int64_t b) {
  if (b == 0) return InvalidArgument("dimension ", atom.text, " divides by 0");
  const bool wraps = a == std::numeric_limits<int64_t>::min() && b == -1;
  if (atom.op == Op::kMod) {
    const int64_t rest = wraps ? 0 : a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
  if (wraps) return OverflowError(atom.text);
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

absl::StatusOr<int64_t> EvaluateAtom(const Expr::Atom& atom, const SymbolBindings& bindings) {
  if (atom.op == Op::kSymbol) {
    const auto found = bindings.find(atom.text);
    if (found != bindings.end()) return found->second;
    return InvalidArgument("dimension symbol ", atom.text, " has no value");
  }
  WEIR_ASSIGN_OR_RETURN(int64_t value, atom.args[0].Evaluate(bindings));
  for (size_t i = 1; i < atom.args.size(); ++i) {
    WEIR_ASSIGN_OR_RETURN(const int64_t next, atom.args[i].Evaluate(bindings));
    if (atom.op == Op::kMin) {
      value = std::min(value, next);
    } else if (atom.op == Op::kMax) {
      value = std::max(value, next);
    } else {
      WEIR_ASSIGN_OR_RETURN(value, EvaluateQuotient(atom, value, next));
    }
  }
  return value;
}

Dim Apply(Op op, const Dim& a, const Dim& b) {
  switch (op) {
    case Op::kFloorDiv:
      return FloorDiv(a, b);
    case Op::kMod:
      return Mod(a, b);
    case Op::kMin:
      return Min(a, b);
    case Op::kMax:
      return Max(a, b);
    case Op::kSymbol:
      break;
  }
  return Dim::Unknown();
}

}  // namespace

int CompareTerms(const Term& a, const Term& b) {
  if (a.factors.size() != b.factors.size()) return a.factors.size() > b.factors.size() ? -1 : 1;
  for (size_t i = 0; i < a.factors.size(); ++i) {
    if (a.factors[i] == b.factors[i]) continue;
    const int order = a.factors[i]->text.compare(b.factors[i]->text);
    if (order != 0) return order;
  }
  return 0;
}

std::vector<Term> Expr::TermsOf(const Dim& dim) {
  if (dim.kind_ == Kind::kExpr) return dim.expr_->terms;
  if (dim.value_ == 0) return {};
  return {Term{dim.value_, {}}};
}

Dim Expr::FromTerms(std::vector<Term> terms) {
  if (terms.empty()) return Dim(0);
  if (terms.size() == 1 && terms[0].factors.empty()) return Dim(terms[0].coefficient);
  auto expr = std::make_shared<Expr>();
  for (const Term& term : terms) {
    ++expr->nodes;
    for (const AtomPtr& factor : term.factors) {
      expr->nodes += factor->nodes;
      expr->nesting = std::max(expr->nesting, factor->nesting);
    }
    if (expr->nodes > kMaxNodes) return Unknown();
  }
  expr->terms = std::move(terms);
  Dim out;
  out.kind_ = Kind::kExpr;
  out.expr_ = std::move(expr);
  return out;
}

Dim Expr::FromUnsortedTerms(std::vector<Term> terms) {
  for (Term& term : terms) {
    std::sort(term.factors.begin(), term.factors.end(),
              [](const AtomPtr& a, const AtomPtr& b) { return a->text < b->text; });
  }
  std::sort(terms.begin(), terms.end(),
            [](const Term& a, const Term& b) { return CompareTerms(a, b) < 0; });
  std::vector<Term> merged;
  for (Term& term : terms) {
    if (merged.empty() || CompareTerms(merged.back(), term) != 0) {
      merged.push_back(std::move(term));
      continue;
    }
    int64_t& sum = merged.back().coefficient;
    if (__builtin_add_overflow(sum, term.coefficient, &sum)) return Unknown();
  }
  merged.erase(std::remove_if(merged.begin(), merged.end(),
                              [](const Term& term) { return term.coefficient == 0; }),
               merged.end());
  return FromTerms(std::move(merged));
}

Dim Expr::FromAtom(AtomPtr atom) {
  Term term{1, {}};
  term.factors.push_back(std::move(atom));
  std::vector<Term> terms;
  terms.push_back(std::move(term));
  return FromTerms(std::move(terms));
}

Dim Expr::MakeAtom(Op op, std::vector<Dim> args) {
  auto atom = std::make_shared<Atom>();
  atom->op = op;
  for (const Dim& arg : args) {
    atom->nodes += arg.kind_ == Kind::kExpr ? arg.expr_->nodes : 1;
    atom->nesting = std::max(atom->nesting, arg.kind_ == Kind::kExpr ? arg.expr_->nesting : 0);
  }
  if (++atom->nesting > kMaxNesting || atom->nodes >= kMaxNodes) return Unknown();
  atom->text = AtomText(op, args);
  atom->args = std::move(args);
  return FromAtom(std::move(atom));
}

const Expr::Atom* Expr::AsAtom(const Dim& dim) {
  if (dim.kind_ != Kind::kExpr || dim.expr_->terms.size() != 1) return nullptr;
  const Term& term = dim.expr_->terms[0];
  return term.coefficient == 1 && term.factors.size() == 1 ? term.factors[0].get() : nullptr;
}

Dim Dim::Symbol(std::string name) {
  auto atom = std::make_shared<Expr::Atom>();
  atom->text = std::move(name);
  return Expr::FromAtom(std::move(atom));
}

bool Dim::IsSymbolName(std::string_view name) {
  if (name.empty() || name.size() > kMaxSymbolLength) return false;
  if (!absl::ascii_isalpha(name[0]) && name[0] != '_') return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return absl::ascii_isalnum(c) || c == '_' || c == '.'; });
}

Dim Dim::Unknown() {
  Dim out;
  out.kind_ = Kind::kUnknown;
  return out;
}

bool Dim::is_symbol() const {
  const Expr::Atom* atom = Expr::AsAtom(*this);
  return atom != nullptr && atom->op == Op::kSymbol;
}

const std::string& Dim::symbol() const { return Expr::AsAtom(*this)->text; }

Dim operator+(const Dim& a, const Dim& b) {
  if (a.is_unknown() || b.is_unknown()) return Dim::Unknown();
  if (a.is_number() && b.is_number()) {
    int64_t sum = 0;
    if (__builtin_add_overflow(a.value_, b.value_, &sum)) return Dim::Unknown();
    return Dim(sum);
  }
  std::vector<Term> sum;
  if (!AddTerms(Expr::TermsOf(a), Expr::TermsOf(b), &sum)) return Dim::Unknown();
  return Expr::FromTerms(std::move(sum));
}

Dim operator-(const Dim& a, const Dim& b) {
  if (a.is_number() && b.is_number()) {
    int64_t difference = 0;
    if (__builtin_sub_overflow(a.value_, b.value_, &difference)) return Dim::Unknown();
    return Dim(difference);
  }
  return a + b * Dim(-1);
}

Dim operator*(const Dim& a, const Dim& b) {
  if (a.is_unknown() || b.is_unknown()) return Dim::Unknown();
  std::vector<Term> left = Expr::TermsOf(a);
  std::vector<Term> right = Expr::TermsOf(b);
  std::vector<Term> product;
  product.reserve(left.size() * right.size());
  for (const Term& x : left) {
    for (const Term& y : right) {
      Term term = x;
      if (__builtin_mul_overflow(x.coefficient, y.coefficient, &term.coefficient)) {
        return Dim::Unknown();
      }
      term.factors.insert(term.factors.end(), y.factors.begin(), y.factors.end());
      product.push_back(std::move(term));
    }
  }
  return Expr::FromUnsortedTerms(std::move(product));
}

Dim FloorDiv(const Dim& a, const Dim& b) {
  if (a.is_unknown() || b.is_unknown()) return Dim::Unknown();
  return Expr::FoldFloorDiv(a, b);
}

Dim Mod(const Dim& a, const Dim& b) {
  if (a.is_unknown() || b.is_unknown()) return Dim::Unknown();
  return Expr::FoldMod(a, b);
}

Dim Min(const Dim& a, const Dim& b) {
  if (a.is_unknown() || b.is_unknown()) return Dim::Unknown();
  if (a.is_number() && b.is_number()) return std::min(a.number(), b.number());
  return Expr::FoldMinMax(Op::kMin, a, b);
}

Dim Max(const Dim& a, const Dim& b) {
  if (a.is_unknown() || b.is_unknown()) return Dim::Unknown();
  if (a.is_number() && b.is_number()) return std::max(a.number(), b.number());
  return Expr::FoldMinMax(Op::kMax, a, b);
}

bool operator==(const Dim& a, const Dim& b) {
  if (a.kind_ != b.kind_) return false;
  if (a.kind_ != Dim::Kind::kExpr) return a.value_ == b.value_;
  if (a.expr_ == b.expr_) return true;
  const std::vector<Term>& left = a.expr_->terms;
  const std::vector<Term>& right = b.expr_->terms;
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const Term& x, const Term& y) {
                      return x.coefficient == y.coefficient && CompareTerms(x, y) == 0;
                    });
}

absl::StatusOr<int64_t> Dim::Evaluate(const SymbolBindings& bindings) const {
  if (is_number()) return value_;
  if (is_unknown()) return InvalidArgument("an unknown dimension has no value");
  int64_t sum = 0;
  for (const Term& term : expr_->terms) {
    int64_t product = term.coefficient;
    for (const Expr::AtomPtr& factor : term.factors) {
      WEIR_ASSIGN_OR_RETURN(const int64_t value, EvaluateAtom(*factor, bindings));
      if (__builtin_mul_overflow(product, value, &product)) return OverflowError(ToString());
    }
    if (__builtin_add_overflow(sum, product, &sum)) return OverflowError(ToString());
  }
  return sum;
}

Dim Dim::Substitute(const std::map<std::string, Dim, std::less<>>& symbols) const {
  if (kind_ != Kind::kExpr) return *this;
  Dim sum = 0;
  for (const Term& term : expr_->terms) {
    Dim product = term.coefficient;
    for (const Expr::AtomPtr& factor : term.factors) {
      Dim value = Expr::FromAtom(factor);
      if (factor->op == Op::kSymbol) {
        const auto found = symbols.find(factor->text);
        if (found != symbols.end()) value = found->second;
      } else {
        value = factor->args[0].Substitute(symbols);
        for (size_t i = 1; i < factor->args.size(); ++i) {
          value = Apply(factor->op, value, factor->args[i].Substitute(symbols));
        }
      }
      product = product * value;
    }
    sum = sum + product;
  }
  return sum;
}

void Dim::CollectSymbols(std::set<std::string, std::less<>>* out) const {
  if (kind_ != Kind::kExpr) return;
  for (const Term& term : expr_->terms) {
    for (const Expr::AtomPtr& factor : term.factors) {
      if (factor->op == Op::kSymbol) out->insert(factor->text);
      for (const Dim& arg : factor->args) arg.CollectSymbols(out);
    }
  }
}

std::string Dim::ToString() const {
  if (is_number()) return StrCat(value_);
  if (is_unknown()) return "?";
  std::string out;
  for (const Term& term : expr_->terms) AppendTerm(term, &out);
  return out;
}

}  // namespace weir
