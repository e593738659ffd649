#include "common/flow/reference_flow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/str_cat.h"
#include "common/flow/reference_flow_testing.h"

namespace weir {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// All results here are worked out by hand.

constexpr std::string_view kFunctions = R"(
func @next(%k: i64[], %v: f32[]) -> (i64[], f32[]) {
  %one = constant {value = f32[] {1}}
  %sum = add(%v, %one)
  return %k, %sum
}
func @small(%k: i64[], %v: f32[]) -> (bool[]) {
  %limit = constant {value = f32[] {4}}
  %is = less(%v, %limit)
  return %is
}
func @twice(%k: i64[], %v: f32[]) -> (i64[], i64[3], f32[3,2]) {
  %keys = broadcast_in_dim(%k) {axes = [], shape = (3)}
  %values = broadcast_in_dim(%v) {axes = [], shape = (3,2)}
  return %k, %keys, %values
}
// Later values count half as much.
func @half(%a: f32[], %b: f32[]) -> (f32[]) {
  %h = constant {value = f32[] {0.5}}
  %rest = multiply(%b, %h)
  %sum = add(%a, %rest)
  return %sum
}
func @checked(%k: i64[], %v: f32[]) -> (i64[], f32[]) {
  %limit = constant {value = f32[] {4}}
  %is = less(%v, %limit)
  check(%is) {message = "too large"}
  return %k, %v
}
func @same(%k: i64[n], %v: f32[n]) -> (f32[n], i64[n]) {
  return %v, %k
}
func @pick(%k: i64[n], %v: f32[n]) -> (i64[1]) {
  %first = slice(%k) {start = (0), limit = (1), stride = [1]}
  return %first
}
)";

// A flow from input `in` of (i64[], f32[]) to output `out`, which reads %x.
std::string OutOf(std::string_view vertices, const std::vector<EpochNumbers>& epochs) {
  return RunNumbers(
      StrCat(kFunctions, "flow @f {\n%in = input() {types = [\"i64[]\", \"f32[]\"]}\n", vertices,
             "\n%out = output(%x)\n}"),
      {{"in", epochs}});
}

// The same with a second input.
std::string OutOfTwo(std::string_view vertices, const std::vector<EpochNumbers>& left,
                     const std::vector<EpochNumbers>& right) {
  return RunNumbers(
      StrCat(kFunctions, "flow @f {\n%l = input() {types = [\"i64[]\", \"f32[]\"]}\n",
             "%r = input() {types = [\"i64[]\", \"i64[]\"]}\n", vertices, "\n%out = output(%x)\n}"),
      {{"l", left}, {"r", right}});
}

TEST(ReferenceFlow, MapFilterSwitchAndConcat) {
  const std::vector<EpochNumbers> in = {{{{1, 2}, {2, 5}}}, {{{3, 3}}, {-2}}};
  EXPECT_EQ(OutOf("%x = map(%in) {function = \"next\"}", in),
            "out 0: (1 3) (2 6)@1\nout 1: (3 4)*-2");
  EXPECT_EQ(OutOf("%x = filter(%in) {function = \"small\"}", in), "out 0: (1 2)\nout 1: (3 3)*-2");
  EXPECT_EQ(OutOf("%a, %x = switch(%in) {function = \"small\"}", in), "out 0: (2 5)@1");
  EXPECT_EQ(OutOf("%a, %b = switch(%in) {function = \"small\"} %x = concat(%a, %b, %b)", in),
            "out 0: (1 2) (2 5)@1*2\nout 1: (3 3)*-2");
  EXPECT_EQ(OutOf("%a = exchange(%in) {keys = 1} %x = inspect(%a)", in),
            "out 0: (1 2) (2 5)@1\nout 1: (3 3)*-2");
}

TEST(ReferenceFlow, ARecordWhoseFunctionFailsStopsTheFlowOrIsDropped) {
  const std::vector<EpochNumbers> in = {{{{1, 2}, {2, 5}, {3, 1}}}};
  EXPECT_EQ(OutOf("%x = map(%in) {function = \"checked\", on_failure = \"drop\"}", in),
            "out 0: (1 2) (3 1)@2");
  EXPECT_THAT(OutOf("%x = map(%in) {function = \"checked\"}", in),
              AllOf(HasSubstr("'x' (map) at (0)"), HasSubstr("too large")));
}

TEST(ReferenceFlow, ZipPutsRecordsOfOneOriginSideBySide) {
  // The second input comes through more vertices and drops the record of origin 1.
  const std::vector<EpochNumbers> in = {{{{1, 2}, {2, 5}, {3, 1}}}};
  EXPECT_EQ(OutOf("%a = filter(%in) {function = \"small\"}\n"
                  "%b = map(%a) {function = \"next\"}\n"
                  "%x = zip(%in, %b)",
                  in),
            "out 0: (1 2 1 3) (3 1 3 2)@2");
  EXPECT_THAT(OutOf("%a = concat(%in, %in) %x = zip(%in, %a)", in),
              HasSubstr("'x' (zip) at (0): input 1 has more than one record of origin 0"));
  // What is held serves all trips, from its own on: values 0, 1, 2 beside the first one.
  EXPECT_EQ(OutOf(R"(
    loop @l
    %a = enter(%in) {loop = "l"}
    %b = concat(%a, %again)
    %c = map(%b) {function = "next"}
    %again = feedback(%c) {bound = 3}
    %z = zip(%b, %a) {hold = [1]}
    %x = leave(%z))",
                  {{{{7, 0}}}}),
            "out 0: (7 0 7 0) (7 2 7 0) (7 1 7 0)");
}

TEST(ReferenceFlow, AfterWaitsForRecordsOfTheSameOriginAndLooksAtNone) {
  const std::vector<EpochNumbers> in = {{{{1, 2}, {2, 5}, {3, 1}}}, {{{4, 7}}}};
  EXPECT_EQ(OutOf("%a = filter(%in) {function = \"small\"}\n"
                  "%b = map(%a) {function = \"next\"}\n"
                  "%x = after(%in, %b, %a)",
                  in),
            "out 0: (1 2) (3 1)@2");
  EXPECT_EQ(OutOf("%a = filter(%in) {function = \"small\"}\n"
                  "%x = after(%in, %a) {unmatched = \"stop\"}",
                  in),
            "'x' (after) at (0): input 0 has a record of origin 1, and input 1 has none");
  EXPECT_EQ(OutOf("%a = map(%in) {function = \"next\"}\n"
                  "%x = after(%in, %a) {unmatched = \"stop\"}",
                  in),
            "out 0: (1 2) (2 5)@1 (3 1)@2\nout 1: (4 7)");
}

TEST(ReferenceFlow, MergeTakesTheOneRecordThatThereIs) {
  const std::vector<EpochNumbers> in = {{{{1, 2}, {2, 5}, {3, 1}}}};
  EXPECT_EQ(OutOf("%a, %b = switch(%in) {function = \"small\"}\n"
                  "%c = map(%a) {function = \"next\"}\n"
                  "%x = merge(%c, %b)",
                  in),
            "out 0: (1 3) (2 5)@1 (3 2)@2");
  EXPECT_THAT(OutOf("%a = filter(%in) {function = \"small\"} %x = merge(%in, %a)", in),
              HasSubstr("'x' (merge) at (0): its inputs have more than one record of origin 0"));
  EXPECT_THAT(OutOf("%x = merge(%in)", {{{{1, 2}}, {2}}}), HasSubstr("whose weight is not 1"));
}

TEST(ReferenceFlow, FlatMapMakesTheFirstRowsIntoRecords) {
  EXPECT_EQ(OutOf("%x = flat_map(%in) {function = \"twice\"}",
                  {{{{2, 1.5}, {0, 9}, {3, 4}}, {1, 1, -1}}}),
            "out 0: (2 1.5, 1.5)*2 (3 4, 4)@2*-3");
  EXPECT_EQ(OutOf("%x = flat_map(%in) {function = \"twice\"}", {{{{2, 1}, {4, 1}}}}),
            "'x' (flat_map) at (0): record 1 of origin 1: the count is 4; it is from 0 to 3");
}

TEST(ReferenceFlow, DelayAndWindowMoveEpochs) {
  const std::vector<EpochNumbers> in = {{{{0, 0}}}, {{{1, 0}}}, {{{2, 0}}}, {{{3, 0}}}};
  EXPECT_EQ(OutOf("%x = delay(%in) {epochs = 2}", in),
            "out 2: (0 0)\nout 3: (1 0)\nout 4: (2 0)\nout 5: (3 0)");
  EXPECT_EQ(OutOf("%x = window(%in) {size = 2}", in), "out 1: (0 0) (1 0)\nout 3: (2 0) (3 0)");
  // [0, 3), [1, 4), [2, 5), [3, 6): the first window begins with epoch 0.
  EXPECT_EQ(OutOf("%x = window(%in) {size = 3, slide = 1}", in),
            "out 2: (0 0) (1 0) (2 0)\nout 3: (1 0) (2 0) (3 0)\nout 4: (2 0) (3 0)\nout 5: (3 0)");
  // [0, 1), [3, 4)
  EXPECT_EQ(OutOf("%x = window(%in) {size = 1, slide = 3}", in), "out 0: (0 0)\nout 3: (3 0)");
  EXPECT_EQ(OutOf("%x = delay(%in) {epochs = 9223372036854775805}", in),
            "out 9223372036854775805: (0 0)\nout 9223372036854775806: (1 0)\n"
            "out 9223372036854775807: (2 0)");
}

TEST(ReferenceFlow, CollectCallsItsFunctionOnceForATime) {
  const std::vector<EpochNumbers> in = {{{{5, 2}, {4, 1}, {5, 3}}, {1, 2, 1}}, {{{7, 0}}}};
  EXPECT_EQ(OutOf("%x = collect(%in)", in), "out 0: (5 2) (4 1)@1*2 (5 3)@2\nout 1: (7 0)");
  // Row by row: each keeps its origin; the second one stands twice.
  EXPECT_EQ(OutOf("%x = collect(%in) {function = \"same\"}", in),
            "out 0: (2 5) (1 4)@1*2 (3 5)@2\nout 1: (0 7)");
  EXPECT_EQ(OutOf("%x = collect(%in) {function = \"pick\"}", in), "out 0: (5)\nout 1: (7)");
  EXPECT_THAT(OutOf("%x = collect(%in) {function = \"pick\"}", {{{{1, 1}}, {-1}}}),
              HasSubstr("'x' (collect) at (0): a record of origin 0 has the weight -1"));
  const std::vector<Numbers> many(257, Numbers{1, 1});
  EXPECT_THAT(
      OutOf("%x = collect(%in) {function = \"pick\"}", {{many, std::vector<int64_t>(257, 65536)}}),
      HasSubstr("a call for 16842752 records; up to 16777216 are possible"));
}

TEST(ReferenceFlow, ReduceByKeyCombinesValues) {
  const std::vector<EpochNumbers> in = {{{{1, 2}, {2, 5}, {1, 4}, {1, 2}}, {1, 1, 3, 1}}};
  const auto reduce = [&](std::string_view combine, std::string_view keys = "1") {
    return OutOf(StrCat("%x = reduce_by_key(%in) {keys = ", keys, ", combine = \"", combine, "\"}"),
                 in);
  };
  EXPECT_EQ(reduce("sum"), "out 0: (1 16) (2 5)@1");
  EXPECT_EQ(reduce("min"), "out 0: (1 2) (2 5)@1");
  EXPECT_EQ(reduce("max"), "out 0: (1 4) (2 5)@1");
  EXPECT_EQ(reduce("count"), "out 0: (1 5) (2 1)@1");
  EXPECT_EQ(reduce("mean"), "out 0: (1 3.2) (2 5)@1");
  EXPECT_EQ(reduce("sum", "0"), "out 0: (7 21)");  // keys are summed too, with weights
  // Keys only.
  EXPECT_EQ(reduce("sum", "2"), "out 0: (1 2) (2 5)@1 (1 4)@2");
  EXPECT_EQ(OutOf("%x = count(%in) {keys = 1}", in), "out 0: (1 5) (2 1)@1");
}

TEST(ReferenceFlow, AFunctionFoldsValuesInTheOrderOfOrigins) {
  // ((2 + 4/2) + 4/2) + 2/2, since the record with 4 stands twice.
  EXPECT_EQ(OutOf("%x = reduce_by_key(%in) {keys = 1, function = \"half\"}",
                  {{{{1, 2}, {2, 5}, {1, 4}, {1, 2}}, {1, 1, 2, 1}}}),
            "out 0: (1 7) (2 5)@1");
  EXPECT_EQ(OutOf("%x = reduce_by_key(%in) {keys = 1, function = \"half\", state = \"job\"}",
                  {{{{1, 2}}}, {{{1, 4}, {2, 1}}}}),
            "out 0: (1 2)\nout 1: (1 4) (2 1)@1");
  EXPECT_THAT(OutOf("%x = reduce_by_key(%in) {keys = 1, function = \"half\"}", {{{{1, 2}}, {-1}}}),
              HasSubstr("a record has the weight -1; a function combines a record 0 to 65536"));
}

TEST(ReferenceFlow, SumsOfFloatsGoInTheOrderOfOriginsInF64) {
  // In f64 1e20 + 1 is 1e20, and 2^24 + 1 is not rounded before the end.
  EXPECT_EQ(OutOf("%x = reduce_by_key(%in) {keys = 1, combine = \"sum\"}",
                  {{{{1, 1}, {1, 1e20}, {1, -1e20}, {2, 1e20}, {2, -1e20}, {2, 1}}}}),
            "out 0: (1 0) (2 1)@3");
  EXPECT_EQ(OutOf("%x = reduce_by_key(%in) {keys = 1, combine = \"sum\"}",
                  {{{{1, 16777216}, {1, 1}, {1, 1}}}}),
            "out 0: (1 16777218)");
}

TEST(ReferenceFlow, AKeyIsThereWhileItsWeightsDoNotSumToZero) {
  const std::vector<EpochNumbers> in = {{{{1, 2}, {1, 3}, {2, 1}, {2, 1}}, {1, -1, 2, 1}}};
  EXPECT_EQ(OutOf("%x = reduce_by_key(%in) {keys = 1, combine = \"sum\"}", in), "out 0: (2 3)@2");
  EXPECT_EQ(OutOf("%x = count(%in) {keys = 1}", in), "out 0: (2 3)@2");
  // Below zero is there, too.
  EXPECT_EQ(OutOf("%x = count(%in) {keys = 1}", {{{{1, 2}, {1, 3}}, {-3, 1}}}), "out 0: (1 -2)");
  // 3 is there less than once, 2 is.
  EXPECT_EQ(OutOf("%x = reduce_by_key(%in) {keys = 1, combine = \"max\"}", in),
            "out 0: (1 2) (2 1)@2");
}

TEST(ReferenceFlow, StateOfAJobEmitsUpdatesOrChanges) {
  const std::vector<EpochNumbers> in = {
      {{{1, 2}, {2, 5}}}, {}, {{{3, 3}, {1, 4}}}, {{{2, 0}}}, {{{1, 1}}}};
  EXPECT_EQ(OutOf("%x = reduce_by_key(%in) {keys = 1, combine = \"sum\", state = \"job\"}", in),
            "out 0: (1 2) (2 5)@1\nout 2: (3 3) (1 6)@1\nout 4: (1 7)");
  EXPECT_EQ(OutOf("%x = reduce_by_key(%in) {keys = 1, combine = \"sum\", state = \"job\", "
                  "emit = \"changes\"}",
                  in),
            "out 0: (1 2) (2 5)@1\nout 2: (1 2)*-1 (3 3) (1 6)@1\nout 4: (1 7) (1 6)@1*-1");
  EXPECT_THAT(OutOf("%x = count(%in) {keys = 1, state = \"job\"}", {{{{1, 2}}, {-1}}}),
              HasSubstr("what is taken back needs emit = \"changes\""));
}

TEST(ReferenceFlow, ChangesTakeKeysBack) {
  const std::vector<EpochNumbers> in = {
      {{{1, 2}, {1, 4}, {2, 2}}}, {{{1, 4}}, {-1}}, {{{1, 2}}, {-1}}, {{{1, 9}}, {1}}};
  const std::string tail = "keys = 1, state = \"job\", emit = \"changes\"}";
  EXPECT_EQ(OutOf("%x = reduce_by_key(%in) {combine = \"max\", " + tail, in),
            "out 0: (1 4) (2 2)@2\nout 1: (1 2) (1 4)*-1\nout 2: (1 2)*-1\nout 3: (1 9)");
  EXPECT_EQ(OutOf("%x = count(%in) {" + tail, in),
            "out 0: (1 2) (2 1)@2\nout 1: (1 1) (1 2)*-1\nout 2: (1 1)*-1\nout 3: (1 1)");
}

TEST(ReferenceFlow, DistinctTellsWhatBeginsAndCeasesToBeThere) {
  const std::vector<EpochNumbers> in = {
      {{{1, 1}, {1, 1}, {2, 1}}, {1, 1, -1}}, {{{1, 1}, {2, 1}}, {-1, 3}}, {{{1, 1}}, {-1}}};
  EXPECT_EQ(OutOf("%x = distinct(%in)", in), "out 0: (1 1)\nout 1: (2 1)@1");
  EXPECT_EQ(OutOf("%x = distinct(%in) {state = \"job\", emit = \"changes\"}", in),
            "out 0: (1 1)\nout 1: (2 1)@1\nout 2: (1 1)*-1");
  EXPECT_EQ(OutOf("%x = distinct(%in) {state = \"job\"}", {{{{1, 1}}}, {{{1, 1}, {2, 2}}}}),
            "out 0: (1 1)\nout 1: (2 2)@1");
}

TEST(ReferenceFlow, TopKRanksRecordsWithWeights) {
  const std::vector<EpochNumbers> in = {
      {{{1, 2}, {1, 9}, {1, 5}, {2, 0}}, {1, 1, 3, 1}}, {{{1, 7}, {2, -1}}}, {{{1, 1}}}};
  EXPECT_EQ(OutOf("%x = top_k(%in) {keys = 1, k = 3, by = 1}", in),
            "out 0: (1 9)@1 (1 5)@2*2 (2 0)@3\nout 1: (1 7) (2 -1)@1\nout 2: (1 1)");
  EXPECT_EQ(OutOf("%x = top_k(%in) {keys = 1, k = 2, by = 1, state = \"job\"}", in),
            "out 0: (1 9)@1 (1 5)@2 (2 0)@3\nout 1: (1 7) (1 9)@1 (2 -1)@1 (2 0)@3");
  EXPECT_EQ(
      OutOf("%x = top_k(%in) {keys = 1, k = 2, by = 1, state = \"job\", emit = \"changes\"}", in),
      "out 0: (1 9)@1 (1 5)@2 (2 0)@3\nout 1: (1 7) (2 -1)@1 (1 5)@2*-1");
  // NaN comes last.
  EXPECT_EQ(OutOf("%x = top_k(%in) {keys = 1, k = 1, by = 1}", {{{{1, NAN}, {1, -5}, {1, NAN}}}}),
            "out 0: (1 -5)@1");
  // Of equal values the one with the lesser content; here bytes of the key.
  EXPECT_EQ(OutOf("%x = top_k(%in) {keys = 0, k = 1, by = 1}", {{{{3, 7}, {2, 7}, {4, -7}}}}),
            "out 0: (2 7)@1");
}

TEST(ReferenceFlow, JoinPairsRecords) {
  const std::vector<EpochNumbers> left = {{{{1, 2}, {2, 5}}}, {{{1, 3}}, {2}}};
  const std::vector<EpochNumbers> right = {{{{1, 10}, {1, 11}}, {1, -1}}, {{{2, 20}, {1, 12}}}};
  EXPECT_EQ(OutOfTwo("%x = join(%l, %r) {keys = 1}", left, right),
            "out 0: (1 2 10) (1 2 11)*-1\nout 1: (1 3 12)*2");
  EXPECT_EQ(OutOfTwo("%x = join(%l, %r) {keys = 1, state = \"job\"}", left, right),
            "out 0: (1 2 10) (1 2 11)*-1\n"
            "out 1: (1 2 12) (1 3 10)*2 (1 3 11)*-2 (1 3 12)*2 (2 5 20)@1");
  EXPECT_EQ(OutOfTwo("%x = join(%l, %r) {keys = 0}", {{{{7, 1}}}}, {{{{8, 2}, {9, 3}}}}),
            "out 0: (7 1 8 2) (7 1 9 3)");
}

TEST(ReferenceFlow, SemijoinLetsThroughWhatHasAKey) {
  const std::vector<EpochNumbers> left = {{{{1, 2}, {2, 5}}}, {{{1, 3}, {2, 6}}}, {}, {{{2, 7}}}};
  const std::vector<EpochNumbers> right = {{{{1, 0}}}, {{{2, 0}}}, {{{1, 0}}, {-1}}, {}};
  EXPECT_EQ(OutOfTwo("%x = semijoin(%l, %r) {keys = 1}", left, right),
            "out 0: (1 2)\nout 1: (2 6)@1");
  EXPECT_EQ(OutOfTwo("%x = semijoin(%l, %r) {keys = 1, state = \"job\"}", left, right),
            "out 0: (1 2)\nout 1: (1 3) (2 5)@1 (2 6)@1\nout 2: (1 2)*-1 (1 3)*-1\nout 3: (2 7)");
}

TEST(ReferenceFlow, ALoopEndsByItselfOrByItsBound) {
  constexpr std::string_view kLoop = R"(
    loop @trips
    %start = enter(%in) {loop = "trips"}
    %all = concat(%start, %again)
    %next = map(%all) {function = "next"}
    %some, %rest = switch(%next) {function = "small"}
    %again = feedback(%some) {bound = BOUND}
    %x = leave(%rest)
    %left = leave(%again)
    %p = probe(%left))";
  const auto run = [&](std::string_view bound) {
    std::string text(kLoop);
    text.replace(text.find("BOUND"), 5, bound);
    return OutOf(text, {{{{1, 0}, {2, 2}, {3, 9}}}, {{{4, 3}}}});
  };
  EXPECT_EQ(run("100"), "out 0: (1 4) (2 4)@1 (3 10)@2\nout 1: (4 4)");
  EXPECT_EQ(run("4"), "out 0: (1 4) (2 4)@1 (3 10)@2\nout 1: (4 4)");  // trips 0 to 3
  EXPECT_EQ(run("3"), "out 0: (2 4)@1 (3 10)@2\nout 1: (4 4)");
  EXPECT_EQ(run("1"), "out 0: (3 10)@2\nout 1: (4 4)");
}

TEST(ReferenceFlow, WhatABoundDropsIsCounted) {
  const auto flow = ParseFlow(R"(flow @f {
    loop @l
    %in = input() {types = ["i64[]"]}
    %a = enter(%in) {loop = "l"}
    %b = concat(%a, %c)
    %c = feedback(%b) {bound = 5}
  })");
  ASSERT_TRUE(flow.ok()) << flow.status();
  const RecordBatch two = BatchOfNumbers(flow->vertices[0].output_types[0], {{1}, {2}});
  const auto result = RunReferenceFlow(*flow, {{"in", {{0, two}, {3, two}}}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->dropped.at("c"), 4);
}

TEST(ReferenceFlow, ALoopWithoutAnEndIsNamed) {
  const std::string error = RunNumbers(R"(flow @f {
    loop @forever
    %in = input() {types = ["i64[]"]}
    %a = enter(%in) {loop = "forever"}
    %b = concat(%a, %c)
    %c = feedback(%b)
  })",
                                       {{"in", {{{{1}}}}}}, {.max_steps = 1000});
  EXPECT_THAT(error, HasSubstr("has made 1000 steps and is not done"));
  EXPECT_THAT(error, HasSubstr("in loop 'forever' at (0, 4"));
}

// Distances from a node over edges, by a loop with state: 0 -1-> 1 -1-> 2, 0 -5-> 2, 2 -1-> 3.
TEST(ReferenceFlow, StateOfALoopLivesOverItsTrips) {
  constexpr std::string_view kShortest = R"(
    func @go(%from: i64[], %far: i64[], %to: i64[], %length: i64[]) -> (i64[], i64[]) {
      %sum = add(%far, %length)
      return %to, %sum
    }
    flow @shortest {
      loop @trips
      %roots = input() {types = ["i64[]", "i64[]"]}
      %edges = input() {types = ["i64[]", "i64[]", "i64[]"]}
      %start = enter(%roots) {loop = "trips"}
      %e = enter(%edges) {loop = "trips"}
      %all = concat(%start, %again)
      %best = reduce_by_key(%all) {keys = 1, combine = "min", state = "loop", emit = "EMIT"}
      %ways = join(%best, %e) {keys = 1, state = "loop"}
      %next = map(%ways) {function = "go"}
      %again = feedback(%next) {bound = 100}
      %done = leave(%best)
      %out = output(%done)
    })";
  const auto run = [&](std::string_view emit) {
    std::string text(kShortest);
    text.replace(text.find("EMIT"), 4, emit);
    const std::vector<Numbers> edges = {{0, 1, 1}, {1, 2, 1}, {0, 2, 5}, {2, 3, 1}};
    return RunNumbers(text, {{"roots", {{{{0, 0}}}, {{{2, 0}}}}}, {"edges", {{edges}, {edges}}}});
  };
  // Trip 0: 0 at 0. Trip 1: 1 at 1, 2 at 5. Trip 2: 2 at 2, 3 at 6. Trip 3: 3 at 3.
  EXPECT_EQ(run("updates"), "out 0: (0 0) (1 1) (2 2) (2 5) (3 3) (3 6)\nout 1: (2 0) (3 1)");
  EXPECT_EQ(run("changes"), "out 0: (0 0) (1 1) (2 2) (3 3)\nout 1: (2 0) (3 1)");
}

TEST(ReferenceFlow, LoopsNest) {
  // The inner loop adds 1 until 4 is reached, the outer one goes round twice with what comes out;
  // state of the inner loop is anew in each trip of the outer one.
  EXPECT_EQ(OutOf(R"(
    loop @outer
    loop @inner in @outer
    %a = enter(%in) {loop = "outer"}
    %b = concat(%a, %round)
    %c = enter(%b) {loop = "inner"}
    %d = concat(%c, %again)
    %e = map(%d) {function = "next"}
    %f, %g = switch(%e) {function = "small"}
    %again = feedback(%f)
    %all = count(%d) {keys = 1, state = "loop"}
    %h = leave(%g)
    %i = leave(%all)
    %round = feedback(%h) {bound = 2}
    %j = leave(%i)
    %x = concat(%j))",
                  {{{{1, 1}, {2, 3}}}}),
            // Outer trip 0: %d has 1 three times (1, 2, 3) and 2 once; trip 1: each once (with 4).
            "out 0: (1 1)*2 (1 2) (1 3) (2 1)@1*2");
}

TEST(ReferenceFlow, StateOfAJobInALoopSeesAllTimesInOrder) {
  // Epoch 0: trips 0, 1, 2 with 1, 2, 3 for key 1; then epoch 1: trip 0 with 3.
  EXPECT_EQ(OutOf(R"(
    loop @l
    %a = enter(%in) {loop = "l"}
    %b = concat(%a, %again)
    %s = reduce_by_key(%b) {keys = 1, combine = "sum", state = "job"}
    %c = map(%b) {function = "next"}
    %f = filter(%c) {function = "small"}
    %again = feedback(%f)
    %x = leave(%s))",
                  {{{{1, 1}}}, {{{1, 3}}}}),
            "out 0: (1 3) (1 1) (1 6)\nout 1: (1 9)");  // in the order of their bytes
}

TEST(ReferenceFlow, InputThatDoesNotFitIsNamed) {
  const auto flow = ParseFlow("flow @f { %in = input() {types = [\"i64[]\"]} }");
  ASSERT_TRUE(flow.ok());
  const RecordBatch floats = BatchOfNumbers({{DType::kF32, Shape()}}, {{1}});
  EXPECT_THAT(std::string(RunReferenceFlow(*flow, {{"in", {{4, floats}}}}).status().message()),
              HasSubstr("'in', epoch 4: column 0 is f32[1]"));
  EXPECT_THAT(std::string(RunReferenceFlow(*flow, {{"on", {}}}).status().message()),
              HasSubstr("'on' is no input of the flow"));
}

TEST(ReferenceFlow, OutputsAreEqualIfTheirTextIs) {
  const RecordType type = {{DType::kF32, Shape()}};
  FlowOutputs one;
  one["out"][3] = BatchOfNumbers(type, {{1}, {0.1}}, {2, 1});
  EXPECT_EQ(ToString(one), "out 3: f32[] {1} of 0 x 2\nout 3: f32[] {0.1} of 1 x 1\n");
}

}  // namespace
}  // namespace weir
