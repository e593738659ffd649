#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "common/base/random.h"
#include "common/base/str_cat.h"
#include "common/flow/check_vertex.h"
#include "common/flow/random_flow_testing.h"
#include "common/flow/vertex_kind.h"

namespace weir {
namespace {

constexpr uint64_t kFlows = 400;

FlowOutputs OutputsOf(const RandomFlow& drawn, const FlowInputs& inputs) {
  const auto result = RunReferenceFlow(drawn.flow, inputs);
  EXPECT_TRUE(result.ok()) << result.status() << "\n" << drawn.text;
  return result.ok() ? result->outputs : FlowOutputs();
}

// Without origins, as one multiset for each output and epoch.
std::string ContentOf(FlowOutputs outputs) {
  for (auto& [name, epochs] : outputs) {
    for (auto& [epoch, batch] : epochs) {
      std::fill_n(batch.origins.mutable_data<int64_t>(), batch.size(), 0);
    }
  }
  return ToString(outputs);
}

FlowInputs WithOriginsReversed(FlowInputs inputs) {
  for (auto& [name, parts] : inputs) {
    for (EpochRecords& part : parts) {
      part.batch.origins = part.batch.origins.Clone();
      int64_t* origins = part.batch.origins.mutable_data<int64_t>();
      for (int64_t i = 0; i < part.batch.size(); ++i) origins[i] = 1000 - origins[i];
    }
  }
  return inputs;
}

bool MayBeOpen(const FlowVertex& vertex) {
  return vertex.kind == "feedback" || vertex.kind == "delay";
}

// The same flow with its vertices in an order in which, but for those that may be open, inputs come
// first. Nothing is checked of it.
Flow InOrder(const Flow& flow) {
  std::vector<int64_t> places(flow.vertices.size(), -1);
  Flow ordered = {flow.name, flow.functions, flow.loops, {}};
  const auto is_ready = [&](const FlowVertex& vertex) {
    return MayBeOpen(vertex) ||
           std::all_of(vertex.inputs.begin(), vertex.inputs.end(),
                       [&](const FlowPort& input) { return places[input.vertex.value()] >= 0; });
  };
  while (ordered.vertices.size() < flow.vertices.size()) {
    for (size_t v = 0; v < flow.vertices.size(); ++v) {
      const FlowVertex& vertex = flow.vertices[v];
      if (places[v] >= 0 || !is_ready(vertex)) continue;
      places[v] = static_cast<int64_t>(ordered.vertices.size());
      FlowVertex& added = ordered.vertices.emplace_back();
      added.name = vertex.name;
      added.kind = vertex.kind;
      added.inputs = vertex.inputs;
      added.attrs = vertex.attrs;
    }
  }
  for (FlowVertex& vertex : ordered.vertices) {
    for (FlowPort& input : vertex.inputs) input.vertex = VertexId(places[input.vertex.value()]);
  }
  return ordered;
}

TEST(RandomFlow, VertexByVertexAFlowIsCheckedAsAWhole) {
  int64_t open = 0;
  for (uint64_t seed = 0; seed < kFlows; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    SeededRandom random(seed);
    const Flow ordered = InOrder(DrawFlow(&random).flow);
    Flow whole = ordered;
    ASSERT_TRUE(CheckFlow(&whole).ok());
    Flow grown = {ordered.name, ordered.functions, ordered.loops, {}};
    for (size_t v = 0; v < ordered.vertices.size(); ++v) {
      grown.vertices.push_back(ordered.vertices[v]);
      if (MayBeOpen(ordered.vertices[v])) {
        ++open;
        grown.vertices.back().inputs.clear();
        ASSERT_TRUE(
            CheckOpenVertex(&grown, whole.vertices[v].scope, whole.vertices[v].input_types[0])
                .ok());
      } else {
        ASSERT_TRUE(CheckLastVertex(&grown).ok());
      }
    }
    for (size_t v = 0; v < ordered.vertices.size(); ++v) {
      FlowVertex& vertex = grown.vertices[v];
      if (MayBeOpen(vertex)) {
        vertex.inputs = ordered.vertices[v].inputs;
        ASSERT_TRUE(CheckVertexAgain(&grown, VertexId(static_cast<int64_t>(v))).ok());
      }
      EXPECT_EQ(vertex.def, whole.vertices[v].def);
      EXPECT_EQ(vertex.scope, whole.vertices[v].scope);
      EXPECT_EQ(vertex.output_scope, whole.vertices[v].output_scope);
      EXPECT_EQ(vertex.input_types, whole.vertices[v].input_types);
      EXPECT_EQ(vertex.output_types, whole.vertices[v].output_types);
    }
  }
  EXPECT_GT(open, 50);
}

TEST(RandomFlow, FlowsAreOfAllKindsAndMostGiveRecords) {
  std::map<std::string, int> kinds;
  int with_records = 0;
  int order_matters = 0;
  int with_cycles = 0;  // of values that change a variable
  size_t most_vertices = 0;
  for (uint64_t seed = 0; seed < kFlows; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    SeededRandom random(seed);
    const RandomFlow drawn = DrawFlow(&random);
    for (const FlowVertex& vertex : drawn.flow.vertices) ++kinds[vertex.kind];
    with_cycles += drawn.text.find("%later") == std::string::npos ? 0 : 1;
    most_vertices = std::max(most_vertices, drawn.flow.vertices.size());
    const FlowOutputs outputs = OutputsOf(drawn, drawn.inputs);
    with_records += outputs.empty() ? 0 : 1;
    const FlowOutputs reversed = OutputsOf(drawn, WithOriginsReversed(drawn.inputs));
    order_matters += ContentOf(outputs) == ContentOf(reversed) ? 0 : 1;
  }
  for (const VertexKind& kind : AllVertexKinds()) {
    // Files are put in by tests/cluster/random_file_flows_test.cc.
    if (kind.name == "read_files" || kind.name == "write_files") continue;
    EXPECT_GT(kinds[std::string(kind.name)], static_cast<int>(kFlows) / 20) << kind.name;
  }
  EXPECT_GT(with_records, static_cast<int>(kFlows) * 8 / 10);
  EXPECT_GT(order_matters, static_cast<int>(kFlows) / 8);
  EXPECT_GT(with_cycles, static_cast<int>(kFlows) / 20);
  EXPECT_GT(most_vertices, 20u);
}

TEST(RandomFlow, TheOracleDoesNotSeeHowInputWasCut) {
  for (uint64_t seed = 0; seed < kFlows / 4; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    SeededRandom random(seed);
    const RandomFlow drawn = DrawFlow(&random);
    FlowInputs reversed = drawn.inputs;
    for (auto& [name, parts] : reversed) std::reverse(parts.begin(), parts.end());
    EXPECT_EQ(ToString(OutputsOf(drawn, drawn.inputs)), ToString(OutputsOf(drawn, reversed)));
  }
}

TEST(RandomFlow, EqualSeedsGiveEqualFlows) {
  SeededRandom one(7);
  SeededRandom two(7);
  const RandomFlow a = DrawFlow(&one);
  const RandomFlow b = DrawFlow(&two);
  EXPECT_EQ(a.text, b.text);
  EXPECT_EQ(ToString(OutputsOf(a, a.inputs)), ToString(OutputsOf(b, b.inputs)));
}

TEST(RandomFlow, TextsPrintAndParse) {
  for (uint64_t seed = 0; seed < kFlows / 4; ++seed) {
    SeededRandom random(seed);
    const RandomFlow drawn = DrawFlow(&random);
    const std::string printed = PrintFlow(drawn.flow);
    const auto again = ParseFlow(printed);
    ASSERT_TRUE(again.ok()) << again.status() << "\n" << printed;
    EXPECT_EQ(PrintFlow(*again), printed);
  }
}

}  // namespace
}  // namespace weir
