#include "worker/device/cpu/reduce/fold.h"

#include <algorithm>
#include <type_traits>

#include "common/ops/scalar/scalar.h"

namespace weir::cpu {
namespace {

constexpr int kLanes = 16;
// Results that are folded side by side.
constexpr int kBlock = 64;

template <class T>
using Folded = std::conditional_t<kIsHalf<T>, float, T>;

template <class T>
WEIR_ALWAYS_INLINE Folded<T> Load(T x) {
  return static_cast<Folded<T>>(x);
}

template <Combiner combiner, class A>
WEIR_ALWAYS_INLINE A Join(A a, A b) {
  if constexpr (combiner == Combiner::kMax) {
    return scalar::Maximum(a, b);
  } else if constexpr (combiner == Combiner::kMin) {
    return scalar::Minimum(a, b);
  } else if constexpr (std::is_same_v<A, bool>) {
    return combiner == Combiner::kOr ? a | b : a & b;
  } else if constexpr (combiner == Combiner::kAnd) {
    return a & b;
  } else if constexpr (combiner == Combiner::kOr) {
    return a | b;
  } else if constexpr (std::is_integral_v<A>) {
    using U = std::make_unsigned_t<A>;
    return combiner == Combiner::kAdd
               ? static_cast<A>(static_cast<U>(a) + static_cast<U>(b))
               : static_cast<A>(uint64_t{static_cast<U>(a)} * uint64_t{static_cast<U>(b)});
  } else {
    return combiner == Combiner::kAdd ? a + b : a * b;
  }
}

// Walks over the axes; Visit(pointer to the elements of one line, stride, extent).
template <class T, class Visit>
WEIR_ALWAYS_INLINE void ForEachLine(absl::Span<const FoldAxis> axes, const T* in, Visit visit) {
  constexpr int kMaxAxes = 32;
  int64_t index[kMaxAxes] = {};
  const FoldAxis* const last = axes.data() + axes.size() - 1;
  const int outer = static_cast<int>(axes.size()) - 1;
  for (int axis = 0; axis <= outer; ++axis) {
    if (axes.data()[axis].extent == 0) return;
  }
  while (true) {
    visit(in, last->stride, last->extent);
    int axis = outer - 1;
    for (; axis >= 0; --axis) {
      const FoldAxis& a = axes.data()[axis];
      in += a.stride;
      if (++index[axis] < a.extent) break;
      in -= a.extent * a.stride;
      index[axis] = 0;
    }
    if (axis < 0) return;
  }
}

#define WEIR_INLINE __attribute__((always_inline))

namespace baseline {
#define WEIR_TARGET
#include "worker/device/cpu/reduce/fold_loops.inc"
#undef WEIR_TARGET
}  // namespace baseline

namespace avx2 {
#define WEIR_TARGET __attribute__((target("avx2")))
#include "worker/device/cpu/reduce/fold_loops.inc"
#undef WEIR_TARGET
}  // namespace avx2

namespace avx512 {
#define WEIR_TARGET \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")))
#include "worker/device/cpu/reduce/fold_loops.inc"
#undef WEIR_TARGET
}  // namespace avx512

template <Combiner combiner, FoldOrder order, class T>
FoldLoop Pick(Isa isa) {
  switch (isa) {
    case Isa::kBaseline:
      return &baseline::Fold<combiner, order, T>;
    case Isa::kAvx2:
      return &avx2::Fold<combiner, order, T>;
    case Isa::kAvx512:
      return &avx512::Fold<combiner, order, T>;
  }
  return nullptr;
}

template <Combiner combiner, FoldOrder order, class T>
constexpr bool HasLoop() {
  constexpr bool bits = combiner == Combiner::kAnd || combiner == Combiner::kOr;
  if constexpr (combiner == Combiner::kSet || kIsComplex<T>) return false;
  if constexpr (order == FoldOrder::kChain && std::is_integral_v<T>) return false;
  if constexpr (std::is_same_v<T, bool>) return bits;
  if constexpr (std::is_integral_v<T>) return std::is_signed_v<T> && sizeof(T) >= 4;
  return !bits;
}

}  // namespace

FoldLoop FindFoldLoop(Combiner combiner, FoldOrder order, DType dtype, Isa isa) {
  FoldLoop found = nullptr;
  VisitCombiner(combiner, [&](auto tag) {
    VisitDType(dtype, [&]<class T>(TypeTag<T>) {
      constexpr Combiner kind = decltype(tag)::value;
      if constexpr (HasLoop<kind, FoldOrder::kTree, T>()) {
        if (order == FoldOrder::kTree) found = Pick<kind, FoldOrder::kTree, T>(isa);
      }
      if constexpr (HasLoop<kind, FoldOrder::kChain, T>()) {
        if (order == FoldOrder::kChain) found = Pick<kind, FoldOrder::kChain, T>(isa);
      }
    });
  });
  return found;
}

}  // namespace weir::cpu
