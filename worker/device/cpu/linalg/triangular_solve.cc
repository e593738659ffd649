#include <algorithm>

#include "common/base/status.h"
#include "worker/device/cpu/factor/substitution.h"
#include "worker/device/cpu/linalg/factorizations.h"
#include "worker/device/cpu/linalg/matrices.h"

namespace weir::cpu {
namespace {

// Enough of both for blocks of rows and vectors of right-hand sides.
bool InRows(const Matrices& a, const Matrices& b) {
  return a.parts() == 1 && a.rows >= 16 && b.columns >= 8;
}

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
    if (InRows(a, b)) {
      return Padded(a.rows * a.columns * sizeof(double)) +
             Padded(b.rows * SidesStride(b.columns) * sizeof(double));
    }
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
    if (InRows(a, b)) {
      VisitReal(right.dtype, [&]<class T>(T) { RunInRows<T>(a, b, x, call); });
    } else if (InLanes(a.rows, a.columns)) {
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

  // Elements are of type T.
  template <class T>
  void RunInRows(const Matrices& a, const Matrices& b, const Matrices& x,
                 const KernelCall& call) const {
    Scratch scratch(call.scratch);
    Substitution system;
    system.rows = a.rows;
    system.columns = b.columns;
    system.diagonal = diagonal_;
    system.sides_stride = SidesStride(b.columns);
    system.factor = scratch.Take<double>(a.rows * a.columns);
    system.sides = scratch.Take<double>(b.rows * system.sides_stride);
    std::fill_n(system.sides, b.rows * system.sides_stride, 0.0);
    for (int64_t i = 0; i < a.count(); ++i) {
      LoadFactor(a, a.view.as<const T>() + a.Offset(i), system);
      const T* const in = b.view.as<const T>() + b.Offset(i);
      EachSide(b, system, [&](double& side, int64_t place) { side = in[place]; });
      Substitute(isa_, system);
      T* const out = x.view.as<T>() + x.Offset(i);
      EachSide(x, system, [&](double& side, int64_t place) { out[place] = static_cast<T>(side); });
    }
  }

  // An upper triangle is a lower one from its other end.
  template <class T>
  void LoadFactor(const Matrices& a, const T* from, const Substitution& system) const {
    const int64_t n = a.rows;
    const int64_t sign = triangle_ == Triangle::kLower ? 1 : -1;
    if (sign < 0) from += (n - 1) * (a.row + a.column);
    for (int64_t i = 0; i < n; ++i) {
      const T* const row = from + sign * i * a.row;
      double* const to = system.factor + i * n;
      for (int64_t j = 0; j < i; ++j) to[j] = -static_cast<double>(row[sign * j * a.column]);
      to[i] = row[sign * i * a.column];
    }
  }

  // Calls visitor(element of the right-hand sides, its place in `matrices`), along what is near in
  // memory.
  template <class Visitor>
  void EachSide(const Matrices& matrices, const Substitution& system, Visitor visitor) const {
    const int64_t last = matrices.rows - 1;
    const bool lower = triangle_ == Triangle::kLower;
    for (int64_t i = 0; i <= last; ++i) {
      double* const side = system.sides + i * system.sides_stride;
      const int64_t row = (lower ? i : last - i) * matrices.row;
      if (matrices.column == 1) {
        for (int64_t j = 0; j < matrices.columns; ++j) visitor(side[j], row + j);
      } else {
        for (int64_t j = 0; j < matrices.columns; ++j) {
          visitor(side[j], row + j * matrices.column);
        }
      }
    }
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
