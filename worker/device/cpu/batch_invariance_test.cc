// The bits of a row depend neither on how many rows are computed with it nor on how anything lies
// in memory. Programs over n rows (axis 0 of the first parameter) run for many n and layouts; each
// row must equal that of one run over all rows.
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/ir/text.h"
#include "common/ops/registry.h"
#include "gtest/gtest.h"
#include "worker/device/cpu/test_launch.h"

namespace weir::cpu {
namespace {

constexpr int64_t kAllRows = 333;
constexpr int64_t kRows[] = {1, 2, 3, 7, 16, 100, 333};

struct Program {
  std::string name;
  std::string text;
  // The rows, then parameters that are the same for every n.
  std::vector<Extents> parameters;
};

std::string Convolution(std::string_view attributes) {
  return StrCat("{", attributes,
                "lhs_dilation = [1, 1], padding_high = [1, 1], padding_low = [1, 1], "
                "rhs_dilation = [1, 1], window_strides = [1, 1]}");
}

constexpr std::string_view kMaxPool =
    "{base_dilations = [1, 1, 1, 1], kind = \"max\", padding_high = [0, 0, 0, 0], "
    "padding_low = [0, 0, 0, 0], window_dilations = [1, 1, 1, 1], "
    "window_dimensions = [1, 1, 2, 2], window_strides = [1, 1, 2, 2]}";

constexpr std::string_view kMatrix =
    "{lhs_batch = [], lhs_contract = [1], rhs_batch = [], rhs_contract = [0]}";

std::vector<Program> ImagePrograms() {
  std::vector<Program> programs;
  programs.push_back(
      {"convolution, bias, relu, pooling",
       StrCat("func @main(%x: f32[n,3,6,6], %w: f32[20,3,3,3], %b: f32[20]) -> "
              "(f32[n,20,3,3]) {\n"
              "  %c = convolution(%x, %w) ",
              Convolution(""),
              "\n  %bias = broadcast_in_dim(%b) {axes = [1], shape = (n, 20, 6, 6)}\n"
              "  %s = add(%c, %bias)\n  %r = relu(%s)\n  %p = reduce_window(%r) ",
              kMaxPool, "\n  return %p\n}\n"),
       {{kAllRows, 3, 6, 6}, {20, 3, 3, 3}, {20}}});
  programs.push_back({"grouped convolution",
                      StrCat("func @main(%x: f32[n,4,5,5], %w: f32[6,2,3,3]) -> (f32[n,6,5,5]) {\n"
                             "  %c = convolution(%x, %w) ",
                             Convolution("feature_group_count = (2), "), "\n  return %c\n}\n"),
                      {{kAllRows, 4, 5, 5}, {6, 2, 3, 3}}});
  programs.push_back({"pooling alone",
                      StrCat("func @main(%x: f32[n,3,6,6]) -> (f32[n,3,3,3]) {\n"
                             "  %p = reduce_window(%x) ",
                             kMaxPool, "\n  return %p\n}\n"),
                      {{kAllRows, 3, 6, 6}}});
  return programs;
}

std::vector<Program> ProductPrograms() {
  std::vector<Program> programs;
  programs.push_back({"dense layers",
                      StrCat("func @main(%x: f32[n,50], %w: f32[50,33], %b: f32[33], "
                             "%v: f32[33,10]) -> (f32[n,10]) {\n  %p = dot_general(%x, %w) ",
                             kMatrix,
                             "\n  %bias = broadcast_in_dim(%b) {axes = [1], shape = (n, 33)}\n"
                             "  %s = add(%p, %bias)\n  %r = relu(%s)\n  %q = dot_general(%r, %v) ",
                             kMatrix, "\n  return %q\n}\n"),
                      {{kAllRows, 50}, {50, 33}, {33}, {33, 10}}});
  programs.push_back({"deep product",
                      StrCat("func @main(%x: f32[n,700], %w: f32[700,70]) -> (f32[n,70]) {\n"
                             "  %p = dot_general(%x, %w) ",
                             kMatrix, "\n  return %p\n}\n"),
                      {{kAllRows, 700}, {700, 70}}});
  programs.push_back(
      {"batched product",
       "func @main(%x: f32[n,5,9], %y: f32[9,9]) -> (f32[n,5,5]) {\n"
       "  %m = dot_general(%x, %y) {lhs_batch = [], lhs_contract = [2], rhs_batch = "
       "[], rhs_contract = [0]}\n"
       "  %p = dot_general(%m, %x) {lhs_batch = [0], lhs_contract = [2], rhs_batch = "
       "[0], rhs_contract = [2]}\n  return %p\n}\n",
       {{kAllRows, 5, 9}, {9, 9}}});
  programs.push_back({"double precision",
                      "func @main(%x: f64[n,40], %w: f64[40,12]) -> (f64[n,12]) {\n"
                      "  %p = dot_general(%x, %w) {lhs_batch = [], lhs_contract = [1], rhs_batch = "
                      "[], rhs_contract = [0]}\n  return %p\n}\n",
                      {{kAllRows, 40}, {40, 12}}});
  return programs;
}

std::vector<Program> OtherPrograms() {
  std::vector<Program> programs;
  programs.push_back({"element-wise chain",
                      "func @main(%x: f32[n,7,11], %y: f32[11]) -> (f32[n,7,11]) {\n"
                      "  %b = broadcast_in_dim(%y) {axes = [2], shape = (n, 7, 11)}\n"
                      "  %s = add(%x, %b)\n  %t = tanh(%s)\n  %l = logistic(%x)\n"
                      "  %m = multiply(%t, %l)\n  %e = exp(%m)\n  return %e\n}\n",
                      {{kAllRows, 7, 11}, {11}}});
  programs.push_back({"softmax",
                      "func @main(%x: f32[n,37]) -> (f32[n,37]) {\n"
                      "  %m = reduce_max(%x) {axes = [1]}\n"
                      "  %mb = broadcast_in_dim(%m) {axes = [0], shape = (n, 37)}\n"
                      "  %d = subtract(%x, %mb)\n  %e = exp(%d)\n"
                      "  %s = reduce_sum(%e) {axes = [1]}\n"
                      "  %sb = broadcast_in_dim(%s) {axes = [0], shape = (n, 37)}\n"
                      "  %q = divide(%e, %sb)\n  return %q\n}\n",
                      {{kAllRows, 37}}});
  programs.push_back({"sums over two axes",
                      "func @main(%x: f32[n,5,21,4]) -> (f32[n,21]) {\n"
                      "  %s = reduce_sum(%x) {axes = [1, 3]}\n  return %s\n}\n",
                      {{kAllRows, 5, 21, 4}}});
  programs.push_back({"running sum, sort",
                      "func @main(%x: f32[n,19]) -> (f32[n,19], f32[n,19]) {\n"
                      "  %c = cumsum(%x) {axis = 1, exclusive = false, reverse = false}\n"
                      "  %s = sort(%x) {axis = 1, descending = false, is_stable = true}\n"
                      "  return %c, %s\n}\n",
                      {{kAllRows, 19}}});
  return programs;
}

// Matrices that are factored in lanes, and larger ones.
std::vector<Program> MatrixPrograms() {
  std::vector<Program> programs;
  programs.push_back({"factorizations",
                      "func @main(%x: f32[n,5,5]) -> (f32[n,5,5], f32[n,5,5], f32[n,5,5], "
                      "f32[n,5,5]) {\n"
                      "  %l, %p, %o = lu(%x)\n  %q, %r = qr(%x) {full_matrices = false}\n"
                      "  %t = triangular_solve(%l, %x) {left_side = true, lower = true, "
                      "transpose_a = \"TRANSPOSE\", unit_diagonal = true}\n"
                      "  return %l, %q, %r, %t\n}\n",
                      {{kAllRows, 5, 5}}});
  programs.push_back({"complex factorizations",
                      "func @main(%x: c128[n,3,2]) -> (c128[n,3,2], c128[n,3,3]) {\n"
                      "  %l, %p, %o = lu(%x)\n  %q, %r = qr(%x) {full_matrices = true}\n"
                      "  return %l, %q\n}\n",
                      {{kAllRows, 3, 2}}});
  programs.push_back({"eigenvalues and singular values",
                      "func @main(%x: f32[n,4,4]) -> (f32[n,4], f32[n,4,4], c64[n,4], c64[n,4,4], "
                      "f32[n,4], f32[n,4,4]) {\n"
                      "  %w, %v = eigh(%x)\n  %e, %f = eig(%x)\n"
                      "  %s, %u, %h = svd(%x) {full_matrices = false, compute_uv = true}\n"
                      "  return %w, %v, %e, %f, %s, %u\n}\n",
                      {{kAllRows, 4, 4}}});
  programs.push_back({"complex singular values",
                      "func @main(%x: c128[n,3,2]) -> (f64[n,2], c128[n,3,3]) {\n"
                      "  %s, %u, %h = svd(%x) {full_matrices = true, compute_uv = true}\n"
                      "  return %s, %u\n}\n",
                      {{kAllRows, 3, 2}}});
  for (const char* kind : {"FFT", "IFFT"}) {
    programs.push_back({kind,
                        StrCat("func @main(%x: c64[n,3,20]) -> (c64[n,3,20]) {\n  %y = fft(%x) "
                               "{fft_length = (3, 20), fft_type = \"",
                               kind, "\"}\n  return %y\n}\n"),
                        {{kAllRows, 3, 20}}});
  }
  programs.push_back({"real frequencies",
                      "func @main(%x: f64[n,12]) -> (c128[n,7], f64[n,12]) {\n"
                      "  %y = fft(%x) {fft_length = (12), fft_type = \"RFFT\"}\n"
                      "  %z = fft(%y) {fft_length = (12), fft_type = \"IRFFT\"}\n"
                      "  return %y, %z\n}\n",
                      {{kAllRows, 12}}});
  programs.push_back({"convolved frequencies",
                      "func @main(%x: f32[n,37]) -> (c64[n,19]) {\n"
                      "  %y = fft(%x) {fft_length = (37), fft_type = \"RFFT\"}\n"
                      "  return %y\n}\n",
                      {{kAllRows, 37}}});
  return programs;
}

std::vector<Program> Programs() {
  std::vector<Program> programs = ImagePrograms();
  for (const auto& more : {ProductPrograms(), OtherPrograms(), MatrixPrograms()}) {
    programs.insert(programs.end(), more.begin(), more.end());
  }
  return programs;
}

std::vector<Tensor> ParametersOf(const Program& program, DType dtype) {
  std::vector<Tensor> parameters;
  for (size_t i = 0; i < program.parameters.size(); ++i) {
    parameters.push_back(Rand(dtype, program.parameters[i]).Make(i + 1));
  }
  return parameters;
}

void Check(const Program& program) {
  const absl::StatusOr<Graph> graph = Parse(program.text, Ops());
  ASSERT_TRUE(graph.ok()) << program.name << ": " << graph.status();
  const DType dtype = graph->type(graph->region(graph->entry().body).args[0]).dtype;
  const std::vector<Tensor> all = ParametersOf(program, dtype);
  for (Isa isa : SupportedIsas()) {
    const auto want = RunLaunches(*graph, all, {.isa = isa});
    ASSERT_TRUE(want.ok()) << program.name << ": " << want.status();
    for (int64_t rows : kRows) {
      for (Lie lie : kLies) {
        for (bool constant : {false, true}) {
          std::vector<Tensor> some = all;
          some[0] = all[0].Rows(0, rows);
          const RunOptions options{isa, constant ? Lie::kRowMajor : lie, lie, constant};
          const auto got = RunLaunches(*graph, some, options);
          ASSERT_TRUE(got.ok()) << program.name << ": " << got.status();
          for (size_t r = 0; r < got->size(); ++r) {
            ASSERT_EQ(Difference((*got)[r], (*want)[r].Rows(0, rows), 0, 0), "")
                << program.name << " on " << IsaName(isa) << ", n = " << rows << ", layout "
                << static_cast<int>(lie) << (constant ? ", constant weights" : "");
          }
        }
      }
    }
  }
}

TEST(BatchInvariance, BitsOfARowDependOnTheRowOnly) {
  for (const Program& program : Programs()) Check(program);
}

TEST(BatchInvariance, RowsInTheMiddleToo) {
  const Program program = Programs().front();
  const Graph graph = *Parse(program.text, Ops());
  const std::vector<Tensor> all = ParametersOf(program, DType::kF32);
  const Tensor want = (*RunLaunches(graph, all, {.isa = DetectIsa()}))[0];
  for (const auto& [begin, end] : {std::pair<int64_t, int64_t>{31, 33}, {100, 165}, {332, 333}}) {
    std::vector<Tensor> some = all;
    some[0] = all[0].Rows(begin, end);
    const Tensor got = (*RunLaunches(graph, some, {.isa = DetectIsa()}))[0];
    EXPECT_EQ(Difference(got, want.Rows(begin, end), 0, 0), "") << begin << ".." << end;
  }
}

// Matrices too large for lanes take Eigen's products, whose order of sums must follow the extents
// of one matrix alone.
TEST(BatchInvariance, LargeMatricesToo) {
  const Graph graph = *Parse(
      "func @main(%x: f64[n,70,70]) -> (f64[n,70,70], f64[n,70,70], f64[n,70,70]) {\n"
      "  %l, %p, %o = lu(%x)\n  %q, %r = qr(%x) {full_matrices = false}\n"
      "  %t = triangular_solve(%l, %x) {left_side = true, lower = true, "
      "transpose_a = \"TRANSPOSE\", unit_diagonal = true}\n  return %l, %q, %t\n}\n",
      Ops());
  const Tensor all = Rand(DType::kF64, {5, 70, 70}).Make(1);
  for (Isa isa : SupportedIsas()) {
    const auto want = RunLaunches(graph, {all}, {.isa = isa});
    ASSERT_TRUE(want.ok()) << want.status();
    for (int64_t row = 0; row < 5; ++row) {
      for (Lie lie : kLies) {
        const auto got = RunLaunches(graph, {all.Rows(row, row + 1)}, {isa, lie, lie});
        ASSERT_TRUE(got.ok()) << got.status();
        for (size_t r = 0; r < got->size(); ++r) {
          EXPECT_EQ(Difference((*got)[r], (*want)[r].Rows(row, row + 1), 0, 0), "")
              << IsaName(isa) << ", row " << row << ", result " << r;
        }
      }
    }
  }
}

// Fused multiply-add is exact in the same way on both.
TEST(BatchInvariance, Avx2AndAvx512HaveTheSameBits) {
  if (DetectIsa() != Isa::kAvx512) GTEST_SKIP() << "needs AVX-512";
  for (const Program& program : Programs()) {
    const Graph graph = *Parse(program.text, Ops());
    const DType dtype = graph.type(graph.region(graph.entry().body).args[0]).dtype;
    const std::vector<Tensor> all = ParametersOf(program, dtype);
    const auto narrow = RunLaunches(graph, all, {.isa = Isa::kAvx2});
    const auto wide = RunLaunches(graph, all, {.isa = Isa::kAvx512});
    ASSERT_TRUE(narrow.ok() && wide.ok()) << program.name;
    for (size_t r = 0; r < wide->size(); ++r) {
      EXPECT_EQ(Difference((*wide)[r], (*narrow)[r], 0, 0), "") << program.name;
    }
  }
}

}  // namespace
}  // namespace weir::cpu
