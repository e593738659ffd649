#include "common/ops/random/random.h"

namespace weir {
namespace {

std::vector<Sample> Samples() {
  const DType dtypes[] = {DType::kF32, DType::kF64, DType::kF16, DType::kBF16};
  return random::DrawSamples(dtypes);
}

}  // namespace

OpDef RngUniformOp() {
  return random::DrawingOp<&random::FindUniform>(
      "rng_uniform",
      "Random numbers, uniform in [0, 1): attribute shape behind the axes of the key", &Samples);
}

}  // namespace weir
