#include "worker/device/cpu/contraction/compute_type.h"

#include <type_traits>

namespace weir::cpu {
namespace {

template <class T>
using ComputeTypeOf =
    std::conditional_t<std::is_integral_v<T>,
                       std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>,
                       std::conditional_t<std::is_same_v<T, double>, double, float>>;

template <class T>
inline constexpr bool kComputes =
    !std::is_same_v<T, bool> && sizeof(T) <= 8 && !std::is_same_v<T, std::complex<float>>;

template <class Visitor>
void VisitStored(DType stored, Visitor visitor) {
  VisitDType(stored, [&]<class T>(TypeTag<T>) {
    if constexpr (kComputes<T>) visitor(T{}, ComputeTypeOf<T>{});
  });
}

}  // namespace

std::optional<DType> ComputeType(DType stored) {
  std::optional<DType> type;
  VisitStored(stored, [&]<class T, class C>(T, C) { type = kDTypeOf<C>; });
  return type;
}

bool ComputesInPlace(DType stored) {
  const std::optional<DType> compute = ComputeType(stored);
  return compute.has_value() && (SizeOf(stored) == SizeOf(*compute));
}

void Widen(DType stored, const void* from, int64_t count, void* to) {
  VisitStored(stored, [&]<class T, class C>(T, C) {
    for (int64_t i = 0; i < count; ++i) {
      static_cast<C*>(to)[i] = static_cast<C>(static_cast<const T*>(from)[i]);
    }
  });
}

void Narrow(DType stored, const void* from, int64_t count, void* to) {
  VisitStored(stored, [&]<class T, class C>(T, C) {
    for (int64_t i = 0; i < count; ++i) {
      static_cast<T*>(to)[i] = static_cast<T>(static_cast<const C*>(from)[i]);
    }
  });
}

}  // namespace weir::cpu
