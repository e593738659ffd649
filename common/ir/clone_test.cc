#include "common/ir/clone.h"

#include "common/ir/test_catalog.h"
#include "common/ir/text.h"
#include "common/ir/verify.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

using ::testing::ElementsAre;

constexpr char kProgram[] = R"(func @main(%x: f32[], %c: bool[]) -> (f32[], f32[] "out") {
  %a, %b = split(%x) name("s") loc("m.py":1:2) : f32[], f32[]
  !0 = sink(%b)
  %r = if(%c) {
    %t = neg(%a) : f32[]
    %u = neg(%t) after(%t) : f32[]
    yield %u
  } {
    %v = call(%b) {callee = "f"} : f32[]
    yield %v
  } after(%a, !0) : f32[]
  return %r, %a
}

func @f(%x: f32[]) -> (f32[]) {
  return %x
}
)";

Graph Program() {
  absl::StatusOr<Graph> graph = Parse(kProgram, TestCatalog());
  EXPECT_TRUE(graph.ok()) << graph.status();
  return *std::move(graph);
}

TEST(CloneTest, CompactKeepsTheTextAndDropsTheRest) {
  Graph graph = Program();
  const int nodes = graph.num_nodes();
  const RegionId loose = graph.AddRegion();
  graph.AddNode(loose, "source", {}, {}, {{DType::kF32, Shape()}});
  const Graph compact = Compact(graph);
  EXPECT_EQ(Print(compact), kProgram);
  EXPECT_EQ(compact.num_nodes(), nodes);
  EXPECT_EQ(Verify(compact, TestCatalog()), absl::OkStatus());
}

TEST(CloneTest, CompactNumbersInPrintOrder) {
  const Graph compact = Compact(Program());
  std::vector<std::string> ops;
  for (int i = 0; i < compact.num_nodes(); ++i) ops.push_back(compact.node(NodeId(i)).op);
  EXPECT_THAT(ops, ElementsAre("split", "sink", "if", "neg", "neg", "call"));
  std::string names;
  for (int i = 0; i < compact.num_values(); ++i) names += compact.value(ValueId(i)).name;
  EXPECT_EQ(names, "xcabrtuvx");
}

TEST(CloneTest, CopiesWithinOneGraph) {
  Graph graph = Program();
  const RegionId body = graph.entry().body;
  ValueMap map;
  const std::vector<ValueId> results = CloneRegionBody(graph, body, &graph, body, &map);
  EXPECT_EQ(results[0], map[graph.region(body).results[0]]);
  graph.region(body).results = results;
  EXPECT_EQ(Verify(graph, TestCatalog()), absl::OkStatus());
  EXPECT_EQ(graph.region(body).nodes.size(), 6u);
  const Node& copy = graph.node(graph.region(body).nodes[5]);
  EXPECT_THAT(copy.control_inputs,
              ElementsAre(graph.region(body).nodes[3], graph.region(body).nodes[4]));
  EXPECT_NE(copy.regions, graph.node(graph.region(body).nodes[2]).regions);
  EXPECT_EQ(copy.inputs, graph.node(graph.region(body).nodes[2]).inputs) << "arguments stay";
}

TEST(CloneTest, RenamesThroughTheMapAndDropsForeignControlInputs) {
  Graph graph = Program();
  const RegionId body = graph.entry().body;
  const NodeId choice = graph.region(body).nodes[2];
  const ValueId x = graph.region(body).args[0];
  ValueMap map = {{graph.node(graph.region(body).nodes[0]).outputs[0], x}};
  absl::flat_hash_map<NodeId, NodeId> nodes;
  const NodeId copy = CloneNode(graph, choice, &graph, body, &map, &nodes);
  EXPECT_TRUE(graph.node(copy).control_inputs.empty());
  EXPECT_EQ(nodes[choice], copy);
  const NodeId inside = graph.region(graph.node(copy).regions[0]).nodes[0];
  EXPECT_THAT(graph.node(inside).inputs, ElementsAre(x));
  EXPECT_EQ(Verify(graph, TestCatalog()), absl::OkStatus());
}

TEST(CloneTest, CopiesRegionsIntoOtherGraphs) {
  const Graph source = Program();
  Graph target;
  ValueMap map;
  const RegionId copy = CloneRegion(source, source.entry().body, &target, &map);
  EXPECT_FALSE(target.region(copy).parent.valid());
  EXPECT_EQ(target.region(copy).args.size(), 2u);
  EXPECT_EQ(target.region(copy).results.size(), 2u);
  EXPECT_EQ(target.num_nodes(), source.num_nodes());
  EXPECT_TRUE(target.Captures(copy).empty());
}

}  // namespace
}  // namespace weir
