#include "common/flow/flow_wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/flow/flow_text.h"

namespace weir {
namespace {

TEST(FlowWire, TimesKeepTheirCoordinates) {
  const Timestamp time = {3, 1, 4};
  EXPECT_EQ(*TimeFrom(ToWire(time), 2), time);
  EXPECT_FALSE(TimeFrom(ToWire(time), 1).ok());
  v1::FlowTime negative;
  negative.add_coordinates(-1);
  EXPECT_FALSE(TimeFrom(negative, 0).ok());
}

TEST(FlowWire, LargeConstantsAreLeftOutForWorkers) {
  std::string text = R"(
func @shift(%x: f32[100]) -> (f32[100]) {
  %by = constant {value = f32[100] {)";
  for (int i = 0; i < 100; ++i) text += i == 0 ? "0.5" : ", 0.5";
  text += R"(}} : f32[100]
  %y = add(%x, %by) : f32[100]
  return %y
}
flow @shifted {
  %in = input() {types = ["f32[100]"]}
  %y = map(%in) {function = "shift"}
  %out = output(%y)
}
)";
  const auto flow = ParseFlow(text);
  ASSERT_TRUE(flow.ok()) << flow.status();
  const std::string sent = PrintFlow(*flow, {.blob_name = NameOfLeftOut});
  EXPECT_THAT(sent, testing::HasSubstr("blob \"f32[100]\""));
  const auto read = ParseFlow(sent, {.functions = {.find_blob = StandIn}});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(ToString(read->vertices[1].output_types[0]), "(f32[100])");
}

TEST(FlowWire, AStandInTakesNoMemory) {
  const auto tensor = StandIn("f32[1000000,1000000]");
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->num_elements(), int64_t{1'000'000'000'000});
  EXPECT_EQ(tensor->At<float>({999'999, 5}), 0.0f);
  EXPECT_FALSE(StandIn("f32[n]").ok());
  EXPECT_FALSE(StandIn("weights").ok());
}

}  // namespace
}  // namespace weir
