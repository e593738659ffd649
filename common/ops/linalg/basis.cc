#include "common/ops/linalg/basis.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "common/ops/linalg/accumulate.h"

namespace weir {
namespace {

double Conjugate(double x) { return x; }
std::complex<double> Conjugate(std::complex<double> x) { return std::conj(x); }

// x^H y
template <class W>
W Inner(const W* x, const W* y, int64_t n) {
  W sum(0);
  for (int64_t i = 0; i < n; ++i) sum += WideProduct(Conjugate(x[i]), y[i]);
  return sum;
}

// y - v v^H y 2 / v^H v
template <class W>
void Reflect(const W* v, double squares, W* y, int64_t n) {
  const W factor = Inner(v, y, n) * (2 / squares);
  for (int64_t i = 0; i < n; ++i) y[i] -= WideProduct(factor, v[i]);
}

}  // namespace

int64_t RankOf(const double* values, int64_t rows, int64_t columns) {
  const int64_t count = std::min(rows, columns);
  const double limit = count == 0 ? 0
                                  : values[0] * static_cast<double>(std::max(rows, columns)) *
                                        std::numeric_limits<double>::epsilon();
  return std::count_if(values, values + count, [&](double x) { return x > limit; });
}

template <class W>
void CompleteBasis(W* matrix, int64_t rows, int64_t known, int64_t columns) {
  if (known == columns) return;
  // Column j from row j on is what reflects it onto the unit vector.
  std::vector<W> mirrors(matrix, matrix + rows * known);
  std::vector<double> squares(known);
  for (int64_t j = 0; j < known; ++j) {
    W* v = &mirrors[j * rows + j];
    const double magnitude = std::abs(*v);
    const double length = std::sqrt(std::abs(Inner(v, v, rows - j)));
    *v += (magnitude > 0 ? *v / magnitude : W(1)) * length;
    squares[j] = std::abs(Inner(v, v, rows - j));
    for (int64_t k = j + 1; k < known; ++k) {
      Reflect(v, squares[j], &mirrors[k * rows + j], rows - j);
    }
  }
  for (int64_t k = known; k < columns; ++k) {
    W* column = matrix + k * rows;
    std::fill_n(column, rows, W(0));
    column[k] = 1;
    for (int64_t j = known; j-- > 0;) {
      Reflect(&mirrors[j * rows + j], squares[j], column + j, rows - j);
    }
  }
}

template void CompleteBasis(double*, int64_t, int64_t, int64_t);
template void CompleteBasis(std::complex<double>*, int64_t, int64_t, int64_t);

}  // namespace weir
