#include "worker/executor/compute_pool.h"

#include <chrono>
#include <future>
#include <memory>
#include <thread>
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

// Tasks that come while the threads are on their way to those before them, after nothing was left
// to watch over for so long that nobody does.
TEST(ComputePool, ATaskBehindOthersThatNobodyHasBegunRunsThoughTheyAreSlow) {
  constexpr int kThreads = 16;
  ComputePool pool(kThreads);
  for (int round = 0; round < 10; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::promise<void> later;
    const std::shared_future<void> open = later.get_future().share();
    std::promise<void> ended[kThreads];
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
