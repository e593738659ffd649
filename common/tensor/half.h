// Sixteen-bit floating-point storage types. Arithmetic happens in float: convert, compute, convert
// back with round to nearest even. Immutable values; usable from any thread. Source: IEEE 754-2008
// binary16; bfloat16.
#ifndef WEIR_COMMON_TENSOR_HALF_H_
#define WEIR_COMMON_TENSOR_HALF_H_

#include <bit>
#include <cstdint>

namespace weir {

#define WEIR_ALWAYS_INLINE inline __attribute__((always_inline))

// IEEE 754 binary16.
struct Half {
  uint16_t bits = 0;

  Half() = default;
  WEIR_ALWAYS_INLINE explicit Half(float value) : bits(FromFloat(value)) {}
  WEIR_ALWAYS_INLINE explicit operator float() const { return ToFloat(bits); }
  friend bool operator==(Half, Half) = default;

  static WEIR_ALWAYS_INLINE Half FromBits(uint16_t bits) {
    Half h;
    h.bits = bits;
    return h;
  }

 private:
  static WEIR_ALWAYS_INLINE float ToFloat(uint16_t h) {
    const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
    const uint32_t magnitude = static_cast<uint32_t>(h & 0x7fffu) << 13;
    const uint32_t exponent = magnitude & 0x0f800000u;
    const uint32_t normal = magnitude + 0x38000000u;
    const uint32_t special = magnitude + 0x70000000u;
    const float subnormal = std::bit_cast<float>(magnitude + 0x38800000u) - 0x1p-14f;
    uint32_t out = exponent == 0x0f800000u ? special : normal;
    out = exponent == 0 ? std::bit_cast<uint32_t>(subnormal) : out;
    return std::bit_cast<float>(out | sign);
  }

  static WEIR_ALWAYS_INLINE uint16_t FromFloat(float value) {
    const uint32_t in = std::bit_cast<uint32_t>(value);
    const uint32_t sign = in & 0x80000000u;
    const uint32_t magnitude = in ^ sign;
    const uint32_t special = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    const uint32_t subnormal = std::bit_cast<uint32_t>(shifted) - 0x3f000000u;
    const uint32_t odd = (magnitude >> 13) & 1u;
    const uint32_t normal = (magnitude - 0x38000000u + 0xfffu + odd) >> 13;
    uint32_t out = magnitude < 0x38800000u ? subnormal : normal;
    out = magnitude >= 0x47800000u ? special : out;
    return static_cast<uint16_t>(out | (sign >> 16));
  }
};

// The upper half of an IEEE 754 binary32.
struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  WEIR_ALWAYS_INLINE explicit BFloat16(float value) : bits(FromFloat(value)) {}
  WEIR_ALWAYS_INLINE explicit operator float() const {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
  friend bool operator==(BFloat16, BFloat16) = default;

  static WEIR_ALWAYS_INLINE BFloat16 FromBits(uint16_t bits) {
    BFloat16 b;
    b.bits = bits;
    return b;
  }

 private:
  static WEIR_ALWAYS_INLINE uint16_t FromFloat(float value) {
    const uint32_t in = std::bit_cast<uint32_t>(value);
    const uint32_t rounded = in + 0x7fffu + ((in >> 16) & 1u);
    const uint32_t quiet_nan = in | 0x00400000u;
    return static_cast<uint16_t>(((in & 0x7fffffffu) > 0x7f800000u ? quiet_nan : rounded) >> 16);
  }
};

}  // namespace weir

#endif  // WEIR_COMMON_TENSOR_HALF_H_
