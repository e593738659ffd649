#include "common/tensor/shape.h"

#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TensorType Parsed(std::string_view text) {
  const absl::StatusOr<TensorType> type = TensorType::Parse(text);
  EXPECT_TRUE(type.ok()) << type.status();
  return type.ok() ? *type : TensorType{};
}

std::string ParseError(std::string_view text) {
  const absl::StatusOr<TensorType> type = TensorType::Parse(text);
  EXPECT_FALSE(type.ok()) << text << " gave " << type->ToString();
  return std::string(type.status().message());
}

std::string BindError(std::string_view type, const Extents& extents) {
  SymbolBindings bindings;
  return std::string(BindShape(Parsed(type).shape, extents, "input x", &bindings).message());
}

TEST(ExtentsTest, Counts) {
  EXPECT_EQ(NumElements({}), 1);
  EXPECT_EQ(NumElements({2, 3, 4}), 24);
  EXPECT_EQ(NumElements({2, 0, 4}), 0);
  EXPECT_EQ(CheckedNumElements({2, 3}, DType::kF32).value(), 6);
  EXPECT_EQ(CheckedNumElements({0, 3}, DType::kF32).value(), 0);
  EXPECT_EQ(CheckedNumElements({int64_t{1} << 62}, DType::kU8).value(), int64_t{1} << 62);
}

TEST(ExtentsTest, RefusesWhatDoesNotFit) {
  EXPECT_THAT(CheckedNumElements({2, -1}, DType::kF32).status().message(),
              HasSubstr("[2,-1] has a negative extent"));
  EXPECT_THAT(CheckedNumElements({int64_t{1} << 62}, DType::kU16).status().message(),
              HasSubstr("more than 2^62 bytes"));
  const int64_t max = std::numeric_limits<int64_t>::max();
  EXPECT_FALSE(CheckedNumElements({max, max}, DType::kU8).ok());
  EXPECT_FALSE(CheckedNumElements({max, 0, max}, DType::kU8).ok());
}

TEST(ExtentsTest, Strides) {
  EXPECT_THAT(RowMajorStrides({2, 3, 4}), ElementsAre(12, 4, 1));
  EXPECT_THAT(RowMajorStrides({2, 0, 4}), ElementsAre(4, 4, 1));
  EXPECT_TRUE(RowMajorStrides({}).empty());
  EXPECT_EQ(ExtentsToString({2, 3}), "[2,3]");
  EXPECT_EQ(ExtentsToString({}), "[]");
}

TEST(ShapeTest, StaticAndSymbolic) {
  const Dim n = Dim::Symbol("n");
  const Shape shape{n, 8, n + 1};
  EXPECT_FALSE(shape.is_static());
  EXPECT_EQ(shape.num_elements(), n * n * 8 + n * 8);
  EXPECT_THAT(shape.Evaluate({{"n", 2}}).value(), ElementsAre(2, 8, 3));
  EXPECT_EQ(shape.Substitute({{"n", 2}}), Shape({2, 8, 3}));
  EXPECT_TRUE(shape.Substitute({{"n", 2}}).is_static());
  EXPECT_THAT(Shape({2, 8}).extents(), ElementsAre(2, 8));
  EXPECT_EQ(Shape::FromExtents({2, 8}), Shape({2, 8}));
  EXPECT_EQ(Shape().num_elements(), Dim(1));
}

TEST(ShapeTest, EvaluateNamesTheShape) {
  const Dim n = Dim::Symbol("n");
  EXPECT_EQ(Shape({n, 8}).Evaluate({}).status().message(),
            "shape [n,8]: dimension symbol n has no value");
  EXPECT_EQ(Shape({4, n - 3}).Evaluate({{"n", 1}}).status().message(),
            "shape [4,n-3]: axis 1 becomes -2, but extents are not negative");
}

TEST(TensorTypeTest, TextRoundTrip) {
  for (const char* text :
       {"f32[]", "f32[n,8,8]", "bool[?]", "c128[3*n+1,min(m,n,4),n//2]", "bf16[max((m+1)//2,n)]"}) {
    EXPECT_EQ(Parsed(text).ToString(), text);
  }
  EXPECT_EQ(Parsed(" i64 [ n , 2 ] ").ToString(), "i64[n,2]");
  for (DType dtype : kAllDTypes) {
    const TensorType type{dtype, Shape({2})};
    EXPECT_EQ(Parsed(type.ToString()), type);
    EXPECT_EQ(DTypeFromWire(static_cast<int>(dtype)), dtype);
  }
  EXPECT_EQ(DTypeFromWire(0), std::nullopt);
  EXPECT_EQ(DTypeFromWire(16), std::nullopt);
}

TEST(TensorTypeTest, RejectsText) {
  EXPECT_THAT(ParseError(""), HasSubstr("expected dtype[dims]"));
  EXPECT_THAT(ParseError("f32"), HasSubstr("expected dtype[dims]"));
  EXPECT_THAT(ParseError("f32[2"), HasSubstr("expected dtype[dims]"));
  EXPECT_THAT(ParseError("float[2]"), HasSubstr("no dtype is called 'float'"));
  EXPECT_THAT(ParseError("f32[2,]"), HasSubstr("expected a dimension"));
  EXPECT_THAT(ParseError("f32[-2]"), HasSubstr("dimension -2 is negative"));
  EXPECT_THAT(ParseError("f32[2)(,3]"), HasSubstr("type 'f32[2)(,3]'"));
  std::string wide = "f32[1";
  for (int i = 0; i < kMaxRank; ++i) wide += ",1";
  EXPECT_THAT(ParseError(wide + "]"), HasSubstr("rank 33 is above 32"));
}

TEST(BindShapeTest, BindsSymbolsThenChecksTheRest) {
  SymbolBindings bindings;
  const Shape shape = Parsed("f32[2*n,n,?,m]").shape;
  ASSERT_TRUE(BindShape(shape, {6, 3, 99, 0}, "input x", &bindings).ok());
  EXPECT_EQ(bindings, (SymbolBindings{{"n", 3}, {"m", 0}}));
  EXPECT_TRUE(BindShape(Parsed("f32[n]").shape, {3}, "input y", &bindings).ok());
  EXPECT_EQ(BindShape(Parsed("f32[n]").shape, {4}, "input y", &bindings).message(),
            "input y must have shape [n], got [4]: axis 0 is 4, but n is 3 already");
}

TEST(BindShapeTest, NamesBothShapes) {
  EXPECT_EQ(BindError("f32[n,8]", {3}),
            "input x must have shape [n,8], got [3]: rank 1 instead of 2");
  EXPECT_EQ(BindError("f32[n,8]", {3, 7}),
            "input x must have shape [n,8], got [3,7]: axis 1 is 7 instead of 8");
  EXPECT_EQ(BindError("f32[n,n+1]", {3, 3}),
            "input x must have shape [n,n+1], got [3,3]: axis 1 is 3 instead of 4");
  EXPECT_EQ(BindError("f32[2*k]", {4}),
            "input x must have shape [2*k], got [4]: axis 0: dimension symbol k has no value");
}

}  // namespace
}  // namespace weir
