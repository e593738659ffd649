#include "common/ops/nn/window.h"

#include "common/base/status.h"

namespace weir {
namespace {

// Extent with holes between neighbours.
Dim Dilated(const Dim& extent, int64_t dilation) {
  if (dilation == 1) return extent;
  return Max(Dim(0), (extent - 1) * dilation + 1);
}

}  // namespace

Dim WindowAxis::OutputExtent(const Dim& base, const Dim& window) const {
  const Dim padded = Dilated(base, base_dilation) + padding_low + padding_high;
  const Dim reach = Dilated(window, window_dilation);
  if (padded.is_number() && padded.number() <= 0) return 0;
  // A window of one element changes nothing, whatever the extent; symbols are never negative.
  const bool shrinks = padding_low < 0 || padding_high < 0;
  if (reach == Dim(1) && stride == 1 && !shrinks) return padded;
  const Dim room = padded - reach;
  if (room.is_number() && room.number() < 0) return 0;
  return Max(Dim(0), FloorDiv(room, Dim(stride)) + 1);
}

// Goes over the shorter of window and base, so that neither huge windows nor huge bases cost time.
std::vector<std::vector<Tap>> WindowAxis::Taps(int64_t outputs, int64_t window,
                                               int64_t base) const {
  std::vector<std::vector<Tap>> taps(outputs);
  for (int64_t output = 0; output < outputs; ++output) {
    const int64_t start = output * stride - padding_low;
    if (window <= base) {
      for (int64_t element = 0; element < window; ++element) {
        const int64_t position = start + element * window_dilation;
        if (position < 0 || position % base_dilation != 0) continue;
        if (position / base_dilation >= base) break;
        taps[output].push_back({element, position / base_dilation});
      }
    } else {
      for (int64_t index = 0; index < base; ++index) {
        const int64_t position = index * base_dilation - start;
        if (position < 0 || position % window_dilation != 0) continue;
        if (position / window_dilation >= window) break;
        taps[output].push_back({position / window_dilation, index});
      }
    }
  }
  return taps;
}

absl::Status CheckWindow(const Node& node, const WindowAttrs& names, int axes) {
  constexpr int64_t kLimit = int64_t{1} << 31;
  for (std::string_view name : {names.strides, names.padding_low, names.padding_high,
                                names.base_dilations, names.window_dilations}) {
    const Int64s& values = node.attr(name).AsInts();
    if (values.size() != static_cast<size_t>(axes)) {
      return InvalidArgument("attribute '", name, "' must have ", axes, " entries, found ",
                             values.size());
    }
    const bool is_padding = name == names.padding_low || name == names.padding_high;
    for (int64_t value : values) {
      if (value > kLimit || value < (is_padding ? -kLimit : 1)) {
        return InvalidArgument(
            "attribute '", name, "' must be ", is_padding ? "at least -" : "positive and at most ",
            is_padding ? StrCat(kLimit, " and at most ", kLimit) : StrCat(kLimit), ", found ",
            value);
      }
    }
  }
  return absl::OkStatus();
}

std::vector<WindowAxis> WindowOf(const Node& node, const WindowAttrs& names) {
  std::vector<WindowAxis> axes(node.attr(names.strides).AsInts().size());
  for (size_t i = 0; i < axes.size(); ++i) {
    axes[i] = {.stride = node.attr(names.strides).AsInts()[i],
               .padding_low = node.attr(names.padding_low).AsInts()[i],
               .padding_high = node.attr(names.padding_high).AsInts()[i],
               .base_dilation = node.attr(names.base_dilations).AsInts()[i],
               .window_dilation = node.attr(names.window_dilations).AsInts()[i]};
  }
  return axes;
}

}  // namespace weir
