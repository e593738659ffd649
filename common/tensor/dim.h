// One extent of a symbolic shape: a number, a symbol, an expression over those, or unknown.
// Immutable value, cheap to copy (expressions are shared); usable from any thread.
//
// Expressions are kept in a normal form (sums of products, sorted, constants folded), so that equal
// expressions of +, - and * print the same and compare equal; floordiv, mod, min and max simplify
// where it is safe. An exact quotient cancels as if the divisor were not 0: n*m//m is n.
//
// Size is bounded: a result that overflows int64, needs more than kMaxNodes nodes or nests // % min
// max deeper than kMaxNesting is unknown (Parse reports it as an error instead).
//
//   Dim n = Dim::Symbol("n");
//   (n * 2 + n).ToString();                        // "3*n"
//   (n + 1).Evaluate({{"n", 4}});                  // 5
#ifndef WEIR_COMMON_TENSOR_DIM_H_
#define WEIR_COMMON_TENSOR_DIM_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace weir {

// Values of symbols for one run.
using SymbolBindings = std::map<std::string, int64_t, std::less<>>;

class Dim {
 public:
  static constexpr int kMaxNodes = 256;
  static constexpr int kMaxNesting = 32;

  Dim() = default;                       // 0
  Dim(int64_t value) : value_(value) {}  // NOLINT: a number is a dimension
  // REQUIRES: IsSymbolName(name).
  static Dim Symbol(std::string name);
  // A letter or '_', then letters, digits, '_' and '.'; at most 64 characters.
  static bool IsSymbolName(std::string_view name);
  static Dim Unknown();

  bool is_number() const { return kind_ == Kind::kNumber; }
  bool is_unknown() const { return kind_ == Kind::kUnknown; }
  // A lone symbol.
  bool is_symbol() const;
  // REQUIRES: is_number().
  int64_t number() const { return value_; }
  // REQUIRES: is_symbol().
  const std::string& symbol() const;

  // Arithmetic; anything with unknown is unknown.
  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  // Rounds toward minus infinity; division by the number 0 is unknown.
  friend Dim FloorDiv(const Dim& a, const Dim& b);
  friend Dim Mod(const Dim& a, const Dim& b);
  friend Dim Min(const Dim& a, const Dim& b);
  friend Dim Max(const Dim& a, const Dim& b);

  // Structural equality of normal forms. Unknown equals unknown.
  friend bool operator==(const Dim& a, const Dim& b);

  // Returns: the number, or an error that names an unbound symbol, an unknown, an overflow or a
  // zero divisor.
  absl::StatusOr<int64_t> Evaluate(const SymbolBindings& bindings) const;
  // Returns: this with each symbol replaced by its entry (symbols without entry stay).
  Dim Substitute(const std::map<std::string, Dim, std::less<>>& symbols) const;
  void CollectSymbols(std::set<std::string, std::less<>>* out) const;

  // Returns: `4`, `n`, `3*n+1`, `n//2`, `n%2`, `min(n,4)`, `?`. Parse reads the same text, with
  // parentheses, spaces, and * // % of one precedence from left to right.
  std::string ToString() const;
  static absl::StatusOr<Dim> Parse(std::string_view text);

  struct Expr;

 private:
  enum class Kind : uint8_t { kNumber, kExpr, kUnknown };
  friend struct Expr;

  Kind kind_ = Kind::kNumber;
  int64_t value_ = 0;
  std::shared_ptr<const Expr> expr_;
};

}  // namespace weir

#endif  // WEIR_COMMON_TENSOR_DIM_H_
