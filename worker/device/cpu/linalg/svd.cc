#include "worker/device/cpu/factor/spectra.h"
#include "worker/device/cpu/linalg/factorizations.h"
#include "worker/device/cpu/linalg/matrices.h"

namespace weir::cpu {
namespace {

class SvdKernel final : public Kernel {
 public:
  std::string_view name() const override { return "svd"; }
  bool allocates_per_call() const override { return true; }

  size_t ScratchBytes(absl::Span<const View> operands,
                      absl::Span<const View> results) const override {
    const Matrices in = MatricesOf(operands[0]);
    const Vectors wanted = VectorsIn(results);
    return VisitFactored(in.view.dtype, [&]<class W>(W) {
      return BlockBytes<W>(in.rows, in.columns) +
             BlockBytes<double>(std::min(in.rows, in.columns), 1) +
             BlockBytes<W>(in.rows, wanted.left) + BlockBytes<W>(wanted.right, in.columns);
    });
  }

  absl::Status Run(const KernelCall& call) const override {
    const Matrices in = MatricesOf(call.operands[0]);
    VisitFactored(in.view.dtype, [&]<class W>(W) { RunOneByOne<W>(in, call); });
    return absl::OkStatus();
  }

 private:
  // How many singular vectors are wanted of each kind.
  struct Vectors {
    int64_t left = 0;
    int64_t right = 0;
  };

  static Vectors VectorsIn(absl::Span<const View> results) {
    if (results.size() == 1) return {};
    return {MatricesOf(results[1]).columns, MatricesOf(results[2]).rows};
  }

  template <class W>
  static void RunOneByOne(const Matrices& in, const KernelCall& call) {
    const Vectors wanted = VectorsIn(call.results);
    Scratch scratch(call.scratch);
    const Block<W> a = TakeBlock<W>(in.rows, in.columns, &scratch);
    const Block<double> s = TakeBlock<double>(std::min(in.rows, in.columns), 1, &scratch);
    const Block<W> u = TakeBlock<W>(in.rows, wanted.left, &scratch);
    const Block<W> vh = TakeBlock<W>(wanted.right, in.columns, &scratch);
    for (int64_t i = 0; i < in.count(); ++i) {
      Load(in, i, a);
      if (in.empty()) {
        FillWithIdentity(u);
        FillWithIdentity(vh);
      } else if (!avx2::Svd<W>(a, s, u, vh)) {
        FillWithNan(s);
        FillWithNan(u);
        FillWithNan(vh);
      }
      Store(s, VectorsOf(call.results[0]), i);
      if (call.results.size() == 1) continue;
      Store(u, MatricesOf(call.results[1]), i);
      Store(vh, MatricesOf(call.results[2]), i);
    }
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MakeSvd(const KernelRequest& request) {
  if (request.isa == Isa::kBaseline) return OnlyForAvx2();
  return std::unique_ptr<Kernel>(new SvdKernel());
}

}  // namespace weir::cpu
