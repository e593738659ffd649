#include "worker/flow/keyed/key_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "common/flow/record_rows.h"
#include "worker/flow/keyed/oracle_testing.h"

namespace weir {
namespace {

// Keys come and go in blocks of all sizes; a map of their bytes says which number each has.
void Check(const std::vector<std::string>& columns, uint64_t seed) {
  const RecordType type = TypeOf(columns);
  std::mt19937_64 random(seed);
  KeyIndex index(type);
  std::map<std::string, uint32_t> expected;
  std::vector<uint32_t> numbers;
  RecordBatch last = EmptyBatch(type);
  int found_again = 0;
  for (int round = 0; round < 60; ++round) {
    const RandomFrames form = {.values = round % 3 == 0 ? 5 : 700};
    // Some of them came a round before.
    const RecordBatch fresh =
        RandomRecords(type, static_cast<int64_t>(random() % 150), form, random);
    const RecordBatch batch = ConcatBatches({last, fresh}, type);
    const int64_t rows = batch.size();
    last = fresh;
    const RecordRows content(batch);
    index.Find(batch.columns, rows, &numbers);
    for (int64_t row = 0; row < rows; ++row) {
      const auto found = expected.find(content.Bytes(row));
      ASSERT_EQ(numbers[row], found == expected.end() ? KeyIndex::kNone : found->second);
      found_again += found == expected.end() ? 0 : 1;
    }
    ASSERT_EQ(index.FindOrAdd(batch.columns, rows, &numbers), absl::OkStatus());
    for (int64_t row = 0; row < rows; ++row) {
      const auto [found, is_new] = expected.emplace(content.Bytes(row), numbers[row]);
      ASSERT_EQ(found->second, numbers[row]) << "row " << row << (is_new ? ", new" : "");
      ASSERT_LT(numbers[row], index.limit());
    }
    for (auto key = expected.begin(); key != expected.end();) {
      if (random() % 3 != 0) {
        ++key;
        continue;
      }
      index.Free(key->second);
      key = expected.erase(key);
    }
    std::set<uint32_t> different;
    for (const auto& [key, number] : expected) different.insert(number);
    ASSERT_EQ(different.size(), expected.size()) << "two keys have one number";
  }
  EXPECT_GT(found_again, 100);
}

TEST(KeyIndex, NumbersOfKeysOfAllWidthsStayUntilTheyAreFreed) {
  const std::vector<std::vector<std::string>> types = {
      {"i64[]"}, {"u64[]"},  {"f64[]"},          {"i32[]"},          {"f32[]"},
      {"u16[]"}, {"bool[]"}, {"i64[]", "i64[]"}, {"i8[3]"},          {"f64[20]"},
      {"i8[8]"}, {"i8[11]"}, {"i32[]", "i8[3]"}, {"f32[0]", "i64[]"}};
  for (const auto& columns : types) {
    for (int seed = 0; seed < 4; ++seed) {
      SCOPED_TRACE(columns[0] + " and " + std::to_string(columns.size() - 1) + " more, seed " +
                   std::to_string(seed));
      Check(columns, seed);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(KeyIndex, KeysWithoutColumnsAreOne) {
  KeyIndex index(RecordType{});
  std::vector<uint32_t> numbers;
  index.Find({}, 2, &numbers);
  EXPECT_EQ(numbers, std::vector<uint32_t>(2, KeyIndex::kNone));
  ASSERT_EQ(index.FindOrAdd({}, 70, &numbers), absl::OkStatus());
  EXPECT_EQ(numbers, std::vector<uint32_t>(70, 0));
  index.Free(0);
  index.Find({}, 1, &numbers);
  EXPECT_EQ(numbers[0], KeyIndex::kNone);
}

// Such keys have their place at the very end of a table, so that it goes on at its beginning.
TEST(KeyIndex, EntriesThatGoOnAtTheBeginningOfTheTableAreFoundAndErased) {
  std::vector<int64_t> last;
  for (int64_t key = 0; last.size() < 60; ++key) {
    if ((HashOfWord(static_cast<uint64_t>(key)) << kKeyPartBits) >> 54 == 0x3ff) {
      last.push_back(key);
    }
  }
  std::mt19937_64 random(3);
  for (int seed = 0; seed < 20; ++seed) {
    KeyIndex index(TypeOf({"i64[]"}));
    std::vector<uint32_t> numbers;
    const Tensor keys = Tensor::FromSpan<int64_t>({60}, last);
    ASSERT_EQ(index.FindOrAdd({&keys, 1}, 60, &numbers), absl::OkStatus());
    std::vector<uint32_t> left = numbers;
    for (int gone = 0; gone < 40; ++gone) {
      const size_t one = random() % left.size();
      if (left[one] == KeyIndex::kNone) continue;
      index.Free(left[one]);
      left[one] = KeyIndex::kNone;
      index.Find({&keys, 1}, 60, &numbers);
      ASSERT_EQ(numbers, left);
    }
  }
}

// How many entries a table looks at, for all keys one after the other.
int64_t StepsOf(const std::vector<uint64_t>& keys) {
  KeyTable table;
  int64_t steps = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    const uint64_t hash = HashOfWord(keys[i]);
    const auto is_it = [&](const KeyTable::Entry& entry) {
      ++steps;
      return entry.tag == keys[i];
    };
    table.Fill(&table.Find(hash, is_it), hash, {keys[i], static_cast<uint32_t>(i)},
               [](const KeyTable::Entry& entry) { return HashOfWord(entry.tag); });
  }
  return steps;
}

// Keys at equal distances, and those that come part by part, are as far from one another in a table
// as any others are.
TEST(KeyIndex, NoOrderOfKeysMakesATableSlow) {
  constexpr size_t kKeys = 200'000;
  for (const uint64_t distance : {uint64_t{1}, uint64_t{8}, uint64_t{1'000'003}, uint64_t{1} << 32,
                                  uint64_t{1} << 44, uint64_t{0x9e3779b97f4a7c15}}) {
    std::vector<uint64_t> keys(kKeys);
    for (size_t i = 0; i < kKeys; ++i) keys[i] = i * distance;
    EXPECT_LT(StepsOf(keys), static_cast<int64_t>(3 * kKeys)) << "distance " << distance;
    std::stable_sort(keys.begin(), keys.end(), [](uint64_t a, uint64_t b) {
      return KeyPartOf(HashOfWord(a)) < KeyPartOf(HashOfWord(b));
    });
    EXPECT_LT(StepsOf(keys), static_cast<int64_t>(3 * kKeys)) << "part by part";
  }
}

}  // namespace
}  // namespace weir
