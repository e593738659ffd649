// zip, after and merge: records told apart by their origins.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "worker/flow/vertex_testing.h"

namespace weir {
namespace {

using ::testing::HasSubstr;

Tensor Column(std::initializer_list<int64_t> values) {
  return Tensor::Of<int64_t>({static_cast<int64_t>(values.size())}, values);
}
RecordBatch Records(std::initializer_list<int64_t> values, int64_t first_origin) {
  return MakeBatch({Column(values)}, first_origin);
}
VertexForm Pairing(std::string kind, Attrs attrs = {}, int loops = 0) {
  return {.kind = std::move(kind),
          .inputs = {{"i64[]"}, {"i64[]"}},
          .attrs = std::move(attrs),
          .loops = loops};
}
std::string MessageOf(const VertexRun& run) { return std::string(run.status().message()); }

TEST(OriginVertices, ZipPairsAndAfterPassesOn) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    VertexRun zip(Pairing("zip"), seed);
    VertexRun after(Pairing("after"), seed);
    for (VertexRun* run : {&zip, &after}) {
      run->Take({{0, {0}, Records({1, 2}, 5)},
                 {0, {0}, Records({3}, 7)},
                 {1, {0}, Records({20, 30}, 6)},
                 {1, {1}, Records({40}, 5)}});
      ASSERT_EQ(run->status(), absl::OkStatus());
      EXPECT_EQ(run->in_vain(), 2);  // 1 at (0), 40 at (1)
      EXPECT_EQ(run->vertex().state_bytes(), 0);
    }
    EXPECT_TRUE(SameRecords(zip.At(0, {0}), MakeBatch({Column({2, 3}), Column({20, 30})}, 6)));
    EXPECT_TRUE(SameRecords(after.At(0, {0}), Records({2, 3}, 6)));
    EXPECT_TRUE(zip.At(0, {1}).empty());
  }
}

// The second record of an origin may come when the first has its partner already.
TEST(OriginVertices, ASecondRecordOfAnOriginIsAnErrorWhenEverItComes) {
  for (const char* kind : {"zip", "after", "merge"}) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      VertexRun run(Pairing(kind), seed);
      std::vector<TestFrame> frames = {{0, {0}, Records({1}, 5)}, {0, {0}, Records({2}, 5)}};
      if (std::string(kind) != "merge") frames.push_back({1, {0}, Records({3}, 5)});
      run.Take(std::move(frames));
      EXPECT_THAT(MessageOf(run), HasSubstr("more than one record of origin 5")) << kind << seed;
    }
  }
}

TEST(OriginVertices, MergeTellsTimesApartAndForgetsThem) {
  VertexRun run(Pairing("merge"));
  run.Take({{0, {0}, Records({1, 2}, 5)}, {1, {0}, Records({3}, 7)}, {1, {1}, Records({4}, 5)}});
  ASSERT_EQ(run.status(), absl::OkStatus());
  EXPECT_TRUE(SameRecords(run.At(0, {0}), Records({1, 2, 3}, 5)));
  EXPECT_TRUE(SameRecords(run.At(0, {1}), Records({4}, 5)));
  EXPECT_EQ(run.vertex().state_bytes(), 0);
  RecordBatch twice = Records({1}, 5);
  twice.weights = Column({2});
  run.Take({{0, {2}, twice}});
  EXPECT_THAT(MessageOf(run), HasSubstr("whose weight is not 1"));
}

TEST(OriginVertices, ARecordWithoutAPartnerCanBeAnError) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    VertexRun run(Pairing("after", {{"unmatched", Attr(std::string("stop"))}}), seed);
    run.Take({{0, {0}, Records({1, 2}, 5)}, {1, {0}, Records({10, 20}, 5)}});
    ASSERT_EQ(run.status(), absl::OkStatus());
    EXPECT_EQ(run.At(0, {0}).size(), 2);
    run.Take({{0, {1}, Records({1}, 5)}, {1, {1}, Records({10, 20}, 5)}});
    EXPECT_EQ(MessageOf(run), "input 1 has a record of origin 6, and input 0 has none");
  }
}

TEST(OriginVertices, WhatIsHeldServesItsTripAndLaterOnesAndNeedsNoPartner) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Attrs attrs = {{"hold", Attr(std::vector<int64_t>{1})},
                         {"unmatched", Attr(std::string("stop"))}};
    VertexRun run(Pairing("zip", attrs, /*loops=*/1), seed);
    run.Take({{1, {0, 1}, Records({10, 20}, 5)},
              {0, {0, 1}, Records({1}, 5)},
              {0, {0, 4}, Records({2}, 5)},
              {1, {1, 0}, Records({30}, 5)},
              {0, {1, 2}, Records({3}, 5)}});
    ASSERT_EQ(run.status(), absl::OkStatus());
    EXPECT_TRUE(SameRecords(run.At(0, {0, 1}), MakeBatch({Column({1}), Column({10})}, 5)));
    EXPECT_TRUE(SameRecords(run.At(0, {0, 4}), MakeBatch({Column({2}), Column({10})}, 5)));
    EXPECT_TRUE(SameRecords(run.At(0, {1, 2}), MakeBatch({Column({3}), Column({30})}, 5)));
    EXPECT_EQ(run.vertex().state_bytes(), 0);
    run.Take({{1, {2, 1}, Records({10}, 5)}, {0, {2, 0}, Records({1}, 5)}});
    EXPECT_EQ(MessageOf(run), "input 0 has a record of origin 5, and input 1 has none");
  }
}

TEST(OriginVertices, WhatIsHeldServesNoEarlierTrip) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    VertexRun run(Pairing("zip", {{"hold", Attr(std::vector<int64_t>{1})}}, /*loops=*/1), seed);
    run.Take({{0, {0, 0}, Records({1}, 5)},
              {1, {0, 1}, Records({10}, 5)},
              {0, {0, 2}, Records({2}, 5)}});
    ASSERT_EQ(run.status(), absl::OkStatus());
    EXPECT_TRUE(run.At(0, {0, 0}).empty());
    EXPECT_TRUE(SameRecords(run.At(0, {0, 2}), MakeBatch({Column({2}), Column({10})}, 5)));
    EXPECT_EQ(run.in_vain(), 1);
  }
}

}  // namespace
}  // namespace weir
