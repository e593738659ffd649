#include "server/flows/prepared_flow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/flow/flow_text.h"

namespace weir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

absl::StatusOr<PreparedFlow> Prepared(const std::string& text) {
  v1::DeployRequest request;
  request.set_flow(text);
  request.set_name("a.flow");
  return PrepareFlow(request, Limits());
}

TEST(PreparedFlow, ParametersWithoutANameAreMappedByOne) {
  const auto flow = Prepared(R"(
    func @sum(%0: i64[], %column0: i64[], %2: i64[]) -> (i64[]) {
      %3 = add(%0, %column0)
      %4 = add(%3, %2)
      return %4
    }
    flow @f {
      %in = input() {types = ["i64[]", "i64[]", "i64[]"]}
      %y = map(%in) {function = "sum"}
      %out = output(%y)
    })");
  ASSERT_TRUE(flow.ok()) << flow.status();
  const v1::Program& program = flow->functions.at("sum").program;
  ASSERT_EQ(program.map_size(), 3);
  for (const std::string& name : program.map()) {
    EXPECT_THAT(program.source(), HasSubstr("%" + name + ": i64[]"));
    EXPECT_EQ(std::count(program.map().begin(), program.map().end(), name), 1) << name;
  }
}

TEST(PreparedFlow, LoopsAreBroughtOutBeforeAnythingElse) {
  const auto flow = Prepared(R"(
    func @down(%x: i64[]) -> (i64[]) {
      %end = while(%x) (%a: i64[]) {
        %one = constant {value = i64[] {1}}
        %more = greater(%a, %one)
        yield %more
      } (%a: i64[]) {
        %one = constant {value = i64[] {1}}
        %less = subtract(%a, %one)
        yield %less
      }
      return %end
    }
    flow @f {
      %in = input() {types = ["i64[]"]}
      %y = map(%in) {function = "down", pipelined = "loops"}
      %out = output(%y)
    })");
  ASSERT_TRUE(flow.ok()) << flow.status();
  EXPECT_EQ(flow->flow->loops.size(), 1u);
  // What workers get is the flow that was brought out.
  const auto parsed = ParseFlow(flow->text);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_TRUE(parsed->FindVertex("y.feedback1").valid());
  std::vector<std::string> names;
  for (const auto& [name, function] : flow->functions) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("down.1", "down.2"));
}

}  // namespace
}  // namespace weir
