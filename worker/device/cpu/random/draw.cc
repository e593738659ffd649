#include "worker/device/cpu/random/draw.h"

#include <string>

#include "common/base/status.h"
#include "common/ops/axes.h"
#include "common/ops/random/random.h"
#include "common/tensor/copy.h"
#include "worker/device/cpu/scratch.h"

namespace weir::cpu {
namespace {

random::FillFn FindFill(std::string_view op, DType dtype) {
  if (op == "rng_bits") return random::FindBits(dtype);
  if (op == "rng_uniform") return random::FindUniform(dtype);
  if (op == "rng_normal") return random::FindNormal(dtype);
  return nullptr;
}

class DrawKernel final : public Kernel {
 public:
  DrawKernel(const Node& node, random::FillFn fill)
      : op_(node.op),
        fill_(fill),
        draw_key_(random::DrawKey(node.attr("seed").AsInt(), node.attr("draw").AsInt())) {}
  std::string_view name() const override { return op_; }

  size_t ScratchBytes(absl::Span<const View> operands,
                      absl::Span<const View> results) const override {
    const View& out = results[0];
    return Padded(NumElements(out.extents.subspan(operands[0].rank())) * SizeOf(out.dtype));
  }

  absl::Status Run(const KernelCall& call) const override {
    const View& keys = call.operands[0];
    const View& out = call.results[0];
    if (NumElements(out.extents) == 0) return absl::OkStatus();
    const absl::Span<const int64_t> extents = out.extents.subspan(keys.rank());
    const absl::Span<const int64_t> strides = out.strides.subspan(keys.rank());
    const int64_t count = NumElements(extents);
    const Extents dense = RowMajorStrides(extents);
    const bool in_place = absl::MakeConstSpan(dense) == strides;
    std::byte* row = Scratch(call.scratch).Take<std::byte>(count * SizeOf(out.dtype));
    Extents at(keys.rank(), 0);
    do {
      int64_t key = 0, offset = 0;
      for (int axis = 0; axis < keys.rank(); ++axis) {
        key += at[axis] * keys.strides[axis];
        offset += at[axis] * out.strides[axis];
      }
      std::byte* to = out.as<std::byte>() + offset * SizeOf(out.dtype);
      fill_(draw_key_, keys.as<const uint64_t>()[key], count, in_place ? to : row);
      if (!in_place) CopyStrided(out.dtype, extents, row, dense, to, strides);
    } while (NextIndex(keys.extents, &at));
    return absl::OkStatus();
  }

 private:
  const std::string op_;
  const random::FillFn fill_;
  const uint64_t draw_key_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MakeDraw(const KernelRequest& request) {
  const DType dtype = request.result_type(0).dtype;
  const random::FillFn fill = FindFill(request.node().op, dtype);
  if (fill == nullptr) {
    return absl::UnimplementedError(StrCat("does not draw ", DTypeName(dtype)));
  }
  return std::unique_ptr<Kernel>(new DrawKernel(request.node(), fill));
}

}  // namespace weir::cpu
