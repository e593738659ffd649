// Numbers as text that reads back with equal bits: the shortest decimal, `nan`, `inf`, `-inf`, and
// `bits(0x7fc00001)` for other NaN. Stateless; usable from any thread.
#ifndef WEIR_COMMON_IR_NUMBER_TEXT_H_
#define WEIR_COMMON_IR_NUMBER_TEXT_H_

#include <bit>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include "absl/status/statusor.h"
#include "common/base/status.h"
#include "common/ir/lexer.h"
#include "common/tensor/dtype.h"

namespace weir {

template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

template <class T>
concept FloatElement = std::floating_point<T> || kIsHalf<T>;

template <FloatElement T>
using FloatBits = std::conditional_t<sizeof(T) == 2, uint16_t,
                                     std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;

// The type in which T is written and read.
template <FloatElement T>
using DecimalFloat = std::conditional_t<kIsHalf<T>, float, T>;

// Shortest among the decimals that std::to_chars gives and that convert back to `value`.
std::string ShortestDecimal(float value);
std::string ShortestDecimal(double value);
std::string ShortestDecimal(Half value);
std::string ShortestDecimal(BFloat16 value);
std::string HexBits(uint64_t bits, int digits);  // "bits(0x7fc00001)"

template <FloatElement T>
T QuietNan() {
  return T(std::numeric_limits<DecimalFloat<T>>::quiet_NaN());
}

template <FloatElement T>
std::string FloatToText(T value) {
  const auto decimal = static_cast<DecimalFloat<T>>(value);
  if (std::isnan(decimal)) {
    const auto bits = std::bit_cast<FloatBits<T>>(value);
    if (bits == std::bit_cast<FloatBits<T>>(QuietNan<T>())) return "nan";
    return HexBits(bits, 2 * sizeof(T));
  }
  if (std::isinf(decimal)) return decimal < 0 ? "-inf" : "inf";
  return ShortestDecimal(value);
}

// The shortest decimal with a mark that tells it from an integer.
std::string FloatAttrToText(double value);

// Reads `bits(0x...)` of at most `digits` digits; the token is `bits`.
absl::StatusOr<uint64_t> ParseHexBits(Lexer* lexer, int digits);

template <class T>
absl::Status NumberError(const Lexer& lexer) {
  return lexer.ErrorAt(lexer.token().position,
                       StrCat("'", lexer.token().text.substr(0, 40), "' is no ",
                              DTypeName(kDTypeOf<T>), " or out of its range"));
}

template <std::integral T>
absl::StatusOr<T> ParseInteger(Lexer* lexer) {
  if (lexer->token().kind != Token::Kind::kNumber) return lexer->Unexpected("an integer");
  const std::string_view text = lexer->token().text;
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return NumberError<T>(*lexer);
  lexer->Next();
  return value;
}

template <FloatElement T>
absl::StatusOr<T> ParseFloat(Lexer* lexer) {
  const Token& token = lexer->token();
  if (token.Is("bits")) {
    WEIR_ASSIGN_OR_RETURN(const uint64_t bits, ParseHexBits(lexer, 2 * sizeof(T)));
    return std::bit_cast<T>(static_cast<FloatBits<T>>(bits));
  }
  if (lexer->Accept("nan")) return QuietNan<T>();
  if (token.kind != Token::Kind::kNumber && !token.Is("inf")) return lexer->Unexpected("a number");
  DecimalFloat<T> decimal = 0;
  const std::string_view text = token.text;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), decimal);
  const T value(decimal);
  const bool fits = std::isinf(static_cast<DecimalFloat<T>>(value)) == std::isinf(decimal);
  if (error != std::errc() || end != text.data() + text.size() || !fits) {
    return NumberError<T>(*lexer);
  }
  lexer->Next();
  return value;
}

}  // namespace weir

#endif  // WEIR_COMMON_IR_NUMBER_TEXT_H_
