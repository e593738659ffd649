// What the samples of the ops are too small for: matrices that leave the lanes, and all blocks of
// Eigen's algorithms.
#include "common/base/status.h"
#include "common/ir/text.h"
#include "common/ops/registry.h"
#include "gtest/gtest.h"
#include "worker/device/cpu/test_launch.h"

namespace weir::cpu {
namespace {

// Where the kernels exist.
enum class Compiled { kForAll, kNotForBaseline };

// Runs the program in the kernels and in the reference, on every instruction set.
void Check(const std::string& text, const std::vector<Tensor>& operands, double absolute,
           Compiled compiled = Compiled::kForAll) {
  const absl::StatusOr<Graph> graph = Parse(text, Ops());
  ASSERT_TRUE(graph.ok()) << graph.status();
  const auto want = RunReference(*graph, operands);
  ASSERT_TRUE(want.ok()) << want.status();
  for (Isa isa : SupportedIsas()) {
    std::vector<std::string> kernels;
    const auto got = RunLaunches(*graph, operands, {.isa = isa}, &kernels);
    ASSERT_TRUE(got.ok()) << got.status();
    const bool none = compiled == Compiled::kNotForBaseline && isa == Isa::kBaseline;
    for (const std::string& kernel : kernels) EXPECT_EQ(kernel == "reference", none) << kernel;
    for (size_t r = 0; r < got->size(); ++r) {
      EXPECT_EQ(Difference((*got)[r], (*want)[r], 1, absolute), "")
          << text << " result " << r << " on " << IsaName(isa);
    }
  }
}

struct Extent {
  int64_t rows, columns;
};
constexpr Extent kExtents[] = {{9, 9},    {17, 12},  {64, 64}, {70, 70},
                               {100, 60}, {60, 100}, {1, 5000}};

std::string TypeOf(DType dtype, int64_t rows, int64_t columns) {
  return StrCat(DTypeName(dtype), "[2,", rows, ",", columns, "]");
}

// Well conditioned: the diagonal is larger than the rest of its row.
Tensor Diagonal(const Tensor& random) {
  Tensor out = random.Clone();
  VisitDType(out.dtype(), [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double> ||
                  std::is_same_v<T, std::complex<float>> ||
                  std::is_same_v<T, std::complex<double>>) {
      const int64_t rows = out.extent(1), columns = out.extent(2), k = std::min(rows, columns);
      for (int64_t i = 0; i < 2 * k; ++i) {
        out.mutable_data<T>()[(i / k * rows + i % k) * columns + i % k] += T(2 * rows);
      }
    }
  });
  return out;
}

TEST(Factorizations, OfLargeMatricesAgreeWithTheReference) {
  for (DType dtype : {DType::kF32, DType::kF64, DType::kC64, DType::kC128}) {
    for (const Extent& e : kExtents) {
      const std::string in = TypeOf(dtype, e.rows, e.columns);
      const int64_t k = std::min(e.rows, e.columns);
      const Tensor x = Rand(dtype, {2, e.rows, e.columns}).Make(3);
      Check(StrCat("func @main(%x: ", in, ") -> (", in, ", i32[2,", k, "], i32[2,", e.rows,
                   "]) { %l, %p, %o = lu(%x) return %l, %p, %o }"),
            {x}, 1e-9);
      Check(StrCat("func @main(%x: ", in, ") -> (", TypeOf(dtype, e.rows, k), ", ",
                   TypeOf(dtype, k, e.columns),
                   ") { %q, %r = qr(%x) {full_matrices = false} return %q, %r }"),
            {x}, 1e-9);
    }
  }
}

// Squares of the elements are no numbers.
TEST(Factorizations, OfLargeElementsAgreeWithTheReference) {
  for (DType dtype : {DType::kF64, DType::kC128}) {
    for (int64_t n : {3, 70}) {
      const std::string type = TypeOf(dtype, n, n);
      const Tensor x = Rand(dtype, {2, n, n}, -1e160, 1e160).Make(3);
      Check(StrCat("func @main(%x: ", type, ") -> (", type,
                   ") { %q, %r = qr(%x) {full_matrices = false} return %q }"),
            {x}, 1e-9);
      Check(StrCat("func @main(%x: ", type, ") -> (", type,
                   ") { %q, %r = qr(%x) {full_matrices = false} return %r }"),
            {x}, 1e151);
    }
  }
}

TEST(Factorizations, OfPositiveMatricesAgreeWithTheReference) {
  for (DType dtype : {DType::kF32, DType::kF64, DType::kC64, DType::kC128}) {
    for (int64_t n : {10, 64, 65, 130}) {
      const std::string type = TypeOf(dtype, n, n);
      // Only one triangle is read.
      const Tensor x = Diagonal(Rand(dtype, {2, n, n}, -1, 1).Make(n));
      for (const char* lower : {"true", "false"}) {
        Check(StrCat("func @main(%x: ", type, ") -> (", type,
                     ") { %l = cholesky(%x) {lower = ", lower, "} return %l }"),
              {x}, 1e-9);
      }
    }
  }
}

TEST(Factorizations, SpectraOfLargeMatricesAgreeWithTheReference) {
  for (DType dtype : {DType::kF32, DType::kF64, DType::kC64, DType::kC128}) {
    const DType real = dtype == DType::kC64    ? DType::kF32
                       : dtype == DType::kC128 ? DType::kF64
                                               : dtype;
    for (const Extent& e : {Extent{17, 12}, Extent{70, 70}, Extent{100, 60}, Extent{60, 100}}) {
      const int64_t k = std::min(e.rows, e.columns);
      Check(StrCat("func @main(%x: ", TypeOf(dtype, e.rows, e.columns), ") -> (", DTypeName(real),
                   "[2,", k, "], ", TypeOf(dtype, e.rows, k), ", ", TypeOf(dtype, k, e.columns),
                   ") { %s, %u, %v = svd(%x) {full_matrices = false, compute_uv = true} "
                   "return %s, %u, %v }"),
            {Rand(dtype, {2, e.rows, e.columns}).Make(3)}, 1e-8, Compiled::kNotForBaseline);
    }
    for (int64_t n : {20, 70}) {
      const std::string in = TypeOf(dtype, n, n);
      Check(StrCat("func @main(%x: ", in, ") -> (", DTypeName(real), "[2,", n, "], ", in,
                   ") { %w, %v = eigh(%x) return %w, %v }"),
            {Rand(dtype, {2, n, n}).Make(n)}, 1e-8, Compiled::kNotForBaseline);
    }
  }
}

// 128 and 144 are sides that the kernel pads; one matrix has an eigenvalue 0 of its own.
TEST(Factorizations, EigenvaluesOfLargeMatricesAgreeWithTheReference) {
  for (DType dtype : {DType::kF32, DType::kC128}) {
    const DType complex = dtype == DType::kF32 ? DType::kC64 : dtype;
    for (int64_t n : {20, 70, 128, 144}) {
      Tensor x = Rand(dtype, {2, n, n}).Make(n);
      if (dtype == DType::kF32) std::fill_n(x.mutable_data<float>(), n, 0.0f);
      Check(StrCat("func @main(%x: ", TypeOf(dtype, n, n), ") -> (", DTypeName(complex), "[2,", n,
                   "], ", TypeOf(complex, n, n), ") { %w, %v = eig(%x) return %w, %v }"),
            {x}, 1e-8, Compiled::kNotForBaseline);
    }
  }
}

// Random matrices of this rank.
Tensor OfRank(int64_t rank, DType dtype, const Extent& e) {
  const Graph product = *Parse(
      StrCat("func @main(%l: ", TypeOf(dtype, e.rows, rank),
             ", %r: ", TypeOf(dtype, rank, e.columns), ") -> (", TypeOf(dtype, e.rows, e.columns),
             ") { %x = dot_general(%l, %r) {lhs_batch = [0], lhs_contract = [2], rhs_batch = [0], "
             "rhs_contract = [1]} return %x }"),
      Ops());
  return (*RunReference(product, {Rand(dtype, {2, e.rows, rank}).Make(3),
                                  Rand(dtype, {2, rank, e.columns}).Make(4)}))[0];
}

// Singular vectors that a matrix leaves open are those that complete the others.
TEST(Factorizations, SingularVectorsOfZerosAgreeWithTheReference) {
  for (DType dtype : {DType::kF64, DType::kC128}) {
    for (const Extent& e : {Extent{20, 9}, Extent{9, 20}, Extent{18, 18}, Extent{3, 5}}) {
      Check(StrCat("func @main(%x: ", TypeOf(dtype, e.rows, e.columns), ") -> (f64[2,",
                   std::min(e.rows, e.columns), "], ", TypeOf(dtype, e.rows, e.rows), ", ",
                   TypeOf(dtype, e.columns, e.columns),
                   ") { %s, %u, %v = svd(%x) {full_matrices = true, compute_uv = true} "
                   "return %s, %u, %v }"),
            {OfRank(2, dtype, e)}, 1e-8, Compiled::kNotForBaseline);
    }
  }
}

TEST(Factorizations, SpectraThatAreNotNumbersStayInTheirMatrix) {
  Tensor x = Rand(DType::kF64, {4, 20, 20}).Make(5);
  x.mutable_data<double>()[1 * 400 + 20] = NAN;
  x.mutable_data<double>()[2 * 400 + 399] = INFINITY;
  Check(
      "func @main(%x: f64[4,20,20]) -> (f64[4,20], f64[4,20,20], c128[4,20], c128[4,20,20], "
      "f64[4,20]) { %w, %v = eigh(%x) %e, %f = eig(%x) %s = svd(%x) {full_matrices = false, "
      "compute_uv = false} return %w, %v, %e, %f, %s }",
      {x}, 1e-8, Compiled::kNotForBaseline);
}

TEST(Factorizations, LargeMatricesThatAreNotPositiveAreNotNumbers) {
  for (int64_t bad : {0, 40, 69}) {
    Tensor x = Tensor::Zeros(DType::kF64, {1, 70, 70});
    for (int64_t i = 0; i < 70; ++i) x.mutable_data<double>()[i * 71] = i == bad ? -1 : 2;
    Check(
        "func @main(%x: f64[1,70,70]) -> (f64[1,70,70]) { %l = cholesky(%x) {lower = true} "
        "return %l }",
        {x}, 0);
  }
}

TEST(Factorizations, OfOneMatrixDoNotReachItsNeighbours) {
  Tensor x = Rand(DType::kF64, {9, 4, 4}).Make(5);
  double* values = x.mutable_data<double>();
  for (int64_t i = 0; i < 16; ++i) values[16 + i] = 0;
  values[3 * 16 + 5] = NAN;
  values[5 * 16] = INFINITY;
  Check(
      "func @main(%x: f64[9,4,4]) -> (f64[9,4,4], f64[9,4,4], f64[9,4,4], f64[9,4,4]) { "
      "%l, %p, %o = lu(%x) %q, %r = qr(%x) {full_matrices = false} "
      "%t = triangular_solve(%x, %x) {left_side = true, lower = true, transpose_a = "
      "\"NO_TRANSPOSE\", unit_diagonal = false} %c = cholesky(%x) {lower = true} "
      "return %l, %q, %t, %c }",
      {x}, 1e-11);
}

TEST(Factorizations, TrianglesSolveLargeSystems) {
  for (DType dtype : {DType::kF32, DType::kC128}) {
    for (const auto& [m, n] :
         {std::pair<int64_t, int64_t>{12, 9}, {16, 8}, {64, 3}, {70, 17}, {33, 40}}) {
      const Tensor a = Diagonal(Rand(dtype, {2, m, m}, -1, 1).Make(1));
      for (const char* form : {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}) {
        for (const char* lower : {"true", "false"}) {
          for (bool left : {true, false}) {
            const std::string b = left ? TypeOf(dtype, m, n) : TypeOf(dtype, n, m);
            const Extents extents = left ? Extents{2, m, n} : Extents{2, n, m};
            Check(StrCat("func @main(%a: ", TypeOf(dtype, m, m), ", %b: ", b, ") -> (", b,
                         ") { %x = triangular_solve(%a, %b) {left_side = ", left ? "true" : "false",
                         ", lower = ", lower, ", transpose_a = \"", form,
                         "\", unit_diagonal = false} return %x }"),
                  {a, Rand(dtype, extents).Make(2)}, 1e-9);
          }
        }
      }
    }
  }
}

TEST(Factorizations, ExtentsThatDoNotFitAreErrors) {
  const Graph graph = *Parse(
      "func @main(%x: f32[n,m]) -> (f32[n,m]) { %l = cholesky(%x) {lower = true} return %l }",
      Ops());
  const auto got = RunLaunches(graph, {Rand(DType::kF32, {2, 3}).Make(1)}, {});
  EXPECT_EQ(got.status().message(), "matrices must be square, found [2,3]");
}

}  // namespace
}  // namespace weir::cpu
