#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Complex {
  template <class T>
  WEIR_ALWAYS_INLINE std::complex<T> operator()(T real, T imag) const {
    return std::complex<T>(real, imag);
  }
};

}  // namespace

OpDef ComplexOp() {
  using namespace elementwise;
  return Elementwise<Complex, Assemble, Types<float, double>>(
      {.name = "complex", .summary = "real + imag i (StableHLO complex)"});
}

}  // namespace weir
