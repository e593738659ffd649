#include "worker/executor/compute_pool.h"

#include <future>
#include <memory>
#include <vector>

#include "gtest/gtest.h"

namespace weir {
namespace {

TEST(ComputePool, TasksStartInTheOrderSubmitted) {
  std::vector<int> order;
  {
    ComputePool pool(1);
    for (int i = 0; i < 100; ++i) pool.Submit([&order, i] { order.push_back(i); });
  }
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[i], i);
}

// Each of the slow tasks ends only after one that comes later.
TEST(ComputePool, SlowTasksDoNotHoldUpThoseBehindThem) {
  for (const int threads : {1, 2, 3}) {
    ComputePool pool(threads);
    std::promise<void> later;
    const std::shared_future<void> open = later.get_future().share();
    constexpr int kSlow = 8;
    std::vector<std::future<void>> ended;
    for (int i = 0; i < kSlow; ++i) {
      auto end = std::make_shared<std::promise<void>>();
      ended.push_back(end->get_future());
      pool.Submit([end, open] {
        open.wait();
        end->set_value();
      });
    }
    pool.Submit([&] { later.set_value(); });
    for (std::future<void>& end : ended) end.wait();
  }
}

// Tasks that come while the threads are on their way to those before them.
TEST(ComputePool, ATaskBehindOthersThatNobodyHasBegunRunsThoughTheyAreSlow) {
  ComputePool pool(2);
  for (int round = 0; round < 40; ++round) {
    std::promise<void> warm, later;
    pool.Submit([&] { warm.set_value(); });
    warm.get_future().wait();
    const std::shared_future<void> open = later.get_future().share();
    std::promise<void> ended[2];
    for (std::promise<void>& end : ended) {
      pool.Submit([&end, open] {
        open.wait();
        end.set_value();
      });
    }
    pool.Submit([&] { later.set_value(); });
    for (std::promise<void>& end : ended) end.get_future().wait();
  }
}

TEST(ComputePool, WhatWaitsBehindSlowTasksRunsBeforeTheEnd) {
  std::promise<void> later;
  const std::shared_future<void> open = later.get_future().share();
  ComputePool pool(1);
  pool.Submit([open] { open.wait(); });
  pool.Submit([&] { later.set_value(); });
}

}  // namespace
}  // namespace weir
