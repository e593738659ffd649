// Element types of tensors. Immutable values; usable from any thread.
//
//   DType t = DType::kF32;
//   DTypeName(t);                                       // "f32"
//   VisitDType(t, [&]<class T>(TypeTag<T>) { ... });    // T = float
#ifndef WEIR_COMMON_TENSOR_DTYPE_H_
#define WEIR_COMMON_TENSOR_DTYPE_H_

#include <complex>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "common/tensor/half.h"

namespace weir {

// The numbers are the wire encoding (proto/weir/v1/tensor.proto) and never change.
enum class DType : uint8_t {
  kBool = 1,
  kI8 = 2,
  kI16 = 3,
  kI32 = 4,
  kI64 = 5,
  kU8 = 6,
  kU16 = 7,
  kU32 = 8,
  kU64 = 9,
  kF16 = 10,
  kBF16 = 11,
  kF32 = 12,
  kF64 = 13,
  kC64 = 14,
  kC128 = 15,
};

inline constexpr DType kAllDTypes[] = {DType::kBool, DType::kI8,  DType::kI16,  DType::kI32,
                                       DType::kI64,  DType::kU8,  DType::kU16,  DType::kU32,
                                       DType::kU64,  DType::kF16, DType::kBF16, DType::kF32,
                                       DType::kF64,  DType::kC64, DType::kC128};

// Returns: bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128.
std::string_view DTypeName(DType dtype);
std::optional<DType> ParseDType(std::string_view name);
// Returns: the type of a wire number, or nothing for a number that is no type.
std::optional<DType> DTypeFromWire(int number);

// Bytes of one element; a bool takes one byte that holds 0 or 1.
int SizeOf(DType dtype);

bool IsSigned(DType dtype);    // i8 .. i64
bool IsUnsigned(DType dtype);  // u8 .. u64
inline bool IsInteger(DType dtype) { return IsSigned(dtype) || IsUnsigned(dtype); }
bool IsFloat(DType dtype);  // f16 bf16 f32 f64
bool IsComplex(DType dtype);

template <class T>
struct TypeTag {
  using type = T;
};

template <class T>
struct DTypeOfT;
#define WEIR_DTYPE_OF(T, D)           \
  template <>                         \
  struct DTypeOfT<T> {                \
    static constexpr DType value = D; \
  };
WEIR_DTYPE_OF(bool, DType::kBool)
WEIR_DTYPE_OF(int8_t, DType::kI8)
WEIR_DTYPE_OF(int16_t, DType::kI16)
WEIR_DTYPE_OF(int32_t, DType::kI32)
WEIR_DTYPE_OF(int64_t, DType::kI64)
WEIR_DTYPE_OF(uint8_t, DType::kU8)
WEIR_DTYPE_OF(uint16_t, DType::kU16)
WEIR_DTYPE_OF(uint32_t, DType::kU32)
WEIR_DTYPE_OF(uint64_t, DType::kU64)
WEIR_DTYPE_OF(Half, DType::kF16)
WEIR_DTYPE_OF(BFloat16, DType::kBF16)
WEIR_DTYPE_OF(float, DType::kF32)
WEIR_DTYPE_OF(double, DType::kF64)
WEIR_DTYPE_OF(std::complex<float>, DType::kC64)
WEIR_DTYPE_OF(std::complex<double>, DType::kC128)
#undef WEIR_DTYPE_OF

template <class T>
inline constexpr DType kDTypeOf = DTypeOfT<T>::value;

// Calls visitor(TypeTag<T>{}) for the C++ type T that stores `dtype`.
template <class Visitor>
auto VisitDType(DType dtype, Visitor&& visitor) {
  switch (dtype) {
    case DType::kBool:
      return visitor(TypeTag<bool>{});
    case DType::kI8:
      return visitor(TypeTag<int8_t>{});
    case DType::kI16:
      return visitor(TypeTag<int16_t>{});
    case DType::kI32:
      return visitor(TypeTag<int32_t>{});
    case DType::kI64:
      return visitor(TypeTag<int64_t>{});
    case DType::kU8:
      return visitor(TypeTag<uint8_t>{});
    case DType::kU16:
      return visitor(TypeTag<uint16_t>{});
    case DType::kU32:
      return visitor(TypeTag<uint32_t>{});
    case DType::kU64:
      return visitor(TypeTag<uint64_t>{});
    case DType::kF16:
      return visitor(TypeTag<Half>{});
    case DType::kBF16:
      return visitor(TypeTag<BFloat16>{});
    case DType::kF32:
      return visitor(TypeTag<float>{});
    case DType::kF64:
      return visitor(TypeTag<double>{});
    case DType::kC64:
      return visitor(TypeTag<std::complex<float>>{});
    case DType::kC128:
      return visitor(TypeTag<std::complex<double>>{});
  }
  __builtin_unreachable();
}

}  // namespace weir

#endif  // WEIR_COMMON_TENSOR_DTYPE_H_
