// Batches between a worker and the coordinator: what is due when, and every way to break one.
#include <optional>

#include "common/timely/batch_receiver.h"
#include "common/timely/batch_sender.h"
#include "common/timely/frontier_view.h"
#include "common/timely/oracle_testing.h"
#include "common/timely/random_graph_testing.h"
#include "common/timely/test_run_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

using ::testing::HasSubstr;

// source -> map -> sink
class BatchTest : public ::testing::Test {
 protected:
  BatchTest() {
    LogicalGraph graph;
    const VertexId source = graph.AddSource("source");
    const VertexId map = graph.AddVertex("map", LogicalGraph::kRoot, 1, 1);
    const VertexId sink = graph.AddVertex("sink", LogicalGraph::kRoot, 1, 0);
    graph.Connect({source, 0}, {map, 0});
    graph.Connect({map, 0}, {sink, 0});
    topology_ = *Topology::Of(std::move(graph));
    reachability_.emplace(topology_);
    sender_.emplace(&*reachability_);
    receiver_.emplace(&*reachability_);
    view_.emplace(topology_);
    source_ = topology_->output(source, 0);
    to_map_ = topology_->input(map, 0);
    map_ = topology_->output(map, 0);
    to_sink_ = topology_->input(sink, 0);
    sender_->Grant({source_, {0}}, 1);
    receiver_->Grant({source_, {0}}, 1);
  }

  // Sends a frame at `epoch` and moves on to the next.
  ProgressBatch CloseEpoch(int64_t epoch) {
    EXPECT_TRUE(
        sender_
            ->Report(
                {{{source_, {epoch}}, -1}, {{source_, {epoch + 1}}, 1}, {{to_map_, {epoch}}, 1}},
                now_)
            .ok());
    return *sender_->Flush();
  }

  std::shared_ptr<const Topology> topology_;
  std::optional<Reachability> reachability_;
  std::optional<BatchSender> sender_;
  std::optional<BatchReceiver> receiver_;
  std::optional<FrontierView> view_;
  LocationId source_, to_map_, map_, to_sink_;
  absl::Time now_ = absl::UnixEpoch();
};

using TimelyInvariantBatch = BatchTest;

TEST_F(TimelyInvariantBatch, I17_ALostRepeatedOrOvertakingBatchIsNoticed) {
  const ProgressBatch first = CloseEpoch(0), second = CloseEpoch(1), third = CloseEpoch(2);
  EXPECT_TRUE(absl::IsDataLoss(receiver_->Accept(second)));  // the first was lost or comes later
  ASSERT_TRUE(receiver_->Accept(first).ok());
  EXPECT_TRUE(absl::IsAlreadyExists(receiver_->Accept(first)));
  EXPECT_TRUE(absl::IsDataLoss(receiver_->Accept(third)));
  EXPECT_THAT(std::string(receiver_->Accept(third).message()),
              HasSubstr("progress batch 3 came while 2 is due"));
  ASSERT_TRUE(receiver_->Accept(second).ok());
  EXPECT_TRUE(receiver_->Accept(third).ok());
  EXPECT_EQ(receiver_->next(), 4);
}

TEST_F(TimelyInvariantBatch, I17_ASplitBatchIsNoticed) {
  const ProgressBatch whole = CloseEpoch(0);
  ProgressBatch removals = whole, additions = whole;
  std::erase_if(removals.changes, [](const Change& change) { return change.delta > 0; });
  std::erase_if(additions.changes, [](const Change& change) { return change.delta < 0; });
  // The second half under the same number, or under one of its own.
  for (const int64_t number : {1, 2}) {
    BatchReceiver receiver(&*reachability_);
    receiver.Grant({source_, {0}}, 1);
    ASSERT_TRUE(receiver.Accept(removals).ok());
    additions.sequence = number;
    EXPECT_FALSE(receiver.Accept(additions).ok());
  }
}

TEST_F(TimelyInvariantBatch, I21_NothingIsSentWithoutACapability) {
  const auto refused = [&](std::vector<Change> changes) {
    const std::vector<Change> before = sender_->held();
    const std::string message(sender_->Report(std::move(changes), now_).message());
    EXPECT_EQ(sender_->held(), before);
    EXPECT_EQ(sender_->Flush(), std::nullopt);
    return message;
  };
  EXPECT_THAT(refused({{{to_sink_, {0}}, 1}, {{map_, {1}}, -1}}),
              HasSubstr("-1 (1) at output 0 of 'map' is released, and 0 held"));
  CloseEpoch(0);
  EXPECT_THAT(
      refused({{{to_map_, {0}}, 1}}),
      HasSubstr("+1 (0) at input 0 of 'map': nothing that is held or consumed could result"));
  EXPECT_THAT(refused({{{to_map_, {1}}, 1}, {{source_, {0}}, 1}}),
              HasSubstr("output 0 of 'source'"));
  EXPECT_THAT(refused({{{to_sink_, {0}}, 1}, {{to_map_, {1}}, -1}}), HasSubstr("'sink'"));
  EXPECT_TRUE(sender_->Report({{{to_sink_, {1}}, 1}, {{to_map_, {1}}, -1}}, now_).ok());
}

TEST_F(BatchTest, ADamagedBatchIsRefused) {
  const auto refused = [&](std::vector<Change> changes) {
    return std::string(receiver_->Accept({1, std::move(changes)}).message());
  };
  EXPECT_THAT(refused({{{LocationId(99), {0}}, 1}}), HasSubstr("there is no location 99"));
  EXPECT_THAT(refused({{{LocationId(), {0}}, 1}}), HasSubstr("there is no location -1"));
  EXPECT_THAT(refused({{{source_, {0, 0}}, 1}}), HasSubstr("inside of 0 loops"));
  EXPECT_THAT(refused({{{source_, {-1}}, 1}}), HasSubstr("is negative"));
  EXPECT_THAT(refused({{{source_, {0}}, 0}}), HasSubstr("changes by 0"));
  EXPECT_THAT(refused({{{source_, {1}}, 1}, {{source_, {0}}, 1}}), HasSubstr("not sorted"));
  EXPECT_THAT(refused({{{source_, {1}}, 1}, {{source_, {1}}, 1}}), HasSubstr("not sorted"));
  EXPECT_EQ(receiver_->next(), 1);
}

// How many steps it takes to take one batch and to refuse another, of a worker that holds
// this many requests at one place.
int64_t StepsOfOneBatch(int64_t requests) {
  LogicalGraph graph;
  const VertexId source = graph.AddSource("source");
  const VertexId sum = graph.AddVertex("sum", LogicalGraph::kRoot, 1, 1);
  graph.Connect({source, 0}, {sum, 0});
  const std::shared_ptr<const Topology> topology = *Topology::Of(std::move(graph));
  Reachability reachability(topology);
  CapabilityLedger ledger(&reachability);
  ledger.Grant({topology->output(source, 0), {0}}, 1);
  std::vector<Change> changes;
  for (int64_t epoch = 0; epoch < requests; ++epoch) {
    changes.push_back({{topology->request(sum, 0), {epoch}}, 1});
  }
  EXPECT_TRUE(ledger.Apply(changes).ok());
  const int64_t before = reachability.steps();
  EXPECT_TRUE(ledger
                  .Apply({{{topology->input(sum, 0), {requests}}, -1},
                          {{topology->request(sum, 0), {requests}}, 1},
                          {{topology->output(sum, 0), {requests}}, 1}})
                  .ok());
  // Nothing leads back to the source's earlier times, and every reason is looked at.
  EXPECT_TRUE(ledger.Apply({{{topology->output(source, 0), {0}}, -1}}).ok());
  EXPECT_FALSE(ledger.Apply({{{topology->output(source, 0), {0}}, 1}}).ok());
  return reachability.steps() - before;
}

TEST(CapabilityLedger, WhatIsHeldLaterAtTheSamePlaceIsNotLookedAt) {
  EXPECT_LE(StepsOfOneBatch(2), 12);
  EXPECT_EQ(StepsOfOneBatch(5'000), StepsOfOneBatch(2));
}

// A chain of vertices, each with an input and an output, on one worker that may begin any epoch.
struct LongChain {
  explicit LongChain(int64_t vertices) {
    LogicalGraph graph;
    VertexId last = graph.AddSource("source");
    const VertexId source = last;
    for (int64_t v = 0; v < vertices; ++v) {
      chain.push_back(graph.AddVertex("vertex", LogicalGraph::kRoot, 1, 1));
      graph.Connect({last, 0}, {chain.back(), 0});
      last = chain.back();
    }
    topology = *Topology::Of(std::move(graph));
    reachability.emplace(topology);
    ledger.emplace(&*reachability);
    ledger->Grant({topology->output(source, 0), {0}}, 1);
  }
  LocationId in(int64_t v) const { return topology->input(chain[v], 0); }

  std::vector<VertexId> chain;
  std::shared_ptr<const Topology> topology;
  std::optional<Reachability> reachability;
  std::optional<CapabilityLedger> ledger;
};

// An activation at the end of a chain costs what one at its beginning does, and all of them, one
// after the other or merged, what there are of them.
TEST(CapabilityLedger, TheWayToACauseIsAsLongAsWhatWasDone) {
  for (const int64_t vertices : {100, 10'000}) {
    LongChain job(vertices);
    for (int64_t v = 0; v + 1 < vertices; ++v) {
      const int64_t before = job.reachability->steps();
      ASSERT_TRUE(job.ledger->Apply({{{job.in(v), {0}}, -1}, {{job.in(v + 1), {0}}, 1}}).ok());
      ASSERT_LE(job.reachability->steps() - before, 5) << "at vertex " << v << " of " << vertices;
    }
    const int64_t before = job.reachability->steps();
    ASSERT_TRUE(job.ledger->Apply({{{job.in(0), {1}}, -1}, {{job.in(vertices - 1), {1}}, 1}}).ok());
    EXPECT_LE(job.reachability->steps() - before, 3 * vertices + 2);
    EXPECT_GE(job.reachability->steps() - before, vertices);
  }
}

// As wide as others are long: each vertex waits for a time, and asks for the next one.
TEST(CapabilityLedger, WhatIsHeldElsewhereIsNotLookedAt) {
  constexpr int64_t kVertices = 1000;
  LongChain job(kVertices);
  for (const int64_t epoch : {0, 1}) {
    for (int64_t v = 0; v < kVertices; ++v) {
      const LocationId request = job.topology->request(job.chain[v], 0);
      const int64_t before = job.reachability->steps();
      ASSERT_TRUE(job.ledger->Apply({{{job.in(v), {epoch}}, -1}, {{request, {epoch}}, 1}}).ok());
      ASSERT_LE(job.reachability->steps() - before, 4);
    }
    EXPECT_EQ(job.ledger->held().size(), static_cast<size_t>(1 + (epoch + 1) * kVertices));
  }
}

// A ledger of a random graph beside what it should hold.
class WatchedLedger {
 public:
  explicit WatchedLedger(Random* random)
      : random_(*random),
        topology_(RandomTopology(random)),
        oracle_(*topology_),
        reachability_(topology_),
        ledger_(&reachability_) {
    for (int i = 0; i < 3; ++i) {
      const Pointstamp first = Draw();
      if (IsInput(first.location)) continue;
      ledger_.Grant(first, 1);
      ++held_[Key(first)];
    }
  }

  // Applies random changes. Returns: what is wrong, or nothing.
  std::string Round(int64_t* taken, int64_t* refused) {
    ChangeBatch<Pointstamp> batch;
    for (uint64_t i = 0, n = 1 + random_.Below(4); i < n; ++i) {
      batch.Add(Draw(), random_.Chance(0.5) ? 1 : -1);
    }
    if (!ledger_.held().empty() && random_.Chance(0.5)) batch.Add(ledger_.held()[0].key, -1);
    const absl::Span<const Change> changes = batch.Merge();
    OracleCounts later = held_;
    const bool is_allowed = IsAllowed(changes, &later);
    if (ledger_.Apply(changes).ok() != is_allowed) {
      return StrCat(is_allowed ? "refused" : "taken", "\n", ToString(topology_->graph()));
    }
    ++*(is_allowed ? taken : refused);
    if (is_allowed) held_ = std::move(later);
    std::erase_if(held_, [](const auto& entry) { return entry.second == 0; });
    OracleCounts shown;
    for (const auto& [pointstamp, count] : ledger_.held()) shown[Key(pointstamp)] = count;
    return shown == held_ ? "" : "another thing is held";
  }

 private:
  static std::pair<int64_t, OracleTime> Key(const Pointstamp& pointstamp) {
    return {pointstamp.location.value(), ToOracle(pointstamp.time)};
  }
  bool IsInput(LocationId location) const {
    return topology_->location(location).kind == PortLocation::Kind::kInput;
  }
  Pointstamp Draw() {
    const int64_t location = static_cast<int64_t>(random_.Below(topology_->num_locations()));
    OracleTime time;
    for (int i = 0; i < oracle_.size(location); ++i) {
      time.push_back(static_cast<int64_t>(random_.Below(3)));
    }
    return {LocationId(location), FromOracle(time)};
  }
  bool IsAllowed(absl::Span<const Change> changes, OracleCounts* later) const {
    OracleCounts causes = held_;
    bool is_allowed = true;
    for (const auto& [pointstamp, delta] : changes) {
      if (delta < 0) causes[Key(pointstamp)] = 1;
      if (IsInput(pointstamp.location)) continue;
      is_allowed = is_allowed && ((*later)[Key(pointstamp)] += delta) >= 0;
    }
    const std::vector<OracleTimes> possible = oracle_.Frontiers(causes);
    for (const auto& [pointstamp, delta] : changes) {
      const auto [location, time] = Key(pointstamp);
      is_allowed = is_allowed && (delta < 0 || OracleCovers(possible[location], time));
    }
    return is_allowed;
  }

  Random& random_;
  std::shared_ptr<const Topology> topology_;
  Oracle oracle_;
  Reachability reachability_;
  CapabilityLedger ledger_;
  OracleCounts held_;
};

TEST(TimelyInvariant, I16_ABatchIsTakenIfItIsJustifiedAndOnlyThen) {
  int64_t taken = 0, refused = 0;
  ForEachSeed(-1, [&](uint64_t, Random* random) {
    WatchedLedger watched(random);
    std::string wrong;
    for (int round = 0; round < 8 && wrong.empty(); ++round) {
      wrong = watched.Round(&taken, &refused);
    }
    return wrong;
  });
  if (CurrentTestRun().graphs >= 200) {
    EXPECT_GT(taken, CurrentTestRun().graphs / 4);
    EXPECT_GT(refused, CurrentTestRun().graphs);
  }
}

TEST_F(BatchTest, IsDueAfterAWhileOrWhenARemovalTouchesTheFrontier) {
  ASSERT_TRUE(view_->Apply({1, {{{to_map_, {0}}, 1}, {{to_sink_, {0}}, 1}}}).ok());
  EXPECT_FALSE(sender_->IsDue(now_, *view_));
  EXPECT_EQ(sender_->deadline(), absl::InfiniteFuture());
  // Something more is outstanding: nobody waits for that.
  ASSERT_TRUE(sender_->Report({{{to_map_, {0}}, 2}}, now_).ok());
  EXPECT_FALSE(sender_->IsDue(now_, *view_));
  EXPECT_FALSE(sender_->IsDue(now_ + absl::Microseconds(999), *view_));
  EXPECT_TRUE(sender_->IsDue(now_ + absl::Milliseconds(1), *view_));
  EXPECT_EQ(sender_->deadline(), now_ + absl::Milliseconds(1));
  // What is added and taken away again is nothing.
  ASSERT_TRUE(sender_->Report({{{to_map_, {0}}, -2}}, now_ + absl::Milliseconds(3)).ok());
  EXPECT_EQ(sender_->Flush(), std::nullopt);
  EXPECT_EQ(sender_->deadline(), absl::InfiniteFuture());
  // A frame at the frontier is consumed: others may wait for it.
  ASSERT_TRUE(sender_->Report({{{to_map_, {0}}, -1}, {{to_sink_, {0}}, 1}}, now_).ok());
  EXPECT_TRUE(sender_->IsDue(now_, *view_));
  EXPECT_TRUE(sender_->IsDue(now_, *view_));  // until it is flushed
  EXPECT_EQ(sender_->Flush()->sequence, 1);
  EXPECT_FALSE(sender_->IsDue(now_, *view_));
  // One behind it: nobody does.
  ASSERT_TRUE(sender_->Report({{{to_map_, {4}}, -1}}, now_).ok());
  EXPECT_FALSE(sender_->IsDue(now_, *view_));
  // Until the frontier comes to it.
  ASSERT_TRUE(view_->Apply({2, {{{to_map_, {4}}, 1}, {{to_map_, {0}}, -1}}}).ok());
  EXPECT_TRUE(sender_->IsDue(now_, *view_));
  ASSERT_TRUE(sender_->Flush().has_value());
  // A capability, of which the ports behind it tell.
  ASSERT_TRUE(sender_->Report({{{source_, {0}}, -1}, {{source_, {4}}, 1}}, now_).ok());
  EXPECT_FALSE(sender_->IsDue(now_, *view_));
  ASSERT_TRUE(sender_->Report({{{source_, {4}}, -1}, {{source_, {5}}, 1}}, now_).ok());
  EXPECT_FALSE(sender_->IsDue(now_, *view_));  // it came and went unheard
  ASSERT_TRUE(sender_->Report({{{source_, {5}}, -1}, {{source_, {6}}, 1}}, now_).ok());
  EXPECT_FALSE(sender_->IsDue(now_, *view_));
  ASSERT_TRUE(sender_->Flush().has_value());
  ASSERT_TRUE(view_->Apply({3, {{{to_map_, {6}}, 1}, {{to_map_, {4}}, -1}}}).ok());
  ASSERT_TRUE(sender_->Report({{{source_, {6}}, -1}, {{source_, {7}}, 1}}, now_).ok());
  EXPECT_TRUE(sender_->IsDue(now_, *view_));
}

TEST_F(TimelyInvariantBatch, I25_NoTimeIsCompleteBeforeTheFirstFrontier) {
  EXPECT_FALSE(view_->is_known());
  EXPECT_FALSE(view_->IsComplete(to_map_, {0}));
  ASSERT_TRUE(view_->Apply({1, {{{to_map_, {2}}, 1}}}).ok());
  EXPECT_TRUE(view_->IsComplete(to_map_, {1}));
  EXPECT_FALSE(view_->IsComplete(to_map_, {2}));
  EXPECT_TRUE(view_->IsComplete(to_sink_, {7}));  // it was said that nothing comes there
}

TEST_F(TimelyInvariantBatch, I13_AFrontierThatWouldGoBackIsRefused) {
  ASSERT_TRUE(view_->Apply({1, {{{to_map_, {2}}, 1}}}).ok());
  const auto refused = [&](std::vector<Change> changes) {
    return std::string(view_->Apply({2, std::move(changes)}).message());
  };
  EXPECT_THAT(refused({{{to_map_, {1}}, 1}, {{to_map_, {2}}, -1}}),
              HasSubstr("was complete already"));
  EXPECT_THAT(refused({{{to_sink_, {1}}, 1}}), HasSubstr("was complete already"));
  EXPECT_THAT(refused({{{to_map_, {3}}, -1}}), HasSubstr("goes unseen"));
  EXPECT_THAT(refused({{{to_map_, {3}}, 1}}), HasSubstr("comparable"));
  EXPECT_THAT(refused({{{to_map_, {2}}, 1}}), HasSubstr("comparable"));
  EXPECT_THAT(refused({{{to_map_, {3}}, 2}, {{to_map_, {2}}, -1}}), HasSubstr("neither"));
  EXPECT_THAT(refused({{{map_, {3}}, 1}}), HasSubstr("no input"));
  EXPECT_TRUE(absl::IsAlreadyExists(view_->Apply({1, {}})));
  EXPECT_TRUE(absl::IsDataLoss(view_->Apply({3, {}})));
  EXPECT_EQ(view_->frontier(to_map_), Frontier({{2}}));
  EXPECT_TRUE(view_->Apply({2, {{{to_map_, {3}}, 1}, {{to_map_, {2}}, -1}}}).ok());
  EXPECT_EQ(view_->frontier(to_map_), Frontier({{3}}));
}

}  // namespace
}  // namespace weir
