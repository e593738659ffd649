// How far kernels of factorizations may be from the reference. Stateless; only op files include
// this.
#ifndef WEIR_COMMON_OPS_LINALG_ROUNDING_H_
#define WEIR_COMMON_OPS_LINALG_ROUNDING_H_

#include <vector>

#include "common/ops/sample.h"

namespace weir {

// Lets results differ by what another order of the same sums in double precision makes of the
// samples, none of which is near a matrix of another rank.
std::vector<Sample> WithinRounding(std::vector<Sample> samples);

}  // namespace weir

#endif  // WEIR_COMMON_OPS_LINALG_ROUNDING_H_
