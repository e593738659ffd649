// NumPy files: .npy (format versions 1.0 to 3.0, either byte order, C and Fortran order) and .npz
// archives. Source: numpy.lib.format. Stateless; usable from any thread.
//
// A file that is cut, has bytes behind the array, lies about its size or has an unsupported dtype
// gives an error that names the file (or `what`) and never makes the reader allocate more than the
// file holds. Pickled objects are never read. What is read is row-major, whatever the file's order.
#ifndef WEIR_COMMON_TENSOR_NPY_H_
#define WEIR_COMMON_TENSOR_NPY_H_

#include <cstdint>
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

struct NpzLimits {
  // Bytes of all arrays of one archive, by their declared sizes.
  int64_t max_bytes = int64_t{64} << 30;
};

// Stored and deflated entries; keys come without ".npy". An entry that declares more than its
// compressed bytes can expand to is an error before anything is allocated.
absl::StatusOr<std::map<std::string, Tensor>> ReadNpz(const std::string& path,
                                                      const NpzLimits& limits = {});
// Stores without compression, byte for byte the same for the same tensors.
absl::Status WriteNpz(const std::string& path, const std::map<std::string, Tensor>& tensors);

}  // namespace weir

#endif  // WEIR_COMMON_TENSOR_NPY_H_
