#include "common/base/status.h"
#include "worker/device/cpu/factor/spectra.h"
#include "worker/device/cpu/linalg/factorizations.h"
#include "worker/device/cpu/linalg/matrices.h"

namespace weir::cpu {
namespace {

using Complex = std::complex<double>;

class EigKernel final : public Kernel {
 public:
  std::string_view name() const override { return "eig"; }
  bool allocates_per_call() const override { return true; }

  size_t ScratchBytes(absl::Span<const View> operands, absl::Span<const View>) const override {
    const Matrices in = MatricesOf(operands[0]);
    return VisitFactored(in.view.dtype, [&]<class W>(W) {
      return BlockBytes<W>(in.rows, in.columns) + BlockBytes<Complex>(in.rows, 1) +
             BlockBytes<Complex>(in.rows, in.columns);
    });
  }

  absl::Status Run(const KernelCall& call) const override {
    WEIR_RETURN_IF_ERROR(CheckSquare(call.operands[0]));
    const Matrices in = MatricesOf(call.operands[0]);
    if (in.empty()) return absl::OkStatus();
    VisitFactored(in.view.dtype, [&]<class W>(W) { RunOneByOne<W>(in, call); });
    return absl::OkStatus();
  }

 private:
  template <class W>
  static void RunOneByOne(const Matrices& in, const KernelCall& call) {
    const Matrices values = VectorsOf(call.results[0]), vectors = MatricesOf(call.results[1]);
    Scratch scratch(call.scratch);
    const Block<W> a = TakeBlock<W>(in.rows, in.columns, &scratch);
    const Block<Complex> w = TakeBlock<Complex>(in.rows, 1, &scratch);
    const Block<Complex> v = TakeBlock<Complex>(in.rows, in.columns, &scratch);
    for (int64_t i = 0; i < in.count(); ++i) {
      Load(in, i, a);
      if (!avx2::Eig<W>(a, w, v)) {
        FillWithNan(w);
        FillWithNan(v);
      }
      Store(w, values, i);
      Store(v, vectors, i);
    }
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MakeEig(const KernelRequest& request) {
  if (request.isa == Isa::kBaseline) return OnlyForAvx2();
  return std::unique_ptr<Kernel>(new EigKernel());
}

}  // namespace weir::cpu
