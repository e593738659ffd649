// What the samples of fft are too small for, and lengths that are known only when a program runs.
#include <cstring>
#include <limits>

#include "common/base/status.h"
#include "common/ir/text.h"
#include "common/ops/registry.h"
#include "gtest/gtest.h"
#include "worker/device/cpu/fft/line_loops.h"
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
  for (int64_t n : {100, 127, 128, 210, 243, 600, 625, 1000, 1009, 1024, 2018, 3000, 4096}) {
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

// Returns: the frequencies of a line.
template <class T>
std::vector<T> TransformBy(const LineLoops<T>& loops, const FourierPlan<T>& plan,
                           const Tensor& line) {
  const int64_t n = plan.length();
  std::vector<T> out(2 * n);
  Lines<const T> from{
      .data = reinterpret_cast<const T*>(line.raw_data()), .step = 2, .imaginary = 1};
  Lines<T> to{.data = out.data(), .step = 2, .imaginary = 1};
  from.count = to.count = 1;
  const Tensor memory(DType::kF64, {4 * n * loops.lanes});
  T* a = reinterpret_cast<T*>(const_cast<std::byte*>(memory.raw_data()));
  loops.load(from, n, a);
  loops.store(loops.transform(plan, a, a + 2 * n * loops.lanes), n, to);
  return out;
}

template <class T>
void CheckBitsAlone(DType dtype) {
  for (int64_t n : {256, 750, 1000, 2048, 4096, 5000}) {
    const FourierPlan<T> plan(n);
    // The first number of a part is turned by nothing, not even a NaN.
    Tensor line = Rand(dtype, {n}).Make(n);
    T* numbers = reinterpret_cast<T*>(line.raw_mutable_data());
    numbers[0] = -T{0};
    numbers[1] = n == 750 ? std::numeric_limits<T>::infinity() : -T{0};
    for (Isa isa : SupportedIsas()) {
      const LineLoops<T>& one = OneLineLoopsFor<T>(isa);
      ASSERT_TRUE(one.fits(plan)) << n;
      const std::vector<T> want = TransformBy(LineLoopsFor<T>(isa), plan, line);
      const std::vector<T> got = TransformBy(one, plan, line);
      EXPECT_EQ(std::memcmp(got.data(), want.data(), got.size() * sizeof(T)), 0)
          << n << " on " << IsaName(isa);
    }
  }
}

TEST(FftKernel, ALineHasTheSameBitsAloneAndInALane) {
  CheckBitsAlone<float>(DType::kC64);
  CheckBitsAlone<double>(DType::kC128);
}

TEST(FftKernel, LengthsThatDoNotFitAVectorStayInLanes) {
  for (int64_t n : {1, 16, 64, 127, 1009, 4 * 31 * 31}) {
    for (Isa isa : SupportedIsas()) {
      if (isa == Isa::kBaseline && (n == 16 || n == 64)) continue;
      EXPECT_FALSE(OneLineLoopsFor<float>(isa).fits(FourierPlan<float>(n))) << n;
    }
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
