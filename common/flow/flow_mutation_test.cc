#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <string_view>

#include "common/flow/flow_text.h"
#include "common/ir/text_mutation_testing.h"
#include "common/timely/topology.h"

namespace weir {
namespace {

constexpr std::string_view kFlows[] = {
    R"(func @step(%node: i64[], %far: f32[]) -> (i64[], f32[]) {
  return %node, %far
}
func @near(%node: i64[], %far: f32[]) -> (bool[]) {
  %limit = constant {value = f32[] {9}}
  %is = less(%far, %limit)
  return %is
}
flow @distances {
  loop @trips
  %roots = input() {types = ["i64[]", "f32[]"]}
  %start = enter(%roots) {loop = "trips"}
  %all = concat(%start, %again)
  %best = reduce_by_key(%all) {keys = 1, combine = "min", state = "loop", emit = "changes"}
  %next = map(%best) {function = "step"} loc("a.py":3:1)
  %some, %rest = switch(%next) {function = "near"}
  %again = feedback(%some) {bound = 100}
  %done = leave(%best)
  %distances = output(%done)
  %dropped = leave(%rest)
  %first = top_k(%dropped) {keys = 1, k = 3, by = 1}
  %p = probe(%first)
}
)",
    R"(flow @"windows of all" {
  %out = output(%"a b")
  %pairs = join(%windows, %seen) {keys = 1, state = "job"}
  %l = input() {types = ["i64[]", "f32[3]", "bool[2,0]"]}
  %r = input() {types = ["i64[]"]}
  %windows = window(%l) {size = 5, slide = 2}
  %seen = distinct(%late) {state = "job"}
  %late = delay(%r) {epochs = 2} // comment
  %some = semijoin(%pairs, %r) {keys = 1}
  %shown = inspect(%some) {limit = 3}
  %"a b" = collect(%shown) {function = "all"}
  %n = count(%shown) {keys = 0}
  %nout = output(%n)
}
func @all(%x: i64[n], %y: f32[n,3], %z: bool[n,2,0]) -> (f32[n,3], i64[n]) {
  return %y, %x
}
)",
    R"(func @split(%k: i64[], %v: f32[]) -> (i64[], i64[2], f32[2]) {
  %keys = broadcast_in_dim(%k) {axes = [], shape = (2)}
  %values = broadcast_in_dim(%v) {axes = [], shape = (2)}
  return %k, %keys, %values
}
func @fold(%a: f32[], %b: f32[]) -> (f32[]) {
  %c = subtract(%a, %b)
  return %c
}
func @zero() -> (f32[]) {
  %zero = constant {value = f32[] {0}}
  return %zero
}
func @even(%k: i64[], %v: f32[]) -> (bool[]) {
  %one = constant {value = i64[] {1}}
  %is = less(%k, %one)
  return %is
}
flow @parts {
  loop @outer
  loop @inner in @outer
  %in = input() {types = ["i64[]", "f32[]"]}
  %children = flat_map(%in) {function = "split"}
  %folded = reduce_by_key(%children) {function = "fold", keys = 1, state = "job"}
  %some = filter(%folded) {function = "even"}
  %far = exchange(%some) {keys = 2}
  %a = enter(%far) {loop = "outer"}
  %b = concat(%a, %again)
  %c = enter(%b) {loop = "inner", trip = 3}
  %d = zip(%c, %c) {hold = [1]}
  %m = merge(%c) loc("b.py":7:1)
  %o = after(%m, %d, %c) {hold = [2], unmatched = "stop"}
  %e = leave(%o)
  %again = feedback(%e) {bound = 3}
  %f = leave(%d)
  %g = leave(%f)
  %out = output(%g)
  %late = delay(%some) {epochs = 1}
  %seen = variable(%in, %late) {keys = 1, init = "zero", assign = "fold", order = "relaxed"}
  %p = probe(%seen)
}
)"};

constexpr std::string_view kFragments[] = {"%all",
                                           "%",
                                           "@trips",
                                           "(",
                                           ")",
                                           "{",
                                           "}",
                                           "[",
                                           "]",
                                           ",",
                                           "=",
                                           ":",
                                           "->",
                                           "\"",
                                           "\\",
                                           "//",
                                           "\n",
                                           "-",
                                           "1e9",
                                           "99999999999",
                                           "loop @x",
                                           " in @x",
                                           "flow @g {",
                                           "func",
                                           "return",
                                           "loc(",
                                           "enter",
                                           "leave",
                                           "feedback",
                                           "concat",
                                           "keys = 0",
                                           "state = ",
                                           "\"loop\"",
                                           "\"job\"",
                                           "switch",
                                           "join",
                                           "count",
                                           "after(",
                                           "hold = [",
                                           "input()",
                                           "f32[",
                                           "%\"",
                                           std::string_view("\0", 1),
                                           "\xff",
                                           "n",
                                           "-1",
                                           "0"};

TEST(FlowMutation, GivesAnErrorOrASoundFlow) {
  TextMutator mutator(11, kFragments);
  int parsed = 0;
  int tracked = 0;
  constexpr int kRounds = 10'000;
  for (int round = 0; round < kRounds; ++round) {
    const std::string text = mutator.Mutate(kFlows);
    const absl::StatusOr<Flow> flow = ParseFlow(text);
    if (!flow.ok()) {
      ASSERT_EQ(flow.status().code(), absl::StatusCode::kInvalidArgument) << text;
      const std::string message(flow.status().message());
      const size_t place = message.find(':');
      ASSERT_TRUE(place != std::string::npos && isdigit(message[place + 1]) != 0) << message;
      ASSERT_EQ(message.find('\n'), std::string::npos) << message;
      continue;
    }
    ++parsed;
    const std::string printed = PrintFlow(*flow);
    const absl::StatusOr<Flow> again = ParseFlow(printed);
    ASSERT_TRUE(again.ok()) << again.status() << "\n" << printed;
    ASSERT_EQ(PrintFlow(*again), printed) << text;
    tracked += Topology::Of(GraphOf(*flow)).ok() ? 1 : 0;
  }
  EXPECT_GT(parsed, kRounds / 20);
  EXPECT_LT(parsed, kRounds);
  EXPECT_GT(tracked, parsed / 2);
}

}  // namespace
}  // namespace weir
