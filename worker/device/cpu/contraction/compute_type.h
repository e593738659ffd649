// In which type products and convolutions compute: floats in their own type, f16 and bf16 in float
// (rounded once at the end), integers modulo 2^32 or 2^64. Stateless; usable from any thread.
#ifndef WEIR_WORKER_DEVICE_CPU_CONTRACTION_COMPUTE_TYPE_H_
#define WEIR_WORKER_DEVICE_CPU_CONTRACTION_COMPUTE_TYPE_H_

#include <cstdint>
#include <optional>

#include "common/tensor/dtype.h"

namespace weir::cpu {

// Returns: f32, f64, u32 or u64, or nothing for bool and complex types.
std::optional<DType> ComputeType(DType stored);
// True if memory of `stored` can be read and written as its compute type.
bool ComputesInPlace(DType stored);

// Convert `count` elements between a stored type and its compute type.
void Widen(DType stored, const void* from, int64_t count, void* to);
void Narrow(DType stored, const void* from, int64_t count, void* to);

// Calls visitor(T{}) for the C++ type of a compute type.
template <class Visitor>
auto VisitComputeType(DType compute, Visitor&& visitor) {
  switch (compute) {
    case DType::kF32:
      return visitor(float{});
    case DType::kF64:
      return visitor(double{});
    case DType::kU32:
      return visitor(uint32_t{});
    default:
      return visitor(uint64_t{});
  }
}

}  // namespace weir::cpu

#endif  // WEIR_WORKER_DEVICE_CPU_CONTRACTION_COMPUTE_TYPE_H_
