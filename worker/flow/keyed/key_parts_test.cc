#include "worker/flow/keyed/key_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "common/flow/flow_text.h"
#include "worker/flow/memory/flow_memory.h"

namespace weir {
namespace {

constexpr char kJoin[] = R"(
flow @both {
  %left = input() {types = ["i64[]", "i64[]"]}
  %right = input() {types = ["i64[]"]}
  %pairs = join(%left, %right) {keys = 1}
  %out = output(%pairs)
}
)";

class KeyPartsTest : public ::testing::Test {
 protected:
  KeyPartsTest()
      : flow_(*ParseFlow(kJoin)),
        vertex_(flow_.vertex(flow_.FindVertex("pairs"))),
        share_((*FlowMemory::Make({.budget = 64 << 10}))->AddFlow()),
        scope_(share_.get()) {}

  // Keys from 0 on, `times` records of each, in both inputs.
  void Add(int64_t keys, int64_t times) {
    for (int input = 0; input < 2; ++input) {
      for (int64_t begin = 0; begin < keys * times; begin += kRows) {
        const int64_t rows = std::min(kRows, keys * times - begin);
        Tensor numbers(DType::kI64, {rows});
        for (int64_t i = 0; i < rows; ++i) {
          numbers.mutable_data<int64_t>()[i] = (begin + i) % keys;
        }
        RecordBatch batch = {.columns = {numbers}, .origins = numbers};
        if (input == 0) batch.columns.push_back(numbers);
        total_bytes_ += batch.bytes();
        ASSERT_EQ(all_[input].Add(std::move(batch), vertex_.input_types[input]), absl::OkStatus());
      }
    }
  }

  // Cuts all of it. Returns: how many bytes each part has.
  std::vector<int64_t> TakeParts(int64_t part_bytes) {
    KeyParts parts(vertex_, std::move(all_), total_bytes_, part_bytes);
    std::vector<int64_t> sizes;
    while (!parts.done()) {
      if (!parts.is_cut()) {
        EXPECT_EQ(parts.CutSome(kSomeBytes), absl::OkStatus());
        continue;
      }
      const auto inputs = parts.TakeNext();
      EXPECT_EQ(inputs.status(), absl::OkStatus());
      if (!inputs.ok()) return sizes;
      if (inputs->empty()) continue;
      sizes.push_back(Note(*inputs, static_cast<int>(sizes.size())));
    }
    EXPECT_EQ(parts.bytes() + parts.spilled_bytes(), 0);
    return sizes;
  }

  std::map<int64_t, int> part_of_;       // by key
  std::map<int64_t, int64_t> times_[2];  // by input and key

 private:
  static constexpr int64_t kRows = 1000;
  static constexpr int64_t kSomeBytes = 4096;

  int64_t Note(const std::vector<std::vector<RecordBatch>>& inputs, int part) {
    int64_t bytes = 0;
    for (int input = 0; input < 2; ++input) {
      for (const RecordBatch& batch : inputs[input]) {
        bytes += batch.bytes();
        for (int64_t row = 0; row < batch.size(); ++row) {
          const int64_t key = batch.origin(row);
          ++times_[input][key];
          EXPECT_EQ(part_of_.emplace(key, part).first->second, part) << "key " << key;
        }
      }
    }
    return bytes;
  }

  const Flow flow_;
  const FlowVertex& vertex_;
  const std::shared_ptr<FlowShare> share_;
  const FlowShare::Scope scope_;
  std::vector<KeptRecords> all_{2};
  int64_t total_bytes_ = 0;
};

TEST_F(KeyPartsTest, AreSmallHoweverMuchThereIs) {
  // The largest of them are cut twice again.
  constexpr int64_t kPartBytes = 256;
  constexpr int64_t kKeys = 20'000;
  Add(kKeys, 1);
  const std::vector<int64_t> sizes = TakeParts(kPartBytes);
  EXPECT_GT(sizes.size(), 1500u);
  EXPECT_LE(*std::max_element(sizes.begin(), sizes.end()), 3 * kPartBytes);
  ASSERT_EQ(times_[0].size(), kKeys);
  ASSERT_EQ(times_[1].size(), kKeys);
  for (int64_t key = 0; key < kKeys; ++key) {
    EXPECT_EQ(times_[0][key], 1);
    EXPECT_EQ(times_[1][key], 1);
  }
}

TEST_F(KeyPartsTest, OneKeyStaysTogether) {
  Add(1, 20'000);
  EXPECT_EQ(TakeParts(4096).size(), 1u);
  EXPECT_EQ(times_[0][0], 20'000);
  EXPECT_EQ(times_[1][0], 20'000);
}

}  // namespace
}  // namespace weir
