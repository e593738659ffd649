#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Conjugate {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return T(x.real(), -x.imag());
  }
};

}  // namespace

OpDef ConjugateOp() {
  using namespace elementwise;
  return Elementwise<Conjugate, Same<1>, Complexes>(
      {.name = "conjugate", .summary = "x with the imaginary part negated (numpy.conjugate)"});
}

}  // namespace weir
