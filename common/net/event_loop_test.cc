#include "common/net/event_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "common/net/sim_loop.h"
#include "common/net/write_turn.h"

namespace weir {
namespace {

using ::testing::ElementsAre;

TEST(ThreadEventLoopTest, RunsInOrderOnOneOtherThread) {
  auto loop = MakeThreadEventLoop("test");
  std::vector<int> order;
  std::promise<std::thread::id> thread;
  for (int i = 0; i < 100; ++i) loop->Post([&order, i] { order.push_back(i); });
  loop->Post([&] { thread.set_value(std::this_thread::get_id()); });
  EXPECT_NE(thread.get_future().get(), std::this_thread::get_id());
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[i], i);
}

TEST(ThreadEventLoopTest, LaterTasksWaitForTheirTime) {
  auto loop = MakeThreadEventLoop("test");
  std::vector<int> order;
  std::promise<void> all_posted, done;
  loop->Post([&] { all_posted.get_future().wait(); });
  const absl::Time start = loop->clock()->Now();
  loop->PostAfter(absl::Milliseconds(20), [&] {
    order.push_back(2);
    done.set_value();
  });
  loop->PostAfter(absl::Milliseconds(5), [&] { order.push_back(1); });
  loop->Post([&] { order.push_back(0); });
  all_posted.set_value();
  done.get_future().get();
  EXPECT_GE(loop->clock()->Now() - start, absl::Milliseconds(20));
  EXPECT_THAT(order, ElementsAre(0, 1, 2));
}

TEST(ThreadEventLoopTest, DestructionRunsWhatWasPosted) {
  int runs = 0;
  auto loop = MakeThreadEventLoop("test");
  for (int i = 0; i < 50; ++i) loop->Post([&] { ++runs; });
  loop->PostAfter(absl::Hours(1), [&] { runs = -1; });
  loop.reset();
  EXPECT_EQ(runs, 50);
}

TEST(ThreadEventLoopTest, MayBeDestroyedOnItsOwnThread) {
  auto loop = std::shared_ptr<EventLoop>(MakeThreadEventLoop("test"));
  std::promise<void> gate, done;
  loop->Post([mine = loop, opened = gate.get_future().share(), &done]() mutable {
    opened.wait();
    mine.reset();
    done.set_value();
  });
  loop.reset();
  gate.set_value();
  done.get_future().get();
}

TEST(ThreadEventLoopTest, AVisitorRunsWhatItPosts) {
  auto loop = MakeThreadEventLoop("test");
  std::vector<std::thread::id> threads;
  const auto note = [&] { threads.push_back(std::this_thread::get_id()); };
  // The loop's thread may still be starting, which is work too.
  while (threads.empty() || threads.front() != std::this_thread::get_id()) {
    std::promise<void> done;
    threads.clear();
    loop->Visit([&] {
      loop->Post([&] {
        note();
        loop->Post([&] {
          note();
          done.set_value();
        });
      });
    });
    done.get_future().get();
  }
  EXPECT_THAT(threads, ElementsAre(std::this_thread::get_id(), std::this_thread::get_id()));
}

TEST(ThreadEventLoopTest, TasksOfVisitorsAndTheOwnThreadNeverOverlap) {
  constexpr int kVisits = 2000, kVisitors = 4;
  auto loop = MakeThreadEventLoop("test");
  int running = 0, runs = 0, overlaps = 0;  // of tasks, so without a mutex
  const auto task = [&] {
    if (++running != 1) ++overlaps;
    ++runs;
    --running;
  };
  std::vector<std::thread> visitors;
  for (int i = 0; i < kVisitors; ++i) {
    // By pointer: tasks still run while the owner resets `loop`.
    visitors.emplace_back([&, loop = loop.get()] {
      for (int k = 0; k < kVisits; ++k) {
        loop->Visit([&] {
          loop->Post([&task, loop] {
            task();
            loop->Post(task);
          });
        });
        loop->Post(task);
      }
    });
  }
  for (std::thread& visitor : visitors) visitor.join();
  loop.reset();
  EXPECT_EQ(overlaps, 0);
  EXPECT_EQ(runs, 3 * kVisits * kVisitors);
}

TEST(ThreadEventLoopTest, AVisitorLeavesEndlessAndLaterTasksToTheOwnThread) {
  auto loop = MakeThreadEventLoop("test");
  std::atomic<bool> stop{false};
  std::promise<void> later;
  std::function<void()> endless = [&, loop = loop.get()] {
    if (!stop) loop->Post(endless);
  };
  loop->Visit([&] {
    loop->Post(endless);
    loop->PostAfter(absl::Milliseconds(1), [&] { later.set_value(); });
  });
  later.get_future().get();
  stop = true;
  loop.reset();
}

TEST(ThreadEventLoopTest, MayBeDestroyedByAVisitorsTask) {
  for (int i = 0; i < 100; ++i) {
    auto loop = std::shared_ptr<EventLoop>(MakeThreadEventLoop("test"));
    std::promise<void> done;
    EventLoop* const visited = loop.get();
    visited->Visit([&] {
      visited->Post([mine = std::move(loop), &done]() mutable {
        mine.reset();
        done.set_value();
      });
    });
    done.get_future().get();
  }
}

TEST(SimLoopTest, TimeJumpsFromTaskToTask) {
  SimLoop loop;
  std::vector<std::pair<int, int64_t>> runs;
  const auto note = [&](int name) {
    runs.emplace_back(name, absl::ToUnixSeconds(loop.clock()->Now()));
  };
  loop.PostAfter(absl::Hours(1), [&] { note(3); });
  loop.PostAfter(absl::Seconds(10), [&] {
    note(1);
    loop.PostAfter(absl::Seconds(10), [&] { note(2); });
  });
  loop.Post([&] { note(0); });
  loop.RunFor(absl::Minutes(1));
  EXPECT_THAT(runs, ElementsAre(std::pair(0, 0), std::pair(1, 10), std::pair(2, 20)));
  EXPECT_EQ(loop.clock()->Now(), absl::UnixEpoch() + absl::Minutes(1));
  EXPECT_TRUE(loop.RunUntil([&] { return runs.size() == 4; }, absl::Hours(2)));
  EXPECT_FALSE(loop.RunUntil([] { return false; }, absl::Hours(2)));
}

TEST(WriteTurnTest, NothingAskedForIsLeftUndone) {
  WriteTurn turn;
  std::atomic<int> asked{0};
  int done = 0;  // by who has the turn
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 20000; ++k) {
        asked += 1;
        if (!turn.Enter()) continue;
        do done = asked;
        while (!turn.Leave());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(done, 80000);
}

}  // namespace
}  // namespace weir
