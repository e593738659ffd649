#include "worker/executor/workspace.h"

#include <gtest/gtest.h>

#include <vector>

#include "common/base/status.h"
#include "common/ir/text.h"
#include "common/ops/registry.h"

namespace weir {
namespace {

class WorkspaceTest : public testing::Test {
 public:
  WorkspaceTest()
      : graph_(*Parse("func @f(%x: f32[n]) -> (f32[n]) { %y = add(%x, %x) return %y }", Ops())),
        plan_(*RegionPlan::Create(graph_, graph_.FindFunction("f")->body, {}, Isa::kBaseline)) {}

  Workspace::Impl::Lease Acquire(int64_t n) {
    const Extents extents = {n};
    const Extents strides = {1};
    const cpu::View view{nullptr, DType::kF32, extents, strides};
    auto lease = workspace_.Acquire(*plan_, {{"n", n}}, {view}, 0);
    EXPECT_TRUE(lease.ok()) << lease.status();
    return *lease;
  }

  const Graph graph_;
  const std::unique_ptr<RegionPlan> plan_;
  Workspace::Impl workspace_;
};

TEST_F(WorkspaceTest, AnActivationIsFoundAgainAtItsPlace) {
  const auto lease = Acquire(3);
  const Workspace::Impl::Place place = workspace_.PlaceOf(lease);
  EXPECT_FALSE(workspace_.IsFree(place)) << "it is in use";
  const auto other = Acquire(3);
  EXPECT_NE(other.activation, lease.activation);
  workspace_.Release(other);
  workspace_.Release(lease);
  ASSERT_TRUE(workspace_.IsFree(place));
  const auto again = workspace_.AcquireAt(place, 0);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->activation, lease.activation);
  EXPECT_FALSE(workspace_.IsFree(place));
  EXPECT_FALSE(workspace_.IsFree({}));
}

TEST_F(WorkspaceTest, APlaceThatServesAnotherIsNotFree) {
  const auto lease = Acquire(0);
  const Workspace::Impl::Place place = workspace_.PlaceOf(lease);
  workspace_.Release(lease);
  // More than a workspace keeps.
  for (int64_t n = 1; n <= 3000; ++n) workspace_.Release(Acquire(n));
  EXPECT_FALSE(workspace_.IsFree(place));
  const auto again = Acquire(0);
  EXPECT_EQ(again.activation->symbols(), (SymbolBindings{{"n", 0}}));
}

TEST_F(WorkspaceTest, ALimitHoldsForWhatIsFoundAgain) {
  const auto lease = Acquire(100);
  const Workspace::Impl::Place place = workspace_.PlaceOf(lease);
  workspace_.Release(lease);
  const int64_t bytes = workspace_.arena_bytes();
  ASSERT_GT(bytes, 0);
  workspace_.LimitArenas(bytes - 1);
  EXPECT_TRUE(absl::IsResourceExhausted(workspace_.AcquireAt(place, 0).status()));
}

}  // namespace
}  // namespace weir
