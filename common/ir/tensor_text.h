// Types and tensors as text. Stateless; usable from any thread.
#ifndef WEIR_COMMON_IR_TENSOR_TEXT_H_
#define WEIR_COMMON_IR_TENSOR_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "common/ir/lexer.h"
#include "common/ir/text.h"
#include "common/tensor/tensor.h"

namespace weir {

// `f32[2] {1, 2}`, or with more than options.inline_elements elements `f32[100] base64 "..."`
// (row-major, little-endian) or `f32[100] blob "name"`.
std::string TensorToText(const Tensor& tensor, const PrintOptions& options);
// Reads any of the three. Needs memory in proportion to the text, whatever the type says.
absl::StatusOr<Tensor> ParseTensorText(Lexer* lexer, const ParseOptions& options);

// True if the token is an element type with a '[' behind it.
bool AtType(const Lexer& lexer);
absl::StatusOr<TensorType> ParseTypeText(Lexer* lexer);

}  // namespace weir

#endif  // WEIR_COMMON_IR_TENSOR_TEXT_H_
