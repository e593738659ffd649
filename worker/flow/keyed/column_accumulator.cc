#include "worker/flow/keyed/column_accumulator.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/ops/reduce/accumulator.h"
#include "common/ops/scalar/integer.h"
#include "worker/flow/memory/table_vector.h"

namespace weir {
namespace {

template <class T>
inline constexpr bool kIsReal = !std::is_same_v<T, bool> && !kIsComplex<T>;
template <class T>
inline constexpr bool kIsFloating = kIsHalf<T> || std::is_floating_point_v<T>;

template <class T>
T WithQuietNan(T value) {
  if constexpr (kIsHalf<T>) {
    if (std::isnan(static_cast<float>(value))) return T(std::numeric_limits<float>::quiet_NaN());
  } else if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) return std::numeric_limits<T>::quiet_NaN();
  }
  return value;
}

template <class T>
double ToDouble(T value) {
  if constexpr (kIsHalf<T>) {
    return static_cast<float>(value);
  } else {
    return static_cast<double>(value);
  }
}

// A rule says which type it keeps (Kept), reads (T) and gives (Result), what is kept of no record,
// how one more is added and what comes out.

template <class Value>
struct IntegerSum {
  using T = Value;
  using Kept = Value;
  using Result = Value;
  static constexpr Kept kInitial = 0;
  static Kept Add(Kept sum, T value) { return scalar::Add(sum, value); }
  static Kept Add(Kept sum, T value, int64_t weight) {
    return scalar::Add(sum, scalar::Multiply(value, static_cast<T>(weight)));
  }
  static Result Finish(Kept sum, int64_t) { return sum; }
};

template <class Value>
struct FloatSum {
  using T = Value;
  using Kept = double;
  using Result = Value;
  // The number that leaves every other one alone, so that a sum begins with its first term.
  static constexpr Kept kInitial = -0.0;
  static Kept Add(Kept sum, T value) { return sum + ToDouble(value); }
  static Kept Add(Kept sum, T value, int64_t weight) {
    return sum + ToDouble(value) * static_cast<double>(weight);
  }
  static Result Finish(Kept sum, int64_t) { return WithQuietNan(FromAccumulator<T>(sum)); }
};

template <class Value>
struct MeanOf : FloatSum<Value> {
  using Result = std::conditional_t<std::is_same_v<Value, float>, float, double>;
  static Result Finish(double sum, int64_t weight) {
    return WithQuietNan(static_cast<Result>(sum / static_cast<double>(weight)));
  }
};

template <class Value, Combiner combiner>
struct ExtremeOf {
  using T = Value;
  using Kept = std::conditional_t<kIsHalf<Value>, float, Value>;
  using Result = Value;
  static inline const Kept kInitial = Identity<combiner, Kept>();
  static Kept Add(Kept best, T value) { return Combine<combiner, Kept>(best, Kept(value)); }
  static Kept Add(Kept best, T value, int64_t) { return Add(best, value); }
  static Result Finish(Kept best, int64_t) { return WithQuietNan(Result(best)); }
};

template <class Rule>
class Accumulating : public ColumnAccumulator {
 public:
  explicit Accumulating(const TensorType& type)
      : extents_(type.shape.extents()), elements_(NumElements(extents_)) {}

  void Resize(int64_t groups) override { kept_.resize(groups * elements_, Rule::kInitial); }

  void Add(const Tensor& column, absl::Span<const uint32_t> groups,
           const int64_t* weights) override {
    const T* value = column.data<T>();
    Kept* const kept = kept_.data();
    if (elements_ == 1 && weights == nullptr) {
      for (size_t row = 0; row < groups.size(); ++row) {
        kept[groups[row]] = Rule::Add(kept[groups[row]], value[row]);
      }
      return;
    }
    for (size_t row = 0; row < groups.size(); ++row, value += elements_) {
      Kept* const group = kept + groups[row] * elements_;
      const int64_t weight = weights == nullptr ? 1 : weights[row];
      for (int64_t i = 0; i < elements_; ++i) group[i] = Rule::Add(group[i], value[i], weight);
    }
  }

  Tensor Results(absl::Span<const uint32_t> groups,
                 absl::Span<const int64_t> weights) const override {
    Extents extents = {static_cast<int64_t>(groups.size())};
    extents.insert(extents.end(), extents_.begin(), extents_.end());
    Tensor results(kDTypeOf<Result>, extents);
    Result* out = results.mutable_data<Result>();
    for (size_t i = 0; i < groups.size(); ++i) {
      const Kept* const group = kept_.data() + groups[i] * elements_;
      for (int64_t e = 0; e < elements_; ++e) *out++ = Rule::Finish(group[e], weights[i]);
    }
    return results;
  }

  bool IsInitial(uint32_t group) const override {
    const auto* const kept = reinterpret_cast<const char*>(kept_.data() + group * elements_);
    const Kept initial = Rule::kInitial;
    for (int64_t i = 0; i < elements_; ++i) {
      if (std::memcmp(kept + i * sizeof(Kept), &initial, sizeof(Kept)) != 0) return false;
    }
    return true;
  }

  int64_t bytes() const override { return static_cast<int64_t>(kept_.capacity() * sizeof(Kept)); }

 private:
  using T = typename Rule::T;
  using Kept = typename Rule::Kept;
  using Result = typename Rule::Result;

  const Extents extents_;  // of a value
  const int64_t elements_;
  TableVector<Kept> kept_;
};

class CountAccumulator : public ColumnAccumulator {
 public:
  void Resize(int64_t) override {}
  void Add(const Tensor&, absl::Span<const uint32_t>, const int64_t*) override {}
  Tensor Results(absl::Span<const uint32_t>, absl::Span<const int64_t> weights) const override {
    return Tensor::FromSpan<int64_t>({static_cast<int64_t>(weights.size())}, weights);
  }
  bool IsInitial(uint32_t) const override { return true; }
  int64_t bytes() const override { return 0; }
};

// Calls make(TypeTag<T>{}) for the type of a real number; null for others, which the type rules let
// no flow have here.
template <class Make>
std::unique_ptr<ColumnAccumulator> ForReal(DType dtype, Make&& make) {
  return VisitDType(dtype, [&]<class T>(TypeTag<T> tag) -> std::unique_ptr<ColumnAccumulator> {
    if constexpr (kIsReal<T>) {
      return make(tag);
    } else {
      return nullptr;
    }
  });
}

}  // namespace

std::unique_ptr<ColumnAccumulator> MakeSumAccumulator(const TensorType& type) {
  return ForReal(type.dtype, [&]<class T>(TypeTag<T>) -> std::unique_ptr<ColumnAccumulator> {
    if constexpr (kIsFloating<T>) {
      return std::make_unique<Accumulating<FloatSum<T>>>(type);
    } else {
      return std::make_unique<Accumulating<IntegerSum<T>>>(type);
    }
  });
}

std::unique_ptr<ColumnAccumulator> MakeMeanAccumulator(const TensorType& type) {
  return ForReal(type.dtype, [&]<class T>(TypeTag<T>) -> std::unique_ptr<ColumnAccumulator> {
    return std::make_unique<Accumulating<MeanOf<T>>>(type);
  });
}

std::unique_ptr<ColumnAccumulator> MakeExtremeAccumulator(const TensorType& type,
                                                          Combiner combiner) {
  return ForReal(type.dtype, [&]<class T>(TypeTag<T>) -> std::unique_ptr<ColumnAccumulator> {
    if (combiner == Combiner::kMin) {
      return std::make_unique<Accumulating<ExtremeOf<T, Combiner::kMin>>>(type);
    }
    return std::make_unique<Accumulating<ExtremeOf<T, Combiner::kMax>>>(type);
  });
}

std::unique_ptr<ColumnAccumulator> MakeCountAccumulator() {
  return std::make_unique<CountAccumulator>();
}

}  // namespace weir
