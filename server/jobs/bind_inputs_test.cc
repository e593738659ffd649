#include "server/jobs/bind_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir {
namespace {

ProgramInput Input(std::string name, std::string_view type, bool mapped = false,
                   std::string used_by = "") {
  return {std::move(name), *TensorType::Parse(type), mapped, std::move(used_by)};
}

Tensor F32(std::initializer_list<int64_t> extents) {
  return Tensor::Zeros(DType::kF32, std::vector<int64_t>(extents));
}

std::string ErrorOf(const std::vector<ProgramInput>& inputs, const std::vector<std::string>& names,
                    std::vector<Tensor> tensors) {
  const auto bound = BindInputs(inputs, names, std::move(tensors));
  EXPECT_EQ(bound.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(bound.status().message().data(), bound.status().message().size());
}

const std::vector<ProgramInput>& Digits() {
  static const auto* const inputs = new std::vector<ProgramInput>{
      Input("image", "f32[n,1,8,8]", true, "convolution \"conv1\" (cnn.onnx:1:1)")};
  return *inputs;
}

TEST(BindInputsTest, BindsSymbolsAndOrdersFeeds) {
  const auto bound = BindInputs({Input("a", "f32[n,2]"), Input("b", "i64[2*n,m]")}, {"b", "a"},
                                {Tensor::Zeros(DType::kI64, {6, 5}), F32({3, 2})});
  ASSERT_TRUE(bound.ok()) << bound.status();
  EXPECT_EQ(bound->symbols, (SymbolBindings{{"n", 3}, {"m", 5}}));
  EXPECT_EQ(bound->feeds[0].dtype(), DType::kF32);
  EXPECT_EQ(bound->feeds[1].dtype(), DType::kI64);
}

TEST(BindInputsTest, BindsAnExpressionBeforeItsSymbol) {
  const auto bound =
      BindInputs({Input("b", "f32[2*n]"), Input("a", "f32[n]")}, {"a", "b"}, {F32({3}), F32({6})});
  EXPECT_TRUE(bound.ok()) << bound.status();
}

TEST(BindInputsTest, TakesNoRowsAndOneRow) {
  EXPECT_TRUE(BindInputs(Digits(), {"image"}, {F32({0, 1, 8, 8})}).ok());
  EXPECT_TRUE(BindInputs(Digits(), {"image"}, {F32({1, 1, 8, 8})}).ok());
}

TEST(BindInputsTest, WrongName) {
  EXPECT_EQ(ErrorOf(Digits(), {"img"}, {F32({5, 1, 8, 8})}),
            "the program has no input 'img'; its input is 'image' f32[n,1,8,8]");
}

TEST(BindInputsTest, WrongNameOfSeveral) {
  EXPECT_EQ(ErrorOf({Input("a", "f32[n]"), Input("b", "i32[]")}, {"c"}, {F32({1})}),
            "the program has no input 'c'; its inputs are 'a' f32[n], 'b' i32[]");
}

TEST(BindInputsTest, NameOfAProgramWithoutInputs) {
  EXPECT_EQ(ErrorOf({}, {"c"}, {F32({1})}), "the program has no input 'c'; it has no inputs");
}

TEST(BindInputsTest, MissingInput) {
  EXPECT_EQ(ErrorOf(Digits(), {}, {}), "input 'image' is missing: the program takes f32[n,1,8,8]");
}

TEST(BindInputsTest, InputGivenTwice) {
  EXPECT_EQ(ErrorOf(Digits(), {"image", "image"}, {F32({5, 1, 8, 8}), F32({5, 1, 8, 8})}),
            "input 'image' is given twice");
}

TEST(BindInputsTest, WrongElementType) {
  EXPECT_EQ(ErrorOf(Digits(), {"image"}, {Tensor::Zeros(DType::kF64, {5, 1, 8, 8})}),
            "input 'image' has element type f64, but the program takes f32[n,1,8,8]");
}

TEST(BindInputsTest, WrongRank) {
  EXPECT_EQ(ErrorOf(Digits(), {"image"}, {F32({5, 8})}),
            "input 'image' has shape [5,8] of rank 2, but the program takes [n,1,8,8] of rank 4");
}

TEST(BindInputsTest, MappedScalar) {
  EXPECT_EQ(ErrorOf(Digits(), {"image"}, {F32({})}),
            "input 'image' is mapped over its leading axis, but its file has shape []");
}

TEST(BindInputsTest, MappedWithoutALeadingAxis) {
  EXPECT_EQ(ErrorOf(Digits(), {"image"}, {F32({1, 8, 8})}),
            "input 'image' is mapped over its leading axis, but its file has shape [1,8,8], "
            "without an axis in front of the example: the program takes [n,1,8,8]");
}

TEST(BindInputsTest, InnerShape) {
  EXPECT_EQ(ErrorOf(Digits(), {"image"}, {F32({5, 1, 9, 8})}),
            "input 'image' has shape [5,1,9,8], but convolution \"conv1\" (cnn.onnx:1:1), which "
            "reads it, takes [n,1,8,8]: axis 2 is 9 instead of 8");
}

TEST(BindInputsTest, MappedInputsOfDifferentLengths) {
  EXPECT_EQ(ErrorOf({Input("image", "f32[n,8]", true), Input("rows", "f32[n,4]", true)},
                    {"image", "rows"}, {F32({5, 8}), F32({7, 4})}),
            "mapped inputs have different lengths: 'image' has 5 rows, 'rows' has 7");
}

TEST(BindInputsTest, SymbolWithTwoValues) {
  EXPECT_EQ(
      ErrorOf({Input("a", "f32[m]"), Input("b", "f32[2,m]")}, {"a", "b"}, {F32({5}), F32({2, 7})}),
      "input 'b' has shape [2,7], but the program takes [2,m]: axis 1 is 7, but m is 5 in "
      "input 'a'");
}

TEST(BindInputsTest, SymbolThatNothingBinds) {
  EXPECT_THAT(
      ErrorOf({Input("a", "f32[2*m]")}, {"a"}, {F32({4})}),
      testing::StartsWith("input 'a' has shape [4], but the program takes [2*m]: axis 0: "));
}

TEST(BindInputsTest, NamesAndTensorsDiffer) {
  EXPECT_EQ(ErrorOf(Digits(), {"image"}, {}), "the job names 1 inputs and brings 0 tensors");
}

}  // namespace
}  // namespace weir
