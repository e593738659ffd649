// Random programs (tests/programs) as functions of a flow: with their loops and branches brought
// out into vertices they give the bits that they give as a whole, in the oracle and on simulated
// clusters. Functions of a flow have no variables, print nothing and do not meet: in the place of
// what these give they have further columns.
//
//   WEIR_PIPELINED_PROGRAMS=5000 WEIR_FLOW_SEED=17 weir_cluster_test --gtest_filter='PipelinedP*'
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include "common/base/status.h"
#include "common/flow/flow_text.h"
#include "common/flow/reference_flow.h"
#include "common/ir/clone.h"
#include "server/compiler/optimize/substitute.h"
#include "server/flows/pipelined/pipelined.h"
#include "tests/cluster/flow_simulation.h"
#include "tests/programs/generator.h"

namespace weir {
namespace {

constexpr int64_t kRecords = 5;

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoll(text, nullptr, 10);
}

bool IsInsideOfPfor(const Graph& graph, const Node& node) {
  for (NodeId around = graph.region(node.parent).parent; around.valid();
       around = graph.region(graph.node(around).parent).parent) {
    if (graph.node(around).op == "pfor") return true;
  }
  return false;
}

bool MayNotBeInFlow(const Graph& graph, const Node& node) {
  if (node.op == "iteration_reduce") return !IsInsideOfPfor(graph, node);
  return node.op == "read_variable" || node.op == "update_variable" ||
         node.op == "assign_variable" || node.op == "print";
}

// Puts columns in the place of what functions of flows may not do.
void TakeOut(Graph* graph, RegionId body) {
  for (int i = 0; i < graph->num_nodes(); ++i) {
    const Node node = graph->node(NodeId(i));
    if (!MayNotBeInFlow(*graph, node)) continue;
    for (const ValueId output : node.outputs) {
      graph->ReplaceUses(output, graph->AddArg(body, graph->type(output)));
    }
    std::erase(graph->region(node.parent).nodes, NodeId(i));
    for (int other = 0; other < graph->num_nodes(); ++other) {
      std::erase(graph->node(NodeId(other)).control_inputs, NodeId(i));
    }
  }
}

// The body of the program's pfor as a function for one record, whose columns are the iteration and
// all parameters, the size n being kRecords. Returns: nothing if it uses more than these.
std::optional<Graph> FunctionOf(const RandomProgram& program) {
  const Graph& graph = program.graph;
  if (graph.functions().empty()) return std::nullopt;
  const Region& main = graph.region(graph.entry().body);
  const Node& pfor = graph.node(main.nodes.back());
  if (pfor.op != "pfor") return std::nullopt;
  Graph out;
  const RegionId body = out.AddFunction("body").body;
  ValueMap map;
  const Region& inside = graph.region(pfor.regions[0]);
  map[inside.args[0]] = out.AddArg(body, graph.type(inside.args[0]));
  for (const ValueId parameter : main.args)
    map[parameter] = out.AddArg(body, graph.type(parameter));
  for (const ValueId captured : graph.Captures(pfor.regions[0])) {
    if (!map.contains(captured)) return std::nullopt;
  }
  std::vector<ValueId> results = CloneRegionBody(graph, pfor.regions[0], &out, body, &map);
  out.functions().back().result_names.resize(results.size());
  out.region(body).results = std::move(results);
  SubstituteSymbols(&out, body, {{"n", Dim(kRecords)}});
  TakeOut(&out, body);
  return Compact(out);
}

// A flow that calls the function, or nothing if it is none for flows.
std::optional<Flow> FlowOf(const RandomProgram& program, const std::string& what,
                           int64_t hold_bytes) {
  std::optional<Graph> function = FunctionOf(program);
  if (!function.has_value()) return std::nullopt;
  std::vector<std::string> types;
  for (const ValueId column : function->region(function->entry().body).args) {
    types.push_back(function->type(column).ToString());
  }
  Flow flow;
  flow.name = "program";
  flow.functions = std::make_shared<const Graph>(*std::move(function));
  flow.vertices.push_back({.name = "in", .kind = "input", .attrs = {{"types", types}}});
  FlowVertex map = {.name = "y", .kind = "map", .inputs = {{VertexId(0), 0}}};
  map.attrs = {{"function", std::string("body")}, {"pipelined", what}};
  if (hold_bytes > 0) map.attrs.emplace("hold_bytes", hold_bytes);
  flow.vertices.push_back(std::move(map));
  flow.vertices.push_back({.name = "out", .kind = "output", .inputs = {{VertexId(1), 0}}});
  // The text is what says that it is one: its functions are checked there.
  const absl::Status status = CheckFlow(&flow);
  if (!status.ok()) return std::nullopt;
  auto parsed = ParseFlow(PrintFlow(flow));
  if (!parsed.ok()) return std::nullopt;
  return *std::move(parsed);
}

RecordBatch RecordsOf(const RandomProgram& program, const RecordType& type) {
  const std::vector<Tensor> inputs = program.Inputs(kRecords);
  std::vector<Tensor> columns;
  for (size_t c = 0; c < type.size(); ++c) {
    const Extents extents = type[c].shape.extents();
    std::vector<Tensor> rows;
    for (int64_t i = 0; i < kRecords; ++i) {
      if (c == 0) {
        rows.push_back(Tensor::Scalar<int64_t>(i));
      } else if (c <= program.parameters.size()) {
        rows.push_back(inputs[c - 1]);
      } else {
        rows.push_back(Rand(type[c].dtype, extents).Make(program.seed + 10 * c + i));
      }
    }
    columns.push_back(Stack(type[c].dtype, extents, rows));
  }
  return MakeBatch(std::move(columns));
}

TEST(PipelinedPrograms, GiveTheBitsOfTheWhole) {
  const int64_t programs = FromEnvironment("WEIR_PIPELINED_PROGRAMS", 300);
  const auto first = static_cast<uint64_t>(
      FromEnvironment("WEIR_FLOW_SEED", static_cast<int64_t>(std::random_device()())));
  std::cout << "programs from seed " << first << "\n";
  int64_t flows = 0;
  int64_t loops = 0;
  int64_t nested = 0;
  int64_t branches = 0;
  int64_t held = 0;
  for (int64_t p = 0; p < programs; ++p) {
    const uint64_t seed = first + static_cast<uint64_t>(p);
    const RandomProgram program = Generate({.seed = seed});
    const bool all = seed % 2 == 0;
    const int64_t hold_bytes = seed % 3 == 0 ? 8 : 0;
    const std::optional<Flow> whole = FlowOf(program, all ? "all" : "loops", hold_bytes);
    if (!whole.has_value()) continue;
    SCOPED_TRACE(
        StrCat("WEIR_PIPELINED_PROGRAMS=1 WEIR_FLOW_SEED=", seed, "\n", PrintFlow(*whole)));
    Flow flow = *whole;
    ASSERT_EQ(BringOutPipelined(&flow), absl::OkStatus());
    const RecordBatch records = RecordsOf(program, flow.vertices[0].output_types[0]);
    const FlowInputs inputs = {{"in", {{0, records}}}};
    const auto want = RunReferenceFlow(*whole, inputs);
    const auto got = RunReferenceFlow(flow, inputs);
    ASSERT_EQ(got.ok(), want.ok()) << got.status() << want.status();
    ++flows;
    loops += flow.loops.empty() ? 0 : 1;
    for (const FlowLoop& loop : flow.loops) nested += loop.parent == LogicalGraph::kRoot ? 0 : 1;
    for (const FlowVertex& vertex : flow.vertices) {
      branches += vertex.kind == "switch" ? 1 : 0;
      held += vertex.kind == "zip" ? 1 : 0;
    }
    if (!want.ok()) continue;
    ASSERT_EQ(ToString(got->outputs), ToString(want->outputs)) << PrintFlow(flow);
    if (seed % 4 != 0) continue;
    FlowSimulation cluster(std::make_shared<const Flow>(flow),
                           {.workers = 1 + static_cast<int>(seed / 4 % 3), .seed = seed});
    const VertexId input = flow.FindVertex("in");
    cluster.Feed({{input, 0, SliceRows(records, 0, 2)}, {input, 0, SliceRows(records, 2, 5)}});
    cluster.Run();
    ASSERT_EQ(cluster.failure(), absl::OkStatus());
    ASSERT_EQ(ToString(cluster.NamedOutputs()), ToString(want->outputs)) << PrintFlow(flow);
  }
  if (programs < 200) return;
  EXPECT_GT(flows, programs / 4);
  EXPECT_GT(loops, flows / 10);
  EXPECT_GT(nested, 0);
  EXPECT_GT(branches, 2 * loops);
  EXPECT_GT(held, 0);
}

}  // namespace
}  // namespace weir
