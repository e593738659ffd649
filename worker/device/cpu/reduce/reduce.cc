#include "worker/device/cpu/reduce/reduce.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "common/base/status.h"
#include "common/ops/axes.h"
#include "worker/device/cpu/reduce/fold.h"

namespace weir::cpu {
namespace {

std::optional<Combiner> CombinerOf(std::string_view op) {
  if (op == "reduce_sum") return Combiner::kAdd;
  if (op == "reduce_prod") return Combiner::kMul;
  if (op == "reduce_max") return Combiner::kMax;
  if (op == "reduce_min") return Combiner::kMin;
  if (op == "reduce_and") return Combiner::kAnd;
  if (op == "reduce_or") return Combiner::kOr;
  return std::nullopt;
}

// A kept axis: strides in operand and result.
struct KeptAxis {
  int64_t extent = 1;
  int64_t in = 0;
  int64_t out = 0;
};

class ReduceKernel final : public Kernel {
 public:
  ReduceKernel(const Node& node, FoldLoop fold, int operand_rank)
      : op_(node.op), fold_(fold), reduced_(node.attr("axes").AsInts()) {
    // The order in which elements are folded is that of the operand's axes.
    std::sort(reduced_.begin(), reduced_.end());
    kept_ = OtherAxes(reduced_, operand_rank);
  }

  std::string_view name() const override { return op_; }

  AxisOrder ResultOrder(absl::Span<const View> operands, absl::Span<const View>,
                        int) const override {
    AxisOrder order;
    for (int axis : OrderOf(operands[0])) {
      const auto at = std::find(kept_.begin(), kept_.end(), axis);
      if (at != kept_.end()) order.push_back(static_cast<int>(at - kept_.begin()));
    }
    return order;
  }

  absl::Status Run(const KernelCall& call) const override {
    const View& in = call.operands[0];
    const View& out = call.results[0];
    if (NumElements(out.extents) == 0) return absl::OkStatus();
    absl::InlinedVector<FoldAxis, 6> folded;
    for (int64_t axis : reduced_) AddFolded({in.extents[axis], in.strides[axis]}, &folded);
    if (folded.empty()) folded.push_back({1, 0});
    absl::InlinedVector<KeptAxis, 6> kept;
    for (size_t i = 0; i < kept_.size(); ++i) {
      if (in.extents[kept_[i]] == 1) continue;
      kept.push_back({in.extents[kept_[i]], in.strides[kept_[i]], out.strides[i]});
    }
    // The loop inside runs along the kept axis that lies closest, best without gaps.
    std::sort(kept.begin(), kept.end(),
              [](const KeptAxis& a, const KeptAxis& b) { return std::abs(a.in) > std::abs(b.in); });
    FoldArgs args{.axes = folded, .in = in.data, .out = out.data};
    if (!kept.empty()) {
      args.count = kept.back().extent;
      args.in_stride = kept.back().in;
      args.out_stride = kept.back().out;
      kept.pop_back();
    }
    ForEach(kept, 0, SizeOf(in.dtype), &args);
    return absl::OkStatus();
  }

 private:
  static void AddFolded(FoldAxis axis, absl::InlinedVector<FoldAxis, 6>* axes) {
    if (axis.extent == 1) return;
    if (!axes->empty() && axes->back().stride == axis.stride * axis.extent) {
      axes->back() = {axes->back().extent * axis.extent, axis.stride};
    } else {
      axes->push_back(axis);
    }
  }

  void ForEach(absl::Span<const KeptAxis> axes, size_t axis, int64_t bytes, FoldArgs* args) const {
    if (axis == axes.size()) return fold_(*args);
    const void* in = args->in;
    void* out = args->out;
    for (int64_t i = 0; i < axes[axis].extent; ++i) {
      args->in = static_cast<const std::byte*>(in) + i * axes[axis].in * bytes;
      args->out = static_cast<std::byte*>(out) + i * axes[axis].out * bytes;
      ForEach(axes, axis + 1, bytes, args);
    }
    args->in = in;
    args->out = out;
  }

  const std::string op_;
  const FoldLoop fold_;
  Int64s reduced_, kept_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MakeReduce(const KernelRequest& request) {
  const Node& node = request.node();
  const std::optional<Combiner> combiner = CombinerOf(node.op);
  const TensorType& type = request.operand_type(0);
  const FoldLoop fold = combiner.has_value()
                            ? FindFoldLoop(*combiner, FoldOrder::kTree, type.dtype, request.isa)
                            : nullptr;
  if (fold == nullptr) {
    return absl::UnimplementedError(StrCat("no loop for ", DTypeName(type.dtype)));
  }
  return std::unique_ptr<Kernel>(new ReduceKernel(node, fold, type.rank()));
}

}  // namespace weir::cpu
