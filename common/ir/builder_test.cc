#include "common/ir/builder.h"

#include "common/ir/test_catalog.h"
#include "common/ir/text.h"
#include "common/ir/verify.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const TensorType kScalar = {DType::kF32, Shape()};

class BuilderTest : public ::testing::Test {
 protected:
  BuilderTest() : builder_(&graph_, graph_.AddFunction("main").body, &catalog_) {
    x_ = builder_.AddArg(kScalar, "x");
  }

  std::string message() const { return std::string(builder_.status().message()); }

  TestCatalog catalog_;
  Graph graph_;
  Builder builder_;
  ValueId x_;
};

TEST_F(BuilderTest, BuildsNestedPrograms) {
  builder_.SetLocation({"m.py", 1, 2});
  builder_.SetName("loop");
  Builder body = builder_.In(builder_.NewRegion());
  body.AddArg({DType::kI64, Shape()}, "i");
  body.Yield({body.Apply("add", {x_, body.Scalar<float>(2)})});
  const ValueId p = builder_.Apply("pfor", {}, {{"extent", std::vector<Dim>{4}}}, {body.region()});
  builder_.Yield({p, x_});
  ASSERT_EQ(builder_.status(), absl::OkStatus());
  EXPECT_EQ(Verify(graph_, catalog_), absl::OkStatus());
  EXPECT_EQ(Print(graph_), R"(func @main(%x: f32[]) -> (f32[4], f32[]) {
  %0 = pfor {extent = (4)} (%i: i64[]) {
    %1 = constant {value = f32[] {2}} name("loop") loc("m.py":1:2) : f32[]
    %2 = add(%x, %1) name("loop") loc("m.py":1:2) : f32[]
    yield %2
  } name("loop") loc("m.py":1:2) : f32[4]
  return %0, %x
}
)");
}

TEST_F(BuilderTest, FirstFaultSticksForAllBuilders) {
  builder_.SetName("sum");
  builder_.SetLocation({"m.py", 1, 2});
  Builder inner = builder_.In(builder_.NewRegion());
  EXPECT_FALSE(inner.Apply("add", {x_}).valid());
  EXPECT_EQ(message(), "add \"sum\" (m.py:1:2): takes 2 inputs, not 1");
  const int nodes = graph_.num_nodes();
  const ValueId y = builder_.Apply("neg", {x_});
  EXPECT_FALSE(y.valid());
  EXPECT_THAT(builder_.ApplyAll("split", {x_}), IsEmpty());
  builder_.Yield({y});
  builder_.Fail(absl::InternalError("later"));
  EXPECT_EQ(graph_.num_nodes(), nodes);
  EXPECT_THAT(message(), HasSubstr("takes 2 inputs"));
  EXPECT_EQ(builder_.type(y), kScalar);
}

TEST_F(BuilderTest, GivesAllOutputs) {
  EXPECT_THAT(builder_.ApplyAll("split", {x_}), SizeIs(2));
  EXPECT_THAT(builder_.ApplyAll("sink", {x_}), IsEmpty());
  EXPECT_TRUE(builder_.ok());
  builder_.Apply("split", {x_});
  EXPECT_EQ(message(), "split has 2 outputs where one is wanted; ask for all of them");
}

TEST_F(BuilderTest, RefusesUnknownOps) {
  builder_.Apply("convolution", {x_});
  EXPECT_EQ(message(), "convolution: there is no op of this name");
}

TEST_F(BuilderTest, RefusesValuesOutOfSight) {
  Builder other(&graph_, graph_.AddFunction("other").body, &catalog_);
  other.Apply("neg", {x_});
  EXPECT_THAT(std::string(other.status().message()),
              HasSubstr("input 0, %x (f32[]), belongs to a region that does not enclose"));

  Builder body = builder_.In(builder_.NewRegion());
  const ValueId inside = body.Apply("neg", {x_});
  builder_.Apply("neg", {inside});
  EXPECT_THAT(message(), HasSubstr("does not enclose"));
}

TEST_F(BuilderTest, ChecksCapturesWhenRegionIsTaken) {
  Builder left = builder_.In(builder_.NewRegion());
  Builder right = builder_.In(builder_.NewRegion());
  const ValueId inside = left.Apply("neg", {x_});
  left.Yield({inside});
  right.Yield({inside});
  builder_.Apply("if", {x_}, {}, {left.region(), right.region()});
  EXPECT_THAT(message(), HasSubstr("if: region 1: capture 0, %"));
}

TEST_F(BuilderTest, RefusesForeignIds) {
  builder_.Apply("neg", {ValueId(99)});
  EXPECT_EQ(message(), "neg: input 0 is no value of this graph");
}

TEST_F(BuilderTest, RefusesResultsOutOfSight) {
  builder_.Yield({ValueId()});
  EXPECT_EQ(message(), "result 0 is no value of this graph");
}

TEST_F(BuilderTest, RefusesRegionsThatAreTaken) {
  Builder body = builder_.In(builder_.NewRegion());
  body.Yield({x_});
  const Attrs extent = {{"extent", std::vector<Dim>{4}}};
  builder_.Apply("pfor", {}, extent, {body.region()});
  ASSERT_TRUE(builder_.ok());
  builder_.Apply("pfor", {}, extent, {body.region()});
  EXPECT_EQ(message(), "pfor: region 0 already belongs to a node or a function");
}

TEST_F(BuilderTest, RefusesRegionInsideItself) {
  Builder body = builder_.In(builder_.NewRegion());
  body.Apply("pfor", {}, {{"extent", std::vector<Dim>{4}}}, {body.region()});
  EXPECT_EQ(message(), "pfor: region 0 would contain itself");
}

TEST_F(BuilderTest, RefusesOneRegionTwice) {
  const RegionId region = builder_.NewRegion();
  builder_.Apply("if", {x_}, {}, {region, region});
  EXPECT_EQ(message(), "if: region 1 is given twice");
}

}  // namespace
}  // namespace weir
