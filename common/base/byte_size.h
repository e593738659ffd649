// Numbers of bytes as people write them. Stateless; usable from any thread.
#ifndef WEIR_COMMON_BASE_BYTE_SIZE_H_
#define WEIR_COMMON_BASE_BYTE_SIZE_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"

namespace weir {

// "4096", "512KiB", "512MiB", "1.5GiB", "1TiB"; also KB, MB, GB and TB, powers of ten. Returns:
// INVALID_ARGUMENT that quotes what is no positive number of bytes.
absl::StatusOr<int64_t> ParseByteSize(std::string_view text);

}  // namespace weir

#endif  // WEIR_COMMON_BASE_BYTE_SIZE_H_
