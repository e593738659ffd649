// ONNX tensors and types as Weir's. Stateless.
#ifndef WEIR_SERVER_COMPILER_IMPORT_TENSOR_PROTO_H_
#define WEIR_SERVER_COMPILER_IMPORT_TENSOR_PROTO_H_

#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "common/tensor/tensor.h"

namespace onnx {
class TensorProto;
class TypeProto;
}  // namespace onnx

namespace weir::onnx_import {

// Returns: an error for strings, external data, and bytes that do not fit the extents.
absl::StatusOr<Tensor> TensorOf(const onnx::TensorProto& proto);
absl::StatusOr<DType> DTypeOf(int onnx_type);
// Dimensions without a number become symbols: their name, made an identifier, or a fresh one from
// `prefix`.
absl::StatusOr<TensorType> TypeOf(const onnx::TypeProto& proto, const std::string& prefix);

}  // namespace weir::onnx_import

#endif  // WEIR_SERVER_COMPILER_IMPORT_TENSOR_PROTO_H_
