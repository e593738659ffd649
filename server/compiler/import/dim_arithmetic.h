// Operators on values that describe shapes, computed while importing with symbolic dimensions.
// Stateless.
#ifndef WEIR_SERVER_COMPILER_IMPORT_DIM_ARITHMETIC_H_
#define WEIR_SERVER_COMPILER_IMPORT_DIM_ARITHMETIC_H_

#include "absl/status/statusor.h"
#include "server/compiler/import/onnx_node.h"

namespace weir::onnx_import {

// Returns: true after Return, if the node computes dimensions from dimensions; false if it is to be
// translated.
absl::StatusOr<bool> FoldDims(OnnxNode& node);

}  // namespace weir::onnx_import

#endif  // WEIR_SERVER_COMPILER_IMPORT_DIM_ARITHMETIC_H_
