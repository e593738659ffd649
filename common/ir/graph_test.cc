#include "common/ir/graph.h"

#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const TensorType kScalar = {DType::kF32, Shape()};

// main(x) { a = neg(x); p = pfor { q = add(x, a); r = pfor { add(q, a) } } }
class GraphTest : public ::testing::Test {
 protected:
  void SetUp() override {
    main_ = graph_.AddFunction("main").body;
    x_ = graph_.AddArg(main_, kScalar, "x");
    a_ = Add(main_, "neg", {x_});
    outer_ = graph_.AddRegion();
    i_ = graph_.AddArg(outer_, kScalar, "i");
    q_ = Add(outer_, "add", {x_, a_});
    inner_ = graph_.AddRegion();
    s_ = Add(inner_, "add", {q_, a_});
    graph_.region(inner_).results = {s_, i_};
    r_ = Add(outer_, "pfor", {}, {inner_});
    graph_.region(outer_).results = {r_};
    p_ = Add(main_, "pfor", {}, {outer_});
    graph_.region(main_).results = {p_};
  }

  ValueId Add(RegionId region, std::string op, std::vector<ValueId> inputs,
              std::vector<RegionId> regions = {}) {
    const NodeId id =
        graph_.AddNode(region, std::move(op), std::move(inputs), {}, {kScalar}, std::move(regions));
    return graph_.node(id).outputs[0];
  }

  Graph graph_;
  RegionId main_, outer_, inner_;
  ValueId x_, a_, i_, q_, s_, r_, p_;
};

TEST_F(GraphTest, LinksBothWays) {
  const NodeId loop = graph_.value(p_).producer;
  EXPECT_EQ(graph_.region(outer_).parent, loop);
  EXPECT_EQ(graph_.node(loop).parent, main_);
  EXPECT_EQ(graph_.producer(p_), &graph_.node(loop));
  EXPECT_EQ(graph_.producer(x_), nullptr);
  EXPECT_EQ(graph_.value(i_).region, outer_);
  EXPECT_EQ(graph_.value(s_).region, inner_);
  EXPECT_EQ(graph_.FindFunction("main"), &graph_.entry());
  EXPECT_EQ(graph_.FindFunction("other"), nullptr);
}

TEST_F(GraphTest, NumbersOutputs) {
  const NodeId id = graph_.AddNode(main_, "split", {x_}, {}, {kScalar, kScalar});
  EXPECT_EQ(graph_.value(graph_.node(id).outputs[1]).index, 1);
  EXPECT_EQ(graph_.value(graph_.AddArg(main_, kScalar)).index, 1);
}

TEST_F(GraphTest, CapturesInOrderOfFirstUse) {
  EXPECT_THAT(graph_.Captures(main_), IsEmpty());
  EXPECT_THAT(graph_.Captures(outer_), ElementsAre(x_, a_));
  EXPECT_THAT(graph_.Captures(inner_), ElementsAre(q_, a_, i_));
}

TEST_F(GraphTest, ContainsFollowsOwners) {
  EXPECT_TRUE(graph_.Contains(main_, inner_));
  EXPECT_TRUE(graph_.Contains(inner_, inner_));
  EXPECT_FALSE(graph_.Contains(inner_, outer_));
  EXPECT_FALSE(graph_.Contains(graph_.AddFunction("f").body, inner_));
  EXPECT_EQ(graph_.FunctionOf(inner_)->name, "main");
  EXPECT_EQ(graph_.FunctionOf(graph_.AddRegion()), nullptr);
}

TEST_F(GraphTest, ReplaceUsesReachesInputsAndResults) {
  graph_.ReplaceUses(q_, x_);
  EXPECT_THAT(graph_.producer(s_)->inputs, ElementsAre(x_, a_));
  graph_.ReplaceUses(p_, a_);
  EXPECT_THAT(graph_.region(main_).results, ElementsAre(a_));
}

TEST_F(GraphTest, ReplaceUsesFollowsChains) {
  graph_.ReplaceUses({{q_, a_}, {a_, x_}, {r_, q_}});
  EXPECT_THAT(graph_.producer(s_)->inputs, ElementsAre(x_, x_));
  EXPECT_THAT(graph_.region(outer_).results, ElementsAre(x_));
}

TEST_F(GraphTest, DescribesByNameThenOutputThenId) {
  Node& node = graph_.node(NodeId(0));
  EXPECT_EQ(graph_.Describe(NodeId(0)), "neg #0");
  node.location = {"m.py", 3, 1};
  EXPECT_EQ(graph_.Describe(NodeId(0)), "neg (m.py:3:1)");
  graph_.value(a_).name = "a";
  EXPECT_EQ(graph_.Describe(NodeId(0)), "neg %a (m.py:3:1)");
  node.name = "conv1";
  node.location = {"model.onnx", 0, 0};
  EXPECT_EQ(graph_.Describe(NodeId(0)), "neg \"conv1\" (model.onnx)");
}

TEST(AttrTest, EqualByKindAndBits) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Attr> different = {true,
                                       1,
                                       1.0,
                                       -0.0,
                                       0.0,
                                       nan,
                                       "1",
                                       Int64s{1},
                                       DType::kF32,
                                       std::vector<Dim>{1},
                                       Tensor::Of<float>({1}, {1}),
                                       Tensor::Of<int32_t>({1}, {1}),
                                       std::vector<std::string>{"1"}};
  for (size_t i = 0; i < different.size(); ++i) {
    for (size_t k = 0; k < different.size(); ++k) {
      EXPECT_EQ(different[i] == different[k], i == k) << i << " " << k;
    }
  }
  EXPECT_EQ(Attr(Tensor::Of<float>({1}, {1})), Attr(Tensor::Of<float>({1}, {1})));
  EXPECT_EQ(AttrKindName(Attr(Int64s{1}).kind()), "ints");
}

}  // namespace
}  // namespace weir
