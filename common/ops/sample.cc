#include "common/ops/sample.h"

#include <random>

namespace weir {
namespace {

template <class T>
T FromDouble(double v) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return T(static_cast<float>(v));
  } else {
    return static_cast<T>(v);
  }
}

}  // namespace

Tensor SampleOperand::Make(uint64_t seed) const {
  if (value.has_value()) return *value;
  Tensor out(dtype, extents);
  std::mt19937_64 random(seed);
  auto uniform = [&] { return lo + (hi - lo) * (static_cast<double>(random() >> 11) * 0x1p-53); };
  VisitDType(dtype, [&]<class T>(TypeTag<T>) {
    T* data = out.mutable_data<T>();
    for (int64_t i = 0; i < out.num_elements(); ++i) {
      if constexpr (std::is_same_v<T, bool>) {
        data[i] = (random() >> 40) & 1;
      } else if constexpr (std::is_same_v<T, std::complex<float>> ||
                           std::is_same_v<T, std::complex<double>>) {
        const double re = uniform();
        data[i] = T(re, uniform());
      } else if constexpr (std::is_unsigned_v<T>) {
        data[i] = FromDouble<T>(std::abs(uniform()));
      } else {
        data[i] = FromDouble<T>(uniform());
      }
    }
  });
  return out;
}

SampleOperand Rand(DType dtype, Extents extents, double lo, double hi) {
  SampleOperand operand;
  operand.dtype = dtype;
  operand.extents = std::move(extents);
  operand.lo = lo;
  operand.hi = hi;
  return operand;
}

SampleOperand Exactly(Tensor value) {
  SampleOperand operand;
  operand.dtype = value.dtype();
  operand.extents = value.extents();
  operand.value = std::move(value);
  return operand;
}

SampleOperand Fixed(Tensor value) {
  SampleOperand operand = Exactly(std::move(value));
  operand.may_vary = false;
  return operand;
}

}  // namespace weir
