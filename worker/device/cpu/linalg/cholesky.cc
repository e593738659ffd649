#include "common/base/status.h"
#include "worker/device/cpu/linalg/factorizations.h"
#include "worker/device/cpu/linalg/matrices.h"

namespace weir::cpu {
namespace {

template <class W>
void FactorBlock(const FactorLoops<W>& loops, const Block<W>& a) {
  const bool positive = loops.cholesky(a);
  for (int64_t j = 0; j < a.columns; ++j) {
    W* column = a.data + j * a.stride;
    std::fill_n(column, j, W(0));
    if (!positive) std::fill_n(column + j, a.rows - j, W(std::numeric_limits<double>::quiet_NaN()));
  }
}

class CholeskyKernel final : public Kernel {
 public:
  explicit CholeskyKernel(const KernelRequest& request)
      : lower_(request.node().attr("lower").AsBool()), isa_(request.isa) {}

  std::string_view name() const override { return "cholesky"; }

  size_t ScratchBytes(absl::Span<const View> operands, absl::Span<const View>) const override {
    const Matrices in = MatricesOf(operands[0]);
    if (InLanes(in.rows, in.columns)) {
      return in.rows * in.columns * LaneBytes(LaneLoopsFor(isa_, in.parts()), in.parts());
    }
    return VisitFactored(in.view.dtype,
                         [&]<class W>(W) { return BlockBytes<W>(in.rows, in.columns); });
  }

  absl::Status Run(const KernelCall& call) const override {
    WEIR_RETURN_IF_ERROR(CheckSquare(call.operands[0]));
    // u^H u is the matrix where l l^H is its adjoint.
    const Matrices in = Form(call.operands[0]), out = Form(call.results[0]);
    if (in.empty()) return absl::OkStatus();
    Scratch scratch(call.scratch);
    if (InLanes(in.rows, in.columns)) {
      const LaneLoops& loops = LaneLoopsFor(isa_, in.parts());
      double* a = reinterpret_cast<double*>(call.scratch.data());
      for (int64_t i = 0; i < in.count(); i += loops.lanes) {
        LoadLanes(loops, in, i, a);
        loops.cholesky(in.rows, a);
        StoreLanes(loops, a, out, i);
      }
      return absl::OkStatus();
    }
    VisitFactored(in.view.dtype, [&]<class W>(W) {
      const Block<W> a = TakeBlock<W>(in.rows, in.columns, &scratch);
      for (int64_t i = 0; i < in.count(); ++i) {
        Load(in, i, a);
        FactorBlock(FactorLoopsFor<W>(isa_), a);
        Store(a, out, i);
      }
    });
    return absl::OkStatus();
  }

 private:
  Matrices Form(const View& view) const {
    return lower_ ? MatricesOf(view) : MatricesOf(view).Adjoint();
  }

  const bool lower_;
  const Isa isa_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MakeCholesky(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(new CholeskyKernel(request));
}

}  // namespace weir::cpu
