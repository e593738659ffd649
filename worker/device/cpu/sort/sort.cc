#include "worker/device/cpu/sort/sort.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "common/base/status.h"
#include "common/ops/axes.h"
#include "common/ops/sort/order.h"
#include "worker/device/cpu/scratch.h"

namespace weir::cpu {
namespace {

struct Bytes16 {
  uint64_t low, high;
};

// out[i] = in[positions[i]] for one line.
template <class T>
void Reorder(const std::byte* in, int64_t in_stride, const int64_t* positions, int64_t count,
             std::byte* out, int64_t out_stride) {
  for (int64_t i = 0; i < count; ++i) {
    reinterpret_cast<T*>(out)[i * out_stride] =
        reinterpret_cast<const T*>(in)[positions[i] * in_stride];
  }
}

void ReorderLine(DType dtype, const std::byte* in, int64_t in_stride, const int64_t* positions,
                 int64_t count, std::byte* out, int64_t out_stride) {
  switch (SizeOf(dtype)) {
    case 1:
      return Reorder<uint8_t>(in, in_stride, positions, count, out, out_stride);
    case 2:
      return Reorder<uint16_t>(in, in_stride, positions, count, out, out_stride);
    case 4:
      return Reorder<uint32_t>(in, in_stride, positions, count, out, out_stride);
    case 8:
      return Reorder<uint64_t>(in, in_stride, positions, count, out, out_stride);
    default:
      return Reorder<Bytes16>(in, in_stride, positions, count, out, out_stride);
  }
}

// Fills `positions` with the order of the first `wanted` of a line of keys.
void OrderLine(const View& keys, int64_t offset, int axis, Direction direction, int64_t wanted,
               int64_t* positions) {
  const int64_t extent = keys.extents[axis], stride = keys.strides[axis];
  std::iota(positions, positions + extent, 0);
  VisitDType(keys.dtype, [&]<class T>(TypeTag<T>) {
    const T* line = keys.as<const T>() + offset;
    auto before = [&](int64_t a, int64_t b) {
      const T x = line[a * stride], y = line[b * stride];
      if (ComesBefore(x, y, direction)) return true;
      return !ComesBefore(y, x, direction) && a < b;
    };
    if (wanted == extent) {
      std::sort(positions, positions + extent, before);
    } else {
      std::partial_sort(positions, positions + wanted, positions + extent, before);
    }
  });
}

int64_t OffsetOf(const View& view, const Extents& at) {
  int64_t offset = 0;
  for (int axis = 0; axis < view.rank(); ++axis) offset += at[axis] * view.strides[axis];
  return offset;
}

std::byte* AddressOf(const View& view, const Extents& at) {
  return view.as<std::byte>() + OffsetOf(view, at) * SizeOf(view.dtype);
}

class SortKernel final : public Kernel {
 public:
  SortKernel(const Node& node, std::vector<int> places)
      : axis_(static_cast<int>(node.attr("axis").AsInt())),
        direction_(node.attr("descending").AsBool() ? Direction::kDescending
                                                    : Direction::kAscending),
        places_(std::move(places)) {}
  std::string_view name() const override { return "sort"; }

  size_t ScratchBytes(absl::Span<const View>, absl::Span<const View> results) const override {
    return Padded(results[0].extents[axis_] * sizeof(int64_t));
  }

  absl::Status Run(const KernelCall& call) const override {
    const View& keys = call.operands[places_[0]];
    const int64_t extent = keys.extents[axis_];
    if (NumElements(keys.extents) == 0) return absl::OkStatus();
    int64_t* positions = Scratch(call.scratch).Take<int64_t>(extent);
    Extents lines(keys.extents.begin(), keys.extents.end());
    lines[axis_] = 1;
    Extents at(lines.size(), 0);
    do {
      OrderLine(keys, OffsetOf(keys, at), axis_, direction_, extent, positions);
      for (size_t i = 0; i < places_.size(); ++i) {
        const View& from = call.operands[places_[i]];
        const View& to = call.results[i];
        ReorderLine(from.dtype, AddressOf(from, at), from.strides[axis_], positions, extent,
                    AddressOf(to, at), to.strides[axis_]);
      }
    } while (NextIndex(lines, &at));
    return absl::OkStatus();
  }

 private:
  const int axis_;
  const Direction direction_;
  const std::vector<int> places_;
};

class TopKKernel final : public Kernel {
 public:
  explicit TopKKernel(int64_t k) : k_(k) {}
  std::string_view name() const override { return "top_k"; }

  size_t ScratchBytes(absl::Span<const View> operands, absl::Span<const View>) const override {
    return Padded(operands[0].extents.back() * sizeof(int64_t));
  }

  absl::Status Run(const KernelCall& call) const override {
    const View& keys = call.operands[0];
    const View& values = call.results[0];
    const View& indices = call.results[1];
    const int axis = keys.rank() - 1;
    if (k_ > keys.extents[axis]) {
      return InvalidArgument("cannot take ", k_, " of the last axis of operand 0 ",
                             ExtentsToString(keys.extents));
    }
    if (NumElements(values.extents) == 0) return absl::OkStatus();
    int64_t* positions = Scratch(call.scratch).Take<int64_t>(keys.extents[axis]);
    Extents lines(keys.extents.begin(), keys.extents.end());
    lines[axis] = 1;
    Extents at(lines.size(), 0);
    do {
      OrderLine(keys, OffsetOf(keys, at), axis, Direction::kDescending, k_, positions);
      ReorderLine(keys.dtype, AddressOf(keys, at), keys.strides[axis], positions, k_,
                  AddressOf(values, at), values.strides[axis]);
      int64_t* out = indices.as<int64_t>() + OffsetOf(indices, at);
      for (int64_t i = 0; i < k_; ++i) out[i * indices.strides[axis]] = positions[i];
    } while (NextIndex(lines, &at));
    return absl::OkStatus();
  }

 private:
  const int64_t k_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MakeSort(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(new SortKernel(request.node(), request.InputPlaces()));
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeTopK(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(new TopKKernel(request.node().attr("k").AsInt()));
}

}  // namespace weir::cpu
