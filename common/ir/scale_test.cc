// Programs of a size at which anything quadratic would never end.
#include "common/ir/builder.h"
#include "common/ir/clone.h"
#include "common/ir/test_catalog.h"
#include "common/ir/text.h"
#include "common/ir/verify.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

constexpr int kNodes = 100'000;
const TensorType kScalar = {DType::kF32, Shape()};

// A chain in which every value has the same name.
Graph Chain(const TestCatalog& catalog) {
  Graph graph;
  Builder builder(&graph, graph.AddFunction("main").body, &catalog);
  const std::string name = "x";
  ValueId last = builder.AddArg(kScalar, name);
  for (int i = 0; i < kNodes; ++i) {
    last = builder.Apply("neg", {last});
    graph.value(last).name = name;
  }
  builder.Yield({last});
  EXPECT_EQ(builder.status(), absl::OkStatus());
  return graph;
}

TEST(ScaleTest, EveryNodeIsInferredOnce) {
  const TestCatalog building;
  const Graph graph = Chain(building);
  EXPECT_EQ(building.calls(), kNodes);
  const TestCatalog verifying;
  EXPECT_EQ(Verify(graph, verifying), absl::OkStatus());
  EXPECT_EQ(verifying.calls(), kNodes);
  const std::string text = Print(graph);
  const TestCatalog parsing;
  const absl::StatusOr<Graph> read = Parse(text, parsing);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(parsing.calls(), kNodes);
  EXPECT_EQ(Print(*read), text);
}

TEST(ScaleTest, SortsReversedChain) {
  std::string text = "func @main(%v0: f32[]) -> (f32[]) {\n";
  for (int i = kNodes; i > 0; --i) StrAppend(&text, "%v", i, " = neg(%v", i - 1, ")\n");
  StrAppend(&text, "return %v", kNodes, "\n}\n");
  const TestCatalog catalog;
  const absl::StatusOr<Graph> graph = Parse(text, catalog);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(catalog.calls(), kNodes);
  const std::vector<NodeId>& nodes = graph->region(graph->entry().body).nodes;
  EXPECT_EQ(graph->value(graph->node(nodes.front()).outputs[0]).name, "v1");
  EXPECT_EQ(graph->node(nodes.front()).location.line, kNodes + 1);
}

TEST(ScaleTest, FindsCycleOfEveryNode) {
  std::string text = "func @main() -> () {\n";
  for (int i = 0; i < kNodes; ++i) {
    StrAppend(&text, "%v", i, " = neg(%v", (i + 1) % kNodes, ")\n");
  }
  const absl::StatusOr<Graph> graph = Parse(text + "return }", TestCatalog());
  EXPECT_EQ(std::string(graph.status().message()).substr(0, 38),
            "<text>:2:1: cycle: %v0 (line 2) -> %v9");
}

TEST(ScaleTest, ReplacesEveryValueInOnePass) {
  const TestCatalog catalog;
  Graph graph = Chain(catalog);
  absl::flat_hash_map<ValueId, ValueId> replacements;
  for (int i = 1; i <= kNodes; ++i) replacements[ValueId(i)] = ValueId(i - 1);
  graph.ReplaceUses(replacements);
  for (int i = 0; i < kNodes; ++i) ASSERT_EQ(graph.node(NodeId(i)).inputs[0], ValueId(0));
  EXPECT_EQ(graph.region(graph.entry().body).results[0], ValueId(0));
}

TEST(ScaleTest, CapturesAndCopiesWideRegions) {
  const TestCatalog catalog;
  Graph graph;
  Builder builder(&graph, graph.AddFunction("main").body, &catalog);
  Builder body = builder.In(builder.NewRegion());
  ValueId sum = builder.AddArg(kScalar);
  std::vector<ValueId> captured;
  for (int i = 0; i < kNodes / 2; ++i) {
    captured.push_back(builder.Apply("any", {}));
    sum = body.Apply("add", {sum, captured.back()});
    sum = body.Apply("add", {sum, captured[0]});
  }
  body.Yield({sum});
  builder.Yield({builder.Apply("pfor", {}, {{"extent", std::vector<Dim>{2}}}, {body.region()})});
  ASSERT_EQ(builder.status(), absl::OkStatus());
  EXPECT_EQ(graph.Captures(body.region()).size(), captured.size() + 1);
  const Graph copy = Compact(graph);
  EXPECT_EQ(copy.num_nodes(), graph.num_nodes());
  EXPECT_EQ(Verify(copy, catalog), absl::OkStatus());
}

}  // namespace
}  // namespace weir
