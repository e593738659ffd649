#include "common/ops/random/random.h"

namespace weir {
namespace {

std::vector<Sample> Samples() {
  const DType dtypes[] = {DType::kU32, DType::kU64, DType::kI8, DType::kI16,
                          DType::kI32, DType::kI64, DType::kU8, DType::kU16};
  return random::DrawSamples(dtypes);
}

}  // namespace

OpDef RngBitsOp() {
  return random::DrawingOp<&random::FindBits>("rng_bits",
                                              "Random integers, all bits independent: attribute "
                                              "shape behind the axes of the key (Philox4x32-10)",
                                              &Samples);
}

}  // namespace weir
