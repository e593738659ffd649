// CRC32C (Castagnoli), the checksum of frames and log records. Stateless; usable from any thread.
// About 15 GB/s with SSE 4.2 on long inputs, about 1.5 GB/s with the table.
#ifndef WEIR_COMMON_BASE_CRC32C_H_
#define WEIR_COMMON_BASE_CRC32C_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weir {

// Returns: the checksum of A followed by `data`, where `crc` is the checksum of A (0 for nothing).
uint32_t ExtendCrc32c(uint32_t crc, const void* data, size_t size);

inline uint32_t Crc32c(std::string_view data) { return ExtendCrc32c(0, data.data(), data.size()); }

// The same by table alone: what machines without the instruction use.
uint32_t ExtendCrc32cPortable(uint32_t crc, const void* data, size_t size);

}  // namespace weir

#endif  // WEIR_COMMON_BASE_CRC32C_H_
