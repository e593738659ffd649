#include "common/base/crc32c.h"

#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace weir {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the loops below load little-endian words");

constexpr uint32_t kPolynomial = 0x82f63b78;  // reflected

// kTable[k][b]: byte b followed by k zero bytes.
using ByteTable = std::array<std::array<uint32_t, 256>, 8>;

constexpr ByteTable MakeByteTable() {
  ByteTable table{};
  for (uint32_t b = 0; b < 256; ++b) {
    uint32_t crc = b;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? kPolynomial : 0);
    table[0][b] = crc;
  }
  for (size_t k = 1; k < 8; ++k) {
    for (size_t b = 0; b < 256; ++b) {
      const uint32_t previous = table[k - 1][b];
      table[k][b] = (previous >> 8) ^ table[0][previous & 0xff];
    }
  }
  return table;
}

constexpr ByteTable kTable = MakeByteTable();

uint64_t Load64(const uint8_t* p) {
  uint64_t word;
  std::memcpy(&word, p, sizeof(word));
  return word;
}

uint32_t TableBytes(uint32_t crc, const uint8_t* p, size_t size) {
  for (; size > 0; --size) crc = (crc >> 8) ^ kTable[0][(crc ^ *p++) & 0xff];
  return crc;
}

#if defined(__x86_64__)

// The instruction takes three cycles but starts one each cycle, so three blocks run side by side;
// the shift tables move a checksum over one block of zero bytes to join them.
constexpr size_t kBlock = 1024;

using ShiftTable = std::array<std::array<uint32_t, 256>, 4>;

ShiftTable MakeShiftTable() {
  std::array<uint32_t, 32> bit_image;
  const std::array<uint8_t, kBlock> zeros{};
  for (int bit = 0; bit < 32; ++bit) bit_image[bit] = TableBytes(1u << bit, zeros.data(), kBlock);
  ShiftTable table{};
  for (int byte = 0; byte < 4; ++byte) {
    for (uint32_t value = 0; value < 256; ++value) {
      for (int bit = 0; bit < 8; ++bit) {
        if (value >> bit & 1) table[byte][value] ^= bit_image[8 * byte + bit];
      }
    }
  }
  return table;
}

uint32_t ShiftOverBlock(const ShiftTable& table, uint32_t crc) {
  return table[0][crc & 0xff] ^ table[1][crc >> 8 & 0xff] ^ table[2][crc >> 16 & 0xff] ^
         table[3][crc >> 24];
}

__attribute__((target("sse4.2"))) uint32_t HardwareCrc(uint32_t crc, const uint8_t* p,
                                                       size_t size) {
  static const ShiftTable shift = MakeShiftTable();
  while (size >= 3 * kBlock) {
    uint64_t a = crc, b = 0, c = 0;
    for (size_t i = 0; i < kBlock; i += 8) {
      a = _mm_crc32_u64(a, Load64(p + i));
      b = _mm_crc32_u64(b, Load64(p + kBlock + i));
      c = _mm_crc32_u64(c, Load64(p + 2 * kBlock + i));
    }
    crc = ShiftOverBlock(shift, static_cast<uint32_t>(a)) ^ static_cast<uint32_t>(b);
    crc = ShiftOverBlock(shift, crc) ^ static_cast<uint32_t>(c);
    p += 3 * kBlock;
    size -= 3 * kBlock;
  }
  uint64_t wide = crc;
  for (; size >= 8; size -= 8, p += 8) wide = _mm_crc32_u64(wide, Load64(p));
  crc = static_cast<uint32_t>(wide);
  for (; size > 0; --size) crc = _mm_crc32_u8(crc, *p++);
  return crc;
}

#endif

}  // namespace

uint32_t ExtendCrc32cPortable(uint32_t crc, const void* data, size_t size) {
  const uint8_t* p = static_cast<const uint8_t*>(data);
  crc = ~crc;
  for (; size >= 8; size -= 8, p += 8) {
    const uint64_t word = Load64(p) ^ crc;
    crc = 0;
    for (int k = 0; k < 8; ++k) crc ^= kTable[7 - k][word >> (8 * k) & 0xff];
  }
  return ~TableBytes(crc, p, size);
}

uint32_t ExtendCrc32c(uint32_t crc, const void* data, size_t size) {
#if defined(__x86_64__)
  static const bool hardware = __builtin_cpu_supports("sse4.2");
  if (hardware) return ~HardwareCrc(~crc, static_cast<const uint8_t*>(data), size);
#endif
  return ExtendCrc32cPortable(crc, data, size);
}

}  // namespace weir
