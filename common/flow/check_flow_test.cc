#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/flow/flow.h"
#include "common/flow/vertex_kind.h"
#include "common/ir/text.h"
#include "common/ops/registry.h"
#include "common/timely/topology.h"

namespace weir {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<const Graph> Functions() {
  auto graph = Parse(R"(
    func @step(%node: i64[], %distance: f32[]) -> (i64[], f32[]) {
      return %node, %distance
    }
    func @near(%node: i64[], %distance: f32[]) -> (bool[]) {
      %limit = constant {value = f32[] {9}} : f32[]
      %is = less(%distance, %limit) : bool[]
      return %is
    })",
                     Ops());
  EXPECT_TRUE(graph.ok()) << graph.status();
  return std::make_shared<const Graph>(*std::move(graph));
}

FlowVertex At(std::string name, std::string kind, std::vector<int> inputs, Attrs attrs = {}) {
  FlowVertex vertex;
  vertex.name = std::move(name);
  vertex.kind = std::move(kind);
  for (const int input : inputs) vertex.inputs.push_back({VertexId(input), 0});
  vertex.attrs = std::move(attrs);
  return vertex;
}

// A loop in which distances become less.
Flow Loop() {
  Flow flow;
  flow.name = "loop";
  flow.functions = Functions();
  flow.loops = {{"trips", LogicalGraph::kRoot}};
  flow.vertices = {
      At("roots", "input", {}, {{"types", std::vector<std::string>{"i64[]", "f32[]"}}}),
      At("start", "enter", {0}, {{"loop", "trips"}}),
      At("all", "concat", {1, 6}),
      At("best", "reduce_by_key", {2}, {{"keys", 1}, {"combine", "min"}, {"state", "loop"}}),
      At("next", "map", {3}, {{"function", "step"}}),
      At("some", "filter", {4}, {{"function", "near"}}),
      At("again", "feedback", {5}, {{"bound", 100}}),
      At("done", "leave", {3}),
      At("distances", "output", {7}),
  };
  return flow;
}

std::string ErrorOf(Flow flow) { return std::string(CheckFlow(&flow).message()); }

TEST(CheckFlow, ScopesAndTypesFollowThroughCycles) {
  Flow flow = Loop();
  ASSERT_EQ(CheckFlow(&flow), absl::OkStatus());
  EXPECT_EQ(flow.vertices[2].scope, ScopeId(1));
  EXPECT_EQ(flow.vertices[6].output_scope, ScopeId(1));
  EXPECT_EQ(flow.vertices[7].output_scope, LogicalGraph::kRoot);
  EXPECT_EQ(ToString(flow.vertices[8].input_types[0]), "(i64[], f32[])");
  EXPECT_EQ(flow.Readers({VertexId(3), 0}).size(), 2u);
}

TEST(CheckFlow, WhatItGivesIsALegalTopology) {
  Flow flow = Loop();
  ASSERT_EQ(CheckFlow(&flow), absl::OkStatus());
  const auto topology = Topology::Of(GraphOf(flow));
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_EQ((*topology)->location((*topology)->input(VertexId(2), 0)).depth, 1);
}

TEST(CheckFlow, NamesWhatIsWrong) {
  Flow flow = Loop();
  flow.vertices[4].kind = "mapp";
  flow.vertices[4].location = {"flow.txt", 7, 3};
  EXPECT_THAT(ErrorOf(flow), HasSubstr("flow.txt:7:3: 'next' (mapp): there is no such kind of "
                                       "vertex; did you mean 'map'?"));
  flow = Loop();
  flow.vertices[4].attrs["function"] = Attr("nowhere");
  EXPECT_THAT(ErrorOf(flow), HasSubstr("'next' (map): there is no function @nowhere"));
  flow = Loop();
  flow.vertices[3].attrs["keys"] = Attr(3);
  EXPECT_THAT(ErrorOf(flow), HasSubstr("keys = 3, but records are (i64[], f32[])"));
  flow = Loop();
  flow.vertices[3].attrs.erase("combine");
  EXPECT_THAT(ErrorOf(flow), HasSubstr("one of the attributes 'combine' and 'function'"));
  flow = Loop();
  flow.vertices[8].inputs[0].vertex = VertexId(3);
  flow.vertices[8].inputs.push_back({VertexId(7), 0});
  EXPECT_THAT(ErrorOf(flow), HasSubstr("it has 2 inputs and takes 1"));
  flow = Loop();
  flow.vertices[2].inputs.push_back({VertexId(0), 0});
  EXPECT_THAT(ErrorOf(flow), HasSubstr("'roots' is outside of loops and cannot be read in loop "
                                       "'trips'; use 'enter' or 'leave'"));
  flow = Loop();
  flow.vertices[2].inputs = {{VertexId(6), 0}};
  EXPECT_THAT(ErrorOf(flow), HasSubstr("it stands in a cycle that nothing enters"));
}

}  // namespace
}  // namespace weir
