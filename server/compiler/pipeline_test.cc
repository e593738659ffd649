#include "server/compiler/pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "common/base/status.h"
#include "common/interp/interpreter.h"
#include "common/ir/text.h"
#include "common/ops/registry.h"
#include "common/tensor/compare.h"
#include "server/compiler/map.h"

namespace weir {
namespace {

constexpr char kModel[] = R"(
  func @main(%x: f32[4], %w: f32[4,3]) -> (f32[3] "y") {
    %h = dot_general(%x, %w) {lhs_batch = [], rhs_batch = [], lhs_contract = [0],
      rhs_contract = [0]}
    %zero = constant {value = f32[] {0}}
    %z = broadcast_in_dim(%zero) {shape = (3), axes = []}
    %y = maximum(%h, %z)
    %unused = exp(%y)
    return %y
  })";

Graph MappedModel() {
  absl::StatusOr<Graph> model = Parse(kModel, Ops());
  EXPECT_TRUE(model.ok()) << model.status();
  absl::StatusOr<Graph> mapped = MapOver(*std::move(model), {"x"});
  EXPECT_TRUE(mapped.ok()) << mapped.status();
  return *std::move(mapped);
}

TEST(PipelineTest, EveryStageParsesAndGivesTheSameResult) {
  const std::vector<Tensor> inputs = {Rand(DType::kF32, {6, 4}).Make(1),
                                      Rand(DType::kF32, {4, 3}).Make(2)};
  absl::StatusOr<std::vector<Tensor>> want = Interpret(MappedModel(), inputs);
  ASSERT_TRUE(want.ok()) << want.status();
  int stages = 0;
  absl::StatusOr<Compiled> compiled =
      Compile(MappedModel(), {}, [&](const Pass& pass, const Graph& graph) {
        ++stages;
        EXPECT_FALSE(pass.why.empty());
        const std::string text = Print(graph);
        absl::StatusOr<Graph> parsed = Parse(text, Ops());
        ASSERT_TRUE(parsed.ok()) << pass.name << ": " << parsed.status() << "\n" << text;
        EXPECT_EQ(Print(*parsed), text) << pass.name;
        absl::StatusOr<std::vector<Tensor>> got = Interpret(*parsed, inputs);
        ASSERT_TRUE(got.ok()) << pass.name << ": " << got.status();
        EXPECT_EQ(Difference((*got)[0], (*want)[0], {.ulp = 4}), "") << pass.name;
      });
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  EXPECT_EQ(stages, static_cast<int>(Passes().size()) + 1);
  EXPECT_TRUE(compiled->report.fallbacks.empty());
  EXPECT_EQ(Print(compiled->graph).find("exp("), std::string::npos);
}

TEST(PipelineTest, ProductsReadTransposedOperandsWhereTheyAre) {
  const auto transposes = [](std::string_view permutation, std::string_view shape) {
    absl::StatusOr<Graph> graph = Parse(StrCat(R"(
      func @main(%x: f32[5,2,4], %w: f32)",
                                               shape, R"() -> (f32[2,5,7,3] "y") {
        %a = transpose(%x) {permutation = [1, 0, 2]}
        %b = transpose(%w) {permutation = )",
                                               permutation, R"(}
        %y = dot_general(%a, %b) {lhs_batch = [0], rhs_batch = [1], lhs_contract = [2],
            rhs_contract = [2]}
        return %y
      })"),
                                        Ops());
    EXPECT_TRUE(graph.ok()) << graph.status();
    absl::StatusOr<Compiled> compiled = Compile(*graph, {});
    EXPECT_TRUE(compiled.ok()) << compiled.status();
    std::vector<Tensor> inputs;
    for (ValueId arg : graph->region(graph->entry().body).args) {
      inputs.push_back(Rand(DType::kF32, *graph->type(arg).shape.Evaluate({})).Make(3));
    }
    EXPECT_EQ(Difference((*Interpret(compiled->graph, inputs))[0], (*Interpret(*graph, inputs))[0]),
              "");
    int count = 0;
    for (int i = 0; i < compiled->graph.num_nodes(); ++i) {
      count += compiled->graph.node(NodeId(i)).op == "transpose" ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(transposes("[2, 1, 0, 3]", "[4,2,7,3]"), 0) << "7 and 3 keep their order";
  EXPECT_EQ(transposes("[3, 2, 0, 1]", "[4,3,2,7]"), 1) << "3 would come before 7";
}

TEST(PipelineTest, ThePlanSplitsTheParallelAxis) {
  absl::StatusOr<Compiled> compiled = Compile(MappedModel(), {});
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const v1::Plan& plan = compiled->plan.plan;
  ASSERT_EQ(plan.steps_size(), 1) << plan.DebugString();
  EXPECT_EQ(plan.steps(0).extent(), "n");
  ASSERT_EQ(plan.inputs_size(), 2);
  EXPECT_EQ(plan.values(static_cast<int>(plan.outputs(0))).placement(),
            v1::PlanValue::PLACEMENT_SPLIT);
  EXPECT_EQ(plan.values(static_cast<int>(plan.outputs(0))).type(), "f32[n,3]");
  EXPECT_EQ(compiled->plan.output_names, std::vector<std::string>{"y"});
  bool rows = false;
  for (const v1::StepOperand& operand : plan.steps(0).operands()) {
    if (operand.value() == plan.inputs(0)) rows = operand.part() == v1::StepOperand::PART_ROWS;
  }
  EXPECT_TRUE(rows);
}

TEST(PipelineTest, WhatIsNoLoopRunsOnOneWorker) {
  absl::StatusOr<Graph> model = Parse(kModel, Ops());
  ASSERT_TRUE(model.ok());
  absl::StatusOr<Compiled> compiled = Compile(*std::move(model), {});
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  ASSERT_EQ(compiled->plan.plan.steps_size(), 1);
  EXPECT_TRUE(compiled->plan.plan.steps(0).extent().empty());
}

TEST(PipelineTest, ParametersAndConstantsMayBeResults) {
  absl::StatusOr<Graph> program = Parse(R"(
    func @main(%x: f32[2]) -> (f32[2], f32[2]) {
      %c = constant {value = f32[2] {1, 2}}
      return %x, %c
    })",
                                        Ops());
  ASSERT_TRUE(program.ok()) << program.status();
  absl::StatusOr<Compiled> compiled = Compile(*std::move(program), {});
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const v1::Plan& plan = compiled->plan.plan;
  EXPECT_EQ(plan.outputs(0), plan.inputs(0));
  EXPECT_EQ(plan.values(static_cast<int>(plan.outputs(1))).placement(),
            v1::PlanValue::PLACEMENT_ROOT);
}

TEST(PipelineTest, AConstantThatIsCutIntoRowsIsMadeBeforeItIsUsed) {
  absl::StatusOr<Graph> graph = Parse(R"(
    func @main() -> (f32[3]) {
      %x = constant {value = f32[3] {1, 2, 3}}
      %y = pfor {extent = (3)} (%i: i64[]) {
        %row = gather(%x, %i) {offset_dims = [], collapsed_slice_dims = [0],
          operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0],
          index_vector_dim = 0, slice_sizes = (1)}
        %e = exp(%row)
        yield %e
      }
      return %y
    })",
                                      Ops());
  ASSERT_TRUE(graph.ok()) << graph.status();
  absl::StatusOr<Compiled> compiled = Compile(*std::move(graph), {});
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const v1::Plan& plan = compiled->plan.plan;
  std::vector<uint32_t> made(plan.inputs().begin(), plan.inputs().end());
  for (const v1::Step& step : plan.steps()) {
    for (const v1::StepOperand& operand : step.operands()) {
      EXPECT_NE(std::find(made.begin(), made.end(), operand.value()), made.end())
          << plan.DebugString();
    }
    made.insert(made.end(), step.outputs().begin(), step.outputs().end());
  }
  EXPECT_EQ(plan.steps_size(), 2);
}

TEST(MapOverTest, NamesMustBeInputs) {
  absl::StatusOr<Graph> model = Parse(kModel, Ops());
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(MapOver(*model, {"q"}).status().message(),
            "there is no input 'q' to map; the inputs are x, w");
  EXPECT_EQ(MapOver(*model, {"x", "x"}).status().message(), "input 'x' is mapped twice");
  EXPECT_TRUE(MapOver(*model, {}).ok());
}

TEST(PipelineTest, NegativeExtentsAreErrors) {
  absl::StatusOr<Graph> program = Parse(R"(
    func @main() -> (i64[0]) {
      %y = pfor {extent = (-3)} (%i: i64[]) {
        yield %i
      }
      return %y
    })",
                                        Ops());
  EXPECT_FALSE(program.ok());
  EXPECT_NE(std::string(program.status().message()).find("pfor extent -3 is negative"),
            std::string::npos)
      << program.status();
}

}  // namespace
}  // namespace weir
