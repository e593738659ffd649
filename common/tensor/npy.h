// NumPy files: .npy (format versions 1.0 to 3.0, either byte order, C and Fortran order) and .npz
// archives. Source: numpy.lib.format. Stateless; usable from any thread.
//
// A file that is cut, lies about its size or has an unsupported dtype gives an error that names the
// file (or `what`) and never makes the reader allocate more than the file holds.
#ifndef WEIR_COMMON_TENSOR_NPY_H_
#define WEIR_COMMON_TENSOR_NPY_H_

#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/tensor/tensor.h"

namespace weir {

absl::StatusOr<Tensor> ReadNpy(const std::string& path);
// Parses the bytes of a .npy file; `what` names them in errors.
absl::StatusOr<Tensor> ParseNpy(std::string_view bytes, std::string_view what);
absl::Status WriteNpy(const std::string& path, const Tensor& tensor);
// bf16 has no NumPy dtype and is an error; everything else maps one to one.
absl::StatusOr<std::string> FormatNpy(const Tensor& tensor);

absl::StatusOr<std::map<std::string, Tensor>> ReadNpz(const std::string& path);
absl::Status WriteNpz(const std::string& path, const std::map<std::string, Tensor>& tensors);

}  // namespace weir

#endif  // WEIR_COMMON_TENSOR_NPY_H_
