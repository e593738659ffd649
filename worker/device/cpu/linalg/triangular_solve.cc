#include "common/base/status.h"
#include "worker/device/cpu/linalg/factorizations.h"
#include "worker/device/cpu/linalg/matrices.h"

namespace weir::cpu {
namespace {

class TriangularSolveKernel final : public Kernel {
 public:
  explicit TriangularSolveKernel(const KernelRequest& request)
      : left_side_(request.node().attr("left_side").AsBool()),
        form_(request.node().attr("transpose_a").AsString()),
        diagonal_(request.node().attr("unit_diagonal").AsBool() ? Diagonal::kOnes
                                                                : Diagonal::kStored),
        isa_(request.isa),
        places_(request.InputPlaces()) {
    const bool lower = request.node().attr("lower").AsBool() != Transposes();
    triangle_ = lower ? Triangle::kLower : Triangle::kUpper;
  }

  std::string_view name() const override { return "triangular_solve"; }

  size_t ScratchBytes(absl::Span<const View> operands, absl::Span<const View>) const override {
    const Matrices a = Factor(operands[places_[0]]);
    const Matrices b = Sides(operands[places_[1]]);
    if (InLanes(a.rows, a.columns)) {
      const int64_t bytes = LaneBytes(LaneLoopsFor(isa_, a.parts()), a.parts());
      return (a.rows * a.columns + b.rows * b.columns) * bytes;
    }
    return VisitFactored(a.view.dtype, [&]<class W>(W) {
      return BlockBytes<W>(a.rows, a.columns) + BlockBytes<W>(b.rows, b.columns);
    });
  }

  absl::Status Run(const KernelCall& call) const override {
    const View& factors = call.operands[places_[0]];
    const View& right = call.operands[places_[1]];
    WEIR_RETURN_IF_ERROR(CheckSquare(factors));
    const Matrices a = Factor(factors), b = Sides(right), x = Sides(call.results[0]);
    const size_t lead = factors.rank() - 2;
    if (a.rows != b.rows || factors.extents.first(lead) != right.extents.first(lead)) {
      return InvalidArgument("matrices ", ExtentsToString(factors.extents),
                             " and right-hand sides ", ExtentsToString(right.extents),
                             " do not fit together");
    }
    if (b.empty()) return absl::OkStatus();
    if (InLanes(a.rows, a.columns)) {
      RunInLanes(a, b, x, call);
    } else {
      VisitFactored(a.view.dtype, [&]<class W>(W) { RunOneByOne<W>(a, b, x, call); });
    }
    return absl::OkStatus();
  }

 private:
  // x op(a) = b is op(a)^T x^T = b^T.
  bool Transposes() const { return (form_ != "NO_TRANSPOSE") == left_side_; }
  Matrices Sides(const View& view) const {
    return left_side_ ? MatricesOf(view) : MatricesOf(view).Transposed();
  }
  Matrices Factor(const View& view) const {
    Matrices a = Transposes() ? MatricesOf(view).Transposed() : MatricesOf(view);
    if (form_ == "ADJOINT" && a.parts() == 2) a.conjugate = Conjugate::kYes;
    return a;
  }

  void RunInLanes(const Matrices& a, const Matrices& b, const Matrices& x,
                  const KernelCall& call) const {
    const LaneLoops& loops = LaneLoopsFor(isa_, a.parts());
    double* factor = reinterpret_cast<double*>(call.scratch.data());
    double* sides = factor + a.rows * a.columns * loops.lanes * a.parts();
    for (int64_t i = 0; i < a.count(); i += loops.lanes) {
      LoadLanes(loops, a, i, factor);
      LoadLanes(loops, b, i, sides);
      loops.substitute(b.rows, b.columns, factor, triangle_, diagonal_, sides);
      StoreLanes(loops, sides, x, i);
    }
  }

  template <class W>
  void RunOneByOne(const Matrices& a, const Matrices& b, const Matrices& x,
                   const KernelCall& call) const {
    Scratch scratch(call.scratch);
    const Block<W> factor = TakeBlock<W>(a.rows, a.columns, &scratch);
    const Block<W> sides = TakeBlock<W>(b.rows, b.columns, &scratch);
    for (int64_t i = 0; i < a.count(); ++i) {
      Load(a, i, factor);
      Load(b, i, sides);
      FactorLoopsFor<W>(isa_).substitute(factor, triangle_, diagonal_, sides);
      Store(sides, x, i);
    }
  }

  const bool left_side_;
  const std::string form_;
  const Diagonal diagonal_;
  const Isa isa_;
  const std::vector<int> places_;
  Triangle triangle_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MakeTriangularSolve(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(new TriangularSolveKernel(request));
}

}  // namespace weir::cpu
