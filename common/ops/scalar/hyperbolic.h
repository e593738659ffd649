// sinh, cosh, tanh and their inverses, logistic and softplus. Pure functions; usable from any
// thread.
#ifndef WEIR_COMMON_OPS_SCALAR_HYPERBOLIC_H_
#define WEIR_COMMON_OPS_SCALAR_HYPERBOLIC_H_

#include "common/ops/scalar/base.h"
#include "common/ops/scalar/exp.h"
#include "common/ops/scalar/log.h"

namespace weir::scalar {

// Returns: sinh(x) / x - 1 for x^2 = z <= 1.
WEIR_ALWAYS_INLINE float SinhSeries(float z) {
  return z * Poly(z, 0x1.555556p-3f, 0x1.1110c4p-7f, 0x1.a036dap-13f, 0x1.720e84p-19f);
}
WEIR_ALWAYS_INLINE double SinhSeries(double z) {
  return z * Poly(z, 0x1.5555555555555p-3, 0x1.111111111119ap-7, 0x1.a01a01a00b33ep-13,
                  0x1.71de3a5f0db9dp-19, 0x1.ae6452c7cecbep-26, 0x1.612265e4b9794p-33,
                  0x1.b2502d89eacf5p-41);
}

template <Real T>
WEIR_ALWAYS_INLINE T Sinh(T x) {
  const T a = Abs(x);
  const T half_exp = ExpScaled(a, -1);
  const T series = a + a * SinhSeries(a * a);
  return FlipSign(Select(a < 1, series, half_exp - T{0.25} / half_exp), SignOf(x));
}

template <Real T>
WEIR_ALWAYS_INLINE T Cosh(T x) {
  const T half_exp = ExpScaled(Abs(x), -1);
  return half_exp + T{0.25} / half_exp;
}

// Returns: tanh(x) / x - 1 for x^2 = z <= 0.3.
WEIR_ALWAYS_INLINE float TanhSeries(float z) {
  return z *
         Poly(z, -0x1.555554p-2f, 0x1.110fb2p-3f, -0x1.b992aep-5f, 0x1.5c8f8ap-6f, -0x1.ad3f08p-8f);
}
WEIR_ALWAYS_INLINE double TanhSeries(double z) {
  return z * Poly(z, -0x1.5555555555555p-2, 0x1.1111111110fb1p-3, -0x1.ba1ba1b9f362bp-5,
                  0x1.664f487390f3fp-6, -0x1.226e325cf813cp-7, 0x1.d6d31ceba2be1p-9,
                  -0x1.7d9623345cc3fp-10, 0x1.34b5da8d343c3p-11, -0x1.eb5b9a9b3036ap-13,
                  0x1.62bedfe0e85f7p-14, -0x1.53979a0b44c99p-16);
}

template <Real T>
WEIR_ALWAYS_INLINE T Tanh(T x) {
  const T a = Abs(x);
  const T z = a * a;
  const T series = a + a * TanhSeries(z);
  const T far = T{1} - T{2} / (Exp(T{2} * AtMost(a, T{20})) + T{1});
  return FlipSign(Select(z < T{0.3}, series, far), SignOf(x));
}

// Returns: 1 / (1 + exp(-x)).
template <Real T>
WEIR_ALWAYS_INLINE T Logistic(T x) {
  const T e = Exp(-Abs(x));
  const bool negative = x < 0;
  const Pair<T> sum = FastTwoSum(T{1}, e);
  const T y = Select(negative, e, T{1}) / sum.high;
  return y - y * (Select(negative, T{1} - y, y) * sum.low);
}

// Returns: log(1 + exp(x)).
template <Real T>
WEIR_ALWAYS_INLINE T Softplus(T x) {
  return Log1p(Exp(-Abs(x))) + Select(x > 0, x, T{0});
}

template <Real T>
WEIR_ALWAYS_INLINE T Asinh(T x) {
  constexpr T kHuge = Layout<T>::kHuge;  // from here on sqrt(x^2 + 1) is x
  const T a = Abs(x);
  const bool huge = a > kHuge;
  const T b = AtMost(a, kHuge);
  const T y = Log1p(Select(huge, a - T{1}, b + b * b / (Sqrt(b * b + T{1}) + T{1})));
  return FlipSign(y + Select(huge, ExpLimits<T>::kLn2, T{0}), SignOf(x));
}

template <Real T>
WEIR_ALWAYS_INLINE T Acosh(T x) {
  constexpr T kHuge = Layout<T>::kHuge;
  const T t = x - T{1};
  const bool huge = x > kHuge;
  const T u = AtMost(t, kHuge);
  const Pair<T> sum = FastTwoSum(Sqrt(T{2} * u + u * u), u);
  const T y = Log1p(Pair<T>{Select(huge, t, sum.high), Select(huge, T{0}, sum.low)});
  return Select(x < 1, kNaN<T>, y + Select(huge, ExpLimits<T>::kLn2, T{0}));
}

template <Real T>
WEIR_ALWAYS_INLINE T Atanh(T x) {
  const T a = Abs(x);
  return FlipSign(T{0.5} * Log1p(T{2} * a / (T{1} - a)), SignOf(x));
}

}  // namespace weir::scalar

#endif  // WEIR_COMMON_OPS_SCALAR_HYPERBOLIC_H_
