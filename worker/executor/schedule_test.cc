#include "worker/executor/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "worker/executor/arena.h"

namespace weir {
namespace {

// Random programs: each task reads some earlier buffers and makes one or two.
ScheduleProblem RandomProblem(int tasks, uint32_t seed) {
  std::mt19937 random(seed);
  ScheduleProblem problem;
  for (int t = 0; t < tasks; ++t) {
    ScheduleProblem::Task task;
    const int made = static_cast<int>(problem.buffer_bytes.size());
    for (int k = 0; k < 2 && made > 0; ++k) {
      const int window = std::min(made, 8);
      task.reads.push_back(made - 1 - static_cast<int>(random() % window));
    }
    const int writes = 1 + static_cast<int>(random() % 4 == 0);
    for (int k = 0; k < writes; ++k) {
      task.writes.push_back(static_cast<int>(problem.buffer_bytes.size()));
      problem.buffer_bytes.push_back(64 * (1 + random() % 1000));
    }
    problem.tasks.push_back(std::move(task));
  }
  problem.kept.assign(problem.buffer_bytes.size(), false);
  problem.kept.back() = true;
  return problem;
}

// The lowest peak over all orders: dynamic programming over the sets of finished tasks.
int64_t ExactPeak(const ScheduleProblem& problem) {
  const int tasks = static_cast<int>(problem.tasks.size());
  std::vector<uint32_t> before(tasks, 0);
  std::vector<uint32_t> readers(problem.buffer_bytes.size(), 0);
  std::vector<int> maker(problem.buffer_bytes.size(), -1);
  for (int t = 0; t < tasks; ++t) {
    for (int buffer : problem.tasks[t].writes) maker[buffer] = t;
  }
  for (int t = 0; t < tasks; ++t) {
    for (int buffer : problem.tasks[t].reads) {
      readers[buffer] |= 1u << t;
      before[t] |= 1u << maker[buffer];
    }
  }
  auto live = [&](uint32_t done, uint32_t now) {
    int64_t bytes = 0;
    for (size_t b = 0; b < problem.buffer_bytes.size(); ++b) {
      const bool exists = ((done | now) >> maker[b]) & 1;
      const bool needed = problem.kept[b] || (readers[b] & ~done) != 0 || ((now >> maker[b]) & 1);
      if (exists && needed) bytes += problem.buffer_bytes[b];
    }
    return bytes;
  };
  std::map<uint32_t, int64_t> level = {{0, 0}};
  for (int step = 0; step < tasks; ++step) {
    std::map<uint32_t, int64_t> next;
    for (const auto& [done, peak] : level) {
      for (int t = 0; t < tasks; ++t) {
        if ((done >> t) & 1 || (before[t] & ~done) != 0) continue;
        const int64_t reached = std::max(peak, live(done, 1u << t));
        auto [it, added] = next.try_emplace(done | 1u << t, reached);
        if (!added) it->second = std::min(it->second, reached);
      }
    }
    level = std::move(next);
  }
  return level.begin()->second;
}

std::vector<ArenaBuffer> LifetimesOf(const ScheduleProblem& problem,
                                     const std::vector<int>& order) {
  std::vector<int> position(order.size());
  for (size_t i = 0; i < order.size(); ++i) position[order[i]] = static_cast<int>(i);
  std::vector<ArenaBuffer> buffers(problem.buffer_bytes.size());
  for (size_t b = 0; b < buffers.size(); ++b) buffers[b].bytes = problem.buffer_bytes[b];
  for (size_t t = 0; t < order.size(); ++t) {
    for (int b : problem.tasks[t].writes) buffers[b].first = buffers[b].last = position[t];
  }
  for (size_t t = 0; t < order.size(); ++t) {
    for (int b : problem.tasks[t].reads) buffers[b].last = std::max(buffers[b].last, position[t]);
  }
  for (size_t b = 0; b < buffers.size(); ++b) {
    if (problem.kept[b]) buffers[b].last = static_cast<int>(order.size()) - 1;
  }
  return buffers;
}

TEST(ScheduleTest, IsATopologicalOrderThatReachesItsPeak) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    const ScheduleProblem problem = RandomProblem(60, seed);
    const Schedule schedule = OrderTasks(problem);
    std::vector<bool> made(problem.buffer_bytes.size());
    ASSERT_EQ(schedule.order.size(), problem.tasks.size());
    for (int t : schedule.order) {
      for (int buffer : problem.tasks[t].reads) EXPECT_TRUE(made[buffer]) << "seed " << seed;
      for (int buffer : problem.tasks[t].writes) made[buffer] = true;
    }
    EXPECT_EQ(schedule.peak_bytes, PeakBytes(problem, schedule.order));
  }
}

TEST(ScheduleTest, NoOrderOfFewTasksHasALowerPeak) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    ScheduleProblem problem = RandomProblem(2 + static_cast<int>(seed % 15), seed);
    const int64_t whole = seed % 2 == 0 ? 1 : 64'000;  // with and without sizes that are alike
    for (int64_t& bytes : problem.buffer_bytes) bytes = (bytes + whole - 1) / whole * whole;
    EXPECT_EQ(OrderTasks(problem).peak_bytes, ExactPeak(problem)) << "seed " << seed;
  }
}

TEST(ScheduleTest, TheArenaIsCloseToTheExactMinimumOverAllOrders) {
  double worst = 1;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    const ScheduleProblem problem = RandomProblem(6 + static_cast<int>(seed % 25), seed);
    const int64_t exact = ExactPeak(problem);
    const Schedule schedule = OrderTasks(problem);
    const ArenaPlan plan = PlaceBuffers(LifetimesOf(problem, schedule.order));
    EXPECT_LE(static_cast<double>(plan.bytes), 1.2 * static_cast<double>(exact)) << "seed " << seed;
    worst = std::max(worst, static_cast<double>(plan.bytes) / static_cast<double>(exact));
  }
  RecordProperty("worst_ratio", std::to_string(worst));
}

TEST(ArenaTest, BuffersThatLiveTogetherDoNotOverlap) {
  std::mt19937 random(7);
  for (int round = 0; round < 30; ++round) {
    std::vector<ArenaBuffer> buffers;
    for (int i = 0; i < 60; ++i) {
      const int first = static_cast<int>(random() % 40);
      buffers.push_back(
          {static_cast<int64_t>(random() % 5000), first, first + static_cast<int>(random() % 10)});
    }
    const ArenaPlan plan = PlaceBuffers(buffers);
    EXPECT_GE(plan.bytes, LowerBound(buffers));
    for (size_t a = 0; a < buffers.size(); ++a) {
      EXPECT_EQ(plan.offsets[a] % kArenaAlignment, 0);
      EXPECT_LE(plan.offsets[a] + buffers[a].bytes, plan.bytes);
      for (size_t b = 0; b < a; ++b) {
        if (buffers[a].first > buffers[b].last || buffers[b].first > buffers[a].last) continue;
        EXPECT_TRUE(plan.offsets[a] + buffers[a].bytes <= plan.offsets[b] ||
                    plan.offsets[b] + buffers[b].bytes <= plan.offsets[a]);
      }
    }
  }
}

TEST(ArenaTest, NothingTakesNoMemory) {
  EXPECT_EQ(PlaceBuffers({}).bytes, 0);
  EXPECT_EQ(PlaceBuffers({{0, 0, 3}}).bytes, 0);
}

}  // namespace
}  // namespace weir
