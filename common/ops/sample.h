// Samples: example uses of an op, from which the test suite makes the op's tests (type rule against
// evaluation, kernels against evaluation, pfor against the loop, text round trip). Immutable;
// usable from any thread.
#ifndef WEIR_COMMON_OPS_SAMPLE_H_
#define WEIR_COMMON_OPS_SAMPLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/ir/attr.h"
#include "common/tensor/tensor.h"

namespace weir {

// One operand: an exact value, or seeded values uniform in [lo, hi] (integers included, bool
// ignores the bounds).
struct SampleOperand {
  DType dtype = DType::kF32;
  Extents extents;
  double lo = -2;
  double hi = 2;
  std::optional<Tensor> value;
  // False for an operand whose value is part of the program's shape and must not vary over
  // iterations.
  bool may_vary = true;

  // Returns: the tensor for this operand; equal for equal seeds.
  Tensor Make(uint64_t seed) const;
};

SampleOperand Rand(DType dtype, Extents extents, double lo = -2, double hi = 2);
SampleOperand Exactly(Tensor value);
SampleOperand Fixed(Tensor value);  // Exactly, with may_vary = false

struct Sample {
  std::string label;  // may be empty
  std::vector<SampleOperand> operands;
  Attrs attrs;
  // For ops with regions: the text of a program whose entry function takes the operands; `attrs` is
  // then unused.
  std::string program;
  // How far a kernel may be from the reference evaluation: units in the last place, plus an
  // absolute part for sums that cancel. Zero means equal bits.
  double ulp = 0;
  double absolute = 0;
};

using SamplesFn = std::vector<Sample> (*)();

}  // namespace weir

#endif  // WEIR_COMMON_OPS_SAMPLE_H_
