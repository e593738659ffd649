// Header of a .npy file and what follows from it, shared by the readers of files, of bytes and of
// archive entries. Source: numpy.lib.format. Stateless; usable from any thread.
#ifndef WEIR_COMMON_TENSOR_NPY_HEADER_H_
#define WEIR_COMMON_TENSOR_NPY_HEADER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/tensor/tensor.h"

namespace weir {

// No header is longer than this; a reader needs no more of a file to parse it.
inline constexpr size_t kMaxNpyHeaderBytes = (size_t{1} << 16) + 64;

struct NpyHeader {
  DType dtype = DType::kF32;
  bool swapped = false;  // big-endian elements
  bool fortran_order = false;
  Extents extents;
  int64_t data_offset = 0;
  int64_t data_bytes = 0;
};

// Parses the header at the start of `prefix`, the first bytes (at least kMaxNpyHeaderBytes, or all)
// of a file of `file_bytes` bytes. Returns: an error also when the array does not end exactly at
// the end of the file.
absl::StatusOr<NpyHeader> ParseNpyHeader(std::string_view prefix, int64_t file_bytes,
                                         std::string_view what);

// Returns: uninitialized memory for the array of a header, which FinishNpy completes once the data
// bytes are in it.
absl::StatusOr<Tensor> AllocateNpy(const NpyHeader& header, std::string_view what);
// Returns: the tensor in this machine's byte order and row-major order.
absl::StatusOr<Tensor> FinishNpy(const NpyHeader& header, Tensor data);

// Returns: the header that NumPy itself writes for a C-order array, or an error for bf16.
absl::StatusOr<std::string> FormatNpyHeader(DType dtype, absl::Span<const int64_t> extents);

}  // namespace weir

#endif  // WEIR_COMMON_TENSOR_NPY_HEADER_H_
