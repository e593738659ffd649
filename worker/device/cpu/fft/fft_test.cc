// What the samples of fft are too small for, and lengths that are known only when a program runs.
#include "common/base/status.h"
#include "common/ir/text.h"
#include "common/ops/registry.h"
#include "gtest/gtest.h"
#include "worker/device/cpu/test_launch.h"

namespace weir::cpu {
namespace {

void Check(const std::string& type, const std::string& result, const std::string& kind,
           const std::string& length, const Tensor& operand, double absolute) {
  const std::string text =
      StrCat("func @main(%x: ", type, ") -> (", result, ") { %y = fft(%x) {fft_length = (", length,
             "), fft_type = \"", kind, "\"} return %y }");
  const absl::StatusOr<Graph> graph = Parse(text, Ops());
  ASSERT_TRUE(graph.ok()) << graph.status() << text;
  const auto want = RunReference(*graph, {operand});
  ASSERT_TRUE(want.ok()) << want.status();
  for (Isa isa : SupportedIsas()) {
    std::vector<std::string> kernels;
    const auto got = RunLaunches(*graph, {operand}, {.isa = isa}, &kernels);
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(kernels, std::vector<std::string>{"fft"});
    EXPECT_EQ(Difference((*got)[0], (*want)[0], 1, absolute), "") << text << IsaName(isa);
  }
}

TEST(FftKernel, LongLinesAgreeWithTheReference) {
  for (int64_t n : {100, 127, 128, 210, 243, 600, 625, 1000, 1009, 1024, 2018, 4096}) {
    const std::string all = StrCat("[3,", n, "]"), half = StrCat("[3,", n / 2 + 1, "]");
    const std::string length = StrCat(n);
    const double slack = 1e-16 * 20 * static_cast<double>(n);
    Check("c128" + all, "c128" + all, "FFT", length, Rand(DType::kC128, {3, n}).Make(1), slack);
    Check("c128" + all, "c128" + all, "IFFT", length, Rand(DType::kC128, {3, n}).Make(2), 1e-14);
    Check("f64" + all, "c128" + half, "RFFT", length, Rand(DType::kF64, {3, n}).Make(3), slack);
    Check("c128" + half, "f64" + all, "IRFFT", length, Rand(DType::kC128, {3, n / 2 + 1}).Make(4),
          1e-14);
    Check("c64" + all, "c64" + all, "FFT", length, Rand(DType::kC64, {3, n}).Make(5), 5e8 * slack);
    Check("f32" + all, "c64" + half, "RFFT", length, Rand(DType::kF32, {3, n}).Make(6),
          5e8 * slack);
  }
}

TEST(FftKernel, LengthsMayBeSymbols) {
  for (int64_t n : {1, 6, 37, 38}) {
    Check("f64[2,n]", "c128[2,min(n,n//2+1)]", "RFFT", "n", Rand(DType::kF64, {2, n}).Make(1),
          1e-13);
    Check("c64[3,n]", "c64[3,n]", "FFT", "n", Rand(DType::kC64, {3, n}).Make(1), 1e-4);
  }
}

TEST(FftKernel, ExtentsThatDoNotFitAreErrors) {
  const Graph graph = *Parse(
      "func @main(%x: c64[n]) -> (c64[6]) { %y = fft(%x) {fft_length = (6), fft_type = \"FFT\"} "
      "return %y }",
      Ops());
  const auto got = RunLaunches(graph, {Rand(DType::kC64, {5}).Make(1)}, {});
  EXPECT_EQ(got.status().message(), "operand 0 [5] does not fit to fft_length [6]");
}

}  // namespace
}  // namespace weir::cpu
