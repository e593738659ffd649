#include "common/ir/number_text.h"

#include <array>

namespace weir {
namespace {

template <class T>
std::string Shortest(T value) {
  std::array<char, 64> buffer;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return std::string(buffer.data(), result.ptr);
}

// A half needs fewer digits than the float that holds it, but `65504` beats `6.55e+04`.
template <class T>
std::string ShortestHalf(T value) {
  const auto wide = static_cast<float>(value);
  std::array<char, 64> buffer;
  for (int digits = 1; digits <= 6; ++digits) {
    const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), wide,
                                       std::chars_format::general, digits);
    float read = 0;
    std::from_chars(buffer.data(), written.ptr, read);
    if (T(read).bits != value.bits) continue;
    const std::string text(buffer.data(), written.ptr);
    const std::string exact = Shortest(wide);
    return text.size() < exact.size() ? text : exact;
  }
  return Shortest(wide);
}

}  // namespace

std::string ShortestDecimal(float value) { return Shortest(value); }
std::string ShortestDecimal(double value) { return Shortest(value); }
std::string ShortestDecimal(Half value) { return ShortestHalf(value); }
std::string ShortestDecimal(BFloat16 value) { return ShortestHalf(value); }

std::string HexBits(uint64_t bits, int digits) {
  std::array<char, 16> buffer;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), bits, 16);
  const std::string text(buffer.data(), result.ptr);
  return StrCat("bits(0x", std::string(digits - text.size(), '0'), text, ")");
}

std::string FloatAttrToText(double value) {
  std::string text = FloatToText(value);
  if (text.find_first_of(".ein") == std::string::npos) text += ".0";
  return text;
}

absl::StatusOr<uint64_t> ParseHexBits(Lexer* lexer, int digits) {
  lexer->Next();
  WEIR_RETURN_IF_ERROR(lexer->Expect("("));
  const std::string_view text = lexer->token().text;
  uint64_t bits = 0;
  const char* const end = text.data() + text.size();
  const bool is_hex = lexer->token().kind == Token::Kind::kNumber && text.starts_with("0x") &&
                      text.size() > 2 && text.size() <= static_cast<size_t>(digits) + 2;
  if (!is_hex || std::from_chars(text.data() + 2, end, bits, 16).ptr != end) {
    return lexer->Unexpected(StrCat("0x and at most ", digits, " hexadecimal digits"));
  }
  lexer->Next();
  WEIR_RETURN_IF_ERROR(lexer->Expect(")"));
  return bits;
}

}  // namespace weir
