// The attributes and the geometry of a convolution node, for its rules and for kernels. Immutable
// value; usable from any thread.
//
// Layouts are fixed: input [N, C, space...], kernel [O, C / groups, space...], result [N, O,
// space...] (N / batch groups with batch groups). As in StableHLO nothing is flipped.
#ifndef WEIR_COMMON_OPS_NN_CONVOLUTION_H_
#define WEIR_COMMON_OPS_NN_CONVOLUTION_H_

#include <vector>

#include "common/ops/nn/window.h"

namespace weir {

inline constexpr WindowAttrs kConvolutionWindow = {.base_dilations = "lhs_dilation",
                                                   .window_dilations = "rhs_dilation"};

struct Convolution {
  std::vector<WindowAxis> window;  // one for each axis of space
  Dim feature_groups = 1;          // symbolic when both operands of a vectorized pfor vary
  Dim batch_groups = 1;

  // REQUIRES: attributes were checked by the type rule.
  static Convolution Of(const Node& node);
};

}  // namespace weir

#endif  // WEIR_COMMON_OPS_NN_CONVOLUTION_H_
