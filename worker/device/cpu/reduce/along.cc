// Kernels that go along one axis, line by line: running reductions and positions of extremes. A
// line is a chain of its own, so how many there are changes nothing.
#include <cmath>

#include "common/base/status.h"
#include "common/ops/axes.h"
#include "common/ops/reduce/accumulator.h"
#include "worker/device/cpu/reduce/reduce.h"

namespace weir::cpu {
namespace {

std::optional<Combiner> CombinerOf(std::string_view op) {
  if (op == "cumsum") return Combiner::kAdd;
  if (op == "cumprod") return Combiner::kMul;
  if (op == "cummax") return Combiner::kMax;
  if (op == "cummin") return Combiner::kMin;
  return std::nullopt;
}

// Calls visit(offset in the operand, offset in the result) for each line along `axis`. The result
// has the axis or, if `drops_axis`, lacks it.
template <class Visit>
void ForEachLine(const View& in, const View& out, int axis, bool drops_axis, Visit visit) {
  Extents lines(in.extents.begin(), in.extents.end());
  lines[axis] = 1;
  if (NumElements(lines) == 0) return;
  Extents at(lines.size(), 0);
  do {
    int64_t from = 0, to = 0;
    for (int a = 0; a < in.rank(); ++a) {
      if (a == axis) continue;
      from += at[a] * in.strides[a];
      to += at[a] * out.strides[drops_axis && a > axis ? a - 1 : a];
    }
    visit(from, to);
  } while (NextIndex(lines, &at));
}

class CumulativeKernel final : public Kernel {
 public:
  CumulativeKernel(const Node& node, Combiner combiner)
      : op_(node.op),
        combiner_(combiner),
        axis_(static_cast<int>(node.attr("axis").AsInt())),
        reverse_(node.attr("reverse").AsBool()),
        exclusive_(node.attr("exclusive").AsBool()) {}
  std::string_view name() const override { return op_; }

  absl::Status Run(const KernelCall& call) const override {
    const View& in = call.operands[0];
    const View& out = call.results[0];
    VisitCombiner(combiner_, [&](auto tag) {
      VisitDType(in.dtype, [&]<class T>(TypeTag<T>) { RunAs<decltype(tag)::value, T>(in, out); });
    });
    return absl::OkStatus();
  }

 private:
  template <Combiner combiner, class T>
  void RunAs(const View& in, const View& out) const {
    const int64_t extent = in.extents[axis_];
    const int64_t first = reverse_ ? extent - 1 : 0;
    const int64_t step = reverse_ ? -1 : 1;
    ForEachLine(in, out, axis_, /*drops_axis=*/false, [&](int64_t from, int64_t to) {
      Accumulator<T> sum = Identity<combiner, Accumulator<T>>();
      for (int64_t i = 0, at = first; i < extent; ++i, at += step) {
        const T element = in.as<const T>()[from + at * in.strides[axis_]];
        const auto next = Combine<combiner, Accumulator<T>>(sum, ToAccumulator(element));
        out.as<T>()[to + at * out.strides[axis_]] = FromAccumulator<T>(exclusive_ ? sum : next);
        sum = next;
      }
    });
  }

  const std::string op_;
  const Combiner combiner_;
  const int axis_;
  const bool reverse_, exclusive_;
};

enum class Extremum { kMax, kMin };

template <class T>
bool Beats(T value, T held, Extremum which) {
  if constexpr (kIsHalf<T>) {
    return Beats(static_cast<float>(value), static_cast<float>(held), which);
  } else {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(held)) return false;
      if (std::isnan(value)) return true;
    }
    return which == Extremum::kMax ? value > held : value < held;
  }
}

class ExtremumKernel final : public Kernel {
 public:
  ExtremumKernel(const Node& node, Extremum which)
      : op_(node.op), which_(which), axis_(static_cast<int>(node.attr("axis").AsInt())) {}
  std::string_view name() const override { return op_; }

  absl::Status Run(const KernelCall& call) const override {
    const View& in = call.operands[0];
    const View& out = call.results[0];
    const int64_t extent = in.extents[axis_];
    if (NumElements(out.extents) == 0) return absl::OkStatus();
    if (extent == 0) {
      return InvalidArgument("axis ", axis_, " of operand 0 ", ExtentsToString(in.extents),
                             " has no elements");
    }
    VisitDType(in.dtype, [&]<class T>(TypeTag<T>) {
      if constexpr (!kIsComplex<T>) {
        ForEachLine(in, out, axis_, /*drops_axis=*/true, [&](int64_t from, int64_t to) {
          const T* line = in.as<const T>() + from;
          int64_t best = 0;
          for (int64_t i = 1; i < extent; ++i) {
            const int64_t stride = in.strides[axis_];
            if (Beats(line[i * stride], line[best * stride], which_)) best = i;
          }
          if (out.dtype == DType::kI32) {
            out.as<int32_t>()[to] = static_cast<int32_t>(best);
          } else {
            out.as<int64_t>()[to] = best;
          }
        });
      }
    });
    return absl::OkStatus();
  }

 private:
  const std::string op_;
  const Extremum which_;
  const int axis_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MakeCumulative(const KernelRequest& request) {
  const std::optional<Combiner> combiner = CombinerOf(request.node().op);
  if (!combiner.has_value()) return absl::UnimplementedError("no running reduction");
  return std::unique_ptr<Kernel>(new CumulativeKernel(request.node(), *combiner));
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeExtremum(const KernelRequest& request) {
  const Extremum which = request.node().op == "argmax" ? Extremum::kMax : Extremum::kMin;
  return std::unique_ptr<Kernel>(new ExtremumKernel(request.node(), which));
}

}  // namespace weir::cpu
