#include "common/ops/random/random.h"

namespace weir {
namespace {

std::vector<Sample> Samples() {
  const DType dtypes[] = {DType::kF32, DType::kF64, DType::kF16, DType::kBF16};
  return random::DrawSamples(dtypes);
}

}  // namespace

OpDef RngNormalOp() {
  return random::DrawingOp<&random::FindNormal>(
      "rng_normal", "Random numbers, standard normal: attribute shape behind the axes of the key",
      &Samples);
}

}  // namespace weir
