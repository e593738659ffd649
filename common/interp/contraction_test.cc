// Meaning of dot_general, convolution and reduce_window, against values computed by hand and
// against the formulas of the StableHLO specification.
#include <array>

#include "common/base/str_cat.h"
#include "common/interp/test_run.h"
#include "gmock/gmock.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor Counting(const Extents& extents, float first = 1) {
  Tensor out(DType::kF32, extents);
  for (int64_t i = 0; i < out.num_elements(); ++i) out.mutable_data<float>()[i] = first + i;
  return out;
}

std::string Program(std::string_view operands, std::string_view node, std::string_view result) {
  return StrCat("func @main(", operands, ") -> (", result, ") { %out = ", node, " : ", result,
                " return %out }");
}

std::string Dot(std::string_view x, std::string_view y, std::string_view attrs,
                std::string_view result) {
  return Program(StrCat("%x: ", x, ", %y: ", y), StrCat("dot_general(%x, %y) {", attrs, "}"),
                 result);
}

constexpr std::string_view kPlain =
    "lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]";

TEST(DotGeneralTest, MultipliesMatrices) {
  EXPECT_THAT(Texts(MustRun(Dot("f32[m,k]", "f32[k,n]", kPlain, "f32[m,n]"),
                            {Counting({2, 3}), Counting({3, 2})})),
              ElementsAre("f32[2,2] {22, 28, 49, 64}"));
}

TEST(DotGeneralTest, OrdersAxesAsBatchThenLhsThenRhs) {
  // out[b, i, j] = sum over k of x[k, b, i] * y[j, k, b].
  const auto out = MustRun(Dot("f32[2,3,4]", "f32[5,2,3]",
                               "lhs_batch = [1], rhs_batch = [2], lhs_contract = [0], "
                               "rhs_contract = [1]",
                               "f32[3,4,5]"),
                           {Counting({2, 3, 4}), Counting({5, 2, 3})});
  ASSERT_EQ(out.size(), 1u);
  // b = 2, i = 1, j = 3: x is 10 and 22, y is 21 and 24.
  EXPECT_EQ(out[0].At<float>({2, 1, 3}), 10 * 21 + 22 * 24);
  EXPECT_EQ(out[0].At<float>({0, 3, 4}), 4 * 25 + 16 * 28);
}

TEST(DotGeneralTest, SumsOfNothingAreZero) {
  EXPECT_THAT(Texts(MustRun(Dot("f32[m,k]", "f32[k,n]", kPlain, "f32[m,n]"),
                            {Counting({1, 0}), Counting({0, 2})})),
              ElementsAre("f32[1,2] {0, 0}"));
}

TEST(DotGeneralTest, IntegersWrapAndNarrowFloatsRoundOnce) {
  EXPECT_THAT(Texts(MustRun(
                  Dot("i8[1,2]", "i8[2,1]", kPlain, "i8[1,1]"),
                  {Tensor::Of<int8_t>({1, 2}, {100, 100}), Tensor::Of<int8_t>({2, 1}, {100, 3})})),
              ElementsAre("i8[1,1] {60}"));  // 10300 modulo 256
  // In f16, 2048 + 1 + 1 stays 2048 when each sum is rounded.
  const Tensor ones = Tensor::Of<Half>({3, 1}, {Half(1), Half(1), Half(1)});
  const auto out = MustRun(Dot("f16[1,3]", "f16[3,1]", kPlain, "f16[1,1]"),
                           {Tensor::Of<Half>({1, 3}, {Half(2048), Half(1), Half(1)}), ones});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(static_cast<float>(out[0].At<Half>({0, 0})), 2050);
}

TEST(DotGeneralTest, ComplexProductsAreNotConjugated) {
  using C = std::complex<float>;
  const auto out = MustRun(
      Dot("c64[1,2]", "c64[2,1]", kPlain, "c64[1,1]"),
      {Tensor::Of<C>({1, 2}, {C(1, 2), C(0, 1)}), Tensor::Of<C>({2, 1}, {C(3, 4), C(0, 1)})});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].At<C>({0, 0}), C(-6, 10));
}

TEST(DotGeneralTest, RefusesWhatDoesNotFit) {
  EXPECT_THAT(ParseError(Dot("f32[2,3]", "f32[4,5]", kPlain, "f32[2,5]")),
              HasSubstr("extents of contract axes 1 and 0 must be equal, found operand 0 "
                        "(f32[2,3]) and operand 1 (f32[4,5])"));
  EXPECT_THAT(ParseError(Dot("f32[2,3]", "f64[3,5]", kPlain, "f32[2,5]")),
              HasSubstr("numbers of one type"));
  EXPECT_THAT(ParseError(Dot("bool[2,3]", "bool[3,5]", kPlain, "bool[2,5]")),
              HasSubstr("numbers of one type"));
  EXPECT_THAT(ParseError(Dot("f32[2,3]", "f32[3,5]",
                             "lhs_batch = [1], rhs_batch = [0], lhs_contract = [1], "
                             "rhs_contract = [0]",
                             "f32[2,5]")),
              HasSubstr("axis 1 twice"));
  EXPECT_THAT(ParseError(Dot("f32[2,3]", "f32[3,5]",
                             "lhs_batch = [], rhs_batch = [], lhs_contract = [2], "
                             "rhs_contract = [0]",
                             "f32[2,5]")),
              HasSubstr("names axis 2 of 2 axes"));
}

struct ConvAttrs {
  std::string strides = "1", low = "0", high = "0", input_dilation = "1", kernel_dilation = "1";
  std::string groups;
};

std::string Conv(std::string_view x, std::string_view w, const ConvAttrs& attrs,
                 std::string_view result) {
  return Program(StrCat("%x: ", x, ", %w: ", w),
                 StrCat("convolution(%x, %w) {window_strides = [", attrs.strides,
                        "], padding_low = [", attrs.low, "], padding_high = [", attrs.high,
                        "], lhs_dilation = [", attrs.input_dilation, "], rhs_dilation = [",
                        attrs.kernel_dilation, "]", attrs.groups, "}"),
                 result);
}

TEST(ConvolutionTest, SlidesWithoutFlipping) {
  EXPECT_THAT(Texts(MustRun(Conv("f32[1,1,4]", "f32[1,1,2]", {}, "f32[1,1,3]"),
                            {Counting({1, 1, 4}), Counting({1, 1, 2}, 10)})),
              ElementsAre("f32[1,1,3] {32, 53, 74}"));
}

TEST(ConvolutionTest, PadsStridesAndDilates) {
  const auto run = [](const ConvAttrs& attrs, std::string_view result) {
    return Texts(MustRun(Conv("f32[1,1,4]", "f32[1,1,2]", attrs, result),
                         {Counting({1, 1, 4}), Counting({1, 1, 2}, 10)}))[0];
  };
  EXPECT_EQ(run({.low = "1"}, "f32[1,1,4]"), "f32[1,1,4] {11, 32, 53, 74}");
  EXPECT_EQ(run({.low = "1", .high = "1"}, "f32[1,1,5]"), "f32[1,1,5] {11, 32, 53, 74, 40}");
  EXPECT_EQ(run({.low = "-1"}, "f32[1,1,2]"), "f32[1,1,2] {53, 74}");
  EXPECT_EQ(run({.strides = "2"}, "f32[1,1,2]"), "f32[1,1,2] {32, 74}");
  EXPECT_EQ(run({.kernel_dilation = "2"}, "f32[1,1,2]"), "f32[1,1,2] {43, 64}");
  // 1 0 2 0 3 0 4
  EXPECT_EQ(run({.input_dilation = "2"}, "f32[1,1,6]"), "f32[1,1,6] {10, 22, 20, 33, 30, 44}");
  EXPECT_EQ(run({.kernel_dilation = "9"}, "f32[1,1,0]"), "f32[1,1,0] {}");
}

// The definition, element by element.
float At(const Tensor& x, const Tensor& w, std::array<int64_t, 4> out, int64_t groups) {
  const auto& [n, o, i, j] = out;
  const int64_t group = o / (w.extent(0) / groups);
  float sum = 0;
  for (int64_t c = 0; c < w.extent(1); ++c) {
    for (int64_t a = 0; a < w.extent(2); ++a) {
      for (int64_t b = 0; b < w.extent(3); ++b) {
        sum += x.At<float>({n, group * w.extent(1) + c, i + a, j + b}) * w.At<float>({o, c, a, b});
      }
    }
  }
  return sum;
}

TEST(ConvolutionTest, SplitsFeaturesIntoGroups) {
  const Tensor x = Counting({2, 6, 4, 5});
  const Tensor w = Counting({6, 2, 2, 3});
  const auto out = MustRun(
      Conv("f32[2,6,4,5]", "f32[6,2,2,3]",
           {"1, 1", "0, 0", "0, 0", "1, 1", "1, 1", ", feature_group_count = (3)"}, "f32[2,6,3,3]"),
      {x, w});
  ASSERT_EQ(out.size(), 1u);
  for (int64_t n = 0; n < 2; ++n) {
    for (int64_t o = 0; o < 6; ++o) {
      EXPECT_EQ(out[0].At<float>({n, o, 1, 2}), At(x, w, {n, o, 1, 2}, 3)) << n << " " << o;
    }
  }
}

TEST(ConvolutionTest, SplitsBatchIntoGroups) {
  const Tensor x = Counting({4, 2, 3, 3});
  const Tensor w = Counting({6, 2, 2, 2});
  const auto out = MustRun(
      Conv("f32[4,2,3,3]", "f32[6,2,2,2]",
           {"1, 1", "0, 0", "0, 0", "1, 1", "1, 1", ", batch_group_count = (2)"}, "f32[2,6,2,2]"),
      {x, w});
  ASSERT_EQ(out.size(), 1u);
  for (int64_t n = 0; n < 2; ++n) {
    for (int64_t o = 0; o < 6; ++o) {
      const int64_t row = o / 3 * 2 + n;
      EXPECT_EQ(out[0].At<float>({n, o, 1, 0}), At(x, w, {row, o, 1, 0}, 1)) << n << " " << o;
    }
  }
}

TEST(ConvolutionTest, HasSymbolicBatchAndSpace) {
  const std::string text =
      Conv("f32[n,1,h]", "f32[1,1,2]", {.strides = "2"}, "f32[n,1,max(0,(h-2)//2+1)]");
  EXPECT_THAT(Texts(MustRun(text, {Counting({2, 1, 4}), Counting({1, 1, 2})})),
              ElementsAre("f32[2,1,2] {5, 11, 17, 23}"));
  EXPECT_THAT(Texts(MustRun(text, {Counting({2, 1, 1}), Counting({1, 1, 2})})),
              ElementsAre("f32[2,1,0] {}"));
}

TEST(ConvolutionTest, RefusesWhatDoesNotFit) {
  EXPECT_THAT(ParseError(Conv("f32[1,3,4]", "f32[1,2,2]", {}, "f32[1,1,3]")),
              HasSubstr("the kernel takes 2 input features in 1 groups, the input has 3"));
  EXPECT_THAT(ParseError(Conv("f32[1,3]", "f32[1,3]", {}, "f32[1,1]")),
              HasSubstr("1 to 3 axes of space"));
  EXPECT_THAT(ParseError(Conv("f32[1,1,4]", "f32[1,1,2]", {.strides = "0"}, "f32[1,1,3]")),
              HasSubstr("attribute 'window_strides' must be positive"));
  EXPECT_THAT(ParseError(Conv("f32[1,1,4]", "f32[1,1,2]", {.low = "1, 1"}, "f32[1,1,3]")),
              HasSubstr("attribute 'padding_low' must have 1 entries, found 2"));
  EXPECT_THAT(ParseError(Conv("f32[1,4,4]", "f32[3,2,2]", {.groups = ", feature_group_count = (2)"},
                              "f32[1,3,3]")),
              HasSubstr("output features 3 are not divisible by 2 groups"));
}

std::string Window(std::string_view x, std::string_view kind, std::string_view window,
                   std::string_view more, std::string_view result) {
  return Program(StrCat("%x: ", x),
                 StrCat("reduce_window(%x) {kind = \"", kind, "\", window_dimensions = [", window,
                        "], ", more, "}"),
                 result);
}

constexpr std::string_view kOneAxis =
    "window_strides = [1], base_dilations = [1], window_dilations = [1], padding_low = [0], "
    "padding_high = [1]";

TEST(ReduceWindowTest, PaddingIsTheIdentity) {
  const Tensor x = Tensor::Of<int32_t>({4}, {3, -5, 2, 4});
  const auto run = [&](std::string_view kind) {
    return Texts(MustRun(Window("i32[4]", kind, "2", kOneAxis, "i32[4]"), {x}))[0];
  };
  EXPECT_EQ(run("max"), "i32[4] {3, 2, 4, 4}");
  EXPECT_EQ(run("min"), "i32[4] {-5, -5, 2, 4}");
  EXPECT_EQ(run("sum"), "i32[4] {-2, -3, 6, 4}");
  EXPECT_EQ(run("prod"), "i32[4] {-15, -10, 8, 4}");
}

TEST(ReduceWindowTest, WindowsOfPaddingOnlyGiveTheIdentity) {
  const std::string text =
      Window("f32[1]", "max", "1",
             "window_strides = [1], base_dilations = [1], window_dilations = [1], "
             "padding_low = [1], padding_high = [0]",
             "f32[2]");
  const auto out = MustRun(text, {Tensor::Of<float>({1}, {5})});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].At<float>({0}), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(out[0].At<float>({1}), 5);
}

TEST(ReduceWindowTest, StridesAndDilatesEveryAxis) {
  // Rows 0 and 2 of columns {0, 1} and {2, 3}.
  EXPECT_THAT(
      Texts(MustRun(Window("f32[3,4]", "sum", "2, 2",
                           "window_strides = [1, 2], base_dilations = [1, 1], window_dilations = "
                           "[2, 1], padding_low = [0, 0], padding_high = [0, 0]",
                           "f32[1,2]"),
                    {Counting({3, 4})})),
      ElementsAre("f32[1,2] {22, 30}"));
  // 1 0 2 0 3
  EXPECT_THAT(Texts(MustRun(Window("f32[3]", "sum", "3",
                                   "window_strides = [1], base_dilations = [2], window_dilations "
                                   "= [1], padding_low = [0], padding_high = [0]",
                                   "f32[3]"),
                            {Counting({3})})),
              ElementsAre("f32[3] {3, 2, 5}"));
}

TEST(ReduceWindowTest, HugeWindowsCostNoTime) {
  EXPECT_THAT(
      Texts(MustRun(Window("f32[3]", "sum", "2147483647",
                           "window_strides = [1], base_dilations = [1], window_dilations = [1], "
                           "padding_low = [2147483644], padding_high = [0]",
                           "f32[1]"),
                    {Counting({3})})),
      ElementsAre("f32[1] {6}"));
}

TEST(ReduceWindowTest, RefusesWhatDoesNotFit) {
  EXPECT_THAT(ParseError(Window("f32[4]", "mean", "2", kOneAxis, "f32[4]")),
              HasSubstr("attribute 'kind' must be max, min, sum or prod, found 'mean'"));
  EXPECT_THAT(ParseError(Window("c64[4]", "max", "2", kOneAxis, "c64[4]")),
              HasSubstr("max is not defined for c64"));
  EXPECT_THAT(ParseError(Window("f32[4]", "max", "0", kOneAxis, "f32[4]")),
              HasSubstr("'window_dimensions' must be positive"));
  EXPECT_THAT(ParseError(Window("f32[4]", "max", "2, 2", kOneAxis, "f32[4]")),
              HasSubstr("'window_dimensions' must have 1 entries"));
}

}  // namespace
}  // namespace weir
