#include "common/ops/linalg_lang.h"

#include <cmath>
#include <complex>

#include "common/ops/lang_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

using ::testing::HasSubstr;
using Values = const std::vector<ValueId>&;

// Whether all elements are within `slack` of each other.
void ExpectNear(const Tensor& found, const Tensor& want, double slack = 1e-13) {
  ASSERT_EQ(found.extents(), want.extents());
  const Tensor x = found.Contiguous(), y = want.Contiguous();
  VisitDType(found.dtype(), [&]<class T>(TypeTag<T>) {
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::complex<double>>) {
        EXPECT_LT(std::abs(x.data<T>()[i] - y.data<T>()[i]), slack) << i;
      }
    }
  });
}

ValueId SolveOf(Builder& b, Values v) { return Solve(b, v[0], v[1]); }
ValueId InverseOf(Builder& b, Values v) { return Inverse(b, v[0]); }
ValueId DeterminantOf(Builder& b, Values v) { return Determinant(b, v[0]); }

TEST(SolveTest, MatricesVectorsAndBatches) {
  const Tensor a = Tensor::Of<double>({2, 2}, {1, 2, 3, 4});
  ExpectNear(Result({a, Tensor::Of<double>({2}, {5, 11})}, SolveOf),
             Tensor::Of<double>({2}, {1, 2}));
  const Tensor two = Tensor::Of<double>({2, 2, 2}, {1, 2, 3, 4, 2, 0, 0, 4});
  ExpectNear(Result({two, Tensor::Of<double>({2, 1}, {5, 11})}, SolveOf),
             Tensor::Of<double>({2, 2, 1}, {1, 2, 2.5, 2.75}));
  EXPECT_EQ(TypeOf({"f32[n,3,3]", "f32[3]"}, SolveOf), "f32[n,3]");
  EXPECT_EQ(TypeOf({"f32[m,m]", "f64[k,m,2]"}, SolveOf), "f64[k,m,2]");
  EXPECT_THAT(TypeOf({"f32[3]", "f32[3]"}, SolveOf), HasSubstr("expected matrices"));
  EXPECT_THAT(TypeOf({"f32[3,3]", "f32[4,1]"}, SolveOf), HasSubstr("do not"));
}

TEST(InverseTest, TimesTheMatrixIsTheIdentity) {
  for (DType dtype : {DType::kF64, DType::kC128}) {
    const Tensor a = Rand(dtype, {3, 5, 5}).Make(2);
    const Tensor product =
        Result({a}, [](Builder& b, Values v) { return MatMul(b, v[0], Inverse(b, v[0])); });
    const Tensor eye = Result({a}, [&](Builder& b, Values) {
      return BroadcastTo(b, Eye(b, dtype, 5, 5), Shape({3, 5, 5}));
    });
    ExpectNear(product, eye);
  }
  EXPECT_EQ(Text({Tensor::Of<float>({1, 1}, {0})}, InverseOf), "f32[1,1] {inf}");
}

TEST(DeterminantTest, SignFollowsTheSwaps) {
  EXPECT_EQ(Text({Tensor::Of<float>({2, 2}, {1, 2, 3, 4})}, DeterminantOf), "f32[] {-2}");
  EXPECT_EQ(Text({Tensor::Of<float>({3, 3}, {0, 1, 0, 0, 0, 1, 1, 0, 0})}, DeterminantOf),
            "f32[] {1}");
  const Tensor singular = Tensor::Of<float>({2, 2}, {1, 2, 2, 4});
  EXPECT_EQ(*Result({singular}, DeterminantOf).data<float>(), 0);
  EXPECT_EQ(Text({Tensor::Of<float>({2, 0, 0}, {})}, DeterminantOf), "f32[2] {1, 1}");
}

TEST(SlogDetTest, SignAndLogarithm) {
  auto sign = [](Builder& b, Values v) { return SlogDet(b, v[0]).sign; };
  auto log = [](Builder& b, Values v) { return SlogDet(b, v[0]).log; };
  const Tensor a = Tensor::Of<double>({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(Text({a}, sign), "f64[] {-1}");
  ExpectNear(Result({a}, log), Tensor::Scalar(std::log(2.0)));
  const Tensor singular = Tensor::Of<double>({2, 2}, {1, 2, 2, 4});
  EXPECT_EQ(*Result({singular}, sign).data<double>(), 0);
  EXPECT_EQ(Text({singular}, log), "f64[] {-inf}");
  const Tensor turn = Tensor::Of<std::complex<double>>({2, 2}, {{0, 2}, 0, 0, 3});
  EXPECT_EQ(Text({turn}, sign), "c128[] {(0,1)}");
  ExpectNear(Result({turn}, log), Tensor::Scalar(std::log(6.0)));
}

TEST(PinvTest, OfARankDeficientMatrix) {
  auto pinv = [](Builder& b, Values v) { return Pinv(b, v[0], 1e-15); };
  ExpectNear(Result({Tensor::Of<double>({2, 2}, {1, 2, 2, 4})}, pinv),
             Tensor::Of<double>({2, 2}, {0.04, 0.08, 0.08, 0.16}));
  ExpectNear(Result({Tensor::Of<double>({3, 2}, {1, 0, 0, 2, 0, 0})}, pinv),
             Tensor::Of<double>({2, 3}, {1, 0, 0, 0, 0.5, 0}));
  EXPECT_EQ(TypeOf({"c64[n,2,3]"}, pinv), "c64[n,3,2]");
}

TEST(MatrixPowerTest, PositiveNegativeAndZero) {
  auto power = [](int64_t exponent) {
    return [exponent](Builder& b, Values v) { return MatrixPower(b, v[0], exponent); };
  };
  const Tensor a = Tensor::Of<double>({2, 2}, {1, 1, 0, 1});
  EXPECT_EQ(Text({a}, power(0)), "f64[2,2] {1, 0, 0, 1}");
  EXPECT_EQ(Text({a}, power(1)), "f64[2,2] {1, 1, 0, 1}");
  EXPECT_EQ(Text({a}, power(11)), "f64[2,2] {1, 11, 0, 1}");
  EXPECT_EQ(Text({a}, power(-3)), "f64[2,2] {1, -3, 0, 1}");
}

TEST(NormTest, OfVectors) {
  auto norm = [](double order) {
    return [order](Builder& b, Values v) { return VectorNorm(b, v[0], {-1}, order); };
  };
  const Tensor x = Tensor::Of<double>({2, 2}, {3, -4, 0, 2});
  EXPECT_EQ(Text({x}, norm(2)), "f64[2] {5, 2}");
  EXPECT_EQ(Text({x}, norm(1)), "f64[2] {7, 2}");
  EXPECT_EQ(Text({x}, norm(0)), "f64[2] {2, 1}");
  EXPECT_EQ(Text({x}, norm(INFINITY)), "f64[2] {4, 2}");
  EXPECT_EQ(Text({x}, norm(-INFINITY)), "f64[2] {3, 0}");
  ExpectNear(Result({x}, norm(3)), Tensor::Of<double>({2}, {std::cbrt(91), 2}));
  EXPECT_EQ(TypeOf({"c64[n,3]"}, norm(2)), "f32[n]");
}

TEST(NormTest, OfMatrices) {
  auto norm = [](MatrixNormKind kind) {
    return [kind](Builder& b, Values v) { return MatrixNorm(b, v[0], kind); };
  };
  const Tensor x = Tensor::Of<double>({2, 2}, {3, 0, 4, 5});
  ExpectNear(Result({x}, norm(MatrixNormKind::kFrobenius)), Tensor::Scalar(std::sqrt(50.0)));
  ExpectNear(Result({x}, norm(MatrixNormKind::kNuclear)),
             Tensor::Scalar(std::sqrt(45.0) + std::sqrt(5.0)));
  ExpectNear(Result({x}, norm(MatrixNormKind::kSpectral)), Tensor::Scalar(std::sqrt(45.0)));
  EXPECT_EQ(Text({x}, norm(MatrixNormKind::kMaxColumn)), "f64[] {7}");
  EXPECT_EQ(Text({x}, norm(MatrixNormKind::kMaxRow)), "f64[] {9}");
}

}  // namespace
}  // namespace weir
