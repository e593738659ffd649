#include "common/plan/run_counters.h"

#include <gtest/gtest.h>

#include <limits>

#include "google/protobuf/text_format.h"

namespace weir {
namespace {

v1::RunCounters Counters(const std::string& text) {
  v1::RunCounters counters;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &counters));
  return counters;
}

TEST(RunCountersTest, AddUpByOpAndByStep) {
  v1::RunCounters sum = Counters(R"(
    kernel_launches: 2 bytes_gathered: 8
    ops { op: "tanh" launches: 1 elements: 10 }
    steps { function: "f" iterations: 10 chunk: 5 threads: 2 arena_bytes: 64 })");
  AddCounters(Counters(R"(
    kernel_launches: 3 bytes_gathered: 4
    ops { op: "add" launches: 1 elements: 7 }
    ops { op: "tanh" launches: 2 elements: 20 }
    steps { function: "f" iterations: 11 chunk: 6 threads: 1 arena_bytes: 32 }
    steps { function: "g" iterations: 1 })"),
              &sum);
  EXPECT_EQ(sum.DebugString(), Counters(R"(
    kernel_launches: 5 bytes_gathered: 12
    ops { op: "add" launches: 1 elements: 7 }
    ops { op: "tanh" launches: 3 elements: 30 }
    steps { function: "f" iterations: 21 chunk: 6 threads: 2 arena_bytes: 64 }
    steps { function: "g" iterations: 1 })")
                                   .DebugString());
}

TEST(RunCountersTest, StopAtTheLargestNumber) {
  v1::RunCounters sum;
  v1::RunCounters many;
  many.set_chunks(std::numeric_limits<int64_t>::max());
  v1::OpCount* op = many.add_ops();
  op->set_op("add");
  op->set_elements(std::numeric_limits<int64_t>::max());
  AddCounters(many, &sum);
  AddCounters(many, &sum);
  EXPECT_EQ(sum.chunks(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(sum.ops(0).elements(), std::numeric_limits<int64_t>::max());
}

}  // namespace
}  // namespace weir
