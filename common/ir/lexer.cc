#include "common/ir/lexer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "common/base/status.h"

namespace weir {
namespace {

constexpr size_t kShownCharacters = 40;
constexpr int kMaxBrackets = 256;

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

bool IsNameCharacter(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '.'; }

bool IsIdentifier(std::string_view text) {
  return !text.empty() && (absl::ascii_isalpha(text[0]) || text[0] == '_') &&
         std::all_of(text.begin(), text.end(), IsNameCharacter);
}

std::string Quote(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte >= 0x7f) {
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      out += c;
    }
  }
  return out + "\"";
}

Lexer::Lexer(std::string_view text, std::string file)
    : text_(text), file_(std::make_shared<const std::string>(std::move(file))) {
  Next();
}

char Lexer::Peek(size_t ahead) const {
  return offset_ + ahead < text_.size() ? text_[offset_ + ahead] : '\0';
}

Position Lexer::Here() const { return {line_, static_cast<int>(offset_ - line_begin_) + 1}; }

void Lexer::SkipSpace() {
  while (offset_ < text_.size()) {
    const char c = text_[offset_];
    if (c == '\n') {
      ++line_;
      line_begin_ = offset_ + 1;
    } else if (c == '/' && Peek(1) == '/') {
      offset_ = std::min(text_.find('\n', offset_), text_.size());
      continue;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      return;
    }
    Advance(1);
  }
}

void Lexer::Next() {
  SkipSpace();
  token_.content.clear();
  token_.quoted = false;
  token_.position = Here();
  const size_t begin = offset_;
  const char c = Peek();
  if (offset_ >= text_.size()) {
    Finish(Token::Kind::kEnd, begin);
  } else if (absl::ascii_isalpha(c) || c == '_') {
    while (IsNameCharacter(Peek())) Advance(1);
    Finish(Token::Kind::kIdentifier, begin);
    token_.content = std::string(token_.text);
  } else if (c == '%') {
    LexSigil(Token::Kind::kValue);
  } else if (c == '@') {
    LexSigil(Token::Kind::kFunction);
  } else if (c == '!') {
    LexSigil(Token::Kind::kLabel);
  } else if (c == '"') {
    LexString();
  } else if (c == '-' && Peek(1) == '>') {
    Advance(2);
    Finish(Token::Kind::kPunctuation, begin);
  } else if (c == '-' || c == '.' || absl::ascii_isdigit(c)) {
    LexNumber();
  } else if (std::string_view("(){}[],=:").find(c) != std::string_view::npos) {
    Advance(1);
    Finish(Token::Kind::kPunctuation, begin);
  } else {
    Advance(1);
    Fault(StrCat("unexpected character ", Quote(std::string_view(&c, 1))));
  }
}

void Lexer::Finish(Token::Kind kind, size_t begin) {
  token_.kind = kind;
  token_.text = text_.substr(begin, offset_ - begin);
}

void Lexer::Fault(std::string message) {
  token_.kind = Token::Kind::kError;
  token_.text = {};
  token_.content = std::move(message);
}

void Lexer::LexSigil(Token::Kind kind) {
  const size_t begin = offset_;
  Advance(1);
  if (Peek() == '"' && kind != Token::Kind::kLabel) {
    token_.quoted = true;
    if (ReadQuoted(&token_.content)) Finish(kind, begin);
    return;
  }
  while (IsNameCharacter(Peek())) Advance(1);
  Finish(kind, begin);
  token_.content = std::string(token_.text.substr(1));
  if (token_.content.empty()) Fault(StrCat("expected a name after '", token_.text, "'"));
}

void Lexer::LexString() {
  const size_t begin = offset_;
  token_.quoted = true;
  if (ReadQuoted(&token_.content)) Finish(Token::Kind::kString, begin);
}

bool Lexer::ReadQuoted(std::string* out) {
  Advance(1);
  while (Peek() != '"') {
    if (offset_ >= text_.size() || Peek() == '\n') {
      Fault("a string does not end on its line");
      return false;
    }
    if (Peek() == '\\') {
      if (!ReadEscape(out)) return false;
    } else {
      out->push_back(Peek());
      Advance(1);
    }
  }
  Advance(1);
  return true;
}

bool Lexer::ReadEscape(std::string* out) {
  const char c = Peek(1);
  if (c == '"' || c == '\\') {
    out->push_back(c);
  } else if (c == 'n') {
    out->push_back('\n');
  } else if (c == 't') {
    out->push_back('\t');
  } else if (c == 'x' && HexDigit(Peek(2)) >= 0 && HexDigit(Peek(3)) >= 0) {
    out->push_back(static_cast<char>(HexDigit(Peek(2)) * 16 + HexDigit(Peek(3))));
    Advance(2);
  } else {
    Fault("unknown escape in a string; known are \\\" \\\\ \\n \\t \\xHH");
    return false;
  }
  Advance(2);
  return true;
}

void Lexer::LexNumber() {
  const size_t begin = offset_;
  Advance(1);
  while (true) {
    const char c = Peek();
    const char before = text_[offset_ - 1];
    const bool exponent_sign = (c == '+' || c == '-') && (before == 'e' || before == 'E');
    if (!IsNameCharacter(c) && !exponent_sign) break;
    Advance(1);
  }
  Finish(Token::Kind::kNumber, begin);
}

absl::Status Lexer::Expect(std::string_view punctuation_or_word) {
  if (Accept(punctuation_or_word)) return absl::OkStatus();
  return Unexpected(StrCat("'", punctuation_or_word, "'"));
}

bool Lexer::Accept(std::string_view punctuation_or_word) {
  if (!token_.Is(punctuation_or_word)) return false;
  Next();
  return true;
}

absl::StatusOr<std::string> Lexer::Take(Token::Kind kind, std::string_view what) {
  if (token_.kind != kind) return Unexpected(what);
  std::string content = std::move(token_.content);
  Next();
  return content;
}

bool Lexer::AtBracket() const { return Peek() == '['; }

absl::StatusOr<std::string_view> Lexer::TakeBracketed() {
  const size_t begin = offset_ - token_.text.size();
  Advance(1);
  WEIR_RETURN_IF_ERROR(SkipBalanced(nullptr));
  const std::string_view out = text_.substr(begin, offset_ - begin);
  Next();
  return out;
}

absl::StatusOr<std::vector<std::string_view>> Lexer::TakeList() {
  std::vector<size_t> bounds = {offset_};
  WEIR_RETURN_IF_ERROR(SkipBalanced(&bounds));
  const size_t end = offset_ - 1;
  std::vector<std::string_view> parts;
  const std::string_view all = text_.substr(bounds[0], end - bounds[0]);
  const bool empty = std::all_of(all.begin(), all.end(), [](char c) { return c == ' '; });
  for (size_t i = 0; i < bounds.size() && !empty; ++i) {
    const size_t stop = i + 1 < bounds.size() ? bounds[i + 1] - 1 : end;
    parts.push_back(text_.substr(bounds[i], stop - bounds[i]));
  }
  Next();
  return parts;
}

absl::Status Lexer::SkipBalanced(std::vector<size_t>* commas) {
  std::string open = text_[offset_ - 1] == '(' ? ")" : "]";
  while (!open.empty()) {
    const char c = Peek();
    const Position position = Here();
    if (offset_ >= text_.size() || c == '\n') {
      return ErrorAt(position, StrCat("expected '", open.substr(open.size() - 1),
                                      "' before the end of the line"));
    }
    Advance(1);
    if (c == '(' || c == '[') {
      open.push_back(c == '(' ? ')' : ']');
      if (open.size() > kMaxBrackets) return ErrorAt(position, "brackets are nested too deeply");
    } else if (c == ')' || c == ']') {
      if (c != open.back()) {
        return ErrorAt(position, StrCat("expected '", open.substr(open.size() - 1), "', found '",
                                        std::string(1, c), "'"));
      }
      open.pop_back();
    } else if (c == ',' && open.size() == 1 && commas != nullptr) {
      commas->push_back(offset_);
    }
  }
  return absl::OkStatus();
}

absl::Status Lexer::ErrorAt(Position position, std::string_view message) const {
  return InvalidArgument(*file_, ":", position.line, ":", position.column, ": ", message);
}

absl::Status Lexer::Unexpected(std::string_view expected) const {
  if (token_.kind == Token::Kind::kError) return ErrorAt(token_.position, token_.content);
  if (token_.kind == Token::Kind::kEnd) {
    return ErrorAt(token_.position, StrCat("expected ", expected, ", found the end of the text"));
  }
  const std::string found = Quote(token_.text.substr(0, kShownCharacters));
  return ErrorAt(token_.position,
                 StrCat("expected ", expected, ", found '", found.substr(1, found.size() - 2),
                        token_.text.size() > kShownCharacters ? "..." : "", "'"));
}

}  // namespace weir
