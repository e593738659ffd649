// Resampling over Builder in the manner of lang.h. Stateless; thread-compatible like the builder.
//
//   ValueId twice = Resize(b, image, {2, 3}, {h * 2, w * 2}, ResizeMethod::kLinear);
#ifndef WEIR_COMMON_OPS_RESIZE_LANG_H_
#define WEIR_COMMON_OPS_RESIZE_LANG_H_

#include "common/ops/lang.h"

namespace weir {

enum class ResizeMethod {
  kNearest,
  kLinear,
  kCubic,  // Keys, a = -1/2
};
// Whether the kernel is widened where the result is smaller, so that every element counts.
enum class Antialias { kNo, kYes };

// Element i of n lies at (i + 1/2) / n of an axis (half-pixel centers). Weights of elements that do
// not exist go to those that do. This is jax.image.resize, and ONNX Resize with half_pixel and
// exclude_outside. Interpolation needs floats or complex numbers.
ValueId Resize(Builder& b, ValueId x, Int64s axes, std::vector<Dim> sizes, ResizeMethod method,
               Antialias antialias = Antialias::kNo);

}  // namespace weir

#endif  // WEIR_COMMON_OPS_RESIZE_LANG_H_
