// Factors that are windows of an image: contracting one with what lies on its taps is a
// convolution; for anything else the windows are unfolded.
#include <algorithm>
#include <utility>

#include "common/ops/lang.h"
#include "server/compiler/factored/contract.h"

namespace weir::factored {
namespace {

Axes Followed(Axes axes, const Axes& more) {
  axes.insert(axes.end(), more.begin(), more.end());
  return axes;
}

// The axes that remain without `some`.
Axes Without(Axes axes, const Axes& some) {
  std::erase_if(axes, [&](const Axis& axis) { return Has(some, axis); });
  return axes;
}

// For [positions, taps] the place in the image with its padding and holes.
Tensor Places(const WindowAxis& along, int64_t positions, int64_t taps) {
  std::vector<int64_t> places;
  for (int64_t p = 0; p < positions; ++p) {
    for (int64_t t = 0; t < taps; ++t) {
      places.push_back(p * along.stride + t * along.window_dilation);
    }
  }
  return Tensor::FromSpan<int64_t>({positions, taps}, places);
}

bool IsOne(const Axis& axis) { return axis.extent == Dim(1); }

// Axes of the operands of a convolution, and of its result.
struct Roles {
  Axes batch;     // of the image alone
  Axes groups;    // of both and of the result
  Axes features;  // of both, summed over; of extent 1 perhaps of one alone
  Axes outputs;   // of the kernel alone
};

// Returns: nothing unless all taps and no position are summed over, in one convolution.
std::optional<Roles> RolesOf(const Operand& image, const Operand& kernel, const Axes& keep) {
  const Windows& windows = *image.windows;
  for (const Axis& tap : windows.taps) {
    if (Has(keep, tap) || (!IsOne(tap) && !Has(kernel.axes, tap))) return std::nullopt;
  }
  for (const Axis& position : windows.positions) {
    if (!IsOne(position) && !Has(keep, position)) return std::nullopt;
  }
  Roles roles;
  for (const Axis& axis : Without(image.axes, windows.space)) {
    const bool shared = Has(kernel.axes, axis), kept = Has(keep, axis);
    if (!shared && !kept && !IsOne(axis)) return std::nullopt;
    Axes& role = !kept ? roles.features : shared ? roles.groups : roles.batch;
    role.push_back(axis);
  }
  for (const Axis& axis : Without(kernel.axes, windows.taps)) {
    if (Has(image.axes, axis)) continue;
    const bool kept = Has(keep, axis);
    if ((!kept && !IsOne(axis)) || Has(windows.positions, axis)) return std::nullopt;
    (kept ? roles.outputs : roles.features).push_back(axis);
  }
  return roles;
}

// [a, b, space...] of the axes of each.
ValueId Laid(Builder& b, const Operand& operand, const Axes& first, const Axes& second,
             const Axes& space) {
  const Axes order = Followed(Followed(first, second), space);
  std::vector<Dim> shape = {ShapeOf(first).num_elements(), ShapeOf(second).num_elements()};
  for (const Axis& axis : space) shape.push_back(axis.extent);
  return Reshape(b, Spread(b, operand.build(b), operand.axes, order), std::move(shape));
}

Operand Convolved(Builder& b, const Operand& image, const Operand& kernel, const Roles& roles) {
  const Windows& windows = *image.windows;
  Int64s strides, low, high, base, window;
  for (const WindowAxis& along : windows.along) {
    strides.push_back(along.stride);
    low.push_back(along.padding_low);
    high.push_back(along.padding_high);
    base.push_back(along.base_dilation);
    window.push_back(along.window_dilation);
  }
  Attrs attrs = {{"window_strides", strides},
                 {"padding_low", low},
                 {"padding_high", high},
                 {"lhs_dilation", base},
                 {"rhs_dilation", window}};
  if (!roles.groups.empty()) {
    attrs["feature_group_count"] = std::vector<Dim>{ShapeOf(roles.groups).num_elements()};
  }
  const ValueId input =
      Laid(b, image, roles.batch, Followed(roles.groups, roles.features), windows.space);
  const ValueId weights =
      Laid(b, kernel, Followed(roles.groups, roles.outputs), roles.features, windows.taps);
  const Axes axes =
      Followed(Followed(Followed(roles.batch, roles.groups), roles.outputs), windows.positions);
  return OperandOf(b.Apply("convolution", {input, weights}, std::move(attrs)), axes);
}

}  // namespace

// Each axis of space in turn becomes one of positions and one of taps.
Operand Unfolded(Builder& b, const Operand& operand) {
  const Windows& windows = *operand.windows;
  Axes axes = Followed(Without(operand.axes, windows.space), windows.space);
  const size_t first = axes.size() - windows.space.size();
  ValueId value = Spread(b, operand.build(b), operand.axes, axes);
  Int64s low(axes.size(), 0), high = low, interior = low;
  for (size_t i = 0; i < windows.along.size(); ++i) {
    low[first + i] = windows.along[i].padding_low;
    high[first + i] = windows.along[i].padding_high;
    interior[first + i] = windows.along[i].base_dilation - 1;
  }
  const ValueId zero = b.Constant(Tensor::Zeros(b.type(value).dtype, {}));
  value = b.Apply("pad", {value, zero}, {{"low", low}, {"high", high}, {"interior", interior}});
  for (size_t i = windows.space.size(); i-- > 0;) {
    const Axis &position = windows.positions[i], &tap = windows.taps[i];
    const ValueId places =
        b.Constant(Places(windows.along[i], position.extent.number(), tap.extent.number()));
    value = Take(b, value, places, static_cast<int>(first + i));
    axes[first + i] = position;
    axes.insert(axes.begin() + static_cast<int64_t>(first + i) + 1, tap);
  }
  return OperandOf(value, std::move(axes));
}

Operand JoinWindows(Builder& b, const Operand& x, const Operand& y, const Axes& keep, DType dtype) {
  if (!x.windows) return JoinWindows(b, y, x, keep, dtype);
  if (y.is_plain()) {
    if (const std::optional<Roles> roles = RolesOf(x, y, keep); roles) {
      return Convolved(b, x, y, *roles);
    }
  }
  const Operand image = Unfolded(b, x), other = y.windows ? Unfolded(b, y) : y;
  return other.hot ? JoinHot(b, image, other, keep, dtype) : JoinDense(b, image, other, keep);
}

}  // namespace weir::factored
