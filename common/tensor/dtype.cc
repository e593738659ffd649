#include "common/tensor/dtype.h"

namespace weir {

std::string_view DTypeName(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return "bool";
    case DType::kI8:
      return "i8";
    case DType::kI16:
      return "i16";
    case DType::kI32:
      return "i32";
    case DType::kI64:
      return "i64";
    case DType::kU8:
      return "u8";
    case DType::kU16:
      return "u16";
    case DType::kU32:
      return "u32";
    case DType::kU64:
      return "u64";
    case DType::kF16:
      return "f16";
    case DType::kBF16:
      return "bf16";
    case DType::kF32:
      return "f32";
    case DType::kF64:
      return "f64";
    case DType::kC64:
      return "c64";
    case DType::kC128:
      return "c128";
  }
  __builtin_unreachable();
}

std::optional<DType> ParseDType(std::string_view name) {
  for (DType dtype : kAllDTypes) {
    if (DTypeName(dtype) == name) return dtype;
  }
  return std::nullopt;
}

std::optional<DType> DTypeFromWire(int number) {
  for (DType dtype : kAllDTypes) {
    if (static_cast<int>(dtype) == number) return dtype;
  }
  return std::nullopt;
}

int SizeOf(DType dtype) {
  return VisitDType(dtype, []<class T>(TypeTag<T>) { return static_cast<int>(sizeof(T)); });
}

bool IsSigned(DType dtype) { return dtype >= DType::kI8 && dtype <= DType::kI64; }
bool IsUnsigned(DType dtype) { return dtype >= DType::kU8 && dtype <= DType::kU64; }
bool IsFloat(DType dtype) { return dtype >= DType::kF16 && dtype <= DType::kF64; }
bool IsComplex(DType dtype) { return dtype >= DType::kC64; }

}  // namespace weir
