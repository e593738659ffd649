#include "common/interp/lifetimes.h"

#include "common/interp/test_run.h"
#include "gmock/gmock.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::vector<std::string> LastUsedBy(const Graph& graph, const Lifetimes& lifetimes, NodeId node) {
  std::vector<std::string> names;
  for (ValueId value : lifetimes.last_used_by(node)) names.push_back(graph.value(value).name);
  return names;
}

TEST(LifetimesTest, EndAtTheLastUse) {
  const Graph graph = MustParse(R"(
    func @main(%x: f32[2], %unused: f32[2]) -> (f32[2]) {
      %a = add(%x, %x) : f32[2]
      %b = add(%a, %x) : f32[2]
      %dead = add(%a, %a) : f32[2]
      %c = add(%b, %b) : f32[2]
      return %c
    })");
  const Lifetimes lifetimes(graph);
  const std::vector<NodeId>& nodes = graph.region(graph.entry().body).nodes;
  EXPECT_THAT(LastUsedBy(graph, lifetimes, nodes[0]), IsEmpty());
  EXPECT_THAT(LastUsedBy(graph, lifetimes, nodes[1]), ElementsAre("x"));
  EXPECT_THAT(LastUsedBy(graph, lifetimes, nodes[2]), UnorderedElementsAre("a", "dead"));
  EXPECT_THAT(LastUsedBy(graph, lifetimes, nodes[3]), ElementsAre("b"));
}

TEST(LifetimesTest, CapturesLiveUntilTheNodeThatOwnsTheRegionEnds) {
  const Graph graph = MustParse(R"(
    func @main(%x: f32[2]) -> (f32[4,3,2]) {
      %a = add(%x, %x) : f32[2]
      %b = add(%x, %x) : f32[2]
      %out = pfor {extent = (4)} (%i: i64[]) {
        %inner = pfor {extent = (3)} (%j: i64[]) {
          %s = add(%a, %x) : f32[2]
          %t = add(%s, %s) : f32[2]
          yield %b
        } : f32[3,2]
        yield %inner
      } : f32[4,3,2]
      return %out
    })");
  const Lifetimes lifetimes(graph);
  const std::vector<NodeId>& outer = graph.region(graph.entry().body).nodes;
  EXPECT_THAT(LastUsedBy(graph, lifetimes, outer[2]), UnorderedElementsAre("x", "a", "b"));
  const std::vector<NodeId>& middle = graph.region(graph.node(outer[2]).regions[0]).nodes;
  EXPECT_THAT(LastUsedBy(graph, lifetimes, middle[0]), IsEmpty());
  const std::vector<NodeId>& inner = graph.region(graph.node(middle[0]).regions[0]).nodes;
  EXPECT_THAT(LastUsedBy(graph, lifetimes, inner[1]), UnorderedElementsAre("s", "t"));
}

TEST(LifetimesTest, EachFunctionHasSlotsOfItsOwn) {
  const Graph graph = MustParse(R"(
    func @main(%x: f32[2]) -> (f32[2]) {
      %a = add(%x, %x) : f32[2]
      %b = call(%a) {callee = "f"} : f32[2]
      return %b
    }
    func @f(%x: f32[2]) -> (f32[2]) {
      return %x
    })");
  const Lifetimes lifetimes(graph);
  EXPECT_EQ(lifetimes.num_slots(graph.functions()[0].body), 3);
  EXPECT_EQ(lifetimes.num_slots(graph.functions()[1].body), 1);
  EXPECT_EQ(lifetimes.slot(graph.region(graph.functions()[1].body).args[0]), 0);
}

}  // namespace
}  // namespace weir
