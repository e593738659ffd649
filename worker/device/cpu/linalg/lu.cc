#include <numeric>

#include "common/base/status.h"
#include "worker/device/cpu/linalg/factorizations.h"
#include "worker/device/cpu/linalg/matrices.h"

namespace weir::cpu {
namespace {

// Writes the rows swapped at each step (pivots[k * stride]), and the order of rows that follows.
void StorePivots(const int32_t* pivots, int64_t stride, const Matrices& swapped,
                 const Matrices& order, int64_t index) {
  int32_t* to = swapped.view.as<int32_t>() + swapped.Offset(index);
  int32_t* rows = order.view.as<int32_t>() + order.Offset(index);
  for (int64_t i = 0; i < order.rows; ++i) rows[i * order.row] = static_cast<int32_t>(i);
  for (int64_t k = 0; k < swapped.rows; ++k) {
    const int32_t pivot = pivots[k * stride];
    to[k * swapped.row] = pivot;
    std::swap(rows[k * order.row], rows[pivot * order.row]);
  }
}

class LuKernel final : public Kernel {
 public:
  explicit LuKernel(Isa isa) : isa_(isa) {}

  std::string_view name() const override { return "lu"; }

  size_t ScratchBytes(absl::Span<const View> operands, absl::Span<const View>) const override {
    const Matrices in = MatricesOf(operands[0]);
    const size_t steps = std::min(in.rows, in.columns);
    if (InLanes(in.rows, in.columns)) {
      const int64_t bytes = LaneBytes(LaneLoopsFor(isa_, in.parts()), in.parts());
      return Padded(in.rows * in.columns * bytes) + Padded(steps * kMaxLanes * sizeof(int32_t));
    }
    return VisitFactored(in.view.dtype, [&]<class W>(W) {
      return BlockBytes<W>(in.rows, in.columns) + Padded(steps * sizeof(int32_t));
    });
  }

  absl::Status Run(const KernelCall& call) const override {
    const Matrices in = MatricesOf(call.operands[0]), out = MatricesOf(call.results[0]);
    const Matrices pivots = VectorsOf(call.results[1]), order = VectorsOf(call.results[2]);
    if (in.empty()) {
      for (int64_t i = 0; i < in.count(); ++i) StorePivots(nullptr, 0, pivots, order, i);
    } else if (InLanes(in.rows, in.columns)) {
      RunInLanes(in, out, pivots, order, call);
    } else {
      VisitFactored(in.view.dtype,
                    [&]<class W>(W) { RunOneByOne<W>(in, out, pivots, order, call); });
    }
    return absl::OkStatus();
  }

 private:
  void RunInLanes(const Matrices& in, const Matrices& out, const Matrices& pivots,
                  const Matrices& order, const KernelCall& call) const {
    const LaneLoops& loops = LaneLoopsFor(isa_, in.parts());
    Scratch scratch(call.scratch);
    double* a = scratch.Take<double>(in.rows * in.columns * loops.lanes * in.parts());
    int32_t* found = scratch.Take<int32_t>(pivots.rows * loops.lanes);
    for (int64_t i = 0; i < in.count(); i += loops.lanes) {
      LoadLanes(loops, in, i, a);
      loops.lu(in.rows, in.columns, a, found);
      StoreLanes(loops, a, out, i);
      for (int64_t l = 0; l < std::min<int64_t>(loops.lanes, in.count() - i); ++l) {
        StorePivots(found + l, loops.lanes, pivots, order, i + l);
      }
    }
  }

  template <class W>
  void RunOneByOne(const Matrices& in, const Matrices& out, const Matrices& pivots,
                   const Matrices& order, const KernelCall& call) const {
    Scratch scratch(call.scratch);
    const Block<W> a = TakeBlock<W>(in.rows, in.columns, &scratch);
    int32_t* found = scratch.Take<int32_t>(pivots.rows);
    for (int64_t i = 0; i < in.count(); ++i) {
      Load(in, i, a);
      FactorLoopsFor<W>(isa_).lu(a, found);
      Store(a, out, i);
      StorePivots(found, 1, pivots, order, i);
    }
  }

  const Isa isa_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MakeLu(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(new LuKernel(request.isa));
}

}  // namespace weir::cpu
