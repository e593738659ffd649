// The algebra of times, summaries and antichains.
#include <limits>

#include "absl/hash/hash_testing.h"
#include "common/timely/change_batch.h"
#include "common/timely/mutable_antichain.h"
#include "common/timely/oracle_testing.h"
#include "common/timely/path_summary.h"
#include "common/timely/test_run_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

// All times of a depth with coordinates below `bound`.
std::vector<Timestamp> AllTimes(int depth, int64_t bound) {
  std::vector<Timestamp> times;
  Coordinates at(depth + 1, 0);
  while (true) {
    times.push_back(Timestamp(at));
    int i = depth;
    while (i >= 0 && ++at[i] == bound) at[i--] = 0;
    if (i < 0) return times;
  }
}

Timestamp RandomTime(int depth, Random* random, int64_t bound = 4) {
  Coordinates time;
  for (int i = 0; i <= depth; ++i) time.push_back(static_cast<int64_t>(random->Below(bound)));
  return Timestamp(time);
}

// From times of one depth to times of another.
PathSummary RandomSummary(int from, int to, Random* random) {
  const int kept = 1 + static_cast<int>(random->Below(std::min(from, to) + 1));
  Coordinates add, append;
  for (int i = 0; i < kept; ++i) add.push_back(static_cast<int64_t>(random->Below(3)));
  while (kept + static_cast<int>(append.size()) < to + 1) {
    append.push_back(static_cast<int64_t>(random->Below(3)));
  }
  return PathSummary(add, append);
}

TEST(Timestamp, PrintsAndHashes) {
  EXPECT_EQ(ToString(Timestamp{3, 1, 4}), "(3, 1, 4)");
  EXPECT_EQ(ToString(Timestamp()), "(0)");
  EXPECT_EQ(Timestamp::Minimum(2), (Timestamp{0, 0, 0}));
  EXPECT_EQ((Timestamp{3, 1, 4}).depth(), 2);
  EXPECT_LE(sizeof(Timestamp), 40u);
  EXPECT_TRUE(absl::VerifyTypeImplementsAbslHashCorrectly(
      {Timestamp{0}, Timestamp{0, 0}, Timestamp{1, 2, 3, 4, 5, 6}, Timestamp{1, 2}}));
}

TEST(TimelyInvariant, I01_TimesAreOrdered) {
  for (int depth = 0; depth <= 2; ++depth) {
    const std::vector<Timestamp> times = AllTimes(depth, 3);
    const Timestamp least = Timestamp::Minimum(depth);
    for (const Timestamp& a : times) {
      EXPECT_TRUE(LessEqual(a, a));
      EXPECT_TRUE(LessEqual(least, a));
      for (const Timestamp& b : times) {
        EXPECT_EQ(LessEqual(a, b), OracleLessEqual(ToOracle(a), ToOracle(b)));
        if (LessEqual(a, b) && LessEqual(b, a)) {
          EXPECT_EQ(a, b);
        }
        if (LessEqual(a, b)) {
          EXPECT_FALSE(b < a) << a << " " << b;
        }
        EXPECT_EQ((a < b) + (b < a) + (a == b), 1);
        for (const Timestamp& c : times) {
          if (LessEqual(a, b) && LessEqual(b, c)) {
            EXPECT_TRUE(LessEqual(a, c));
          }
          if (a < b && b < c) {
            EXPECT_TRUE(a < c);
          }
        }
      }
    }
  }
}

TEST(TimelyInvariant, I02_SummariesCompose) {
  ForEachSeed(10000, [](uint64_t, Random* random) -> std::string {
    int depth[4];
    for (int& some : depth) some = static_cast<int>(random->Below(3));
    const PathSummary a = RandomSummary(depth[0], depth[1], random);
    const PathSummary b = RandomSummary(depth[1], depth[2], random);
    const PathSummary c = RandomSummary(depth[2], depth[3], random);
    const PathSummary other = RandomSummary(depth[0], depth[1], random);
    const Timestamp time = RandomTime(depth[0], random);
    if (!(*a.Then(b)->Then(c) == *a.Then(*b.Then(c)))) return "not associative";
    if (!(*PathSummary::Identity(depth[0]).Then(a) == a)) return "identity in front";
    if (!(*a.Then(PathSummary::Identity(depth[1])) == a)) return "identity behind";
    if (*PathSummary::Identity(depth[0]).Apply(time) != time) return "identity changes a time";
    if (*a.Then(b)->Apply(time) != *b.Apply(*a.Apply(time))) return "composition";
    const Timestamp later = RandomTime(depth[0], random);
    if (LessEqual(time, later) && !LessEqual(*a.Apply(time), *a.Apply(later))) {
      return "not monotone in times";
    }
    bool always = true;
    for (const Timestamp& t : AllTimes(depth[0], 5)) {
      always = always && LessEqual(*a.Apply(t), *other.Apply(t));
    }
    if (LessEqual(a, other) != always) {
      return StrCat(ToString(a), " <= ", ToString(other), " is ", LessEqual(a, other));
    }
    if (LessEqual(a, other) && !LessEqual(*a.Then(b), *other.Then(b))) return "not monotone";
    if (a.kept() == depth[0] + 1 && depth[0] == depth[1] && !LessEqual(time, *a.Apply(time))) {
      return "a time goes back";
    }
    return "";
  });
}

TEST(TimelyInvariant, I24_SumsBeyondTheLargestNumberAreNoTimes) {
  const PathSummary further = PathSummary::Advance(1, 1, kMax - 2);
  EXPECT_EQ(further.Apply({0, 2}), (Timestamp{0, kMax}));
  EXPECT_EQ(further.Apply({0, 3}), std::nullopt);
  EXPECT_EQ(further.Then(further), std::nullopt);
  EXPECT_EQ(PathSummary::Enter(0, kMax).Then(PathSummary::Advance(1, 1)), std::nullopt);
  // A path without a result has none in the composition either, as long as the counter is kept.
  const PathSummary one = PathSummary::Advance(1, 1, 1);
  EXPECT_EQ(further.Then(one)->Apply({0, 2}), std::nullopt);
  EXPECT_EQ(further.Then(one)->Apply({0, 1}), (Timestamp{0, kMax}));
}

TEST(TimelyInvariant, I03_AntichainsHoldTheLeast) {
  ForEachSeed(3000, [](uint64_t, Random* random) -> std::string {
    const int depth = static_cast<int>(random->Below(3));
    std::vector<Timestamp> inserted;
    for (uint64_t i = 0, n = random->Below(8); i < n; ++i) {
      inserted.push_back(RandomTime(depth, random));
    }
    OracleTimes all;
    for (const Timestamp& time : inserted) all.insert(ToOracle(time));
    Antichain<Timestamp> antichain, other_order;
    for (const Timestamp& time : inserted) {
      const bool covered = antichain.Covers(time);
      if (antichain.Insert(time) == covered) return "Insert tells the wrong thing";
    }
    for (size_t i = inserted.size(); i > 1; --i)
      std::swap(inserted[i - 1], inserted[random->Below(i)]);
    for (const Timestamp& time : inserted) other_order.Insert(time);
    if (!(antichain == other_order)) return "order of insertion";
    if (static_cast<size_t>(antichain.size()) != ToOracle(antichain).size()) return "duplicates";
    if (ToOracle(antichain) != Minimal(all)) return ToString(antichain);
    for (const Timestamp& time : inserted) {
      if (antichain.Contains(time) != (Minimal(all).count(ToOracle(time)) == 1)) return "Contains";
    }
    return "";
  });
}

TEST(TimelyInvariant, I04_CountedFrontiersAreTheLeastPositive) {
  ForEachSeed(3000, [](uint64_t, Random* random) -> std::string {
    const int depth = static_cast<int>(random->Below(3));
    MutableAntichain counted;
    std::map<OracleTime, int64_t> counts;
    OracleTimes seen;
    for (int batch = 0; batch < 8; ++batch) {
      std::vector<std::pair<Timestamp, int64_t>> changes;
      for (uint64_t i = 0, n = 1 + random->Below(5); i < n; ++i) {
        changes.emplace_back(RandomTime(depth, random), static_cast<int64_t>(random->Below(7)) - 3);
      }
      ChangeBatch<Timestamp> moved, moved_back_to_front;
      MutableAntichain twin = counted;
      for (const auto& [time, delta] : changes) counted.Update(time, delta, &moved);
      for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
        twin.Update(change->first, change->second, &moved_back_to_front);
      }
      if (moved.Merge() != moved_back_to_front.Merge()) return "order of a batch";
      for (const auto& [time, delta] : moved.Merge()) {
        if (delta == 1 ? !seen.insert(ToOracle(time)).second : seen.erase(ToOracle(time)) != 1) {
          return "changes do not add up";
        }
      }
      OracleTimes positive;
      int negative = 0;
      for (const auto& [time, delta] : changes) counts[ToOracle(time)] += delta;
      for (const auto& [time, count] : counts) {
        if (count > 0) positive.insert(time);
        negative += count < 0 ? 1 : 0;
        if (counted.count(FromOracle(time)) != count) return "count";
      }
      if (ToOracle(counted.frontier()) != Minimal(positive)) return ToString(counted.frontier());
      if (seen != Minimal(positive)) return "what was seen";
      if (counted.negative() != negative) return "number of negative counts";
    }
    return "";
  });
}

TEST(ChangeBatch, SumsWhateverIsAdded) {
  ForEachSeed(1000, [](uint64_t, Random* random) -> std::string {
    ChangeBatch<int64_t> batch;
    std::map<int64_t, int64_t> sums;
    for (uint64_t i = 0, n = random->Below(200); i < n; ++i) {
      const int64_t key = static_cast<int64_t>(random->Below(1 + random->Below(60)));
      const int64_t delta = static_cast<int64_t>(random->Below(3)) - 1;
      batch.Add(key, delta);
      sums[key] += delta;
    }
    std::erase_if(sums, [](const auto& entry) { return entry.second == 0; });
    std::map<int64_t, int64_t> merged;
    int64_t last = -1;
    for (const auto& [key, delta] : batch.Merge()) {
      if (key <= last) return "not sorted";
      merged[last = key] = delta;
    }
    return merged == sums ? "" : "other sums";
  });
}

}  // namespace
}  // namespace weir
