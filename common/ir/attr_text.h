// Attribute values as text; the forms stand in attr.h. Stateless; usable from any thread.
#ifndef WEIR_COMMON_IR_ATTR_TEXT_H_
#define WEIR_COMMON_IR_ATTR_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "common/ir/attr.h"
#include "common/ir/lexer.h"
#include "common/ir/text.h"

namespace weir {

// `[]` is an empty list of numbers, `strings []` one of strings.
std::string AttrToText(const Attr& attr, const PrintOptions& options);
absl::StatusOr<Attr> ParseAttrText(Lexer* lexer, const ParseOptions& options);

// `{axis = 1, value = f32[] {2}}`.
std::string AttrsToText(const Attrs& attrs, const PrintOptions& options);
// REQUIRES: the token is '{'.
absl::StatusOr<Attrs> ParseAttrsText(Lexer* lexer, const ParseOptions& options);

}  // namespace weir

#endif  // WEIR_COMMON_IR_ATTR_TEXT_H_
