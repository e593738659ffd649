// ONNX models become graphs. Stateless; usable from any thread. Source: the ONNX specification,
// operator sets 7 to 17.
//
// The entry function takes the model's inputs (initializers that are also inputs are constants) and
// returns its outputs under their names. Every node keeps the name and position of the ONNX node
// that it comes from. LSTM, GRU and RNN become `for` loops of ordinary ops. Values that only
// describe shapes are computed while importing, symbolic dimensions included.
#ifndef WEIR_SERVER_COMPILER_IMPORT_IMPORT_H_
#define WEIR_SERVER_COMPILER_IMPORT_IMPORT_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "common/ir/graph.h"

namespace weir {

// `name` is the file that errors and locations name. Returns: INVALID_ARGUMENT for bytes that are
// no valid model; UNIMPLEMENTED naming operator, node and opset for what has no translation.
absl::StatusOr<Graph> ImportOnnx(std::string_view bytes, std::string_view name);

}  // namespace weir

#endif  // WEIR_SERVER_COMPILER_IMPORT_IMPORT_H_
