#include "common/interp/interpreter.h"

#include "common/interp/test_run.h"
#include "gmock/gmock.h"

namespace weir {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kAddTwice = R"(
  func @main(%x: f32[n,2], %y: f32[n,2]) -> (f32[n,2] "sum", f32[n,2] "more") {
    %sum = add(%x, %y) : f32[n,2]
    %more = add(%sum, %sum) : f32[n,2]
    return %sum, %more
  })";

TEST(InterpreterTest, RunsNodesInOrder) {
  const Tensor x = Tensor::Of<float>({2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(Texts(MustRun(kAddTwice, {x, x})),
              ElementsAre("f32[2,2] {2, 4, 6, 8}", "f32[2,2] {4, 8, 12, 16}"));
}

TEST(InterpreterTest, ReturnsArgumentsAndRepeatedValues) {
  EXPECT_THAT(Texts(MustRun(R"(func @main(%x: i32[], %y: i32[]) -> (i32[], i32[], i32[]) {
                             return %y, %x, %y
                           })",
                            {Tensor::Scalar<int32_t>(1), Tensor::Scalar<int32_t>(2)})),
              ElementsAre("i32[] {2}", "i32[] {1}", "i32[] {2}"));
}

TEST(InterpreterTest, LeavesInputsAlone) {
  const Tensor x = Tensor::Of<float>({1, 2}, {1, 2});
  MustRun(kAddTwice, {x, x});
  EXPECT_EQ(x.ToString(), "f32[1,2] {1, 2}");
}

TEST(InterpreterTest, AcceptsEmptyInputs) {
  const Tensor x(DType::kF32, {0, 2});
  EXPECT_THAT(Texts(MustRun(kAddTwice, {x, x})), ElementsAre("f32[0,2] {}", "f32[0,2] {}"));
}

TEST(InterpreterTest, RefusesExtentsThatContradictEachOther) {
  const auto out =
      TryRun(kAddTwice, {Tensor::Zeros(DType::kF32, {3, 2}), Tensor::Zeros(DType::kF32, {4, 2})});
  EXPECT_EQ(out.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Message(out.status()), HasSubstr("argument 1 (%y) of @main"));
  EXPECT_THAT(Message(out.status()), HasSubstr("[4,2]"));
  EXPECT_THAT(Message(out.status()), HasSubstr("[n,2]"));
}

TEST(InterpreterTest, RefusesInputsOfOtherTypes) {
  const Tensor x = Tensor::Zeros(DType::kF32, {3, 2});
  EXPECT_EQ(Message(TryRun(kAddTwice, {x, Tensor::Zeros(DType::kF64, {3, 2})}).status()),
            "argument 1 (%y) of @main is f64[3,2], expected f32[n,2]");
  EXPECT_EQ(Message(TryRun(kAddTwice, {Tensor::Zeros(DType::kF32, {3}), x}).status()),
            "argument 0 (%x) of @main is f32[3], expected f32[n,2]");
  EXPECT_THAT(Message(TryRun(kAddTwice, {x, Tensor::Zeros(DType::kF32, {3, 5})}).status()),
              HasSubstr("[3,5]"));
  EXPECT_EQ(Message(TryRun(kAddTwice, {x}).status()), "@main takes 2 arguments, found 1");
}

TEST(InterpreterTest, BindsSymbolsOfLaterParametersFirst) {
  constexpr std::string_view text = R"(
    func @main(%x: f32[2*n], %y: f32[n]) -> (i64[]) {
      %n = dimension_size {size = (n)} : i64[]
      return %n
    })";
  EXPECT_THAT(
      Texts(MustRun(text, {Tensor::Zeros(DType::kF32, {6}), Tensor::Zeros(DType::kF32, {3})})),
      ElementsAre("i64[] {3}"));
  EXPECT_THAT(
      Message(TryRun(text, {Tensor::Zeros(DType::kF32, {7}), Tensor::Zeros(DType::kF32, {3})})
                  .status()),
      HasSubstr("argument 0 (%x) of @main"));
}

TEST(InterpreterTest, TakesSymbolsThatNoParameterBinds) {
  constexpr std::string_view text = R"(
    func @main() -> (i64[]) {
      %n = dimension_size {size = (n)} : i64[]
      return %n
    })";
  InterpretOptions options;
  options.symbols = {{"n", 7}};
  EXPECT_THAT(Texts(MustRun(text, {}, options)), ElementsAre("i64[] {7}"));
  const auto out = TryRun(text, {});
  EXPECT_THAT(Message(out.status()), HasSubstr("dimension_size"));
  EXPECT_THAT(Message(out.status()), HasSubstr("n"));
}

TEST(InterpreterTest, RunsTheNamedFunction) {
  const Graph graph = MustParse(R"(
    func @main(%x: f32[]) -> (f32[]) {
      return %x
    }
    func @twice(%x: f32[]) -> (f32[]) {
      %y = add(%x, %x) : f32[]
      return %y
    })");
  const auto out = InterpretFunction(graph, "twice", {Tensor::Scalar<float>(4)});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(Texts(*out), ElementsAre("f32[] {8}"));
  EXPECT_EQ(Message(InterpretFunction(graph, "thrice", {}).status()),
            "there is no function @thrice");
  EXPECT_EQ(Message(Interpret(Graph(), {}).status()), "the program has no function");
}

TEST(InterpreterTest, ErrorsNameNodeAndLocation) {
  const auto out = TryRun(R"(
    func @main(%x: f32[n], %y: f32[k]) -> (f32[k]) {
      %z = reshape(%x) {shape = (k)} name("flatten") loc("model.py":3:7) : f32[k]
      return %z
    })",
                          {Tensor::Zeros(DType::kF32, {4}), Tensor::Zeros(DType::kF32, {5})});
  EXPECT_EQ(out.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Message(out.status()), HasSubstr("reshape \"flatten\" (model.py:3:7): "));
}

TEST(InterpreterTest, ErrorsInsideRegionsNameEveryNodeAround) {
  const auto out = TryRun(R"(
    func @main(%x: f32[n], %y: f32[k]) -> (f32[2,k]) {
      %z = pfor {extent = (2)} (%i: i64[]) {
        %r = reshape(%x) {shape = (k)} : f32[k]
        yield %r
      } name("rows") : f32[2,k]
      return %z
    })",
                          {Tensor::Zeros(DType::kF32, {4}), Tensor::Zeros(DType::kF32, {5})});
  EXPECT_THAT(Message(out.status()), HasSubstr("pfor \"rows\""));
  EXPECT_THAT(Message(out.status()), HasSubstr("iteration 0: reshape"));
}

TEST(InterpreterTest, EndsAtTheStepLimit) {
  InterpretOptions options;
  options.max_steps = 3;  // the body and its two nodes
  const Tensor x = Tensor::Zeros(DType::kF32, {1, 2});
  EXPECT_TRUE(TryRun(kAddTwice, {x, x}, options).ok());
  options.max_steps = 2;
  EXPECT_EQ(TryRun(kAddTwice, {x, x}, options).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(InterpreterTest, LoopThatNeverEndsMeetsTheStepLimit) {
  InterpretOptions options;
  options.max_steps = 1000;
  const auto out = TryRun(R"(
    func @main(%go: bool[]) -> () {
      while() () { yield %go } () { yield }
      return
    })",
                          {Tensor::Scalar<bool>(true)}, options);
  EXPECT_EQ(out.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(Message(out.status()), HasSubstr("more than 1000 steps"));
}

TEST(InterpreterTest, RefusesResultsBeyondTheSizeLimit) {
  constexpr std::string_view text = R"(
    func @main(%x: f32[]) -> (f32[1000000,1000000]) {
      %big = broadcast_in_dim(%x) {shape = (1000000, 1000000), axes = []} : f32[1000000,1000000]
      %sum = add(%big, %big) : f32[1000000,1000000]
      return %sum
    })";
  const auto out = TryRun(text, {Tensor::Scalar<float>(1)});
  EXPECT_EQ(out.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(Message(out.status()),
              AllOf(HasSubstr("add"), HasSubstr("the result f32[1000000,1000000] is larger than")));
}

constexpr std::string_view kEndlessRecursion = R"(
  func @main(%x: f32[]) -> (f32[]) {
    %y = call(%x) {callee = "main"} : f32[]
    return %y
  })";

TEST(InterpreterTest, EndlessRecursionMeetsTheDepthLimit) {
  const auto out = TryRun(kEndlessRecursion, {Tensor::Scalar<float>(1)});
  EXPECT_EQ(out.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(Message(out.status()), HasSubstr("more than 500 deep"));
  EXPECT_LT(out.status().message().size(), 2000u) << "context grows with depth";
}

TEST(InterpreterTest, CallsWaitForOneAnotherUpToTheirLimit) {
  const auto run = [](int64_t n) {
    return TryRun(R"(
      func @main(%n: i64[]) -> (i64[]) {
        %out = call(%n) {callee = "f"} : i64[]
        return %out
      }
      func @f(%n: i64[]) -> (i64[]) {
        %one = constant {value = i64[] {1}}
        %go = less(%one, %n)
        %out = if(%go) {
          %m = subtract(%n, %one)
          %a = call(%m) {callee = "f", max_depth = 5} : i64[]
          %b = add(%a, %one)
          yield %b
        } {
          yield %one
        } : i64[]
        return %out
      })",
                  {Tensor::Scalar<int64_t>(n)});
  };
  EXPECT_THAT(Texts(*run(6)), testing::ElementsAre("i64[] {6}"));
  EXPECT_EQ(run(7).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Message(run(7).status()),
              HasSubstr("recursion of @f is more than 5 calls deep: raise max_depth"));
}

TEST(InterpreterTest, EndlessRecursionThroughRegionsMeetsTheDepthLimit) {
  const auto out =
      TryRun(R"(
    func @main(%x: f32[n], %go: bool[], %trips: i64[]) -> (f32[n]) {
      %a = for(%trips, %x) (%i: i64[], %c: f32[n]) {
        %b = while(%c) (%v: f32[n]) { yield %go } (%v: f32[n]) {
          %d = shard(%v) {extent = (n), local = "m"} (%lo: i64[], %part: f32[m]) {
            %e = if(%go) {
              %f = call(%part, %go, %trips) {callee = "main", max_depth = 1000} : f32[m]
              yield %f
            } {
              yield %part
            } : f32[m]
            yield %e
          } : f32[n]
          yield %d
        } : f32[n]
        yield %b
      } : f32[n]
      return %a
    })",
             {Tensor::Zeros(DType::kF32, {1}), Tensor::Scalar(true), Tensor::Scalar<int64_t>(1)});
  EXPECT_EQ(out.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(Message(out.status()), HasSubstr("more than 500 deep"));
}

TEST(InterpreterTest, ControlInputsAndCapturesSeeTheirValues) {
  EXPECT_THAT(Texts(MustRun(R"(
    func @main(%x: i64[]) -> (i64[2,2]) {
      %a = add(%x, %x) : i64[]
      %out = pfor {extent = (2)} (%i: i64[]) {
        %b = add(%a, %i) : i64[]
        %row = pfor {extent = (2)} (%j: i64[]) {
          %c = add(%b, %j) : i64[]
          %d = add(%c, %a) after(%c) : i64[]
          yield %d
        } : i64[2]
        yield %row
      } : i64[2,2]
      return %out
    })",
                            {Tensor::Scalar<int64_t>(10)})),
              ElementsAre("i64[2,2] {40, 41, 41, 42}"));
}

}  // namespace
}  // namespace weir
