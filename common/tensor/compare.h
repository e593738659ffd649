// How far two tensors are from each other. Stateless; usable from any thread.
#ifndef WEIR_COMMON_TENSOR_COMPARE_H_
#define WEIR_COMMON_TENSOR_COMPARE_H_

#include <string>

#include "common/tensor/tensor.h"

namespace weir {

// Two elements agree if they differ by at most `absolute`, or by `ulp` units in the last place of
// the larger one in its own type. NaN agrees with NaN. Integers, bools and tolerance zero demand
// equal values.
struct Tolerance {
  double ulp = 0;
  double absolute = 0;
};

// Returns: empty if the tensors agree, else what differs first and how much.
std::string Difference(const Tensor& got, const Tensor& want, const Tolerance& tolerance = {});

}  // namespace weir

#endif  // WEIR_COMMON_TENSOR_COMPARE_H_
