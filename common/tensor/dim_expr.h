// Insides of Dim, shared by the sources dim*.cc only. Immutable once built; usable from any
// thread.
//
// An expression is a sum of terms; a term is a coefficient times a product of atoms; an atom is a
// symbol or one of // % min max over dimensions. Terms are sorted (higher degree first, the
// constant last), atoms of a term by text, so equal texts mean equal expressions.
#ifndef WEIR_COMMON_TENSOR_DIM_EXPR_H_
#define WEIR_COMMON_TENSOR_DIM_EXPR_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "common/tensor/dim.h"

namespace weir {

struct Dim::Expr {
  enum class Op : uint8_t { kSymbol, kFloorDiv, kMod, kMin, kMax };

  struct Atom {
    Op op = Op::kSymbol;
    std::vector<Dim> args;
    std::string text;  // the name of a symbol, else what ToString prints
    int nodes = 1;
    int nesting = 0;
  };
  using AtomPtr = std::shared_ptr<const Atom>;

  struct Term {
    int64_t coefficient = 0;
    absl::InlinedVector<AtomPtr, 2> factors;  // empty: the constant
  };

  std::vector<Term> terms;  // no zero coefficients
  int nodes = 0;
  int nesting = 0;

  // Returns: the terms of any known dimension.
  static std::vector<Term> TermsOf(const Dim& dim);
  // Returns: the dimension of sorted and merged terms, unknown when over the bounds.
  static Dim FromTerms(std::vector<Term> terms);
  // Sorts and merges first.
  static Dim FromUnsortedTerms(std::vector<Term> terms);
  static Dim FromAtom(AtomPtr atom);
  // Returns: the atom itself where nothing folds, unknown when over the bounds.
  static Dim MakeAtom(Op op, std::vector<Dim> args);
  // The only term of the dimension with coefficient 1 and one factor, or null.
  static const Atom* AsAtom(const Dim& dim);

  // Rules of one operator on known operands.
  static Dim FoldFloorDiv(const Dim& a, const Dim& b);
  static Dim FoldMod(const Dim& a, const Dim& b);
  static Dim FoldMinMax(Op op, const Dim& a, const Dim& b);
};

// Sign of the order in which terms stand: negative when `a` comes first.
int CompareTerms(const Dim::Expr::Term& a, const Dim::Expr::Term& b);

// Rounds toward minus infinity. REQUIRES: b > 0.
inline int64_t FloorDivNumber(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
inline int64_t FloorModNumber(int64_t a, int64_t b) { return a % b < 0 ? a % b + b : a % b; }

}  // namespace weir

#endif  // WEIR_COMMON_TENSOR_DIM_EXPR_H_
