#include "worker/device/cpu/fft/fft.h"

#include <string>
#include <type_traits>

#include "common/base/status.h"
#include "common/ops/axes.h"
#include "common/tensor/copy.h"
#include "worker/device/cpu/fft/line_loops.h"
#include "worker/device/cpu/fft/line_plans.h"
#include "worker/device/cpu/scratch.h"

namespace weir::cpu {
namespace {

constexpr int64_t kLongest = int64_t{1} << 31;
// Lines are transformed side by side where they take no more than this, a part of a cache.
constexpr int64_t kMostSideBySide = int64_t{16} << 10;

Transformation ParseKind(const std::string& name) {
  if (name == "FFT") return Transformation::kForward;
  if (name == "IFFT") return Transformation::kInverse;
  return name == "RFFT" ? Transformation::kRealToHalf : Transformation::kHalfToReal;
}

int64_t PartsOf(const View& view) { return IsComplex(view.dtype) ? 2 : 1; }

int64_t OffsetOf(const View& view, const Extents& at) {
  int64_t offset = 0;
  for (int axis = 0; axis < view.rank(); ++axis) offset += at[axis] * view.strides[axis];
  return offset * PartsOf(view);
}

// Two buffers of scratch memory.
template <class T>
struct Buffers {
  T* a;
  T* b;
  T* Other(const T* one) const { return one == a ? b : a; }
};

// All lines along one axis.
template <class T>
class AxisRun {
 public:
  AxisRun(const LineLoops<T>& loops, const LinePlan<T>& plan, const Buffers<T>& buffers)
      : loops_(loops), plan_(plan), buffers_(buffers) {}

  // `to` may be `from`.
  void Run(const View& from, const View& to, int axis) const {
    Lines<const T> in = PiecesOf<const T>(from, axis);
    Lines<T> out = PiecesOf<T>(to, axis);
    Extents lines(to.extents.begin(), to.extents.end());
    lines[axis] = 1;
    Extents at(lines.size(), 0);
    bool more = true;
    while (more) {
      int count = 0;
      for (; count < loops_.lanes && more; ++count) {
        in.offsets[count] = OffsetOf(from, at);
        out.offsets[count] = OffsetOf(to, at);
        more = NextIndex(lines, &at);
      }
      for (int l = count; l < loops_.lanes; ++l) in.offsets[l] = in.offsets[0];
      in.count = out.count = count;
      RunLines(in, out);
    }
  }

 private:
  // The numbers along an axis: of a packed line pairs of real ones.
  template <class U>
  Lines<U> PiecesOf(const View& view, int axis) const {
    Lines<U> lines;
    const int64_t stride = view.strides[axis] * PartsOf(view);
    lines.data = view.as<U>();
    lines.step = stride;
    if (PartsOf(view) == 2) {
      lines.imaginary = 1;
    } else if (plan_.packed) {
      lines.step = 2 * stride;
      lines.imaginary = stride;
    }
    return lines;
  }

  // Real and imaginary parts in each other's place.
  template <class U>
  static Lines<U> Swapped(Lines<U> lines) {
    lines.data += lines.imaginary;
    lines.imaginary = -lines.imaginary;
    return lines;
  }

  void RunLines(const Lines<const T>& in, const Lines<T>& out) const {
    const int64_t n = plan_.length, h = plan_.half();
    T* const a = buffers_.a;
    T* const b = buffers_.b;
    switch (plan_.transformation) {
      case Transformation::kForward:
        loops_.load(in, n, a);
        return loops_.store(loops_.transform(plan_.plan, a, b), n, out);
      case Transformation::kInverse:
        // The inverse transform is the transform of what has its parts swapped, swapped back.
        loops_.load(Swapped(in), n, a);
        return StoreInverse(loops_.transform(plan_.plan, a, b), n, Swapped(out));
      case Transformation::kRealToHalf:
        loops_.load(in, plan_.packed ? h : n, a);
        return StoreHalf(loops_.transform(plan_.plan, a, b), out);
      case Transformation::kHalfToReal:
        loops_.load(in, h + 1, a);
        plan_.packed ? loops_.join(a, h, plan_.roots.data(), b) : loops_.unfold(a, n, b);
        return StoreReal(loops_.transform(plan_.plan, b, a), out);
    }
  }

  void StoreHalf(T* found, const Lines<T>& out) const {
    if (plan_.packed) {
      T* separated = buffers_.Other(found);
      loops_.separate(found, plan_.half(), plan_.roots.data(), separated);
      found = separated;
    }
    loops_.store(found, plan_.half() + 1, out);
  }

  // What `found` holds is swapped.
  void StoreReal(T* found, const Lines<T>& out) const {
    if (plan_.packed) return StoreInverse(found, plan_.half(), Swapped(out));
    // The real line is in the imaginary parts, which begin one vector further.
    Lines<T> real = out;
    real.imaginary = 0;
    loops_.divide(found, plan_.length, static_cast<T>(plan_.length));
    loops_.store(found + loops_.lanes, plan_.length, real);
  }

  void StoreInverse(T* found, int64_t numbers, const Lines<T>& out) const {
    loops_.divide(found, numbers, static_cast<T>(numbers));
    loops_.store(found, numbers, out);
  }

  const LineLoops<T>& loops_;
  const LinePlan<T>& plan_;
  const Buffers<T> buffers_;
};

template <class T>
class FftKernel final : public Kernel {
 public:
  explicit FftKernel(const KernelRequest& request)
      : kind_(ParseKind(request.node().attr("fft_type").AsString())),
        lengths_(request.node().attr("fft_length").AsDims()),
        side_by_side_(LineLoopsFor<T>(request.isa)),
        one_(OneLineLoopsFor<T>(request.isa)) {}

  std::string_view name() const override { return "fft"; }

  size_t ScratchBytes(absl::Span<const View> operands,
                      absl::Span<const View> results) const override {
    if (NumElements(results[0].extents) == 0) return 0;
    return 2 * Padded(BufferReals(operands[0], results[0]) * sizeof(T)) + CopyBytes(operands[0]);
  }

  absl::Status Run(const KernelCall& call) const override {
    const View& in = call.operands[0];
    const View& out = call.results[0];
    WEIR_RETURN_IF_ERROR(CheckLengths(call));
    if (NumElements(out.extents) == 0) return absl::OkStatus();
    Scratch scratch(call.scratch);
    const int64_t reals = BufferReals(in, out);
    T* a = scratch.Take<T>(reals);
    const Buffers<T> buffers = {a, scratch.Take<T>(reals)};
    if (kind_ != Transformation::kHalfToReal) {
      RunAxis(count() - 1, in, out, buffers);
      for (int i = count() - 1; i-- > 0;) RunAxis(i, out, out, buffers);
      return absl::OkStatus();
    }
    if (count() == 1) {
      RunAxis(0, in, out, buffers);
      return absl::OkStatus();
    }
    const Extents strides = RowMajorStrides(in.extents);
    const View copy = {scratch.Take<std::complex<T>>(NumElements(in.extents)), in.dtype, in.extents,
                       strides};
    CopyStrided(in.dtype, in.extents, in.data, in.strides, copy.data, strides);
    for (int i = count() - 1; i-- > 0;) RunAxis(i, copy, copy, buffers);
    RunAxis(count() - 1, copy, out, buffers);
    return absl::OkStatus();
  }

 private:
  int count() const { return static_cast<int>(lengths_.size()); }
  // Long lines one after the other.
  const LineLoops<T>& LoopsFor(const LinePlan<T>& plan) const {
    const int64_t bytes =
        plan.numbers() * 2 * side_by_side_.lanes * static_cast<int64_t>(sizeof(T));
    const bool real = plan.transformation == Transformation::kRealToHalf ||
                      plan.transformation == Transformation::kHalfToReal;
    const bool alone = bytes > kMostSideBySide && plan.packed == real && one_.fits(plan.plan);
    return alone ? one_ : side_by_side_;
  }
  // The largest that an axis needs.
  int64_t BufferReals(const View& in, const View& out) const {
    int64_t reals = 0;
    for (int i = 0; i < count(); ++i) {
      const auto plan = PlanFor(i, in, out);
      reals = std::max(reals, plan->numbers() * 2 * LoopsFor(*plan).lanes);
    }
    return reals;
  }
  // Real lines come last, so that what is before them needs a place of its own.
  size_t CopyBytes(const View& in) const {
    if (kind_ != Transformation::kHalfToReal || count() == 1) return 0;
    return Padded(NumElements(in.extents) * sizeof(std::complex<T>));
  }
  int AxisOf(int i, const View& view) const { return view.rank() - count() + i; }

  Transformation TransformationOf(int i) const {
    if (i == count() - 1) return kind_;
    const bool inverse = kind_ == Transformation::kInverse || kind_ == Transformation::kHalfToReal;
    return inverse ? Transformation::kInverse : Transformation::kForward;
  }

  std::shared_ptr<const LinePlan<T>> PlanFor(int i, const View& in, const View& out) const {
    const Transformation transformation = TransformationOf(i);
    const View& whole = transformation == Transformation::kHalfToReal ? out : in;
    return plans_.Get(transformation, whole.extents[AxisOf(i, whole)]);
  }

  // `from` and `to` are the operand and the result, or stand for them.
  void RunAxis(int i, const View& from, const View& to, const Buffers<T>& buffers) const {
    const auto plan = PlanFor(i, from, to);
    AxisRun<T>(LoopsFor(*plan), *plan, buffers).Run(from, to, AxisOf(i, to));
  }

  // What types with unknown dimensions leave open.
  absl::Status CheckLengths(const KernelCall& call) const {
    static const SymbolBindings none;
    const SymbolBindings& symbols = call.symbols == nullptr ? none : *call.symbols;
    const View& in = call.operands[0];
    Extents lengths;
    bool fits = true;
    for (int i = 0; i < count(); ++i) {
      WEIR_ASSIGN_OR_RETURN(const int64_t length, lengths_[i].Evaluate(symbols));
      const bool half = TransformationOf(i) == Transformation::kHalfToReal;
      const int64_t stored = half ? std::min(length, length / 2 + 1) : length;
      fits &= in.extents[AxisOf(i, in)] == stored && length >= 0 && length < kLongest;
      lengths.push_back(length);
    }
    if (fits) return absl::OkStatus();
    return InvalidArgument("operand 0 ", ExtentsToString(in.extents),
                           " does not fit to fft_length ", ExtentsToString(lengths));
  }

  const Transformation kind_;
  const std::vector<Dim> lengths_;
  const LineLoops<T>& side_by_side_;
  const LineLoops<T>& one_;
  mutable LinePlans<T> plans_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MakeFft(const KernelRequest& request) {
  const DType dtype = request.operand_type(0).dtype;
  if (dtype == DType::kF32 || dtype == DType::kC64) {
    return std::unique_ptr<Kernel>(new FftKernel<float>(request));
  }
  return std::unique_ptr<Kernel>(new FftKernel<double>(request));
}

}  // namespace weir::cpu
