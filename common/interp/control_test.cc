// Meaning of the ops with regions, against values computed by hand.
#include "common/base/str_cat.h"
#include "common/interp/test_run.h"
#include "gmock/gmock.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor I(int64_t value) { return Tensor::Scalar<int64_t>(value); }

TEST(PforTest, StacksResultsAndInvariantValues) {
  EXPECT_THAT(Texts(MustRun(R"(
    func @main(%x: i64[2]) -> (i64[3], i64[3,2]) {
      %i2, %same = pfor {extent = (3)} (%i: i64[]) {
        %s = add(%i, %i) : i64[]
        yield %s, %x
      } : i64[3], i64[3,2]
      return %i2, %same
    })",
                            {Tensor::Of<int64_t>({2}, {7, 8})})),
              ElementsAre("i64[3] {0, 2, 4}", "i64[3,2] {7, 8, 7, 8, 7, 8}"));
}

constexpr std::string_view kRows = R"(
  func @main(%x: f32[n,2]) -> (f32[n,3,2]) {
    %out = pfor {extent = (n)} (%i: i64[]) {
      %ones = constant {value = f32[3,2] {1, 1, 1, 1, 1, 1}} : f32[3,2]
      yield %ones
    } : f32[n,3,2]
    return %out
  })";

TEST(PforTest, RunsForNoAndOneIteration) {
  for (int64_t n : {0, 1}) {
    const auto out = MustRun(kRows, {Tensor::Zeros(DType::kF32, {n, 2})});
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0].extents(), (Extents{n, 3, 2}));
  }
}

TEST(PforTest, RefusesNegativeExtents) {
  EXPECT_THAT(ParseError(R"(
    func @main() -> (i64[3]) {
      %out = pfor {extent = (-3)} (%i: i64[]) { yield %i } : i64[3]
      return %out
    })"),
              HasSubstr("pfor extent -3 is negative"));
  const auto out = TryRun(R"(
    func @main(%x: f32[n]) -> (i64[n-3]) {
      %out = pfor {extent = (n-3)} (%i: i64[]) { yield %i } : i64[n-3]
      return %out
    })",
                          {Tensor::Zeros(DType::kF32, {1})});
  EXPECT_EQ(out.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Message(out.status()), HasSubstr("-2"));
}

TEST(PforTest, RefusesRegionsOfOtherArguments) {
  EXPECT_THAT(ParseError(R"(
    func @main() -> (f32[3]) {
      %out = pfor {extent = (3)} (%i: f32[]) { yield %i } : f32[3]
      return %out
    })"),
              HasSubstr("region argument 0 is f32[], but loop variable 0 is i64[]"));
}

constexpr std::string_view kFibonacci = R"(
  func @main(%trips: i64[], %a: i64[], %b: i64[]) -> (i64[], i64[]) {
    %x, %y = for(%trips, %a, %b) (%i: i64[], %c: i64[], %d: i64[]) {
      %e = add(%c, %d) : i64[]
      yield %d, %e
    } : i64[], i64[]
    return %x, %y
  })";

TEST(ForTest, CarriesValues) {
  EXPECT_THAT(Texts(MustRun(kFibonacci, {I(10), I(0), I(1)})),
              ElementsAre("i64[] {55}", "i64[] {89}"));
  EXPECT_THAT(Texts(MustRun(kFibonacci, {I(0), I(0), I(1)})),
              ElementsAre("i64[] {0}", "i64[] {1}"));
  EXPECT_THAT(Texts(MustRun(kFibonacci, {I(-5), I(0), I(1)})),
              ElementsAre("i64[] {0}", "i64[] {1}"));
}

constexpr std::string_view kCollect = R"(
  func @main(%x: i64[n], %trips: i64[], %start: i64[]) -> (i64[], i64[n], i64[n,2]) {
    %last, %sums, %pairs = for(%trips, %start) {extent = (n)} (%i: i64[], %sum: i64[]) {
      %next = add(%sum, %i) : i64[]
      %pair = broadcast_in_dim(%next) {shape = (2), axes = []} : i64[2]
      yield %next, %next, %pair
    } : i64[], i64[n], i64[n,2]
    return %last, %sums, %pairs
  })";

TEST(ForTest, CollectsOneValueATrip) {
  EXPECT_THAT(
      Texts(MustRun(kCollect, {Tensor::Zeros(DType::kI64, {3}), I(3), I(10)})),
      ElementsAre("i64[] {13}", "i64[3] {10, 11, 13}", "i64[3,2] {10, 10, 11, 11, 13, 13}"));
  EXPECT_THAT(Texts(MustRun(kCollect, {Tensor::Zeros(DType::kI64, {0}), I(-1), I(10)})),
              ElementsAre("i64[] {10}", "i64[0] {}", "i64[0,2] {}"));
}

TEST(ForTest, RefusesTripCountsOtherThanTheExtent) {
  const auto out = TryRun(kCollect, {Tensor::Zeros(DType::kI64, {3}), I(4), I(10)});
  EXPECT_THAT(Message(out.status()),
              HasSubstr("the trip count is 4, but the extent of what is collected 3"));
}

TEST(ForTest, WantsAnExtentExactlyIfItCollects) {
  EXPECT_THAT(ParseError(R"(
    func @main(%t: i64[]) -> (i64[3]) {
      %out = for(%t) (%i: i64[]) { yield %i } : i64[3]
      return %out
    })"),
              HasSubstr("attribute 'extent' is missing"));
  EXPECT_THAT(ParseError(R"(
    func @main(%t: i64[]) -> (i64[]) {
      %out = for(%t, %t) {extent = (3)} (%i: i64[], %c: i64[]) { yield %c } : i64[]
      return %out
    })"),
              HasSubstr("attribute 'extent' without a value to collect"));
}

TEST(ForTest, RefusesCarriedValuesThatChangeType) {
  EXPECT_THAT(ParseError(R"(
    func @main(%t: i64[], %x: f32[2]) -> (f32[2]) {
      %out = for(%t, %x) (%i: i64[], %c: f32[2]) { yield %i } : f32[2]
      return %out
    })"),
              HasSubstr("region result 0 is i64[], but carried value 0 is f32[2]"));
}

constexpr std::string_view kCollatz = R"(
  func @main(%start: i64[]) -> (i64[], i64[]) {
    %zero = constant {value = i64[] {0}} : i64[]
    %one = constant {value = i64[] {1}} : i64[]
    %two = constant {value = i64[] {2}} : i64[]
    %three = constant {value = i64[] {3}} : i64[]
    %end, %steps = while(%start, %zero) (%x: i64[], %n: i64[]) {
      %more = less(%one, %x) : bool[]
      yield %more
    } (%x: i64[], %n: i64[]) {
      %rest = remainder(%x, %two) : i64[]
      %even = equal(%rest, %zero) : bool[]
      %next = if(%even) {
        %half = divide(%x, %two) : i64[]
        yield %half
      } {
        %triple = multiply(%x, %three) : i64[]
        %up = add(%triple, %one) : i64[]
        yield %up
      } : i64[]
      %count = add(%n, %one) : i64[]
      yield %next, %count
    } : i64[], i64[]
    return %end, %steps
  })";

TEST(WhileTest, RunsUntilTheConditionFails) {
  EXPECT_THAT(Texts(MustRun(kCollatz, {I(6)})), ElementsAre("i64[] {1}", "i64[] {8}"));
  EXPECT_THAT(Texts(MustRun(kCollatz, {I(27)})), ElementsAre("i64[] {1}", "i64[] {111}"));
  EXPECT_THAT(Texts(MustRun(kCollatz, {I(1)})), ElementsAre("i64[] {1}", "i64[] {0}"));
}

TEST(WhileTest, RefusesConditionsThatAreNotBool) {
  EXPECT_THAT(ParseError(R"(
    func @main(%x: i64[]) -> (i64[]) {
      %out = while(%x) (%a: i64[]) { yield %a } (%a: i64[]) { yield %a } : i64[]
      return %out
    })"),
              HasSubstr("the condition must be bool[], found i64[]"));
}

TEST(IfTest, RunsOneBranchOnly) {
  constexpr std::string_view text = R"(
    func @main(%p: bool[], %x: f32[n], %y: f32[k]) -> (f32[n]) {
      %out = if(%p) {
        yield %x
      } {
        %same = reshape(%y) {shape = (n)} : f32[n]
        yield %same
      } : f32[n]
      return %out
    })";
  const Tensor x = Tensor::Of<float>({2}, {1, 2});
  const Tensor y = Tensor::Of<float>({3}, {3, 4, 5});
  EXPECT_THAT(Texts(MustRun(text, {Tensor::Scalar(true), x, y})), ElementsAre("f32[2] {1, 2}"));
  EXPECT_FALSE(TryRun(text, {Tensor::Scalar(false), x, y}).ok());
  EXPECT_THAT(Texts(MustRun(text, {Tensor::Scalar(false), x, x})), ElementsAre("f32[2] {1, 2}"));
}

TEST(IfTest, RefusesBranchesOfOtherTypes) {
  EXPECT_THAT(ParseError(R"(
    func @main(%p: bool[], %x: f32[2], %y: f32[3]) -> (f32[2]) {
      %out = if(%p) { yield %x } { yield %y } : f32[2]
      return %out
    })"),
              HasSubstr("branch 1 result 0 is f32[3], but branch 0 result 0 is f32[2]"));
}

TEST(CaseTest, TakesTheLastBranchWhenOutOfRange) {
  constexpr std::string_view text = R"(
    func @main(%index: i64[], %x: f32[], %y: f32[], %z: f32[]) -> (f32[]) {
      %out = case(%index) { yield %x } { yield %y } { yield %z } : f32[]
      return %out
    })";
  const int64_t lowest = std::numeric_limits<int64_t>::min();
  for (const auto& [index, value] :
       {std::pair<int64_t, float>{0, 1}, {1, 2}, {2, 3}, {3, 3}, {-1, 3}, {lowest, 3}}) {
    const auto out = MustRun(text, {I(index), Tensor::Scalar<float>(1), Tensor::Scalar<float>(2),
                                    Tensor::Scalar<float>(3)});
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0].At<float>({}), value) << index;
  }
}

TEST(CallTest, Recurses) {
  constexpr std::string_view text = R"(
    func @main(%n: i64[]) -> (i64[]) {
      %out = call(%n) {callee = "fibonacci"} : i64[]
      return %out
    }
    func @fibonacci(%n: i64[]) -> (i64[]) {
      %one = constant {value = i64[] {1}} : i64[]
      %two = constant {value = i64[] {2}} : i64[]
      %small = less(%n, %two) : bool[]
      %out = if(%small) {
        yield %n
      } {
        %n1 = subtract(%n, %one) : i64[]
        %n2 = subtract(%n, %two) : i64[]
        %a = call(%n1) {callee = "fibonacci"} : i64[]
        %b = call(%n2) {callee = "fibonacci"} : i64[]
        %sum = add(%a, %b) : i64[]
        yield %sum
      } : i64[]
      return %out
    })";
  EXPECT_THAT(Texts(MustRun(text, {I(10)})), ElementsAre("i64[] {55}"));
}

TEST(CallTest, BindsTheSymbolsOfTheCalleeAtEachCall) {
  constexpr std::string_view text = R"(
    func @main(%x: f32[n], %y: f32[3]) -> (f32[n,2], f32[3,2], f32[2*n,2]) {
      %a = call(%x) {callee = "pairs"} : f32[n,2]
      %b = call(%y) {callee = "pairs"} : f32[3,2]
      %xx = concatenate(%x, %x) {axis = 0} : f32[2*n]
      %c = call(%xx) {callee = "pairs"} : f32[2*n,2]
      return %a, %b, %c
    }
    func @pairs(%v: f32[n]) -> (f32[n,2]) {
      %out = broadcast_in_dim(%v) {shape = (n, 2), axes = [0]} : f32[n,2]
      return %out
    })";
  EXPECT_THAT(
      Texts(MustRun(text, {Tensor::Of<float>({1}, {9}), Tensor::Of<float>({3}, {1, 2, 3})})),
      ElementsAre("f32[1,2] {9, 9}", "f32[3,2] {1, 1, 2, 2, 3, 3}", "f32[2,2] {9, 9, 9, 9}"));
}

TEST(CallTest, RefusesOperandsOfOtherTypes) {
  const auto error = [](std::string_view call) {
    return ParseError(StrCat(
        "func @main(%x: f32[n,3], %y: f32[4]) -> (f32[n]) { %out = ", call,
        " : f32[n] return %out }", "func @f(%a: f32[k,k], %b: f32[k]) -> (f32[k]) { return %b }",
        "func @g(%a: f32[k,3], %b: f32[4]) -> (f32[k+l]) {",
        "  %c = broadcast_in_dim(%b) {shape = (k+l), axes = []} : f32[k+l]", "  return %c }"));
  };
  EXPECT_THAT(error(R"(call(%x, %y) {callee = "h"})"), HasSubstr("there is no function @h"));
  EXPECT_THAT(error(R"(call(%x) {callee = "f"})"), HasSubstr("@f takes 2 arguments, found 1"));
  EXPECT_THAT(error(R"(call(%x, %y) {callee = "f"})"),
              HasSubstr("operand 0 is f32[n,3], but @f takes f32[k,k]"));
}

TEST(CallTest, RefusesResultsOfUnknownSize) {
  EXPECT_THAT(ParseError(R"(
    func @main(%x: i64[]) -> (i64[l]) {
      %out = call(%x) {callee = "f"} : i64[l]
      return %out
    }
    func @f(%x: i64[]) -> (i64[l]) {
      %out = broadcast_in_dim(%x) {shape = (l), axes = []} : i64[l]
      return %out
    })"),
              HasSubstr("depends on l, which no parameter shape gives"));
}

constexpr std::string_view kShard = R"(
  func @main(%x: i64[n,2], %y: i64[n], %z: i64[2]) -> (i64[n,2], i64[n], i64[n]) {
    %a, %b, %c = shard(%x, %y) {extent = (n), local = "m"}
        (%lo: i64[], %xs: i64[m,2], %ys: i64[m]) {
      %zs = broadcast_in_dim(%z) {shape = (m, 2), axes = [1]} : i64[m,2]
      %sum = add(%xs, %zs) : i64[m,2]
      %own = iota {shape = (m), dtype = i64, axis = 0} : i64[m]
      %los = broadcast_in_dim(%lo) {shape = (m), axes = []} : i64[m]
      %indices = add(%own, %los) : i64[m]
      yield %sum, %indices, %ys
    } : i64[n,2], i64[n], i64[n]
    return %a, %b, %c
  })";

TEST(ShardTest, ResultsDoNotDependOnTheCut) {
  const Tensor x = Tensor::Of<int64_t>({5, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  const Tensor y = Tensor::Of<int64_t>({5}, {9, 8, 7, 6, 5});
  const Tensor z = Tensor::Of<int64_t>({2}, {10, 20});
  for (int64_t ranges : {1, 2, 3, 5, 8}) {
    InterpretOptions options;
    options.shard_ranges = ranges;
    EXPECT_THAT(Texts(MustRun(kShard, {x, y, z}, options)),
                ElementsAre("i64[5,2] {10, 21, 12, 23, 14, 25, 16, 27, 18, 29}",
                            "i64[5] {0, 1, 2, 3, 4}", "i64[5] {9, 8, 7, 6, 5}"))
        << ranges;
  }
}

TEST(ShardTest, NoIterationsStillGiveShapes) {
  InterpretOptions options;
  options.shard_ranges = 3;
  EXPECT_THAT(Texts(MustRun(kShard,
                            {Tensor(DType::kI64, {0, 2}), Tensor(DType::kI64, {0}),
                             Tensor::Of<int64_t>({2}, {1, 2})},
                            options)),
              ElementsAre("i64[0,2] {}", "i64[0] {}", "i64[0] {}"));
}

TEST(ShardTest, RefusesALocalSymbolInUse) {
  EXPECT_THAT(ParseError(R"(
    func @main(%x: f32[n]) -> (f32[n]) {
      %a = shard(%x) {extent = (n), local = "n"} (%lo: i64[], %xs: f32[n]) {
        yield %xs
      } : f32[n]
      return %a
    })"),
              HasSubstr("the symbol n of attribute 'local' is in use outside"));
}

TEST(ShardTest, RefusesResultsWithoutTheLocalAxis) {
  EXPECT_THAT(ParseError(R"(
    func @main(%x: f32[n]) -> (i64[n]) {
      %a = shard(%x) {extent = (n), local = "m"} (%lo: i64[], %xs: f32[m]) {
        yield %lo
      } : i64[n]
      return %a
    })"),
              HasSubstr("must have m as its leading extent"));
}

}  // namespace
}  // namespace weir
