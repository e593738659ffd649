#include "worker/device/cpu/fft/line_loops.h"

namespace weir::cpu {

template <class T>
const LineLoops<T>& LineLoopsFor(Isa isa) {
  switch (isa) {
    case Isa::kBaseline:
      return baseline::Transforms<T>();
    case Isa::kAvx2:
      return avx2::Transforms<T>();
    case Isa::kAvx512:
      return avx512::Transforms<T>();
  }
  return baseline::Transforms<T>();
}

template <class T>
const LineLoops<T>& OneLineLoopsFor(Isa isa) {
  switch (isa) {
    case Isa::kBaseline:
      return baseline::OneTransform<T>();
    case Isa::kAvx2:
      return avx2::OneTransform<T>();
    case Isa::kAvx512:
      return avx512::OneTransform<T>();
  }
  return baseline::OneTransform<T>();
}

template const LineLoops<float>& LineLoopsFor<float>(Isa);
template const LineLoops<double>& LineLoopsFor<double>(Isa);
template const LineLoops<float>& OneLineLoopsFor<float>(Isa);
template const LineLoops<double>& OneLineLoopsFor<double>(Isa);

}  // namespace weir::cpu
