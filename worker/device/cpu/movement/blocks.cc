#include <algorithm>

#include "common/base/status.h"
#include "common/tensor/copy.h"
#include "worker/device/cpu/movement/movement.h"

namespace weir::cpu {
namespace {

void Copy(const View& from, const View& to) {
  CopyStrided(from.dtype, from.extents, from.data, from.strides, to.data, to.strides);
}

// `view` from element `start` on.
View At(const View& view, absl::Span<const int64_t> start) {
  View moved = view;
  int64_t offset = 0;
  for (size_t axis = 0; axis < start.size(); ++axis) offset += start[axis] * view.strides[axis];
  moved.data = view.as<std::byte>() + offset * SizeOf(view.dtype);
  return moved;
}

bool SamePlace(const View& a, const View& b) {
  return a.data == b.data && a.strides == b.strides && a.extents == b.extents;
}

template <class T>
T FromIndex(int64_t i) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return T(static_cast<float>(i));
  } else {
    return static_cast<T>(i);
  }
}

class IotaKernel final : public Kernel {
 public:
  explicit IotaKernel(const Node& node) : axis_(node.attr("axis").AsInt()) {}
  std::string_view name() const override { return "iota"; }

  absl::Status Run(const KernelCall& call) const override {
    const View& out = call.results[0];
    if (NumElements(out.extents) == 0) return absl::OkStatus();
    // One line, then copies of it along the other axes.
    VisitDType(out.dtype, [&]<class T>(TypeTag<T>) {
      for (int64_t i = 0; i < out.extents[axis_]; ++i) {
        out.as<T>()[i * out.strides[axis_]] = FromIndex<T>(i);
      }
    });
    for (int axis = 0; axis < out.rank(); ++axis) {
      if (axis == axis_) continue;
      // What is filled so far: the line and the axes before this one.
      Extents extents(out.extents.begin(), out.extents.end());
      for (int rest = axis; rest < out.rank(); ++rest) {
        if (rest != axis_) extents[rest] = 1;
      }
      for (int64_t i = 1; i < out.extents[axis]; ++i) {
        std::byte* to = out.as<std::byte>() + i * out.strides[axis] * SizeOf(out.dtype);
        CopyStrided(out.dtype, extents, out.data, out.strides, to, out.strides);
      }
    }
    return absl::OkStatus();
  }

 private:
  const int64_t axis_;
};

// Reads the scalar starts in `call.operands` at `places`, clamped so that `slice` lies in
// `extents`.
absl::StatusOr<Extents> Starts(const KernelCall& call, absl::Span<const int> places,
                               absl::Span<const int64_t> extents, absl::Span<const int64_t> slice) {
  Extents starts(extents.size());
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    if (slice[axis] > extents[axis]) {
      return InvalidArgument("a slice of ", ExtentsToString(slice), " does not fit into operand 0 ",
                             ExtentsToString(extents));
    }
    starts[axis] = std::clamp<int64_t>(*call.operands[places[axis]].as<int64_t>(), 0,
                                       extents[axis] - slice[axis]);
  }
  return starts;
}

class DynamicSliceKernel final : public Kernel {
 public:
  explicit DynamicSliceKernel(std::vector<int> places) : places_(std::move(places)) {}
  std::string_view name() const override { return "dynamic_slice"; }

  absl::Status Run(const KernelCall& call) const override {
    const View& from = call.operands[places_[0]];
    const View& to = call.results[0];
    if (NumElements(to.extents) == 0) return absl::OkStatus();
    WEIR_ASSIGN_OR_RETURN(
        const Extents starts,
        Starts(call, absl::MakeConstSpan(places_).subspan(1), from.extents, to.extents));
    View block = At(from, starts);
    block.extents = to.extents;
    Copy(block, to);
    return absl::OkStatus();
  }

 private:
  const std::vector<int> places_;
};

class DynamicUpdateSliceKernel final : public Kernel {
 public:
  explicit DynamicUpdateSliceKernel(std::vector<int> places) : places_(std::move(places)) {}
  std::string_view name() const override { return "dynamic_update_slice"; }

  absl::Status Run(const KernelCall& call) const override {
    const View& base = call.operands[places_[0]];
    const View& update = call.operands[places_[1]];
    const View& to = call.results[0];
    if (!SamePlace(base, to)) Copy(base, to);
    if (NumElements(update.extents) == 0) return absl::OkStatus();
    WEIR_ASSIGN_OR_RETURN(
        const Extents starts,
        Starts(call, absl::MakeConstSpan(places_).subspan(2), to.extents, update.extents));
    View block = At(to, starts);
    block.extents = update.extents;
    Copy(update, block);
    return absl::OkStatus();
  }

 private:
  const std::vector<int> places_;
};

class ConcatenateKernel final : public Kernel {
 public:
  ConcatenateKernel(std::vector<int> places, int64_t axis)
      : places_(std::move(places)), axis_(axis) {}
  std::string_view name() const override { return "concatenate"; }

  AxisOrder ResultOrder(absl::Span<const View> operands, absl::Span<const View>,
                        int) const override {
    return OrderOf(operands[places_[0]]);
  }

  absl::Status Run(const KernelCall& call) const override {
    const View& to = call.results[0];
    Extents start(to.rank(), 0);
    for (int place : places_) {
      const View& part = call.operands[place];
      for (int axis = 0; axis < to.rank(); ++axis) {
        if (axis == axis_ || part.extents[axis] == to.extents[axis]) continue;
        return InvalidArgument("operands ", ExtentsToString(call.operands[places_[0]].extents),
                               " and ", ExtentsToString(part.extents),
                               " differ in other axes than ", axis_);
      }
      Copy(part, At(to, start));
      start[axis_] += part.extents[axis_];
    }
    return absl::OkStatus();
  }

 private:
  const std::vector<int> places_;
  const int64_t axis_;
};

int64_t CeilDiv(int64_t a, int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

class PadKernel final : public Kernel {
 public:
  PadKernel(const Node& node, std::vector<int> places)
      : places_(std::move(places)),
        low_(node.attr("low").AsInts()),
        interior_(node.attr("interior").AsInts()) {}
  std::string_view name() const override { return "pad"; }

  absl::Status Run(const KernelCall& call) const override {
    const View& from = call.operands[places_[0]];
    const View& value = call.operands[places_[1]];
    const View& to = call.results[0];
    const Extents broadcast(to.rank(), 0);
    CopyStrided(to.dtype, to.extents, value.data, broadcast, to.data, to.strides);
    Extents first(to.rank()), start(to.rank()), extents(to.rank()), strides(to.rank());
    for (int axis = 0; axis < to.rank(); ++axis) {
      const int64_t step = interior_[axis] + 1;
      // The operand elements that land inside.
      first[axis] = std::clamp<int64_t>(CeilDiv(-low_[axis], step), 0, from.extents[axis]);
      const int64_t last = std::clamp<int64_t>(CeilDiv(to.extents[axis] - low_[axis], step),
                                               first[axis], from.extents[axis]);
      extents[axis] = last - first[axis];
      start[axis] = low_[axis] + first[axis] * step;
      strides[axis] = to.strides[axis] * step;
    }
    if (NumElements(extents) == 0) return absl::OkStatus();
    CopyStrided(to.dtype, extents, At(from, first).data, from.strides, At(to, start).data, strides);
    return absl::OkStatus();
  }

 private:
  const std::vector<int> places_;
  const Int64s low_;
  const Int64s interior_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MakeIota(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(new IotaKernel(request.node()));
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeDynamicSlice(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(new DynamicSliceKernel(request.InputPlaces()));
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeDynamicUpdateSlice(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(new DynamicUpdateSliceKernel(request.InputPlaces()));
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeConcatenate(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(
      new ConcatenateKernel(request.InputPlaces(), request.node().attr("axis").AsInt()));
}

absl::StatusOr<std::unique_ptr<Kernel>> MakePad(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(new PadKernel(request.node(), request.InputPlaces()));
}

}  // namespace weir::cpu
