#include "worker/flow/held_channels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "common/base/str_cat.h"
#include "common/flow/flow_text.h"

namespace weir {
namespace {

using ::testing::ElementsAre;

// Returns: "x -> y 0" for each vertex and input that holds it up, in the order of vertices.
std::vector<std::string> Held(std::string_view vertices) {
  const auto flow =
      ParseFlow(StrCat("flow @f {\n%in = input() {types = [\"i64[]\"]}\n", vertices, "\n}"));
  EXPECT_TRUE(flow.ok()) << flow.status();
  const std::vector<std::vector<Port>> holding = HoldingInputs(*flow);
  std::vector<std::string> text;
  for (size_t v = 0; v < holding.size(); ++v) {
    for (const Port& port : holding[v]) {
      text.push_back(
          StrCat(flow->vertices[v].name, " -> ", flow->vertex(port.vertex).name, " ", port.number));
    }
  }
  return text;
}

TEST(HeldChannels, AVertexWaitsForAllThatReadFromIt) {
  EXPECT_THAT(Held("%a = concat(%in, %in) %out = output(%a) %p = probe(%in)"),
              ElementsAre("in -> a 0", "in -> a 1", "in -> p 0", "a -> out 0"));
}

TEST(HeldChannels, InsideOfLoopsNobodyWaits) {
  EXPECT_THAT(Held("loop @l %a = enter(%in) {loop = \"l\"} %b = concat(%a, %c)\n"
                   "%c = feedback(%b) %d = leave(%b) %out = output(%d)"),
              // `enter` stands outside, and lets nothing in that could not leave.
              ElementsAre("in -> a 0", "a -> b 0", "a -> out 0"));
  EXPECT_THAT(Held("loop @l loop @m in @l %a = enter(%in) {loop = \"l\"}\n"
                   "%b = enter(%a) {loop = \"m\"} %c = leave(%b) %d = leave(%c) %out = output(%d)"),
              ElementsAre("in -> a 0", "a -> b 0", "a -> out 0"));
}

TEST(HeldChannels, NobodyWaitsForWhatLeavesALoopIntoItsOwnCycle) {
  EXPECT_THAT(Held("loop @l %all = concat(%in, %later) %a = enter(%all) {loop = \"l\"}\n"
                   "%b = leave(%a) %later = delay(%b) {epochs = 1} %out = output(%b)"),
              ElementsAre("in -> all 0", "a -> out 0"));
}

TEST(HeldChannels, NobodyWaitsForItsOwnCycle) {
  EXPECT_THAT(
      Held("%a = concat(%in, %b) %b = delay(%a) {epochs = 1}\n"
           "%c = concat(%b, %d, %e) %d = delay(%c) {epochs = 2} %e = exchange(%d) {keys = 1}\n"
           "%out = output(%d)"),
      ElementsAre("in -> a 0", "b -> c 0", "d -> out 0"));
}

TEST(HeldChannels, ACycleMayGoThroughALoop) {
  EXPECT_THAT(Held("loop @l %a = concat(%in, %late) %b = enter(%a) {loop = \"l\"}\n"
                   "%c = leave(%b) %d = inspect(%c) %late = delay(%d) {epochs = 1}\n"
                   "%out = output(%d)"),
              ElementsAre("in -> a 0", "d -> out 0"));
}

}  // namespace
}  // namespace weir
