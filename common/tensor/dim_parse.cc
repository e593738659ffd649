#include <charconv>

#include "absl/strings/ascii.h"
#include "common/base/status.h"
#include "common/base/str_cat.h"
#include "common/tensor/dim.h"

namespace weir {
namespace {

constexpr size_t kMaxTextLength = 1 << 14;
// A printed expression has at most three operators per node.
constexpr int kMaxOperators = 4 * Dim::kMaxNodes;
// A printed expression opens at most two parentheses per level of nesting.
constexpr int kMaxDepth = 2 * Dim::kMaxNesting + 8;

class DimParser {
 public:
  explicit DimParser(std::string_view text) : text_(text) {}

  absl::StatusOr<Dim> ParseAll() {
    if (text_.size() > kMaxTextLength) {
      return InvalidArgument("a dimension of ", text_.size(), " characters; at most ",
                             kMaxTextLength, " are read");
    }
    WEIR_ASSIGN_OR_RETURN(const Dim out, ParseSum());
    SkipSpace();
    if (position_ != text_.size()) return Error("an operator or the end");
    return out;
  }

 private:
  absl::StatusOr<Dim> ParseSum() {
    if (++depth_ > kMaxDepth) return Error("fewer nested parentheses");
    WEIR_ASSIGN_OR_RETURN(Dim left, ParseProduct());
    while (true) {
      const bool add = Accept("+");
      if (!add && !Accept("-")) break;
      WEIR_ASSIGN_OR_RETURN(const Dim right, ParseProduct());
      WEIR_ASSIGN_OR_RETURN(left, Checked(left, right, add ? left + right : left - right));
    }
    --depth_;
    return left;
  }

  absl::StatusOr<Dim> ParseProduct() {
    WEIR_ASSIGN_OR_RETURN(Dim left, ParseOperand());
    while (true) {
      if (Accept("*")) {
        WEIR_ASSIGN_OR_RETURN(const Dim right, ParseOperand());
        WEIR_ASSIGN_OR_RETURN(left, Checked(left, right, left * right));
      } else if (Accept("//")) {
        WEIR_ASSIGN_OR_RETURN(const Dim right, ParseOperand());
        WEIR_ASSIGN_OR_RETURN(left, Checked(left, right, FloorDiv(left, right)));
      } else if (Accept("%")) {
        WEIR_ASSIGN_OR_RETURN(const Dim right, ParseOperand());
        WEIR_ASSIGN_OR_RETURN(left, Checked(left, right, Mod(left, right)));
      } else {
        return left;
      }
    }
  }

  absl::StatusOr<Dim> ParseOperand() {
    const bool negative = Accept("-");
    SkipSpace();
    if (position_ == text_.size()) return Error("a dimension");
    if (absl::ascii_isdigit(text_[position_])) return ParseNumber(negative);
    WEIR_ASSIGN_OR_RETURN(const Dim operand, ParsePrimary());
    if (!negative) return operand;
    return Checked(operand, operand, Dim(0) - operand);
  }

  absl::StatusOr<Dim> ParsePrimary() {
    if (Accept("?")) return Dim::Unknown();
    if (Accept("(")) {
      WEIR_ASSIGN_OR_RETURN(Dim inner, ParseSum());
      if (!Accept(")")) return Error("')'");
      return inner;
    }
    const std::string_view name = TakeName();
    if (name.empty()) return Error("a number, a symbol, '?' or '('");
    if ((name == "min" || name == "max") && Accept("(")) return ParseArguments(name);
    if (!Dim::IsSymbolName(name)) return Error("a shorter symbol");
    return Dim::Symbol(std::string(name));
  }

  absl::StatusOr<Dim> ParseArguments(std::string_view function) {
    WEIR_ASSIGN_OR_RETURN(Dim out, ParseSum());
    if (!Accept(",")) return Error("','");
    do {
      WEIR_ASSIGN_OR_RETURN(const Dim next, ParseSum());
      WEIR_ASSIGN_OR_RETURN(
          out, Checked(out, next, function == "min" ? Min(out, next) : Max(out, next)));
    } while (Accept(","));
    if (!Accept(")")) return Error("')'");
    return out;
  }

  absl::StatusOr<Dim> ParseNumber(bool negative) {
    const char* end = text_.data() + text_.size();
    uint64_t magnitude = 0;
    const auto [stop, error] = std::from_chars(text_.data() + position_, end, magnitude);
    const uint64_t limit = (uint64_t{1} << 63) - (negative ? 0 : 1);
    if (error != std::errc() || magnitude > limit) return Error("a number of 64 bits");
    position_ = static_cast<size_t>(stop - text_.data());
    return Dim(static_cast<int64_t>(negative ? 0 - magnitude : magnitude));
  }

  // An operation on known dimensions that gave unknown has no value or is too big to keep.
  absl::StatusOr<Dim> Checked(const Dim& a, const Dim& b, const Dim& result) {
    if (++operators_ > kMaxOperators) return Error("fewer operators");
    if (!result.is_unknown() || a.is_unknown() || b.is_unknown()) return result;
    return Error(StrCat("an expression of at most ", Dim::kMaxNodes,
                        " nodes that neither overflows 64 bits nor divides by 0"));
  }

  void SkipSpace() {
    while (position_ < text_.size() && absl::ascii_isspace(text_[position_])) ++position_;
  }

  bool Accept(std::string_view token) {
    SkipSpace();
    if (text_.substr(position_, token.size()) != token) return false;
    position_ += token.size();
    return true;
  }

  std::string_view TakeName() {
    const size_t begin = position_;
    while (position_ < text_.size()) {
      const char c = text_[position_];
      const bool starts = absl::ascii_isalpha(c) || c == '_';
      if (!starts && (position_ == begin || (!absl::ascii_isdigit(c) && c != '.'))) break;
      ++position_;
    }
    return text_.substr(begin, position_ - begin);
  }

  absl::Status Error(std::string_view wanted) const {
    constexpr size_t kShown = 64;
    return InvalidArgument("dimension '", text_.substr(0, kShown),
                           text_.size() > kShown ? "..." : "", "': expected ", wanted,
                           " at character ", position_ + 1);
  }

  std::string_view text_;
  size_t position_ = 0;
  int depth_ = 0;
  int operators_ = 0;
};

}  // namespace

absl::StatusOr<Dim> Dim::Parse(std::string_view text) { return DimParser(text).ParseAll(); }

}  // namespace weir
