#include "common/ir/order.h"

#include <random>

#include "common/ir/suggest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(OrderTest, KeepsValidOrder) {
  EXPECT_THAT(StableOrder(4, {{0, 3}, {1, 2}}).order, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(StableOrder(0, {}).order, IsEmpty());
}

TEST(OrderTest, MovesOnlyWhatWaits) {
  EXPECT_THAT(StableOrder(5, {{3, 0}, {4, 3}}).order, ElementsAre(1, 2, 4, 3, 0));
  EXPECT_THAT(StableOrder(4, {{3, 1}, {3, 1}}).order, ElementsAre(0, 2, 3, 1));
}

TEST(OrderTest, NamesOneCycle) {
  EXPECT_THAT(StableOrder(3, {{1, 1}}).cycle, ElementsAre(1));
  EXPECT_THAT(StableOrder(5, {{4, 2}, {2, 3}, {3, 4}, {4, 0}, {1, 2}}).cycle, ElementsAre(2, 3, 4));
}

TEST(OrderTest, RespectsEveryEdgeOfRandomGraphs) {
  std::mt19937 random(7);
  int cycles = 0;
  for (int round = 0; round < 500; ++round) {
    const int count = 1 + static_cast<int>(random() % 12);
    std::vector<OrderEdge> edges(random() % 14);
    for (OrderEdge& edge : edges) {
      edge = {static_cast<int>(random() % count), static_cast<int>(random() % count)};
    }
    const Ordering out = StableOrder(count, edges);
    const auto has_edge = [&](int before, int after) {
      for (const OrderEdge& edge : edges) {
        if (edge.before == before && edge.after == after) return true;
      }
      return false;
    };
    if (!out.cycle.empty()) {
      ++cycles;
      for (size_t i = 0; i < out.cycle.size(); ++i) {
        EXPECT_TRUE(has_edge(out.cycle[i], out.cycle[(i + 1) % out.cycle.size()]));
      }
      continue;
    }
    ASSERT_THAT(out.order, SizeIs(count));
    std::vector<int> place(count, -1);
    for (int i = 0; i < count; ++i) place[out.order[i]] = i;
    for (const OrderEdge& edge : edges) EXPECT_LT(place[edge.before], place[edge.after]);
  }
  EXPECT_GT(cycles, 50);
  EXPECT_LT(cycles, 450);
}

TEST(SuggestTest, FindsNearWords) {
  EXPECT_EQ(Closest("foo", {"add", "floor", "flow"}), "floor");
  EXPECT_EQ(Closest("convolutoin", {"convert", "convolution"}), "convolution");
  EXPECT_EQ(Closest("xyz", {"add", "floor"}), "");
  EXPECT_EQ(Closest("", {"add"}), "");
  EXPECT_EQ(Closest("add", {}), "");
}

}  // namespace
}  // namespace weir
