#include "worker/device/cpu/kernel.h"

#include "gtest/gtest.h"

namespace weir::cpu {
namespace {

AxisOrder Order(Extents extents, Extents strides) {
  return OrderOf({nullptr, DType::kF32, extents, strides});
}

TEST(AxisOrders, FollowTheStrides) {
  EXPECT_EQ(Order({2, 3, 4}, {12, 4, 1}), (AxisOrder{0, 1, 2}));
  EXPECT_EQ(Order({2, 3, 4}, {1, 8, 2}), (AxisOrder{1, 2, 0}));
  EXPECT_EQ(Order({2, 3}, {-3, 1}), (AxisOrder{0, 1}));
  EXPECT_EQ(Order({}, {}), AxisOrder{});
}

TEST(AxisOrders, AxesWithoutAPlaceStayBesideTheirLeftNeighbour) {
  EXPECT_EQ(Order({5, 1, 4}, {1, 77, 5}), (AxisOrder{2, 0, 1}));
  EXPECT_EQ(Order({5, 3, 4}, {1, 0, 5}), (AxisOrder{2, 0, 1}));
  EXPECT_EQ(Order({1, 3, 4}, {0, 4, 1}), (AxisOrder{0, 1, 2}));
}

TEST(AxisOrders, GiveDenseStridesBack) {
  EXPECT_EQ(StridesInOrder({2, 3, 4}, {1, 2, 0}), (Extents{1, 8, 2}));
  EXPECT_EQ(StridesInOrder({2, 0, 4}, {0, 1, 2}), (Extents{4, 4, 1}));
}

TEST(Isas, BaselineIsAlwaysThereAndTheBestIsLast) {
  const std::vector<Isa> isas = SupportedIsas();
  EXPECT_EQ(isas.front(), Isa::kBaseline);
  EXPECT_EQ(isas.back(), DetectIsa());
}

TEST(KernelRequests, FindOperandsThatAreListedOnce) {
  Graph graph;
  const RegionId body = graph.AddFunction("main").body;
  const TensorType type{DType::kF32, Shape({3})};
  const ValueId x = graph.AddArg(body, type), y = graph.AddArg(body, type);
  const NodeId id = graph.AddNode(body, "clamp", {y, x, y}, {}, {type});
  const ValueId operands[] = {y, x};
  const KernelRequest request{&graph, absl::MakeConstSpan(&id, 1), operands, {}, {}, {}};
  EXPECT_EQ(request.InputPlaces(), (std::vector<int>{0, 1, 0}));
}

}  // namespace
}  // namespace weir::cpu
