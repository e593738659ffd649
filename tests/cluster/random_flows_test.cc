// Random flows on simulated clusters of one to four workers, under random timing, against the
// oracle: the same records in each epoch of each output, bit for bit (invariants 14, 20, 22, 23, 26
// and 30 of progress tracking; a fresh seed each run, which is printed).
//
//   WEIR_RANDOM_FLOWS=10000 WEIR_FLOW_SEED=17 weir_cluster_test --gtest_filter='RandomFlows*'
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

#include "absl/strings/match.h"
#include "common/flow/random_flow_testing.h"
#include "tests/cluster/flow_simulation.h"

namespace weir {
namespace {

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoll(text, nullptr, 10);
}

// All parts of all inputs, in a random order in which epochs of an input do not go back.
std::vector<FeedStep> StepsOf(const RandomFlow& drawn, std::mt19937_64* random) {
  std::vector<std::vector<FeedStep>> by_input;
  for (const auto& [name, parts] : drawn.inputs) {
    const VertexId input = drawn.flow.FindVertex(name);
    std::vector<EpochRecords> ordered = parts;
    std::shuffle(ordered.begin(), ordered.end(), *random);
    std::stable_sort(ordered.begin(), ordered.end(),
                     [](const auto& a, const auto& b) { return a.epoch < b.epoch; });
    std::vector<FeedStep>& steps = by_input.emplace_back();
    int64_t epoch = 0;
    for (EpochRecords& part : ordered) {
      if (part.epoch > epoch) steps.push_back({input, part.epoch, std::nullopt});
      epoch = part.epoch;
      steps.push_back({input, part.epoch, std::move(part.batch)});
    }
  }
  std::vector<FeedStep> steps;
  while (!by_input.empty()) {
    const size_t i = (*random)() % by_input.size();
    if (by_input[i].empty()) {
      by_input.erase(by_input.begin() + static_cast<int64_t>(i));
      continue;
    }
    steps.push_back(std::move(by_input[i].front()));
    by_input[i].erase(by_input[i].begin());
  }
  return steps;
}

// Some vertices need all records of a time and key at once, and say so where memory does not hold
// them.
bool NeedsMoreMemory(const absl::Status& status) {
  return status.code() == absl::StatusCode::kResourceExhausted &&
         absl::StrContains(status.message(), " bytes of the time at once, and --flow-memory of ");
}

TEST(RandomFlows, GiveWhatTheOracleGivesOnAnyNumberOfWorkersUnderAnyTiming) {
  const int64_t flows = FromEnvironment("WEIR_RANDOM_FLOWS", 150);
  const auto seed = static_cast<uint64_t>(
      FromEnvironment("WEIR_FLOW_SEED", static_cast<int64_t>(std::random_device()())));
  std::cout << "random flows from seed " << seed << "\n";
  constexpr int kRuns = 3;
  int64_t nested = 0, refused = 0;
  for (int64_t i = 0; i < flows; ++i) {
    const uint64_t flow_seed = seed + static_cast<uint64_t>(i);
    SeededRandom random(flow_seed);
    const RandomFlow drawn = DrawFlow(&random);
    SCOPED_TRACE(StrCat("WEIR_RANDOM_FLOWS=1 WEIR_FLOW_SEED=", flow_seed, "\n", drawn.text));
    const auto expected = RunReferenceFlow(drawn.flow, drawn.inputs);
    ASSERT_TRUE(expected.ok()) << expected.status();
    const auto flow = std::make_shared<const Flow>(drawn.flow);
    std::mt19937_64 choices(flow_seed);
    for (int run = 0; run < kRuns; ++run) {
      const int workers = 1 + static_cast<int>(choices() % 4);
      // One frame in flight, or many; all in memory, or most on disk.
      const int64_t channel_bytes = choices() % 2 == 0 ? 1 : 4 << 20;
      const int64_t memory_bytes = choices() % 2 == 0 ? 0 : 20'000;
      const int64_t link_bytes = choices() % 2 == 0 ? 0 : 1;
      FlowSimulation cluster(flow, {.workers = workers,
                                    .seed = choices(),
                                    .channel_bytes = channel_bytes,
                                    .link_bytes = link_bytes,
                                    .memory_bytes = memory_bytes});
      cluster.Feed(StepsOf(drawn, &choices));
      cluster.Run();
      if (memory_bytes > 0 && NeedsMoreMemory(cluster.failure())) {
        ++refused;
        continue;
      }
      ASSERT_EQ(cluster.failure(), absl::OkStatus()) << workers << " workers";
      ASSERT_EQ(cluster.progress().state(), JobProgress::State::kCompleted);
      ASSERT_EQ(ToString(cluster.NamedOutputs()), ToString(expected->outputs))
          << workers << " workers, channels of " << channel_bytes << " bytes, memory of "
          << memory_bytes;
    }
    nested += flow->loops.size() > 1 ? 1 : 0;
  }
  if (flows >= 100) {
    EXPECT_GT(nested, 0);
    EXPECT_LT(refused * 20, flows * kRuns);
  }
}

}  // namespace
}  // namespace weir
