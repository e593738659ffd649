// Flows that several tests run, in text form: each from `numbers`, i64[], to `out`.
#ifndef WEIR_TESTS_CLUSTER_EXAMPLE_FLOWS_H_
#define WEIR_TESTS_CLUSTER_EXAMPLE_FLOWS_H_

#include <fstream>
#include <sstream>
#include <string>

namespace weir {

// Collatz: trips until a number is 1; what comes out says how many it took.
inline constexpr char kCollatz[] = R"(
func @start(%n: i64[]) -> (i64[], i64[]) {
  %zero = constant {value = i64[] {0}} : i64[]
  return %n, %zero
}
func @step(%n: i64[], %trips: i64[]) -> (i64[], i64[]) {
  %one = constant {value = i64[] {1}} : i64[]
  %two = constant {value = i64[] {2}} : i64[]
  %three = constant {value = i64[] {3}} : i64[]
  %half = floor_divide(%n, %two) : i64[]
  %rest = floor_mod(%n, %two) : i64[]
  %odd = equal(%rest, %one) : bool[]
  %triple = multiply(%n, %three) : i64[]
  %up = add(%triple, %one) : i64[]
  %next = select(%odd, %up, %half) : i64[]
  %count = add(%trips, %one) : i64[]
  return %next, %count
}
func @going(%n: i64[], %trips: i64[]) -> (bool[]) {
  %one = constant {value = i64[] {1}} : i64[]
  %is = greater(%n, %one) : bool[]
  return %is
}
func @done(%n: i64[], %trips: i64[]) -> (bool[]) {
  %one = constant {value = i64[] {1}} : i64[]
  %is = less_equal(%n, %one) : bool[]
  return %is
}
flow @collatz {
  loop @trips
  %numbers = input() {types = ["i64[]"]}
  %pairs = map(%numbers) {function = "start"}
  %inside = enter(%pairs) {loop = "trips"}
  %all = concat(%inside, %again)
  %some = filter(%all) {function = "going"}
  %moved = exchange(%some) {keys = 1}
  %next = map(%moved) {function = "step"}
  %again = feedback(%next)
  %ready = filter(%all) {function = "done"}
  %result = leave(%ready)
  %out = output(%result)
}
)";

// Steps of one value each, as TensorFlow's control flow ops make them: y = x; while y < 1000: y = y
// * x. The x of each example is held for all trips; nothing dead circulates.
inline constexpr char kPowers[] = R"(
func @small(%y: i64[]) -> (bool[]) {
  %limit = constant {value = i64[] {1000}} : i64[]
  %is = less(%y, %limit) : bool[]
  return %is
}
func @times(%y: i64[], %x: i64[]) -> (i64[]) {
  %next = multiply(%y, %x) : i64[]
  return %next
}
flow @powers {
  loop @trips
  %numbers = input() {types = ["i64[]"]}
  %y0 = enter(%numbers) {loop = "trips"}
  %x = enter(%numbers) {loop = "trips"}
  %y = merge(%y0, %next)
  %go, %stop = switch(%y) {function = "small"}
  %both = zip(%go, %x) {hold = [1], unmatched = "stop"}
  %more = map(%both) {function = "times"}
  %next = feedback(%more)
  %result = leave(%stop)
  %out = output(%result)
}
)";

// A cycle with two entries, as TensorFlow's graphs may have and structured loops have not.
inline std::string TwoEntries() {
  std::ostringstream text;
  text << std::ifstream(std::string(WEIR_TEST_DATA) + "/flows/two_entries.flow").rdbuf();
  return text.str();
}

// Collatz as a program for one number: the coordinator brings its loop out. The sum that is made
// before the loop waits beside it.
inline constexpr char kPipelined[] = R"(
func @collatz(%n: i64[]) -> (i64[], f32[64], i64[]) {
  %zero = constant {value = i64[] {0}} : i64[]
  %one = constant {value = i64[] {1}} : i64[]
  %two = constant {value = i64[] {2}} : i64[]
  %three = constant {value = i64[] {3}} : i64[]
  %float = convert(%n) {dtype = f32} : f32[]
  %wide = broadcast_in_dim(%float) {axes = [], shape = (64)} : f32[64]
  %root = sqrt(%wide) : f32[64]
  %last, %trips = while(%n, %zero) (%a: i64[], %t: i64[]) {
    %more = greater(%a, %one) : bool[]
    yield %more
  } (%a: i64[], %t: i64[]) {
    %rest = floor_mod(%a, %two) : i64[]
    %odd = equal(%rest, %one) : bool[]
    %next = if(%odd) () {
      %triple = multiply(%a, %three) : i64[]
      %up = add(%triple, %one) : i64[]
      yield %up
    } () {
      %half = floor_divide(%a, %two) : i64[]
      yield %half
    } : i64[]
    %count = add(%t, %one) : i64[]
    yield %next, %count
  } : i64[], i64[]
  return %n, %root, %trips
}
flow @pipelined {
  %numbers = input() {types = ["i64[]"]}
  %counted = map(%numbers) {function = "collatz", pipelined = "loops"} loc("collatz.py":4:1)
  %out = output(%counted)
}
)";

}  // namespace weir

#endif  // WEIR_TESTS_CLUSTER_EXAMPLE_FLOWS_H_
