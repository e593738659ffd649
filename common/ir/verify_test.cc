#include "common/ir/verify.h"

#include <functional>
#include <random>

#include "common/ir/clone.h"
#include "common/ir/test_catalog.h"
#include "common/ir/text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

using ::testing::HasSubstr;

constexpr char kProgram[] = R"(func @main(%x: f32[], %c: bool[]) -> (f32[]) {
  %a = neg(%x) name("first") loc("m.py":1:2) : f32[]
  %b = neg(%a) loc("m.py":2:2) : f32[]
  %r = if(%c) {
    %t = neg(%a) : f32[]
    yield %t
  } {
    %v = call(%b) {callee = "f"} : f32[]
    yield %v
  } after(%b) : f32[]
  return %r
}

func @f(%y: f32[]) -> (f32[]) {
  return %y
}
)";

class VerifyTest : public ::testing::Test {
 protected:
  VerifyTest() : graph_(Compact(*Parse(kProgram, TestCatalog()))) {}

  // Ids in print order: values x c a b r t v y, nodes a b r t v, regions main then else f.
  Node& node(int i) { return graph_.node(NodeId(i)); }
  Value& value(int i) { return graph_.value(ValueId(i)); }
  Region& region(int i) { return graph_.region(RegionId(i)); }

  std::string Error() const {
    const absl::Status status = Verify(graph_, TestCatalog());
    EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  }

  Graph graph_;
};

TEST_F(VerifyTest, AcceptsSoundPrograms) { EXPECT_EQ(Error(), ""); }

TEST_F(VerifyTest, UseBeforeDefinition) {
  std::swap(region(0).nodes[0], region(0).nodes[1]);
  EXPECT_EQ(Error(),
            "function @main: neg %b (m.py:2:2): input 0: %a (f32[]) is used before it is produced");
}

TEST_F(VerifyTest, UseOutOfScope) {
  region(0).results = {ValueId(5)};
  EXPECT_EQ(Error(),
            "function @main: result 0: %t (f32[]) belongs to a region that does not enclose its "
            "use");
}

TEST_F(VerifyTest, FunctionsCaptureNothing) {
  region(3).results = {ValueId(0)};
  EXPECT_EQ(Error(),
            "function @f: result 0: %x (f32[]) belongs to a region that does not enclose its use");
}

TEST_F(VerifyTest, OwnOutputInsideRegion) {
  node(3).inputs = {ValueId(4)};
  EXPECT_THAT(Error(), HasSubstr("%r (f32[]) is used before it is produced"));
}

TEST_F(VerifyTest, TwoProducers) {
  node(1).outputs = {ValueId(2)};
  EXPECT_EQ(Error(), "function @main: neg %a (m.py:2:2): output 0: %a (f32[]) is produced twice");
}

TEST_F(VerifyTest, WrongProducer) {
  value(2).producer = NodeId(1);
  EXPECT_THAT(Error(), HasSubstr("neg \"first\" (m.py:1:2): output 0: %a (f32[]) names another"));
}

TEST_F(VerifyTest, WrongParents) {
  node(3).parent = RegionId(0);
  EXPECT_THAT(Error(), HasSubstr("does not name the region that lists it"));
  node(3).parent = RegionId(1);
  region(1).parent = NodeId(0);
  EXPECT_THAT(Error(), HasSubstr("region 0: a region does not name the node that holds it"));
}

TEST_F(VerifyTest, SharedNodesAndRegions) {
  region(0).nodes.push_back(NodeId(0));
  EXPECT_THAT(Error(), HasSubstr("neg \"first\" (m.py:1:2): the node is listed twice"));
  region(0).nodes.pop_back();
  node(2).regions[1] = node(2).regions[0];
  EXPECT_THAT(Error(), HasSubstr("region 1: a region is used in two places"));
  node(2).regions[1] = RegionId(0);
  EXPECT_THAT(Error(), HasSubstr("region 1: a region is used in two places"));
}

TEST_F(VerifyTest, ControlInputs) {
  node(0).control_inputs = {NodeId(1)};
  EXPECT_THAT(Error(), HasSubstr("control input neg %b (m.py:2:2) does not come before it"));
  node(0).control_inputs = {NodeId(0)};
  EXPECT_THAT(Error(), HasSubstr("does not come before it"));
  node(0).control_inputs.clear();
  node(3).control_inputs = {NodeId(0)};
  EXPECT_THAT(Error(), HasSubstr("is in another region"));
}

TEST_F(VerifyTest, Functions) {
  graph_.functions()[1].name = "main";
  EXPECT_EQ(Error(), "function @main is defined twice");
  graph_.functions()[1].name = "";
  EXPECT_EQ(Error(), "a function has no name");
  graph_.functions()[1] = {"g", RegionId(0), {""}};
  EXPECT_EQ(Error(), "function @g: a region is used in two places");
  graph_.functions()[0].result_names = {"a", "b"};
  EXPECT_EQ(Error(), "function @main: it has 1 results but 2 result names");
  graph_.functions().clear();
  EXPECT_EQ(Error(), "the program has no function");
}

TEST_F(VerifyTest, Types) {
  value(2).type = {DType::kF32, Shape({2})};
  EXPECT_EQ(Error(),
            "neg \"first\" (m.py:1:2): output 0 has type f32[2] where the op gives f32[] (inputs "
            "f32[])");
  value(2).type = {DType::kF32, Shape({-2})};
  EXPECT_THAT(Error(), HasSubstr("extent -2 in f32[-2] is negative"));
  value(2).type = {DType::kF32, Shape({int64_t{1} << 40, int64_t{1} << 40})};
  EXPECT_THAT(Error(), HasSubstr("more than 2^62 bytes"));
}

TEST_F(VerifyTest, Ops) {
  node(1).op = "foo";
  EXPECT_EQ(Error(), "foo %b (m.py:2:2): unknown op 'foo'");
  node(1).op = "add";
  EXPECT_EQ(Error(), "add %b (m.py:2:2): takes 2 inputs, not 1 (inputs f32[])");
  node(1).op = "split";
  EXPECT_EQ(Error(), "split %b (m.py:2:2): it has 1 outputs where the op gives 2 (inputs f32[])");
}

TEST_F(VerifyTest, CalleeIsCheckedBeforeItIsLookedAt) {
  region(3).results = {ValueId(1000)};
  EXPECT_EQ(Error(), "function @f: result 0: the value does not exist");
}

TEST_F(VerifyTest, DeepNesting) {
  RegionId region = graph_.entry().body;
  for (int i = 0; i < 100'000; ++i) {
    const RegionId inner = graph_.AddRegion();
    graph_.AddNode(region, "pfor", {}, {{"extent", std::vector<Dim>{1}}}, {}, {inner});
    region = inner;
  }
  EXPECT_THAT(Error(), HasSubstr("regions are nested deeper than 256"));
}

// Whatever a table holds, the answer is a status.
TEST_F(VerifyTest, SurvivesAnyId) {
  std::mt19937 random(3);
  const auto pick = [&random](int limit) { return static_cast<int>(random() % limit); };
  const auto id = [&] { return int64_t{pick(12)} - (pick(20) == 0 ? 1'000'000 : 2); };
  const auto set = [&](auto& ids) {
    if (ids.empty() || pick(4) == 0) ids.emplace_back();
    ids[pick(static_cast<int>(ids.size()))] =
        typename std::decay_t<decltype(ids)>::value_type(id());
  };
  const std::vector<std::function<void()>> mutations = {
      [&] { set(node(pick(5)).inputs); },
      [&] { set(node(pick(5)).outputs); },
      [&] { set(node(pick(5)).control_inputs); },
      [&] { set(node(pick(5)).regions); },
      [&] { node(pick(5)).parent = RegionId(id()); },
      [&] { set(region(pick(4)).args); },
      [&] { set(region(pick(4)).nodes); },
      [&] { set(region(pick(4)).results); },
      [&] { region(pick(4)).parent = NodeId(id()); },
      [&] { value(pick(8)).producer = NodeId(id()); },
      [&] { value(pick(8)).region = RegionId(id()); },
      [&] { value(pick(8)).index = pick(3); },
      [&] { graph_.functions()[pick(2)].body = RegionId(id()); },
  };
  const Graph original = graph_;
  int faults = 0;
  for (int round = 0; round < 20'000; ++round) {
    graph_ = original;
    for (int i = 1 + pick(3); i > 0; --i) mutations[pick(static_cast<int>(mutations.size()))]();
    if (!Error().empty()) ++faults;
  }
  EXPECT_GT(faults, 15'000);
  EXPECT_LT(faults, 20'000);
}

}  // namespace
}  // namespace weir
