#include "common/ir/attr_text.h"

#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/ir/number_text.h"
#include "common/ir/tensor_text.h"

namespace weir {
namespace {

template <class T, class ToText>
std::string ListToText(const std::vector<T>& list, char open, char close, ToText to_text) {
  std::string out(1, open);
  for (size_t i = 0; i < list.size(); ++i) {
    if (i > 0) out += ", ";
    out += to_text(list[i]);
  }
  return out + close;
}

absl::StatusOr<Attr> ParseStrings(Lexer* lexer) {
  std::vector<std::string> out;
  do {
    WEIR_ASSIGN_OR_RETURN(std::string text, lexer->Take(Token::Kind::kString, "a string"));
    out.push_back(std::move(text));
  } while (lexer->Accept(","));
  WEIR_RETURN_IF_ERROR(lexer->Expect("]"));
  return Attr(std::move(out));
}

absl::StatusOr<Attr> ParseNumbersOrStrings(Lexer* lexer) {
  lexer->Next();
  Int64s out;
  if (lexer->Accept("]")) return Attr(std::move(out));
  if (lexer->token().kind == Token::Kind::kString) return ParseStrings(lexer);
  do {
    WEIR_ASSIGN_OR_RETURN(const int64_t number, ParseInteger<int64_t>(lexer));
    out.push_back(number);
  } while (lexer->Accept(","));
  WEIR_RETURN_IF_ERROR(lexer->Expect("]"));
  return Attr(std::move(out));
}

absl::StatusOr<Attr> ParseDims(Lexer* lexer) {
  const Position position = lexer->token().position;
  WEIR_ASSIGN_OR_RETURN(const std::vector<std::string_view> parts, lexer->TakeList());
  std::vector<Dim> dims;
  for (std::string_view part : parts) {
    absl::StatusOr<Dim> dim = Dim::Parse(part);
    if (!dim.ok()) return lexer->ErrorAt(position, ToStd(dim.status().message()));
    dims.push_back(*std::move(dim));
  }
  return Attr(std::move(dims));
}

absl::StatusOr<Attr> ParseNumber(Lexer* lexer) {
  const std::string_view text = lexer->token().text;
  const bool is_float = text.find_first_of(".eEin") != std::string_view::npos;
  if (is_float) {
    WEIR_ASSIGN_OR_RETURN(const double value, ParseFloat<double>(lexer));
    return Attr(value);
  }
  WEIR_ASSIGN_OR_RETURN(const int64_t value, ParseInteger<int64_t>(lexer));
  return Attr(value);
}

absl::StatusOr<Attr> ParseWord(Lexer* lexer, const ParseOptions& options) {
  if (lexer->Accept("true")) return Attr(true);
  if (lexer->Accept("false")) return Attr(false);
  if (lexer->token().Is("nan") || lexer->token().Is("inf") || lexer->token().Is("bits")) {
    WEIR_ASSIGN_OR_RETURN(const double value, ParseFloat<double>(lexer));
    return Attr(value);
  }
  if (lexer->Accept("strings")) {
    WEIR_RETURN_IF_ERROR(lexer->Expect("["));
    WEIR_RETURN_IF_ERROR(lexer->Expect("]"));
    return Attr(std::vector<std::string>());
  }
  if (AtType(*lexer)) {
    WEIR_ASSIGN_OR_RETURN(Tensor tensor, ParseTensorText(lexer, options));
    return Attr(std::move(tensor));
  }
  if (const std::optional<DType> dtype = ParseDType(lexer->token().text)) {
    lexer->Next();
    return Attr(*dtype);
  }
  return lexer->Unexpected("an attribute value");
}

}  // namespace

std::string AttrToText(const Attr& attr, const PrintOptions& options) {
  switch (attr.kind()) {
    case Attr::Kind::kBool:
      return attr.AsBool() ? "true" : "false";
    case Attr::Kind::kInt:
      return StrCat(attr.AsInt());
    case Attr::Kind::kFloat:
      return FloatAttrToText(attr.AsFloat());
    case Attr::Kind::kString:
      return Quote(attr.AsString());
    case Attr::Kind::kInts:
      return ListToText(attr.AsInts(), '[', ']', [](int64_t i) { return StrCat(i); });
    case Attr::Kind::kDType:
      return std::string(DTypeName(attr.AsDType()));
    case Attr::Kind::kDims:
      return ListToText(attr.AsDims(), '(', ')', [](const Dim& dim) { return dim.ToString(); });
    case Attr::Kind::kTensor:
      return TensorToText(attr.AsTensor(), options);
    case Attr::Kind::kStrings:
      if (attr.AsStrings().empty()) return "strings []";
      return ListToText(attr.AsStrings(), '[', ']', Quote);
  }
  return "";
}

absl::StatusOr<Attr> ParseAttrText(Lexer* lexer, const ParseOptions& options) {
  if (lexer->token().kind == Token::Kind::kNumber) return ParseNumber(lexer);
  if (lexer->token().kind == Token::Kind::kString) {
    WEIR_ASSIGN_OR_RETURN(std::string text, lexer->Take(Token::Kind::kString, "a string"));
    return Attr(std::move(text));
  }
  if (lexer->token().Is("[")) return ParseNumbersOrStrings(lexer);
  if (lexer->token().Is("(")) return ParseDims(lexer);
  if (lexer->token().kind == Token::Kind::kIdentifier) return ParseWord(lexer, options);
  return lexer->Unexpected("an attribute value");
}

std::string AttrsToText(const Attrs& attrs, const PrintOptions& options) {
  std::string out = "{";
  for (const auto& [name, attr] : attrs) {
    if (out.size() > 1) out += ", ";
    StrAppend(&out, IsIdentifier(name) ? name : Quote(name), " = ", AttrToText(attr, options));
  }
  return out + "}";
}

absl::StatusOr<Attrs> ParseAttrsText(Lexer* lexer, const ParseOptions& options) {
  lexer->Next();
  Attrs out;
  if (lexer->Accept("}")) return out;
  do {
    const Position position = lexer->token().position;
    const Token::Kind kind = lexer->token().kind == Token::Kind::kString ? Token::Kind::kString
                                                                         : Token::Kind::kIdentifier;
    WEIR_ASSIGN_OR_RETURN(std::string name, lexer->Take(kind, "an attribute's name"));
    WEIR_RETURN_IF_ERROR(lexer->Expect("="));
    WEIR_ASSIGN_OR_RETURN(Attr attr, ParseAttrText(lexer, options));
    if (!out.emplace(std::move(name), std::move(attr)).second) {
      return lexer->ErrorAt(position, "the attribute is given twice");
    }
  } while (lexer->Accept(","));
  WEIR_RETURN_IF_ERROR(lexer->Expect("}"));
  return out;
}

}  // namespace weir
