// What factorizations promise beyond what their samples check: that the factors multiply to the
// matrix, in which order and with which signs they come, and what becomes of hopeless matrices.
#include <algorithm>
#include <cmath>
#include <complex>
#include <random>

#include "common/ops/linalg/accumulate.h"
#include "common/ops/op_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

using ::testing::HasSubstr;
using Complex = std::complex<double>;

std::vector<Tensor> Results(const std::string& op, const std::vector<Tensor>& operands,
                            Attrs attrs = {}) {
  absl::StatusOr<std::vector<Tensor>> results = EvalOpAll(op, operands, std::move(attrs));
  EXPECT_TRUE(results.ok()) << op << ": " << results.status();
  return results.ok() ? *std::move(results) : std::vector<Tensor>(3, Tensor::Scalar<float>(0));
}

Complex Entry(const Tensor& matrix, int64_t i, int64_t j) {
  Complex entry;
  VisitDType(matrix.dtype(), [&]<class T>(TypeTag<T>) {
    if constexpr (!std::is_integral_v<T>) entry = ToWide(matrix.At<T>({i, j}));
  });
  return entry;
}

Complex Diagonal(const Tensor& values, int64_t i) {
  return Entry(values.Reshape({values.num_elements(), 1}), i, 0);
}

double EpsilonOf(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kC64 ? 1e-6 : 1e-14;
}

// x diag(d) y = want.
void ExpectProduct(const Tensor& x, const Tensor* d, const Tensor& y, const Tensor& want) {
  ASSERT_EQ(x.extent(0), want.extent(0));
  ASSERT_EQ(y.extent(1), want.extent(1));
  const int64_t inner = std::min(x.extent(1), y.extent(0));
  for (int64_t i = 0; i < want.extent(0); ++i) {
    for (int64_t j = 0; j < want.extent(1); ++j) {
      Complex sum = 0;
      for (int64_t k = 0; k < (d == nullptr ? inner : d->extent(0)); ++k) {
        sum += Entry(x, i, k) * (d == nullptr ? 1 : Diagonal(*d, k)) * Entry(y, k, j);
      }
      EXPECT_LT(std::abs(sum - Entry(want, i, j)), 20 * EpsilonOf(want.dtype())) << i << " " << j;
    }
  }
}

Tensor Adjoint(const Tensor& x) {
  if (!IsComplex(x.dtype())) return x.Transpose({1, 0});
  return Results("conjugate", {x.Transpose({1, 0}).Contiguous()})[0];
}

void ExpectOrthonormalColumns(const Tensor& q) {
  Tensor eye(DType::kF64, {q.extent(1), q.extent(1)});
  for (int64_t i = 0; i < eye.num_elements(); ++i) {
    eye.mutable_data<double>()[i] = i % (q.extent(1) + 1) == 0 ? 1 : 0;
  }
  const Tensor adjoint = Adjoint(q);
  for (int64_t i = 0; i < q.extent(1); ++i) {
    for (int64_t j = 0; j < q.extent(1); ++j) {
      Complex sum = 0;
      for (int64_t k = 0; k < q.extent(0); ++k) sum += Entry(adjoint, i, k) * Entry(q, k, j);
      EXPECT_LT(std::abs(sum - Entry(eye, i, j)), 20 * EpsilonOf(q.dtype())) << i << " " << j;
    }
  }
}

constexpr DType kTypes[] = {DType::kF32, DType::kF64, DType::kC64, DType::kC128};
const Extents kShapes[] = {{4, 4}, {6, 3}, {3, 6}, {1, 1}, {5, 1}, {50, 50}, {20, 40}};

TEST(QrTest, FactorsMultiplyToTheMatrix) {
  for (DType dtype : kTypes) {
    for (const Extents& extents : kShapes) {
      const Tensor a = Rand(dtype, extents, -1, 1).Make(3);
      for (bool full : {false, true}) {
        const std::vector<Tensor> qr = Results("qr", {a}, {{"full_matrices", full}});
        ExpectProduct(qr[0], nullptr, qr[1], a);
        ExpectOrthonormalColumns(qr[0]);
        for (int64_t i = 0; i < qr[1].extent(0); ++i) {
          for (int64_t j = 0; j < std::min(i, qr[1].extent(1)); ++j) {
            EXPECT_EQ(Entry(qr[1], i, j), 0.0);
          }
          if (i >= qr[1].extent(1)) continue;
          EXPECT_GE(Entry(qr[1], i, i).real(), 0);
          EXPECT_EQ(Entry(qr[1], i, i).imag(), 0);
        }
      }
    }
  }
}

TEST(SvdTest, FactorsMultiplyToTheMatrix) {
  for (DType dtype : kTypes) {
    for (const Extents& extents : kShapes) {
      const Tensor a = Rand(dtype, extents, -1, 1).Make(4);
      for (bool full : {false, true}) {
        const std::vector<Tensor> svd =
            Results("svd", {a}, {{"full_matrices", full}, {"compute_uv", true}});
        ExpectProduct(svd[1], &svd[0], svd[2], a);
        ExpectOrthonormalColumns(svd[1]);
        ExpectOrthonormalColumns(Adjoint(svd[2]));
        for (int64_t i = 1; i < svd[0].extent(0); ++i) {
          EXPECT_GE(Diagonal(svd[0], i - 1).real(), Diagonal(svd[0], i).real());
        }
      }
    }
  }
}

TEST(SvdTest, ValuesAloneAreTheSameOnes) {
  const Tensor a = Tensor::Of<double>({2, 2}, {3, 0, 4, 5});
  const Attrs attrs = {{"full_matrices", false}, {"compute_uv", false}};
  const Tensor s = Results("svd", {a}, attrs)[0];
  EXPECT_NEAR(s.data<double>()[0], std::sqrt(45), 1e-14);
  EXPECT_NEAR(s.data<double>()[1], std::sqrt(5), 1e-14);
  EXPECT_EQ(InferOp("svd", {"c64[n,3,5]"}, attrs), "f32[n,3]");
  EXPECT_EQ(InferOp("svd", {"c64[n,3,5]"}, {{"full_matrices", true}, {"compute_uv", true}}),
            "f32[n,3], c64[n,3,3], c64[n,5,5]");
}

TEST(EighTest, VectorsDiagonalizeTheLowerTriangle) {
  for (DType dtype : kTypes) {
    for (int64_t n : {1, 2, 5, 40}) {
      const Tensor a = Rand(dtype, {n, n}, -1, 1).Make(5);
      const std::vector<Tensor> eigh = Results("eigh", {a});
      Tensor hermitian(DType::kC128, {n, n});
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j <= i; ++j) {
          const Complex entry = i == j ? Entry(a, i, i).real() : Entry(a, i, j);
          hermitian.mutable_data<Complex>()[i * n + j] = entry;
          hermitian.mutable_data<Complex>()[j * n + i] = std::conj(entry);
        }
      }
      const Tensor& v = eigh[1];
      ExpectOrthonormalColumns(v);
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          Complex sum = 0;
          for (int64_t k = 0; k < n; ++k) sum += Entry(hermitian, i, k) * Entry(v, k, j);
          EXPECT_LT(std::abs(sum - Entry(v, i, j) * Diagonal(eigh[0], j)), 30 * EpsilonOf(dtype));
        }
        EXPECT_LE(Diagonal(eigh[0], std::max<int64_t>(i, 1) - 1).real(),
                  Diagonal(eigh[0], i).real());
      }
    }
  }
  EXPECT_EQ(EvalOp("eigh", {Tensor::Of<float>({2, 2}, {2, 99, 0, -3})}, {}),
            "f32[2] {-3, 2}; f32[2,2] {0, 1, 1, 0}");
}

TEST(EigTest, VectorsKeepTheirDirection) {
  for (DType dtype : kTypes) {
    for (int64_t n : {1, 2, 5, 30}) {
      const Tensor a = Rand(dtype, {n, n}, -1, 1).Make(6);
      const std::vector<Tensor> eig = Results("eig", {a});
      for (int64_t j = 0; j < n; ++j) {
        double length = 0;
        for (int64_t i = 0; i < n; ++i) {
          Complex sum = 0;
          for (int64_t k = 0; k < n; ++k) sum += Entry(a, i, k) * Entry(eig[1], k, j);
          EXPECT_LT(std::abs(sum - Entry(eig[1], i, j) * Diagonal(eig[0], j)),
                    50 * EpsilonOf(dtype));
          length += std::norm(Entry(eig[1], i, j));
        }
        EXPECT_NEAR(length, 1, 50 * EpsilonOf(dtype));
      }
    }
  }
  EXPECT_EQ(InferOp("eig", {"f32[n,3,3]"}, {}), "c64[n,3], c64[n,3,3]");
}

TEST(LuTest, FactorsMultiplyToTheRowsInTheirNewOrder) {
  for (DType dtype : kTypes) {
    for (const Extents& extents : kShapes) {
      const Tensor a = Rand(dtype, extents, -1, 1).Make(7);
      const std::vector<Tensor> lu = Results("lu", {a});
      const int64_t steps = std::min(extents[0], extents[1]);
      std::vector<int32_t> order(extents[0]);
      for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int32_t>(i);
      for (int64_t k = 0; k < steps; ++k) std::swap(order[k], order[lu[1].data<int32_t>()[k]]);
      for (int64_t i = 0; i < extents[0]; ++i) {
        EXPECT_EQ(lu[2].data<int32_t>()[i], order[i]);
        for (int64_t j = 0; j < extents[1]; ++j) {
          Complex sum = 0;
          for (int64_t k = 0; k <= std::min(std::min(i, j), steps - 1); ++k) {
            sum += (k == i ? 1 : Entry(lu[0], i, k)) * Entry(lu[0], k, j);
          }
          EXPECT_LT(std::abs(sum - Entry(a, order[i], j)), 20 * EpsilonOf(dtype));
        }
      }
    }
  }
  EXPECT_EQ(EvalOp("lu", {Tensor::Of<float>({2, 2}, {1, 2, 2, 2})}, {}),
            "f32[2,2] {2, 2, 0.5, 1}; i32[2] {1, 1}; i32[2] {1, 0}");
  EXPECT_EQ(EvalOp("lu", {Tensor::Of<float>({2, 2}, {0, 1, 0, 2})}, {}),
            "f32[2,2] {0, 1, 0, 2}; i32[2] {0, 1}; i32[2] {0, 1}");
}

TEST(CholeskyTest, EitherTriangle) {
  const Tensor a = Tensor::Of<float>({2, 2}, {4, 99, 2, 5});
  EXPECT_EQ(EvalOp("cholesky", {a}, {{"lower", true}}), "f32[2,2] {2, 0, 1, 2}");
  const Tensor u = Tensor::Of<std::complex<float>>({2, 2}, {4, {2, -2}, 99, 6});
  const Tensor upper = Results("cholesky", {u}, {{"lower", false}})[0];
  EXPECT_EQ(Entry(upper, 0, 0), Complex(2));
  EXPECT_EQ(Entry(upper, 0, 1), Complex(1, -1));
  EXPECT_EQ(Entry(upper, 1, 0), Complex(0));
  EXPECT_EQ(Entry(upper, 1, 1), Complex(2));
}

TEST(CholeskyTest, OneHopelessMatrixLeavesTheOthersAlone) {
  const Tensor a = Tensor::Of<float>({3, 2, 2}, {1, 0, 0, 1, 1, 2, 2, 1, NAN, 0, 0, 4});
  EXPECT_EQ(EvalOp("cholesky", {a}, {{"lower", true}}),
            "f32[3,2,2] {1, 0, 0, 1, nan, 0, nan, nan, nan, 0, nan, nan}");
}

TEST(TriangularSolveTest, EverySideTriangleAndForm) {
  for (bool left : {true, false}) {
    for (bool lower : {true, false}) {
      for (bool unit : {true, false}) {
        for (const char* form : {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}) {
          const Tensor a = Rand(DType::kC128, {3, 3}, 1, 2).Make(8);
          const Tensor y = Rand(DType::kC128, {3, 3}, -1, 1).Make(9);
          const Tensor x = Results("triangular_solve", {a, y},
                                   {{"left_side", left},
                                    {"lower", lower},
                                    {"unit_diagonal", unit},
                                    {"transpose_a", form}})[0];
          Tensor op = a.Clone();
          for (int64_t i = 0; i < 3; ++i) {
            for (int64_t j = 0; j < 3; ++j) {
              Complex& entry = op.mutable_data<Complex>()[i * 3 + j];
              if (lower ? j > i : j < i) entry = 0;
              if (i == j && unit) entry = 1;
            }
          }
          if (std::string(form) == "TRANSPOSE") op = op.Transpose({1, 0});
          if (std::string(form) == "ADJOINT") op = Adjoint(op);
          ExpectProduct(left ? op : x, nullptr, left ? x : op, y);
        }
      }
    }
  }
}

TEST(LinalgTest, WhatIsNotFiniteGivesNaN) {
  const Tensor a = Tensor::Of<double>({2, 2}, {1, 2, INFINITY, 4});
  EXPECT_EQ(EvalOp("eigh", {a}, {}), "f64[2] {nan, nan}; f64[2,2] {nan, nan, nan, nan}");
  EXPECT_THAT(EvalOp("eig", {a}, {}), HasSubstr("nan"));
  EXPECT_EQ(EvalOp("svd", {a}, {{"full_matrices", false}, {"compute_uv", false}}),
            "f64[2] {nan, nan}");
}

// Entries from the whole range of exponents, rows that repeat, zeros.
Tensor Hostile(DType dtype, int64_t n, std::mt19937_64* random) {
  Tensor out(dtype, {n, n});
  const int64_t parts = n * n * (SizeOf(dtype) / 8);
  double* entries = reinterpret_cast<double*>(out.raw_mutable_data());
  const int spread = 1 << (*random)() % 11;
  const int middle = static_cast<int>((*random)() % 2048) - 1024;
  for (int64_t i = 0; i < parts; ++i) {
    const double mantissa = static_cast<double>(static_cast<int64_t>((*random)())) * 0x1p-63;
    const int exponent = middle + static_cast<int>((*random)() % spread);
    entries[i] = (*random)() % 8 == 0 ? 0 : std::ldexp(mantissa, std::min(exponent, 1023));
    if ((*random)() % 4 == 0) entries[i] = entries[i / 2];
  }
  return out;
}

TEST(LinalgTest, HostileMatricesHaveResults) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    const DType dtype = round % 2 == 0 ? DType::kF64 : DType::kC128;
    const Tensor a = Hostile(dtype, round % 50 == 0 ? 30 : 1 + round % 7, &random);
    Results("cholesky", {a}, {{"lower", true}});
    Results("lu", {a});
    Results("qr", {a}, {{"full_matrices", true}});
    Results("eigh", {a});
    Results("eig", {a});
    const Tensor s = Results("svd", {a}, {{"full_matrices", true}, {"compute_uv", true}})[0];
    for (int64_t i = 0; i < s.num_elements(); ++i) {
      EXPECT_FALSE(s.data<double>()[i] < 0) << a.ToString();
      EXPECT_FALSE(std::isnan(s.data<double>()[i])) << a.ToString();
    }
  }
}

TEST(LinalgTest, EmptyMatrices) {
  const Tensor none = Tensor::Of<float>({3, 0}, {});
  EXPECT_EQ(EvalOp("qr", {none}, {{"full_matrices", true}}),
            "f32[3,3] {1, 0, 0, 0, 1, 0, 0, 0, 1}; f32[3,0] {}");
  EXPECT_EQ(EvalOp("svd", {none}, {{"full_matrices", false}, {"compute_uv", true}}),
            "f32[0] {}; f32[3,0] {}; f32[0,0] {}");
  EXPECT_EQ(EvalOp("lu", {none}, {}), "f32[3,0] {}; i32[0] {}; i32[3] {0, 1, 2}");
}

TEST(LinalgTest, Messages) {
  EXPECT_THAT(InferOp("cholesky", {"f32[2,3]"}, {{"lower", true}}), HasSubstr("must be square"));
  EXPECT_THAT(InferOp("lu", {"f32[3]"}, {}), HasSubstr("at least two axes"));
  EXPECT_THAT(InferOp("eig", {"i32[3,3]"}, {}), HasSubstr("insert convert ops"));
  EXPECT_EQ(InferOp("qr", {"f32[b,m,n]"}, {{"full_matrices", false}}),
            "f32[b,m,min(m,n)], f32[b,min(m,n),n]");
}

}  // namespace
}  // namespace weir
