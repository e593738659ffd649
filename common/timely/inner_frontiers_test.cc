#include "common/timely/inner_frontiers.h"

#include "gtest/gtest.h"

namespace weir {
namespace {

// source -> enter -> [ head -> body -> feedback -> head ] -> leave -> sink; the loop is the part.
class InnerFrontiersTest : public ::testing::Test {
 protected:
  InnerFrontiersTest() {
    LogicalGraph graph;
    const VertexId source = graph.AddSource("source");
    const ScopeId loop = graph.AddScope(LogicalGraph::kRoot, "loop");
    const VertexId enter = graph.AddEnter("enter", loop);
    const VertexId head = graph.AddVertex("head", loop, 2, 1);
    const VertexId body = graph.AddVertex("body", loop, 1, 1);
    const VertexId feedback = graph.AddFeedback("feedback", loop);
    const VertexId leave = graph.AddLeave("leave", loop);
    const VertexId sink = graph.AddVertex("sink", LogicalGraph::kRoot, 1, 0);
    graph.Connect({source, 0}, {enter, 0});
    graph.Connect({enter, 0}, {head, 0});
    graph.Connect({head, 0}, {body, 0});
    graph.Connect({body, 0}, {feedback, 0});
    graph.Connect({feedback, 0}, {head, 1});
    graph.Connect({body, 0}, {leave, 0});
    graph.Connect({leave, 0}, {sink, 0});
    topology_ = *Topology::Of(std::move(graph));
    std::vector<int> part_of(topology_->graph().vertices().size(), -1);
    for (const VertexId vertex : {enter, head, body, feedback, leave}) part_of[vertex.value()] = 0;
    inner_ = std::make_unique<InnerFrontiers>(topology_, part_of);
    entry_ = topology_->input(enter, 0);
    body_ = topology_->input(body, 0);
    back_ = topology_->input(head, 1);
    sink_ = topology_->input(sink, 0);
  }

  std::shared_ptr<const Topology> topology_;
  std::unique_ptr<InnerFrontiers> inner_;
  LocationId entry_, body_, back_, sink_;
};

TEST_F(InnerFrontiersTest, TripsEndWithoutTheCoordinator) {
  EXPECT_EQ(inner_->entries().size(), 1u);
  EXPECT_EQ(inner_->entries()[0], entry_);
  EXPECT_FALSE(inner_->is_known());
  EXPECT_FALSE(inner_->IsComplete(body_, {0, 0}));
  inner_->Apply({1, {{{entry_, {0}}, 1}, {{body_, {0, 0}}, 1}}});
  inner_->Propagate();
  EXPECT_EQ(inner_->frontier(body_), Frontier({{0, 0}}));

  // A frame of epoch 0 enters and is passed on; the coordinator says that no more will come.
  inner_->Update(body_, {0, 0}, 1);
  inner_->Apply({2, {{{entry_, {1}}, 1}, {{entry_, {0}}, -1}}});
  inner_->Propagate();
  EXPECT_EQ(inner_->frontier(body_), Frontier({{0, 0}}));
  for (int64_t trip = 0; trip < 1000; ++trip) {
    EXPECT_FALSE(inner_->IsComplete(body_, {0, trip}));
    inner_->Update(body_, {0, trip}, -1);
    inner_->Update(back_, {0, trip + 1}, 1);
    inner_->Propagate();
    EXPECT_TRUE(inner_->IsComplete(body_, {0, trip}));
    inner_->Update(back_, {0, trip + 1}, -1);
    inner_->Update(body_, {0, trip + 1}, 1);
    inner_->Propagate();
  }
  inner_->Update(body_, {0, 1000}, -1);
  inner_->Propagate();
  EXPECT_EQ(inner_->frontier(body_), Frontier({{1, 0}}));
  EXPECT_TRUE(inner_->frontier(sink_).empty());  // not part of it
}

// Each half alone says that the epoch is complete while it is not.
TEST_F(InnerFrontiersTest, BothHalvesAreNeeded) {
  inner_->Apply({1, {{{entry_, {0}}, 1}}});
  inner_->Propagate();
  EXPECT_FALSE(inner_->IsComplete(body_, {0, 5}));  // nothing is inside yet
  inner_->Update(body_, {0, 2}, 1);
  inner_->Apply({2, {{{entry_, {0}}, -1}}});
  inner_->Propagate();
  EXPECT_FALSE(inner_->IsComplete(body_, {0, 2}));  // nothing enters any more
  EXPECT_TRUE(inner_->IsComplete(body_, {0, 1}));
  inner_->Update(body_, {0, 2}, -1);
  inner_->Update(sink_, {0}, 1);  // of no interest here
  inner_->Propagate();
  EXPECT_TRUE(inner_->frontier(body_).empty());
}

// Between parts only the coordinator says what comes, though one leads straight to the other:
// frames may go to other workers there. What goes on in one costs nothing in others.
TEST(InnerFrontiers, PartsAreOnTheirOwn) {
  LogicalGraph graph;
  VertexId last = graph.AddSource("source");
  std::vector<VertexId> vertices;
  for (int v = 0; v < 100; ++v) {
    vertices.push_back(graph.AddVertex("vertex", LogicalGraph::kRoot, 1, 1));
    graph.Connect({last, 0}, {vertices.back(), 0});
    last = vertices.back();
  }
  const std::shared_ptr<const Topology> topology = *Topology::Of(std::move(graph));
  std::vector<int> part_of = {-1};
  for (int v = 0; v < 100; ++v) part_of.push_back(v / 2);
  InnerFrontiers inner(topology, part_of);
  EXPECT_EQ(inner.entries().size(), 50u);
  const auto in = [&](int vertex) { return topology->input(vertices[vertex], 0); };
  FrontierUpdate update = {1, {}};
  for (int v = 0; v < 100; ++v) update.changes.push_back({{in(v), {7}}, 1});
  inner.Apply(update);
  inner.Propagate();
  const int64_t before = inner.pops();
  inner.Update(in(0), {3}, 1);
  inner.Propagate();
  EXPECT_EQ(inner.frontier(in(0)), Frontier({{3}}));
  EXPECT_EQ(inner.frontier(in(1)), Frontier({{3}}));
  EXPECT_EQ(inner.frontier(in(2)), Frontier({{7}}));
  EXPECT_LE(inner.pops() - before, 8);
}

}  // namespace
}  // namespace weir
