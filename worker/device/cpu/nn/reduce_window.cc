#include "worker/device/cpu/nn/reduce_window.h"

#include <algorithm>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/ops/nn/window.h"
#include "worker/device/cpu/contraction/window_tables.h"
#include "worker/device/cpu/reduce/fold.h"
#include "worker/device/cpu/scratch.h"

namespace weir::cpu {
namespace {

constexpr WindowAttrs kWindow = {.base_dilations = "base_dilations",
                                 .window_dilations = "window_dilations"};

std::optional<Combiner> CombinerOf(std::string_view kind) {
  if (kind == "sum") return Combiner::kAdd;
  if (kind == "prod") return Combiner::kMul;
  if (kind == "max") return Combiner::kMax;
  if (kind == "min") return Combiner::kMin;
  return std::nullopt;
}

bool LeavesAlone(const WindowAxis& axis, int64_t window) {
  return window == 1 && axis.stride == 1 && axis.padding_low == 0 && axis.padding_high == 0 &&
         axis.base_dilation == 1;
}

class ReduceWindowKernel final : public Kernel {
 public:
  ReduceWindowKernel(const Node& node, FoldLoop fold)
      : name_("reduce_window(" + node.attr("kind").AsString() + ")"), fold_(fold) {
    const std::vector<WindowAxis> window = WindowOf(node, kWindow);
    const Int64s& extents = node.attr("window_dimensions").AsInts();
    for (int axis = 0; axis < static_cast<int>(window.size()); ++axis) {
      if (LeavesAlone(window[axis], extents[axis])) {
        free_.push_back(axis);
      } else {
        windowed_.push_back(axis);
        windows_.push_back(window[axis]);
        window_extents_.push_back(extents[axis]);
      }
    }
  }

  std::string_view name() const override { return name_; }

  AxisOrder ResultOrder(absl::Span<const View> operands, absl::Span<const View>,
                        int) const override {
    return OrderOf(operands[0]);
  }

  size_t ScratchBytes(absl::Span<const View>, absl::Span<const View> results) const override {
    size_t bytes = 0;
    for (int axis : windowed_) bytes += Padded(results[0].extents[axis] * sizeof(Seen));
    return bytes;
  }

  absl::Status Run(const KernelCall& call) const override {
    const View& in = call.operands[0];
    const View& out = call.results[0];
    if (NumElements(out.extents) == 0) return absl::OkStatus();
    Scratch scratch(call.scratch);
    Walk walk{in, out, SizeOf(in.dtype)};
    for (size_t w = 0; w < windowed_.size(); ++w) {
      const int axis = windowed_[w];
      const WindowAxis& window = windows_[w];
      const WindowSpan span{in.extents[axis],      out.extents[axis],  window_extents_[w],
                            window.stride,         window.padding_low, window.base_dilation,
                            window.window_dilation};
      Seen* seen = scratch.Take<Seen>(span.out);
      walk.input_steps.push_back(FillSeen(span, seen));
      walk.seen.push_back(seen);
    }
    walk.folded.resize(std::max<size_t>(windowed_.size(), 1));
    // Results side by side: along the free axis that lies closest in the operand.
    std::vector<int>::const_iterator inner = free_.end();
    for (auto axis = free_.begin(); axis != free_.end(); ++axis) {
      if (in.extents[*axis] == 1) continue;
      if (inner == free_.end() || std::abs(in.strides[*axis]) <= std::abs(in.strides[*inner])) {
        inner = axis;
      }
    }
    if (inner != free_.end()) {
      walk.args.count = in.extents[*inner];
      walk.args.in_stride = in.strides[*inner];
      walk.args.out_stride = out.strides[*inner];
    }
    for (auto axis = free_.begin(); axis != free_.end(); ++axis) {
      if (axis != inner && in.extents[*axis] != 1) walk.free.push_back(*axis);
    }
    AlongFree(&walk, 0, in.as<const std::byte>(), out.as<std::byte>());
    return absl::OkStatus();
  }

 private:
  struct Walk {
    const View& in;
    const View& out;
    int64_t bytes;
    absl::InlinedVector<const Seen*, 6> seen = {};
    absl::InlinedVector<int64_t, 6> input_steps = {};
    absl::InlinedVector<int, 6> free = {};
    absl::InlinedVector<FoldAxis, 6> folded = {};
    FoldArgs args = {};
  };

  void AlongFree(Walk* walk, size_t i, const std::byte* in, std::byte* out) const {
    if (i == walk->free.size()) return AlongWindowed(walk, 0, in, out);
    const int axis = walk->free[i];
    for (int64_t k = 0; k < walk->in.extents[axis]; ++k) {
      AlongFree(walk, i + 1, in + k * walk->in.strides[axis] * walk->bytes,
                out + k * walk->out.strides[axis] * walk->bytes);
    }
  }

  void AlongWindowed(Walk* walk, size_t w, const std::byte* in, std::byte* out) const {
    if (w == windowed_.size()) {
      walk->args.axes = walk->folded;
      walk->args.in = in;
      walk->args.out = out;
      return fold_(walk->args);
    }
    const int axis = windowed_[w];
    for (int64_t k = 0; k < walk->out.extents[axis]; ++k) {
      const Seen& seen = walk->seen[w][k];
      walk->folded[w] = {seen.count, walk->input_steps[w] * walk->in.strides[axis]};
      AlongWindowed(walk, w + 1, in + seen.first_input * walk->in.strides[axis] * walk->bytes,
                    out + k * walk->out.strides[axis] * walk->bytes);
    }
  }

  const std::string name_;
  const FoldLoop fold_;
  std::vector<int> free_;      // axes that the window leaves alone
  std::vector<int> windowed_;  // the others
  std::vector<WindowAxis> windows_;
  Int64s window_extents_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MakeReduceWindow(const KernelRequest& request) {
  const Node& node = request.node();
  const std::optional<Combiner> combiner = CombinerOf(node.attr("kind").AsString());
  const DType dtype = request.operand_type(0).dtype;
  const FoldLoop fold = combiner.has_value()
                            ? FindFoldLoop(*combiner, FoldOrder::kChain, dtype, request.isa)
                            : nullptr;
  if (fold == nullptr) {
    return absl::UnimplementedError(StrCat("no loop for ", DTypeName(dtype)));
  }
  return std::unique_ptr<Kernel>(new ReduceWindowKernel(node, fold));
}

}  // namespace weir::cpu
