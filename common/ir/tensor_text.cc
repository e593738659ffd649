#include "common/ir/tensor_text.h"

#include <bit>
#include <complex>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "common/base/status.h"
#include "common/ir/number_text.h"
#include "common/ir/verify.h"

namespace weir {
namespace {

static_assert(std::endian::native == std::endian::little, "base64 text is little-endian");

template <class T>
std::string ElementToText(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::integral<T>) {
    return StrCat(value);
  } else if constexpr (FloatElement<T>) {
    return FloatToText(value);
  } else {
    return StrCat("(", FloatToText(value.real()), ",", FloatToText(value.imag()), ")");
  }
}

template <class T>
absl::StatusOr<T> ParseElement(Lexer* lexer) {
  if constexpr (std::is_same_v<T, bool>) {
    if (lexer->Accept("true")) return true;
    if (lexer->Accept("false")) return false;
    return lexer->Unexpected("true or false");
  } else if constexpr (std::integral<T>) {
    return ParseInteger<T>(lexer);
  } else if constexpr (FloatElement<T>) {
    return ParseFloat<T>(lexer);
  } else {
    using Part = typename T::value_type;
    WEIR_RETURN_IF_ERROR(lexer->Expect("("));
    WEIR_ASSIGN_OR_RETURN(const Part real, ParseFloat<Part>(lexer));
    WEIR_RETURN_IF_ERROR(lexer->Expect(","));
    WEIR_ASSIGN_OR_RETURN(const Part imaginary, ParseFloat<Part>(lexer));
    WEIR_RETURN_IF_ERROR(lexer->Expect(")"));
    return T(real, imaginary);
  }
}

std::string InlineText(const Tensor& tensor) {
  std::string out = StrCat(tensor.type().ToString(), " {");
  const Tensor dense = tensor.Contiguous();
  VisitDType(dense.dtype(), [&]<class T>(TypeTag<T>) {
    const int64_t count = dense.num_elements();
    for (int64_t i = 0; i < count; ++i) {
      StrAppend(&out, i == 0 ? "" : ", ", ElementToText<T>(dense.data<T>()[i]));
    }
  });
  return out + "}";
}

std::string Base64Text(const Tensor& tensor) {
  const Tensor dense = tensor.Contiguous();
  const absl::string_view bytes(reinterpret_cast<const char*>(dense.raw_data()),
                                static_cast<size_t>(dense.num_bytes()));
  return StrCat(tensor.type().ToString(), " base64 \"", absl::Base64Escape(bytes), "\"");
}

absl::Status CountError(const Lexer& lexer, Position position, const TensorType& type,
                        int64_t wanted, std::string_view found) {
  return lexer.ErrorAt(position, StrCat("a tensor of type ", type.ToString(), " has ", wanted,
                                        " elements, found ", found));
}

// Grows with the text, so that a type alone reserves nothing.
template <class T>
absl::StatusOr<Tensor> ParseElements(Lexer* lexer, const TensorType& type, int64_t count,
                                     Position position) {
  std::vector<std::conditional_t<std::is_same_v<T, bool>, char, T>> elements;
  lexer->Next();
  while (!lexer->token().Is("}")) {
    if (static_cast<int64_t>(elements.size()) == count) {
      return CountError(*lexer, position, type, count, "more");
    }
    if (!elements.empty()) WEIR_RETURN_IF_ERROR(lexer->Expect(","));
    WEIR_ASSIGN_OR_RETURN(const T element, ParseElement<T>(lexer));
    elements.push_back(element);
  }
  if (static_cast<int64_t>(elements.size()) != count) {
    return CountError(*lexer, position, type, count, StrCat(elements.size()));
  }
  lexer->Next();
  Tensor out(type.dtype, type.shape.extents());
  if (count > 0) std::memcpy(out.raw_mutable_data(), elements.data(), elements.size() * sizeof(T));
  return out;
}

absl::StatusOr<Tensor> ParseBase64(Lexer* lexer, const TensorType& type, int64_t count,
                                   Position position) {
  lexer->Next();
  WEIR_ASSIGN_OR_RETURN(const std::string text,
                        lexer->Take(Token::Kind::kString, "a string of base64"));
  std::string bytes;
  if (!absl::Base64Unescape(text, &bytes)) {
    return lexer->ErrorAt(position, "the string behind base64 is no base64");
  }
  if (static_cast<int64_t>(bytes.size()) != count * SizeOf(type.dtype)) {
    return CountError(*lexer, position, type, count, StrCat(bytes.size(), " bytes of base64"));
  }
  if (type.dtype == DType::kBool &&
      bytes.find_first_not_of(std::string("\0\1", 2)) != std::string::npos) {
    return lexer->ErrorAt(position, "a byte of a bool tensor is neither 0 nor 1");
  }
  Tensor out(type.dtype, type.shape.extents());
  if (count > 0) std::memcpy(out.raw_mutable_data(), bytes.data(), bytes.size());
  return out;
}

absl::StatusOr<Tensor> ParseBlob(Lexer* lexer, const TensorType& type, const ParseOptions& options,
                                 Position position) {
  lexer->Next();
  WEIR_ASSIGN_OR_RETURN(const std::string name,
                        lexer->Take(Token::Kind::kString, "the name of a blob"));
  if (!options.find_blob) {
    return lexer->ErrorAt(position, StrCat("blob ", Quote(name), " is not part of this text"));
  }
  absl::StatusOr<Tensor> tensor = options.find_blob(name);
  if (!tensor.ok()) {
    return lexer->ErrorAt(position, StrCat("blob ", Quote(name), ": ", tensor.status().message()));
  }
  if (tensor->type() != type) {
    return lexer->ErrorAt(position, StrCat("blob ", Quote(name), " is a ",
                                           tensor->type().ToString(), ", not a ", type.ToString()));
  }
  return tensor;
}

}  // namespace

std::string PrintTensor(const Tensor& tensor) { return InlineText(tensor); }

std::string TensorToText(const Tensor& tensor, const PrintOptions& options) {
  if (tensor.num_elements() <= options.inline_elements) return InlineText(tensor);
  const std::string blob = options.blob_name ? options.blob_name(tensor) : "";
  if (blob.empty()) return Base64Text(tensor);
  return StrCat(tensor.type().ToString(), " blob ", Quote(blob));
}

bool AtType(const Lexer& lexer) {
  return lexer.token().kind == Token::Kind::kIdentifier && lexer.AtBracket() &&
         ParseDType(lexer.token().text).has_value();
}

absl::StatusOr<TensorType> ParseTypeText(Lexer* lexer) {
  if (!AtType(*lexer)) return lexer->Unexpected("a type such as f32[n,8]");
  const Position position = lexer->token().position;
  WEIR_ASSIGN_OR_RETURN(const std::string_view text, lexer->TakeBracketed());
  absl::StatusOr<TensorType> type = TensorType::Parse(text);
  const absl::Status status = type.ok() ? CheckType(*type) : type.status();
  if (!status.ok()) return lexer->ErrorAt(position, ToStd(status.message()));
  return type;
}

absl::StatusOr<Tensor> ParseTensorText(Lexer* lexer, const ParseOptions& options) {
  const Position position = lexer->token().position;
  WEIR_ASSIGN_OR_RETURN(const TensorType type, ParseTypeText(lexer));
  if (!type.shape.is_static()) {
    return lexer->ErrorAt(position,
                          StrCat("a tensor has numbers as extents, found ", type.ToString()));
  }
  const int64_t count = NumElements(type.shape.extents());
  if (lexer->token().Is("base64")) return ParseBase64(lexer, type, count, position);
  if (lexer->token().Is("blob")) return ParseBlob(lexer, type, options, position);
  if (!lexer->token().Is("{")) return lexer->Unexpected("'{', base64 or blob");
  return VisitDType(type.dtype, [&]<class T>(TypeTag<T>) {
    return ParseElements<T>(lexer, type, count, position);
  });
}

}  // namespace weir
