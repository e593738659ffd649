// Content digests: constants are addressed by what they hold, so that equal ones travel and are
// kept once. Stateless; usable from any thread. Source: SHA-256 (FIPS 180-4) through OpenSSL.
#ifndef WEIR_COMMON_TENSOR_DIGEST_H_
#define WEIR_COMMON_TENSOR_DIGEST_H_

#include <string>
#include <string_view>

#include "common/tensor/tensor.h"

namespace weir {

// Returns: 64 hexadecimal digits over dtype, extents and row-major bytes.
std::string ContentDigest(const Tensor& tensor);
std::string ContentDigest(std::string_view bytes);

}  // namespace weir

#endif  // WEIR_COMMON_TENSOR_DIGEST_H_
