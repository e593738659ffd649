// Maps brought out into vertices give the records that they give as they are, in the oracle.
#include "server/flows/pipelined/pipelined.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>

#include "common/flow/flow_text.h"
#include "common/flow/reference_flow_testing.h"
#include "common/timely/topology.h"

namespace weir {
namespace {

using ::testing::HasSubstr;

// A loop in a loop in a branch, a counted loop, a case, a call, a recursive function; values that
// are needed behind loops, and some that loops read and do not change.
constexpr std::string_view kFunctions = R"(
func @collatz(%n: i64[], %v: f32[3]) -> (i64[], f32[3], i64[]) {
  %zero = constant {value = i64[] {0}}
  %one = constant {value = i64[] {1}}
  %two = constant {value = i64[] {2}}
  %three = constant {value = i64[] {3}}
  %sum = add(%v, %v)
  %m, %trips = while(%n, %zero) (%a: i64[], %t: i64[]) {
    %more = greater(%a, %one)
    yield %more
  } (%a: i64[], %t: i64[]) {
    %half = floor_divide(%a, %two)
    %rest = floor_mod(%a, %two)
    %odd = equal(%rest, %one)
    %next = if(%odd) () {
      %triple = multiply(%a, %three)
      %up = add(%triple, %one)
      yield %up
    } () {
      yield %half
    }
    %count = add(%t, %one)
    yield %next, %count
  }
  return %trips, %sum, %n
}
func @nested(%n: i64[], %v: f32[3]) -> (i64[], f32[3]) {
  %one = constant {value = i64[] {1}}
  %two = constant {value = i64[] {2}}
  %is = greater(%n, %two)
  %total, %w = if(%is) () {
    %end, %all, %scaled = while(%n, %one, %v) (%i: i64[], %s: i64[], %x: f32[3]) {
      %k = while(%i) (%j: i64[]) {
        %large = greater(%j, %two)
        yield %large
      } (%j: i64[]) {
        %less = subtract(%j, %two)
        yield %less
      }
      %far = add(%k, %i)
      %more = greater(%far, %one)
      yield %more
    } (%i: i64[], %s: i64[], %x: f32[3]) {
      %c, %t = while(%i, %s) (%j: i64[], %q: i64[]) {
        %positive = greater(%j, %one)
        yield %positive
      } (%j: i64[], %q: i64[]) {
        %j2 = subtract(%j, %one)
        %q2 = add(%q, %n)
        yield %j2, %q2
      }
      %i2 = subtract(%i, %one)
      %x2 = add(%x, %v)
      yield %i2, %t, %x2
    }
    yield %all, %scaled
  } () {
    yield %n, %v
  }
  return %total, %w
}
func @counted(%n: i64[], %v: f32[3]) -> (f32[3], i64[]) {
  %zero = constant {value = i64[] {0}}
  %one = constant {value = i64[] {1}}
  %s, %w = for(%n, %zero, %v) (%i: i64[], %sum: i64[], %x: f32[3]) {
    %again = call(%i) {callee = "squared"}
    %next = add(%sum, %again)
    %moved = add(%x, %v)
    yield %next, %moved
  }
  %two = constant {value = i64[] {2}}
  %which = floor_mod(%n, %two)
  %y = case(%which) () {
    yield %w
  } () {
    %twice = add(%w, %w)
    yield %twice
  }
  return %y, %s
}
func @squared(%i: i64[]) -> (i64[]) {
  %r = multiply(%i, %i)
  return %r
}
func @fibonacci(%n: i64[], %v: f32[3]) -> (i64[]) {
  %f = call(%n) {callee = "fib"}
  return %f
}
func @fib(%n: i64[]) -> (i64[]) {
  %one = constant {value = i64[] {1}}
  %two = constant {value = i64[] {2}}
  %small = less_equal(%n, %one)
  %r = if(%small) () {
    yield %n
  } () {
    %a = subtract(%n, %one)
    %b = subtract(%n, %two)
    %fa = call(%a) {callee = "fib"}
    %fb = call(%b) {callee = "fib"}
    %sum = add(%fa, %fb)
    yield %sum
  }
  return %r
}
func @checked(%n: i64[], %v: f32[3]) -> (i64[], i64[]) {
  %zero = constant {value = i64[] {0}}
  %one = constant {value = i64[] {1}}
  %three = constant {value = i64[] {3}}
  %out = while(%n) (%i: i64[]) {
    %fine = not_equal(%i, %three)
    check(%fine) {message = "three"}
    %more = greater(%i, %one)
    yield %more
  } (%i: i64[]) {
    %two = constant {value = i64[] {2}}
    %next = subtract(%i, %two)
    yield %next
  }
  return %out, %zero
}
func @idle(%n: i64[], %v: f32[3]) -> (i64[], f32[3]) {
  %one = constant {value = i64[] {1}}
  %is = greater(%n, %one)
  %a, %b = if(%is) () {
    yield %n, %v
  } () {
    yield %one, %v
  }
  return %a, %b
}
)";

constexpr std::string_view kNames[] = {"collatz", "nested", "counted", "fibonacci", "idle"};

std::string TextOf(std::string_view function, std::string_view attributes) {
  return StrCat(kFunctions, "flow @f {\n  %in = input() {types = [\"i64[]\", \"f32[3]\"]}\n",
                "  %y = map(%in) {function = \"", function, "\", ", attributes,
                "} loc(\"a.py\":3:1)\n  %out = output(%y)\n}\n");
}

Flow Parsed(const std::string& text) {
  auto flow = ParseFlow(text);
  EXPECT_TRUE(flow.ok()) << flow.status();
  return *std::move(flow);
}

FlowInputs Inputs(const Flow& flow, bool is_weighted) {
  std::vector<Numbers> records;
  for (int n = 0; n < 12; ++n) records.push_back({double(n), 0.1 * n, 1e17, -0.5});
  records.push_back(records[5]);
  std::vector<int64_t> weights(records.size(), 1);
  if (is_weighted) weights = {1, 2, -3, 1, 1, 0, 4, -1, 1, 1, 1, 2, 7};
  const RecordBatch batch = BatchOfNumbers(flow.vertices[0].output_types[0], records, weights);
  return {{"in", {{0, batch}, {2, batch}}}};
}

std::map<std::string, int> KindsOf(const Flow& flow) {
  std::map<std::string, int> kinds;
  for (const FlowVertex& vertex : flow.vertices) ++kinds[vertex.kind];
  return kinds;
}

TEST(Pipelined, TheSameRecordsComeOut) {
  for (const std::string_view name : kNames) {
    for (const std::string_view what : {"loops", "all"}) {
      for (const bool holds : {false, true}) {
        const std::string attributes =
            StrCat("pipelined = \"", what, "\"", holds ? ", hold_bytes = 8" : "");
        SCOPED_TRACE(StrCat(name, " ", attributes));
        const Flow whole = Parsed(TextOf(name, attributes));
        Flow flow = whole;
        ASSERT_EQ(BringOutPipelined(&flow), absl::OkStatus());
        ASSERT_TRUE(Topology::Of(GraphOf(flow)).ok());
        const std::string printed = PrintFlow(flow);
        const auto again = ParseFlow(printed);
        ASSERT_TRUE(again.ok()) << again.status() << printed;
        EXPECT_EQ(PrintFlow(*again), printed);
        EXPECT_EQ(flow.FindVertex("y"), whole.FindVertex("y"));
        // Pairing by origins wants each once.
        const FlowInputs inputs = Inputs(whole, /*is_weighted=*/!holds);
        const auto want = RunReferenceFlow(whole, inputs);
        const auto got = RunReferenceFlow(flow, inputs);
        ASSERT_TRUE(want.ok() && got.ok()) << want.status() << got.status() << printed;
        EXPECT_EQ(ToString(got->outputs), ToString(want->outputs)) << printed;
      }
    }
  }
}

TEST(Pipelined, LoopsAreBroughtOutAndBranchesIfAskedFor) {
  const auto kinds = [](std::string_view name, std::string_view attributes) {
    Flow flow = Parsed(TextOf(name, attributes));
    EXPECT_EQ(BringOutPipelined(&flow), absl::OkStatus());
    return KindsOf(flow);
  };
  std::map<std::string, int> loops = kinds("collatz", "pipelined = \"loops\"");
  EXPECT_EQ(loops["switch"], 1);
  EXPECT_EQ(loops["feedback"], 1);
  EXPECT_EQ(loops["map"], 3);  // before the loop, in it, behind it
  EXPECT_EQ(loops["zip"], 0);
  std::map<std::string, int> all = kinds("collatz", "pipelined = \"all\"");
  EXPECT_EQ(all["switch"], 2);
  EXPECT_EQ(all["feedback"], 1);
  std::map<std::string, int> held = kinds("nested", "pipelined = \"loops\", hold_bytes = 8");
  EXPECT_EQ(held["feedback"], 3);
  EXPECT_GT(held["zip"], 2);
  std::map<std::string, int> none = kinds("idle", "pipelined = \"loops\"");
  EXPECT_EQ(none["switch"], 0);
  EXPECT_EQ(none["map"], 1);
  // Nothing is left to do behind the branches.
  std::map<std::string, int> branches = kinds("idle", "pipelined = \"all\"");
  EXPECT_EQ(branches["switch"], 1);
  EXPECT_EQ(branches["concat"], 2);
}

TEST(Pipelined, WhatFailsIsLeftOutWhereverItDoes) {
  const std::string text = TextOf("checked", "pipelined = \"all\", on_failure = \"drop\"");
  const Flow whole = Parsed(text);
  Flow flow = whole;
  ASSERT_EQ(BringOutPipelined(&flow), absl::OkStatus());
  const auto want = RunReferenceFlow(whole, Inputs(whole, true));
  const auto got = RunReferenceFlow(flow, Inputs(whole, true));
  ASSERT_TRUE(want.ok() && got.ok()) << want.status() << got.status();
  EXPECT_EQ(ToString(got->outputs), ToString(want->outputs));
  EXPECT_LT(got->outputs.at("out").at(0).size(), 8);

  Flow stops = Parsed(TextOf("checked", "pipelined = \"all\""));
  ASSERT_EQ(BringOutPipelined(&stops), absl::OkStatus());
  const absl::Status status = RunReferenceFlow(stops, Inputs(stops, false)).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("'y.switch1' (switch)"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("three"));
}

TEST(Pipelined, MapsInLoopsOfTheFlowGoThroughLoopsInThose) {
  const std::string text = StrCat(kFunctions, R"(
    func @step(%n: i64[], %v: f32[3]) -> (i64[], f32[3]) {
      %m, %w = call(%n, %v) {callee = "nested"}
      %five = constant {value = i64[] {5}}
      %r = floor_mod(%m, %five)
      return %r, %w
    }
    flow @f {
      loop @around
      %in = input() {types = ["i64[]", "f32[3]"]}
      %"y.map1" = enter(%in) {loop = "around"}
      %all = concat(%"y.map1", %again)
      %y = map(%all) {function = "step", pipelined = "loops"}
      %z = map(%y) {function = "collatz", pipelined = "all"}
      %again = feedback(%y) {bound = 3}
      %left = leave(%z)
      %out = output(%left)
    })");
  const Flow whole = Parsed(text);
  Flow flow = whole;
  ASSERT_EQ(BringOutPipelined(&flow), absl::OkStatus());
  EXPECT_EQ(flow.DepthOf(flow.vertex(flow.FindVertex("z.switch1")).scope), 2);
  const auto want = RunReferenceFlow(whole, Inputs(whole, true));
  const auto got = RunReferenceFlow(flow, Inputs(whole, true));
  ASSERT_TRUE(want.ok() && got.ok()) << want.status() << got.status();
  EXPECT_EQ(ToString(got->outputs), ToString(want->outputs));
}

TEST(Pipelined, WhatCannotBeIsSaidWithThePlaceOfTheOp) {
  Flow large = Parsed(R"(
    func @large(%x: f32[4]) -> (f32[]) {
      %wide = broadcast_in_dim(%x) {axes = [0], shape = (4, 100000000)}
      %end = while(%wide) (%y: f32[4,100000000]) {
        %never = constant {value = bool[] {false}}
        yield %never
      } (%y: f32[4,100000000]) {
        yield %y
      } loc("b.py":7:2)
      %sum = reduce_sum(%end) {axes = [0, 1]}
      return %sum
    }
    flow @f {
      %in = input() {types = ["f32[4]"]}
      %y = map(%in) {function = "large", pipelined = "loops"}
      %out = output(%y)
    })");
  const std::string message(BringOutPipelined(&large).message());
  EXPECT_THAT(message, HasSubstr("b.py:7:2: 'y.map1' (map): records of (f32[4,100000000])"));

  std::string loops = "loop @l0\n";
  std::string enters = "%e0 = enter(%in) {loop = \"l0\"}\n";
  std::string leaves = "%left0 = leave(%y)\n";
  for (int i = 1; i < 16; ++i) {
    StrAppend(&loops, "loop @l", i, " in @l", i - 1, "\n");
    StrAppend(&enters, "%e", i, " = enter(%e", i - 1, ") {loop = \"l", i, "\"}\n");
    StrAppend(&leaves, "%left", i, " = leave(%left", i - 1, ")\n");
  }
  Flow deep = Parsed(StrCat(kFunctions, "flow @f {\n", loops,
                            "%in = input() {types = [\"i64[]\", \"f32[3]\"]}\n", enters,
                            "%y = map(%e15) {function = \"collatz\", pipelined = \"loops\"}\n",
                            leaves, "%out = output(%left15)\n}"));
  EXPECT_THAT(std::string(BringOutPipelined(&deep).message()),
              HasSubstr("while: it would be inside of 16 loops of the flow already"));
}

}  // namespace
}  // namespace weir
