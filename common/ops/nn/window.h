// Sizes of sliding windows, shared by convolution and reduce_window (StableHLO, "padding_config").
// Pure functions; usable from any thread.
#ifndef WEIR_COMMON_OPS_NN_WINDOW_H_
#define WEIR_COMMON_OPS_NN_WINDOW_H_

#include <vector>

#include "absl/status/status.h"
#include "common/ops/op_def.h"

namespace weir {

// An element of a window that lies on an element of the base.
struct Tap {
  int64_t element = 0;
  int64_t base = 0;
};

// How a window moves along one axis. Dilation puts dilation - 1 holes between neighbours; padding
// may be negative, and then cuts.
struct WindowAxis {
  int64_t stride = 1;
  int64_t padding_low = 0;
  int64_t padding_high = 0;
  int64_t base_dilation = 1;
  int64_t window_dilation = 1;

  // The number of window positions.
  Dim OutputExtent(const Dim& base, const Dim& window) const;
  // For each of `outputs` positions the taps of a window of `window` elements on `base` elements,
  // in order; the other elements lie on padding or holes.
  std::vector<std::vector<Tap>> Taps(int64_t outputs, int64_t window, int64_t base) const;

  friend bool operator==(const WindowAxis& a, const WindowAxis& b) = default;
};

// Names of the attributes that hold one entry for each axis.
struct WindowAttrs {
  std::string_view strides = "window_strides";
  std::string_view padding_low = "padding_low";
  std::string_view padding_high = "padding_high";
  std::string_view base_dilations;
  std::string_view window_dilations;
};

// Checks that each attribute has `axes` entries; that strides and dilations are positive, and all
// entries within 2^31, so that no position overflows.
absl::Status CheckWindow(const Node& node, const WindowAttrs& names, int axes);
// REQUIRES: CheckWindow.
std::vector<WindowAxis> WindowOf(const Node& node, const WindowAttrs& names);

}  // namespace weir

#endif  // WEIR_COMMON_OPS_NN_WINDOW_H_
