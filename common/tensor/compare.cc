#include "common/tensor/compare.h"

#include <cmath>
#include <complex>
#include <limits>

#include "common/base/str_cat.h"

namespace weir {
namespace {

// One unit in the last place of a number of this size in type T.
template <class T>
double UlpOf(double x) {
  int digits = std::numeric_limits<T>::digits;
  int lowest = std::numeric_limits<T>::min_exponent;
  if constexpr (std::is_same_v<T, Half>) {
    digits = 11;
    lowest = -13;
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    digits = 8;
    lowest = -125;
  }
  int exponent = 0;
  std::frexp(x, &exponent);
  return std::ldexp(1.0, std::max(exponent, lowest) - digits);
}

template <class T>
bool Agree(double got, double want, const Tolerance& tolerance) {
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want);
  if (got == want) return true;
  if (std::isinf(got) || std::isinf(want)) return false;
  const double gap = std::abs(got - want);
  return gap <= tolerance.absolute ||
         gap <= tolerance.ulp * UlpOf<T>(std::max(std::abs(got), std::abs(want)));
}

template <class T>
bool ElementsAgree(const T& got, const T& want, const Tolerance& tolerance) {
  if constexpr (std::is_integral_v<T>) {
    return got == want;
  } else if constexpr (sizeof(T) == 2) {
    return Agree<T>(static_cast<float>(got), static_cast<float>(want), tolerance);
  } else if constexpr (std::is_floating_point_v<T>) {
    return Agree<T>(got, want, tolerance);
  } else {
    using Part = typename T::value_type;
    return Agree<Part>(got.real(), want.real(), tolerance) &&
           Agree<Part>(got.imag(), want.imag(), tolerance);
  }
}

template <class T>
std::string Text(const T& x) {
  if constexpr (std::is_integral_v<T>) {
    return StrCat(static_cast<int64_t>(x));
  } else if constexpr (sizeof(T) == 2) {
    return std::to_string(static_cast<float>(x));
  } else if constexpr (std::is_floating_point_v<T>) {
    char text[40];
    std::snprintf(text, sizeof(text), "%.17g", static_cast<double>(x));
    return text;
  } else {
    return StrCat("(", Text(x.real()), ",", Text(x.imag()), ")");
  }
}

}  // namespace

std::string Difference(const Tensor& got, const Tensor& want, const Tolerance& tolerance) {
  if (got.dtype() != want.dtype() || got.extents() != want.extents()) {
    return StrCat("got ", got.type().ToString(), ", want ", want.type().ToString());
  }
  const Tensor a = got.Contiguous();
  const Tensor b = want.Contiguous();
  return VisitDType(got.dtype(), [&]<class T>(TypeTag<T>) -> std::string {
    for (int64_t i = 0; i < a.num_elements(); ++i) {
      const T& x = a.data<T>()[i];
      const T& y = b.data<T>()[i];
      if (ElementsAgree(x, y, tolerance)) continue;
      return StrCat("element ", i, " of ", got.type().ToString(), ": got ", Text(x), ", want ",
                    Text(y));
    }
    return "";
  });
}

}  // namespace weir
