#include "common/ops/promote.h"

#include <sstream>
#include <string>

#include "gtest/gtest.h"

namespace weir {
namespace {

// The table as JAX publishes it, rows and columns in its order. f* stands for the weak float, which
// is f64 here.
constexpr char kPublished[] = R"(
      bool u8   u16  u32  u64  i8   i16  i32  i64  bf16 f16  f32  f64  c64  c128
bool  bool u8   u16  u32  u64  i8   i16  i32  i64  bf16 f16  f32  f64  c64  c128
u8    u8   u8   u16  u32  u64  i16  i16  i32  i64  bf16 f16  f32  f64  c64  c128
u16   u16  u16  u16  u32  u64  i32  i32  i32  i64  bf16 f16  f32  f64  c64  c128
u32   u32  u32  u32  u32  u64  i64  i64  i64  i64  bf16 f16  f32  f64  c64  c128
u64   u64  u64  u64  u64  u64  f*   f*   f*   f*   bf16 f16  f32  f64  c64  c128
i8    i8   i16  i32  i64  f*   i8   i16  i32  i64  bf16 f16  f32  f64  c64  c128
i16   i16  i16  i32  i64  f*   i16  i16  i32  i64  bf16 f16  f32  f64  c64  c128
i32   i32  i32  i32  i64  f*   i32  i32  i32  i64  bf16 f16  f32  f64  c64  c128
i64   i64  i64  i64  i64  f*   i64  i64  i64  i64  bf16 f16  f32  f64  c64  c128
bf16  bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 f32  f32  f64  c64  c128
f16   f16  f16  f16  f16  f16  f16  f16  f16  f16  f32  f16  f32  f64  c64  c128
f32   f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f64  c64  c128
f64   f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  c128 c128
c64   c64  c64  c64  c64  c64  c64  c64  c64  c64  c64  c64  c64  c128 c64  c128
c128  c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128
)";

DType Read(const std::string& name) {
  return name == "f*" ? DType::kF64 : ParseDType(name).value();
}

TEST(PromoteTest, FollowsThePublishedTable) {
  std::istringstream in(kPublished);
  std::string word;
  std::vector<DType> columns;
  for (int i = 0; i < 15; ++i) {
    ASSERT_TRUE(in >> word);
    columns.push_back(Read(word));
  }
  for (int row = 0; row < 15; ++row) {
    ASSERT_TRUE(in >> word);
    const DType left = Read(word);
    for (DType right : columns) {
      ASSERT_TRUE(in >> word);
      EXPECT_EQ(DTypeName(Promote(left, right)), DTypeName(Read(word)))
          << DTypeName(left) << " with " << DTypeName(right);
    }
  }
}

TEST(PromoteTest, IsCommutativeAndKeepsEqualTypes) {
  for (DType a : kAllDTypes) {
    EXPECT_EQ(Promote(a, a), a);
    for (DType b : kAllDTypes) EXPECT_EQ(Promote(a, b), Promote(b, a));
  }
}

TEST(PromoteTest, LiteralsBendToTheTensor) {
  for (DType dtype : kAllDTypes) {
    const DType with_int = dtype == DType::kBool ? DType::kI64 : dtype;
    EXPECT_EQ(Promote(dtype, ScalarKind::kInt), with_int) << DTypeName(dtype);
    const bool inexact = IsFloat(dtype) || IsComplex(dtype);
    EXPECT_EQ(Promote(dtype, ScalarKind::kFloat), inexact ? dtype : DType::kF64)
        << DTypeName(dtype);
  }
  EXPECT_EQ(Promote(DType::kI32, ScalarKind::kComplex), DType::kC128);
  EXPECT_EQ(Promote(DType::kF32, ScalarKind::kComplex), DType::kC64);
  EXPECT_EQ(Promote(DType::kBF16, ScalarKind::kComplex), DType::kC64);
  EXPECT_EQ(Promote(DType::kF64, ScalarKind::kComplex), DType::kC128);
}

}  // namespace
}  // namespace weir
