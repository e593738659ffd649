#include "worker/device/cpu/kernel.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace weir::cpu {

View ViewOf(const Tensor& tensor) {
  return {const_cast<std::byte*>(tensor.raw_data()), tensor.dtype(), tensor.extents(),
          tensor.strides()};
}

AxisOrder RowMajorOrder(int rank) {
  AxisOrder order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

AxisOrder OrderOf(const View& view) {
  AxisOrder order = RowMajorOrder(view.rank());
  if (view.rank() < 2) return order;
  absl::InlinedVector<int64_t, 6> weight(order.size());
  for (int axis = 0; axis < view.rank(); ++axis) {
    const bool has_place = view.extents[axis] > 1 && view.strides[axis] != 0;
    const int64_t left = axis == 0 ? INT64_MAX : weight[axis - 1];
    weight[axis] = has_place ? std::abs(view.strides[axis]) : left;
  }
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return weight[a] > weight[b]; });
  return order;
}

Extents StridesInOrder(absl::Span<const int64_t> extents, const AxisOrder& order) {
  Extents strides(extents.size());
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = stride;
    stride *= std::max<int64_t>(extents[order[i]], 1);
  }
  return strides;
}

int KernelRequest::PlaceOf(ValueId operand) const {
  return static_cast<int>(std::find(operands.begin(), operands.end(), operand) - operands.begin());
}

std::vector<int> KernelRequest::InputPlaces() const {
  std::vector<int> places;
  for (ValueId input : node().inputs) places.push_back(PlaceOf(input));
  return places;
}

Isa DetectIsa() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return Isa::kBaseline;
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return avx512 ? Isa::kAvx512 : Isa::kAvx2;
#else
  return Isa::kBaseline;
#endif
}

std::vector<Isa> SupportedIsas() {
  std::vector<Isa> isas = {Isa::kBaseline};
  if (DetectIsa() != Isa::kBaseline) isas.push_back(Isa::kAvx2);
  if (DetectIsa() == Isa::kAvx512) isas.push_back(Isa::kAvx512);
  return isas;
}

std::string_view IsaName(Isa isa) {
  switch (isa) {
    case Isa::kBaseline:
      return "baseline";
    case Isa::kAvx2:
      return "avx2";
    case Isa::kAvx512:
      return "avx512";
  }
  return "unknown";
}

}  // namespace weir::cpu
