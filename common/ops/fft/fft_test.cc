#include <cmath>
#include <random>

#include "common/ops/fft/fourier.h"
#include "common/ops/op_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

using ::testing::HasSubstr;

Attrs FftAttrs(const char* kind, std::vector<Dim> lengths) {
  return {{"fft_type", kind}, {"fft_length", std::move(lengths)}};
}

Complexes RandomLine(int64_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Complexes line(n);
  for (auto& value : line) value = {uniform(random), uniform(random)};
  return line;
}

std::complex<long double> Frequency(const Complexes& line, int64_t k) {
  const int64_t n = static_cast<int64_t>(line.size());
  std::complex<long double> sum = 0;
  for (int64_t j = 0; j < n; ++j) {
    const long double angle = -2 * M_PIl * static_cast<long double>(j * k % n) / n;
    sum += std::complex<long double>(line[j]) *
           std::complex<long double>(std::cos(angle), std::sin(angle));
  }
  return sum;
}

TEST(FourierTest, IsTheDefinitionForEveryLength) {
  for (int64_t n :
       {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16, 17, 30, 31, 32, 37, 60, 74, 97, 128, 251}) {
    const Complexes line = RandomLine(n, 7);
    const Complexes found = Fourier(n).Forward(line);
    const double slack = 4e-16 * std::sqrt(static_cast<double>(n)) * std::log2(n + 1.0) * 2;
    for (int64_t k = 0; k < n; ++k) {
      const std::complex<long double> want = Frequency(line, k);
      EXPECT_NEAR(found[k].real(), static_cast<double>(want.real()), slack) << n << " at " << k;
      EXPECT_NEAR(found[k].imag(), static_cast<double>(want.imag()), slack) << n << " at " << k;
    }
  }
}

TEST(FourierTest, InverseUndoesForward) {
  for (int64_t n : {1, 8, 15, 37, 1009, 1024, 2038}) {
    const Complexes line = RandomLine(n, 11);
    const Fourier fourier(n);
    const Complexes back = fourier.Inverse(fourier.Forward(line));
    for (int64_t k = 0; k < n; ++k) EXPECT_LT(std::abs(back[k] - line[k]), 1e-14) << n;
  }
}

TEST(FftTest, Values) {
  EXPECT_EQ(
      EvalOp("fft", {Tensor::Of<std::complex<float>>({4}, {1, 2, 3, 4})}, FftAttrs("FFT", {4})),
      "c64[4] {(10,0), (-2,2), (-2,0), (-2,-2)}");
  EXPECT_EQ(EvalOp("fft", {Tensor::Of<float>({5}, {1, 0, 0, 0, 0})}, FftAttrs("RFFT", {5})),
            "c64[3] {(1,0), (1,0), (1,0)}");
  EXPECT_EQ(EvalOp("fft", {Tensor::Of<std::complex<float>>({3}, {10, {-2, 2}, -2})},
                   FftAttrs("IRFFT", {4})),
            "f32[4] {1, 2, 3, 4}");
  EXPECT_EQ(EvalOp("fft", {Tensor::Of<std::complex<double>>({2, 2}, {1, 2, 3, 4})},
                   FftAttrs("FFT", {2, 2})),
            "c128[2,2] {(10,0), (-2,0), (-4,0), (0,0)}");
}

TEST(FftTest, RealTransformsOfSeveralAxesAreInverse) {
  const Tensor x = Rand(DType::kF64, {2, 3, 4, 5}).Make(5);
  const auto frequencies = EvalOpAll("fft", {x}, FftAttrs("RFFT", {3, 4, 5}));
  ASSERT_TRUE(frequencies.ok()) << frequencies.status();
  const auto back = EvalOpAll("fft", *frequencies, FftAttrs("IRFFT", {3, 4, 5}));
  ASSERT_TRUE(back.ok()) << back.status();
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    EXPECT_NEAR((*back)[0].data<double>()[i], x.data<double>()[i], 1e-15);
  }
}

TEST(FftTest, ImaginaryPartsOfRealFrequenciesAreDropped) {
  const Tensor odd = Tensor::Of<std::complex<double>>({2}, {{4, 7}, {0, 9}});
  EXPECT_EQ(EvalOp("fft", {odd}, FftAttrs("IRFFT", {2})), "f64[2] {2, 2}");
}

TEST(FftTest, Types) {
  EXPECT_EQ(InferOp("fft", {"f32[n,6]"}, FftAttrs("RFFT", {6})), "c64[n,4]");
  EXPECT_EQ(InferOp("fft", {"f64[2,n]"}, FftAttrs("RFFT", {Dim::Symbol("n")})),
            "c128[2,min(n,n//2+1)]");
  EXPECT_EQ(InferOp("fft", {"c64[4]"}, FftAttrs("IRFFT", {7})), "f32[7]");
  EXPECT_EQ(InferOp("fft", {"f32[0]"}, FftAttrs("RFFT", {0})), "c64[0]");
  EXPECT_THAT(InferOp("fft", {"f32[4]"}, FftAttrs("FFT", {4})), HasSubstr("not defined for"));
  EXPECT_THAT(InferOp("fft", {"c64[4]"}, FftAttrs("IRFFT", {4})), HasSubstr("must have extent 3"));
  EXPECT_THAT(InferOp("fft", {"c64[4]"}, FftAttrs("DCT", {4})), HasSubstr("is none of"));
  EXPECT_THAT(InferOp("fft", {"c64[4]"}, FftAttrs("FFT", {1, 4})), HasSubstr("last 1 to 3 axes"));
}

}  // namespace
}  // namespace weir
