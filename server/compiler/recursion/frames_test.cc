// What frames hold: values of every element type, of sizes that are numbers and symbols.
#include "common/base/str_cat.h"
#include "common/interp/test_run.h"
#include "common/tensor/compare.h"
#include "gtest/gtest.h"
#include "server/compiler/pipeline.h"

namespace weir {
namespace {

// Each call exchanges its values, and those of half of the calls are needed behind it.
std::string Exchange(DType dtype, std::string_view extents) {
  const std::string type = StrCat(DTypeName(dtype), extents);
  return StrCat(R"(
    func @main(%n: i64[], %a: )",
                type, ", %b: ", type, ") -> (", type, R"() {
      %out = call(%n, %a, %b) {callee = "f"} : )",
                type, R"(
      return %out
    }
    func @f(%n: i64[], %a: )",
                type, ", %b: ", type, ") -> (", type, R"() {
      %zero = constant {value = i64[] {0}}
      %one = constant {value = i64[] {1}}
      %go = less(%zero, %n)
      %out = if(%go) {
        %m = subtract(%n, %one)
        %r = call(%m, %b, %a) {callee = "f"} : )",
                type, R"(
        %four = constant {value = i64[] {4}}
        %early = less(%n, %four)
        %c = if(%early) { yield %a } { yield %r } : )",
                type, R"(
        yield %c
      } {
        yield %b
      } : )",
                type, R"(
      return %out
    })");
}

void Check(const std::string& text, const std::vector<Tensor>& values) {
  absl::StatusOr<Compiled> compiled = Compile(MustParse(text), {});
  ASSERT_TRUE(compiled.ok()) << compiled.status() << text;
  for (int64_t n : {0, 3, 4, 5}) {
    const std::vector<Tensor> inputs = {Tensor::Scalar<int64_t>(n), values[0], values[1]};
    const auto want = Interpret(MustParse(text), inputs);
    const auto got = Interpret(compiled->graph, inputs);
    ASSERT_TRUE(want.ok() && got.ok()) << want.status() << got.status();
    EXPECT_EQ(Difference((*got)[0], (*want)[0]), "") << text;
  }
}

TEST(FramesTest, HoldEveryElementType) {
  for (DType dtype : kAllDTypes) {
    Check(Exchange(dtype, "[]"), {Rand(dtype, {}).Make(1), Rand(dtype, {}).Make(2)});
    Check(Exchange(dtype, "[2,3]"), {Rand(dtype, {2, 3}).Make(1), Rand(dtype, {2, 3}).Make(2)});
    Check(Exchange(dtype, "[k,2]"), {Rand(dtype, {3, 2}).Make(1), Rand(dtype, {3, 2}).Make(2)});
  }
}

TEST(FramesTest, HoldEveryBit) {
  Check(Exchange(DType::kU64, "[]"),
        {Tensor::Scalar<uint64_t>(~uint64_t{0}), Tensor::Scalar<uint64_t>(uint64_t{1} << 63)});
  Check(Exchange(DType::kU32, "[]"),
        {Tensor::Scalar<uint32_t>(~uint32_t{0}), Tensor::Scalar<uint32_t>(1)});
  Check(Exchange(DType::kI8, "[]"), {Tensor::Scalar<int8_t>(-128), Tensor::Scalar<int8_t>(127)});
  Check(Exchange(DType::kBool, "[]"), {Tensor::Scalar(true), Tensor::Scalar(false)});
  Check(Exchange(DType::kF64, "[]"),
        {Tensor::Scalar<double>(-0.0), Tensor::Scalar<double>(5e-324)});
  Check(Exchange(DType::kF32, "[]"),
        {Tensor::Scalar<float>(std::numeric_limits<float>::quiet_NaN()),
         Tensor::Scalar<float>(-std::numeric_limits<float>::infinity())});
}

TEST(FramesTest, RefuseWhatHasNoKnownSize) {
  const absl::Status status = Compile(MustParse(R"(
    func @main(%n: i64[], %x: f32[k]) -> (f32[k]) {
      %zero = constant {value = i64[] {0}}
      %one = constant {value = i64[] {1}}
      %go = less(%zero, %n)
      %e = exp(%x)
      %u = reshape(%e) {shape = (?)}
      %out = if(%go) {
        %m = subtract(%n, %one)
        %a = call(%m, %e) {callee = "main"} : f32[k]
        %s = reduce_sum(%u) {axes = [0]}
        %w = broadcast_in_dim(%s) {shape = (k), axes = []}
        %b = add(%a, %w)
        yield %b
      } {
        yield %x
      } : f32[k]
      return %out
    })"),
                                      {})
                                  .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_NE(Message(status).find("the value %u made by reshape %u (<text>:7:7), f32[?], is needed "
                                 "behind a recursive call"),
            std::string::npos)
      << status;
}

}  // namespace
}  // namespace weir
