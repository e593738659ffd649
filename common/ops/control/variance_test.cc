// Which values of loops and branches vary over the iterations of a pfor around them.
#include <set>

#include "absl/container/flat_hash_set.h"
#include "common/base/str_cat.h"
#include "common/ir/text.h"
#include "common/ops/registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The analysis as rules see it, for one function.
class Analysis {
 public:
  explicit Analysis(const Graph& graph) : graph_(graph) {}

  void Mark(ValueId value) { varying_.insert(value); }
  bool varies(ValueId value) const { return varying_.contains(value); }

  void Analyze(RegionId region) {
    for (NodeId id : graph_.region(region).nodes) {
      const Node& node = graph_.node(id);
      const OpDef& op = *FindOp(node.op);
      if (op.variance != nullptr) {
        Context context(this, node);
        op.variance(context);
        continue;
      }
      for (ValueId input : node.inputs) {
        if (!varies(input)) continue;
        for (ValueId output : node.outputs) Mark(output);
      }
    }
  }

  std::vector<std::string> Names() const {
    std::set<std::string> names;
    for (ValueId value : varying_) names.insert(graph_.value(value).name);
    return {names.begin(), names.end()};
  }

 private:
  class Context : public VarianceContext {
   public:
    Context(Analysis* analysis, const Node& node) : analysis_(analysis), node_(node) {}
    const Graph& graph() const override { return analysis_->graph_; }
    const Node& node() const override { return node_; }
    bool varies(ValueId value) const override { return analysis_->varies(value); }
    void MarkVarying(ValueId value) override { analysis_->Mark(value); }
    void AnalyzeRegion(RegionId region) override { analysis_->Analyze(region); }

   private:
    Analysis* analysis_;
    const Node& node_;
  };

  const Graph& graph_;
  absl::flat_hash_set<ValueId> varying_;
};

// The names of the values that vary if the parameter %v does.
std::vector<std::string> Varying(std::string_view text) {
  const absl::StatusOr<Graph> graph = Parse(text, Ops());
  EXPECT_TRUE(graph.ok()) << graph.status();
  if (!graph.ok()) return {};
  Analysis analysis(*graph);
  const RegionId body = graph->entry().body;
  for (ValueId param : graph->region(body).args) {
    if (graph->value(param).name == "v") analysis.Mark(param);
  }
  analysis.Analyze(body);
  return analysis.Names();
}

TEST(VarianceTest, TripAfterTripCarriedValuesStartToVary) {
  // %d varies from the first trip on, %c from the second, %b from the third; %a never.
  EXPECT_THAT(Varying(R"(
    func @main(%v: i64[], %x: i64[], %trips: i64[]) -> () {
      %p, %q, %r, %s, %t, %u = for(%trips, %x, %x, %x, %x) {extent = (3)}
          (%i: i64[], %a: i64[], %b: i64[], %c: i64[], %d: i64[]) {
        %next = add(%d, %v) : i64[]
        %index = add(%i, %i) : i64[]
        yield %a, %c, %d, %next, %index, %b
      } : i64[], i64[], i64[], i64[], i64[3], i64[3]
      return
    })"),
              ElementsAre("b", "c", "d", "next", "q", "r", "s", "u", "v"));
}

TEST(VarianceTest, AVaryingTripCountMakesEveryOutputVary) {
  EXPECT_THAT(Varying(R"(
    func @main(%v: i64[], %x: i64[]) -> () {
      %p = for(%v, %x) (%i: i64[], %a: i64[]) {
        yield %a
      } : i64[]
      return
    })"),
              ElementsAre("p", "v"));
}

TEST(VarianceTest, NestedLoopsReachTheirFixedPoint) {
  EXPECT_THAT(Varying(R"(
    func @main(%v: i64[], %x: i64[], %trips: i64[]) -> () {
      %p, %q = for(%trips, %x, %x) (%i: i64[], %a: i64[], %b: i64[]) {
        %c, %d = for(%trips, %a, %b) (%j: i64[], %e: i64[], %f: i64[]) {
          %g = add(%f, %v) : i64[]
          yield %e, %g
        } : i64[], i64[]
        yield %d, %c
      } : i64[], i64[]
      return
    })"),
              ElementsAre("a", "b", "c", "d", "e", "f", "g", "p", "q", "v"));
}

TEST(VarianceTest, AWhileThatDivergesMakesEveryOutputVary) {
  EXPECT_THAT(Varying(R"(
    func @main(%v: i64[], %x: i64[]) -> () {
      %p, %q = while(%x, %x) (%a: i64[], %b: i64[]) {
        %more = less(%a, %v) : bool[]
        yield %more
      } (%a2: i64[], %b2: i64[]) {
        %next = add(%a2, %a2) : i64[]
        yield %next, %b2
      } : i64[], i64[]
      return
    })"),
              ElementsAre("more", "p", "q", "v"));
}

TEST(VarianceTest, AWhileOfInvariantConditionKeepsItsCounter) {
  EXPECT_THAT(Varying(R"(
    func @main(%v: i64[], %x: i64[]) -> () {
      %p, %q = while(%x, %x) (%a: i64[], %b: i64[]) {
        %more = less(%a, %x) : bool[]
        yield %more
      } (%a2: i64[], %b2: i64[]) {
        %next = add(%a2, %a2) : i64[]
        %sum = add(%b2, %v) : i64[]
        yield %next, %sum
      } : i64[], i64[]
      return
    })"),
              ElementsAre("b", "b2", "q", "sum", "v"));
}

constexpr std::string_view kBranches = R"(
    %p, %q = if(%choice) {
      %s = add(%x, %w) : i64[]
      yield %s, %x
    } {
      yield %x, %x
    } : i64[], i64[]
    return
  })";

TEST(VarianceTest, BranchesVaryByResultOrByChoice) {
  EXPECT_THAT(Varying(StrCat("func @main(%choice: bool[], %x: i64[], %v: i64[]) -> () {",
                             "  %w = add(%v, %v) : i64[]", kBranches)),
              ElementsAre("p", "s", "v", "w"));
  EXPECT_THAT(Varying(StrCat("func @main(%v: bool[], %x: i64[], %w: i64[]) -> () {",
                             "  %choice = not(%v) : bool[]", kBranches)),
              ElementsAre("choice", "p", "q", "v"));
  EXPECT_THAT(
      Varying(StrCat("func @main(%choice: bool[], %x: i64[], %w: i64[]) -> () {", kBranches)),
      IsEmpty());
}

// The lanes of both loops are converted together if the inner one sees anything that varies.
TEST(VarianceTest, TheLanesOfAnInnerPforVaryTogether) {
  EXPECT_THAT(Varying(R"(
    func @main(%v: i64[], %x: i64[]) -> () {
      %p, %q, %r = pfor {extent = (3)} (%i: i64[]) {
        %a = add(%i, %v) : i64[]
        %b = add(%i, %x) : i64[]
        %c = add(%x, %x) : i64[]
        yield %a, %b, %c
      } : i64[3], i64[3], i64[3]
      return
    })"),
              ElementsAre("a", "b", "i", "p", "q", "v"));
  EXPECT_THAT(Varying(R"(
    func @main(%v: i64[], %x: i64[]) -> () {
      %p = pfor {extent = (3)} (%i: i64[]) {
        %b = add(%i, %x) : i64[]
        yield %b
      } : i64[3]
      return
    })"),
              ElementsAre("v"));
}

TEST(VarianceTest, PartsOfAShardVaryWithTheirOperands) {
  EXPECT_THAT(Varying(R"(
    func @main(%v: i64[n], %x: i64[n]) -> () {
      %p, %q = shard(%v, %x) {extent = (n), local = "m"} (%lo: i64[], %a: i64[m], %b: i64[m]) {
        yield %a, %b
      } : i64[n], i64[n]
      return
    })"),
              ElementsAre("a", "p", "v"));
}

}  // namespace
}  // namespace weir
