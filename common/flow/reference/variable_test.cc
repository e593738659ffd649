// The oracle of `variable`. All results here are worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "common/base/str_cat.h"
#include "common/flow/reference_flow_testing.h"

namespace weir {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::string_view kFunctions = R"(
func @one() -> (f32[]) {
  %one = constant {value = f32[] {1}}
  return %one
}
func @key(%k: i64[]) -> (f32[]) {
  %f = convert(%k) {dtype = f32}
  return %f
}
// Digits of a number.
func @push(%value: f32[], %digit: f32[]) -> (f32[]) {
  %ten = constant {value = f32[] {10}}
  %shifted = multiply(%value, %ten)
  %new = add(%shifted, %digit)
  return %new
}
func @add(%value: f32[], %more: f32[]) -> (f32[]) {
  %new = add(%value, %more)
  return %new
}
func @positive(%value: f32[], %more: f32[]) -> (f32[]) {
  %zero = constant {value = f32[] {0}}
  %is = greater(%more, %zero)
  check(%is) {message = "not above zero"}
  return %more
}
func @value(%k: i64[], %value: f32[]) -> (f32[]) { return %value }
func @keyed(%k: i64[], %value: f32[]) -> (i64[], f32[]) { return %k, %value }
)";

// %x reads with `reads` (i64[]) and is changed by `updates` (i64[], f32[]), one line for each.
std::string OutOf(std::string_view attributes, const std::vector<EpochNumbers>& reads,
                  const std::vector<EpochNumbers>& updates) {
  return RunNumbers(StrCat(kFunctions, R"(
    flow @f {
      %reads = input() {types = ["i64[]"]}
      %updates = input() {types = ["i64[]", "f32[]"]}
      %x = variable(%reads, %updates) {keys = 1, )",
                           attributes, "}\n%out = output(%x)\n}"),
                    {{"reads", reads}, {"updates", updates}});
}

TEST(ReferenceVariable, AReadSeesTheUpdatesAtItsTimeAndBefore) {
  EXPECT_EQ(OutOf("init = \"one\", assign = \"push\"",
                  {{{{7}, {8}}}, {{{7}, {8}}}, {}, {{{8}, {7}, {9}}}},
                  {{{{8, 2}}}, {{{7, 1}, {7, 2}}}, {{{9, 5}}}}),
            "out 0: (7 1) (8 12)@1\nout 1: (7 112) (8 12)@1\nout 3: (8 12) (7 112)@1 (9 15)@2");
}

TEST(ReferenceVariable, TheValueToBeginWithMayFollowFromTheKey) {
  EXPECT_EQ(OutOf("init = \"key\", assign = \"push\"", {{{{7}, {8}}}}, {{{{8, 2}}}}),
            "out 0: (7 7) (8 82)@1");
}

TEST(ReferenceVariable, UpdatesOfATimeComeInTheOrderOfOriginsEachAsItsWeightSays) {
  const std::vector<EpochNumbers> reads = {{{{7}}, {-3}}};
  EXPECT_EQ(
      OutOf("init = \"one\", assign = \"push\"", reads, {{{{7, 3}, {7, 2}, {7, 4}}, {1, 2, 0}}}),
      "out 0: (7 1322)*-3");
  EXPECT_THAT(OutOf("init = \"one\", assign = \"push\"", reads, {{{{7, 3}, {7, 2}}, {1, -1}}}),
              AllOf(HasSubstr("'x' (variable) at (0)"), HasSubstr("origin 1 has the weight -1")));
  EXPECT_THAT(OutOf("init = \"one\", assign = \"positive\"", reads, {{{{7, -3}}}}),
              HasSubstr("not above zero"));
}

// What comes of a value at epoch e changes it at epoch e + s.
std::string Growing(int epochs, int delay) {
  return RunNumbers(StrCat(kFunctions, R"(
    flow @f {
      %in = input() {types = ["i64[]"]}
      %x = variable(%in, %later) {keys = 0, init = "one", assign = "add"}
      %value = map(%x) {function = "value"}
      %later = delay(%value) {epochs = )",
                           delay, "}\n%out = output(%value)\n}"),
                    {{"in", std::vector<EpochNumbers>(epochs, {{{0}}})}});
}

TEST(ReferenceVariable, ADelaySaysHowOldTheValuesAreThatAnUpdateComesOf) {
  EXPECT_EQ(Growing(4, 1), "out 0: (1)\nout 1: (2)\nout 2: (4)\nout 3: (8)");
  // Fibonacci's numbers.
  EXPECT_EQ(Growing(6, 2),
            "out 0: (1)\nout 1: (1)\nout 2: (2)\nout 3: (3)\nout 4: (5)\nout 5: (8)");
  EXPECT_EQ(Growing(3, 3), "out 0: (1)\nout 1: (1)\nout 2: (1)");
}

TEST(ReferenceVariable, InALoopTimesAreInTheirTotalOrder) {
  // Each trip reads, and what it has read is added in the next one; epoch 1 goes on from there.
  EXPECT_EQ(RunNumbers(StrCat(kFunctions, R"(
    flow @f {
      loop @l
      %in = input() {types = ["i64[]"]}
      %a = enter(%in) {loop = "l"}
      %b = concat(%a, %again)
      %again = feedback(%b) {bound = 3}
      %x = variable(%b, %later) {keys = 1, init = "one", assign = "add"}
      %read = map(%x) {function = "keyed"}
      %later = feedback(%read)
      %y = leave(%x)
      %out = output(%y)
    })"),
                       {{"in", {{{{5}}}, {{{5}}}}}}),
            "out 0: (5 2) (5 1) (5 4)\nout 1: (5 8) (5 32) (5 16)");  // in the order of their bytes
}

}  // namespace
}  // namespace weir
