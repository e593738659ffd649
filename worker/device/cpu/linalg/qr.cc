#include "worker/device/cpu/linalg/factorizations.h"
#include "worker/device/cpu/linalg/matrices.h"

namespace weir::cpu {
namespace {

class QrKernel final : public Kernel {
 public:
  explicit QrKernel(Isa isa) : isa_(isa) {}

  std::string_view name() const override { return "qr"; }
  bool allocates_per_call() const override { return true; }

  size_t ScratchBytes(absl::Span<const View> operands,
                      absl::Span<const View> results) const override {
    const Matrices in = MatricesOf(operands[0]), q = MatricesOf(results[0]);
    if (GoesInLanes(in, q)) {
      const int64_t bytes = LaneBytes(LaneLoopsFor(isa_, in.parts()), in.parts());
      return (in.rows * in.columns + q.rows * q.columns + in.rows) * bytes;
    }
    return VisitFactored(in.view.dtype, [&]<class W>(W) {
      return BlockBytes<W>(in.rows, in.columns) + BlockBytes<W>(q.rows, q.columns);
    });
  }

  absl::Status Run(const KernelCall& call) const override {
    const Matrices in = MatricesOf(call.operands[0]);
    const Matrices q = MatricesOf(call.results[0]), r = MatricesOf(call.results[1]);
    if (GoesInLanes(in, q)) {
      RunInLanes(in, q, r, call);
    } else {
      VisitFactored(in.view.dtype, [&]<class W>(W) { RunOneByOne<W>(in, q, r, call); });
    }
    return absl::OkStatus();
  }

 private:
  static bool GoesInLanes(const Matrices& in, const Matrices& q) {
    return !in.empty() && InLanes(in.rows, in.columns) && InLanes(q.rows, q.columns);
  }

  void RunInLanes(const Matrices& in, const Matrices& q, const Matrices& r,
                  const KernelCall& call) const {
    const LaneLoops& loops = LaneLoopsFor(isa_, in.parts());
    const int64_t width = loops.lanes * in.parts();
    double* right = reinterpret_cast<double*>(call.scratch.data());
    double* left = right + in.rows * in.columns * width;
    double* work = left + q.rows * q.columns * width;
    for (int64_t i = 0; i < in.count(); i += loops.lanes) {
      LoadLanes(loops, in, i, right);
      loops.qr(in.rows, in.columns, q.columns, right, left, work);
      StoreLanes(loops, left, q, i);
      StoreLanes(loops, right, r, i);
    }
  }

  template <class W>
  void RunOneByOne(const Matrices& in, const Matrices& q, const Matrices& r,
                   const KernelCall& call) const {
    Scratch scratch(call.scratch);
    const Block<W> right = TakeBlock<W>(in.rows, in.columns, &scratch);
    const Block<W> left = TakeBlock<W>(q.rows, q.columns, &scratch);
    for (int64_t i = 0; i < in.count(); ++i) {
      Load(in, i, right);
      if (in.empty()) {
        FillWithIdentity(left);
      } else {
        FactorLoopsFor<W>(isa_).qr(right, left);
      }
      for (int64_t j = 0; j < right.columns; ++j) {
        for (int64_t row = j + 1; row < right.rows; ++row) right(row, j) = 0;
      }
      Store(left, q, i);
      Store(Block<W>{right.data, r.rows, r.columns, right.stride}, r, i);
    }
  }

  const Isa isa_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MakeQr(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(new QrKernel(request.isa));
}

}  // namespace weir::cpu
