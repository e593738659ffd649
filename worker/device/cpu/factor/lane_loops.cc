#include "worker/device/cpu/factor/lane_loops.h"

namespace weir::cpu {

const LaneLoops& LaneLoopsFor(Isa isa, int parts) {
  switch (isa) {
    case Isa::kBaseline:
      return baseline::Lanes(parts);
    case Isa::kAvx2:
      return avx2::Lanes(parts);
    case Isa::kAvx512:
      return avx512::Lanes(parts);
  }
  return baseline::Lanes(parts);
}

}  // namespace weir::cpu
