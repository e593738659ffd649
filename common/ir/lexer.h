// Cuts the text form into tokens, one at a time. Keeps views of the text, which must outlive the
// lexer and its tokens. Cheap to copy, which is how the parser looks ahead. Thread-compatible.
#ifndef WEIR_COMMON_IR_LEXER_H_
#define WEIR_COMMON_IR_LEXER_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace weir {

struct Position {
  int line = 1;
  int column = 1;  // in bytes
};

struct Token {
  // kError: the text is no token; Lexer::Unexpected says why.
  enum class Kind {
    kEnd,
    kIdentifier,   // floor
    kValue,        // %x %7 %"a b"
    kFunction,     // @main @"a b"
    kLabel,        // !0
    kString,       // "a\n"
    kNumber,       // -7 0.5 1e-3 -inf 0x7f
    kPunctuation,  // ( ) { } [ ] , = : ->
    kError,
  };

  Kind kind = Kind::kEnd;
  std::string_view text;  // as written
  std::string content;    // what is named or quoted, escapes resolved
  bool quoted = false;    // content was written in quotes
  Position position;

  bool Is(std::string_view punctuation_or_word) const {
    return (kind == Kind::kPunctuation || kind == Kind::kIdentifier) && text == punctuation_or_word;
  }
};

class Lexer {
 public:
  // `file` stands in front of positions in errors.
  Lexer(std::string_view text, std::string file);

  const Token& token() const { return token_; }
  void Next();

  // Advances over the punctuation or word, or returns an error that names what was found.
  absl::Status Expect(std::string_view punctuation_or_word);
  // Advances if the token is this punctuation or word.
  bool Accept(std::string_view punctuation_or_word);
  // Advances over a token of this kind. Returns: its content.
  absl::StatusOr<std::string> Take(Token::Kind kind, std::string_view what);

  // Dimensions have operators that are no tokens (`n//2`), so they are taken as raw text.
  // True if a '[' follows the token without a space.
  bool AtBracket() const;
  // Returns: the text from the start of the token to the bracket that closes the '[' behind it.
  // REQUIRES: AtBracket().
  absl::StatusOr<std::string_view> TakeBracketed();
  // Returns: the parts between the commas of the list that the token, a '(', opens.
  absl::StatusOr<std::vector<std::string_view>> TakeList();

  absl::Status ErrorAt(Position position, std::string_view message) const;
  // Returns: `file:line:column: expected <what>, found '<token>'`.
  absl::Status Unexpected(std::string_view expected) const;

 private:
  char Peek(size_t ahead = 0) const;
  void SkipSpace();
  void Advance(size_t count) { offset_ += count; }
  Position Here() const;
  void Finish(Token::Kind kind, size_t begin);
  void LexSigil(Token::Kind kind);
  void LexString();
  void LexNumber();
  bool ReadQuoted(std::string* out);
  bool ReadEscape(std::string* out);
  void Fault(std::string message);
  // Moves offset_ behind the bracket that closes the one just passed; notes top-level commas.
  absl::Status SkipBalanced(std::vector<size_t>* commas);

  std::string_view text_;
  std::shared_ptr<const std::string> file_;
  size_t offset_ = 0;
  int line_ = 1;
  size_t line_begin_ = 0;
  Token token_;
};

// True for what stands behind % without quotes: letters, digits, '_' and '.'.
bool IsNameCharacter(char c);
// True for a letter or '_' followed by name characters.
bool IsIdentifier(std::string_view text);
// Returns: `text` in quotes, with escapes for everything that is not printable ASCII.
std::string Quote(std::string_view text);

}  // namespace weir

#endif  // WEIR_COMMON_IR_LEXER_H_
