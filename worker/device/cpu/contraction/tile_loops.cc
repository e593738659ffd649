#include "worker/device/cpu/contraction/tile_loops.h"

namespace weir::cpu {

template <class T>
const TileLoops<T>& TileLoopsFor(Isa isa) {
  switch (isa) {
    case Isa::kBaseline:
      return baseline::Loops<T>();
    case Isa::kAvx2:
      return avx2::Loops<T>();
    case Isa::kAvx512:
      return avx512::Loops<T>();
  }
  return baseline::Loops<T>();
}

template const TileLoops<float>& TileLoopsFor<float>(Isa);
template const TileLoops<double>& TileLoopsFor<double>(Isa);
template const TileLoops<uint32_t>& TileLoopsFor<uint32_t>(Isa);
template const TileLoops<uint64_t>& TileLoopsFor<uint64_t>(Isa);

}  // namespace weir::cpu
