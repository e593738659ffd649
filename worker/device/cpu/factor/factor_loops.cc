#include "worker/device/cpu/factor/factor_loops.h"

namespace weir::cpu {

template <class W>
const FactorLoops<W>& FactorLoopsFor(Isa isa) {
  return isa == Isa::kBaseline ? baseline::Factors<W>() : avx2::Factors<W>();
}

template const FactorLoops<double>& FactorLoopsFor<double>(Isa isa);
template const FactorLoops<std::complex<double>>& FactorLoopsFor<std::complex<double>>(Isa isa);

}  // namespace weir::cpu
