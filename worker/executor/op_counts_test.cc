// What runs count by op: in fused groups, branches and loops that run for some rows, and gathers.
#include "worker/executor/op_counts.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "common/base/status.h"
#include "common/ir/text.h"
#include "common/ops/registry.h"
#include "worker/executor/allocation_count.h"
#include "worker/executor/executable.h"

namespace weir {
namespace {

OpCounts CountsOf(std::string_view text, const SymbolBindings& symbols,
                  const std::vector<Tensor>& inputs) {
  auto graph = std::make_shared<const Graph>(*Parse(text, Ops()));
  auto executable = *Executable::Create(graph, "main");
  std::vector<Tensor> outputs(graph->region(graph->entry().body).results.size());
  Workspace workspace;
  OpCounts counts;
  RunStats stats;
  stats.ops = &counts;
  const absl::Status status =
      executable->Run(symbols, inputs, absl::MakeSpan(outputs), &workspace, &stats);
  EXPECT_TRUE(status.ok()) << status;
  return counts;
}

TEST(OpCountsTest, EachOpOfAGroupCountsItsElements) {
  const OpCounts counts = CountsOf(R"(
    func @main(%x: f32[n,3]) -> (f32[n,3]) {
      %a = add(%x, %x)
      %b = multiply(%a, %x)
      %c = add(%b, %a)
      return %c
    })",
                                   {{"n", 10}}, {Tensor::Zeros(DType::kF32, {10, 3})});
  EXPECT_EQ(counts.of("add").elements, 60);
  EXPECT_EQ(counts.of("add").launches, 1);
  EXPECT_EQ(counts.of("multiply").elements, 30);
  EXPECT_EQ(counts.of("multiply").launches, 1);
  EXPECT_EQ(counts.of("subtract").launches, 0);
}

TEST(OpCountsTest, TimesOfOpsAddUpAndLoopsHaveWhatTheirBodiesDidNotTake) {
  const OpCounts counts =
      CountsOf(R"(
    func @main(%trips: i64[], %x: f32[n,64], %w: f32[64,64]) -> (f32[n,64]) {
      %out, %same = for(%trips, %x, %w) (%i: i64[], %c: f32[n,64], %m: f32[64,64]) {
        %d = dot_general(%c, %m) {lhs_batch = [], lhs_contract = [1], rhs_batch = [],
                                  rhs_contract = [0]}
        yield %d, %m
      }
      return %out
    })",
               {{"n", 100}},
               {Tensor::Of<int64_t>({}, {3}), Tensor::Zeros(DType::kF32, {100, 64}),
                Tensor::Zeros(DType::kF32, {64, 64})});
  EXPECT_EQ(counts.of("dot_general").launches, 3);
  EXPECT_GT(counts.of("dot_general").ns, 0);
  EXPECT_GT(counts.of("for").ns, 0);
  EXPECT_EQ(counts.ns(), counts.of("dot_general").ns + counts.of("for").ns);
}

TEST(OpCountsTest, ABranchComputesItsOwnRows) {
  Tensor which = Tensor::Zeros(DType::kI32, {100});
  which.mutable_data<int32_t>()[37] = 1;
  const OpCounts counts = CountsOf(
      R"(
    func @main(%which: i32[n], %x: f32[n,4], %w: f32[4,8]) -> (f32[n,8]) {
      %out = case_rows(%which, %x) {local = "k", operands = [0, 1]} () {
        %zero = constant {value = f32[] {0}}
        %zeros = broadcast_in_dim(%zero) {axes = [], shape = (k, 8)}
        yield %zeros
      } (%c: f32[k,4]) {
        %d = dot_general(%c, %w) {lhs_batch = [], lhs_contract = [1], rhs_batch = [],
            rhs_contract = [0]}
        yield %d
      }
      return %out
    })",
      {{"n", 100}},
      {which, Tensor::Zeros(DType::kF32, {100, 4}), Tensor::Zeros(DType::kF32, {4, 8})});
  EXPECT_EQ(counts.of("dot_general").elements, 8);
  EXPECT_EQ(counts.of("dot_general").launches, 1);
  // The operand of one row, and the results of all.
  EXPECT_EQ(counts.bytes_gathered(), 4 * 4 + 100 * 8 * 4);
}

constexpr char kOwnTrips[] = R"(
    func @main(%trips: i64[n], %x: f32[n]) -> (f32[n]) {
      %zero = constant {value = i64[] {0}}
      %one = constant {value = i64[] {1}}
      %ran, %out = while_rows(%zero, %x, %trips) {carried = 1, extent = (n), local = "k",
          shared = 1} (%i: i64[], %v: f32[k], %t: i64[k]) {
        %is = broadcast_in_dim(%i) {axes = [], shape = (k)}
        %more = less(%is, %t)
        yield %more
      } (%i: i64[], %v: f32[k], %t: i64[k]) {
        %next = add(%i, %one)
        %w = sin(%v)
        yield %next, %w
      }
      return %out
    })";

TEST(OpCountsTest, ALoopComputesAsManyElementsAsTrips) {
  const OpCounts counts =
      CountsOf(kOwnTrips, {{"n", 4}},
               {Tensor::Of<int64_t>({4}, {4, 0, 2, 7}), Tensor::Zeros(DType::kF32, {4})});
  EXPECT_EQ(counts.of("sin").elements, 13);
  EXPECT_EQ(counts.of("sin").launches, 7);
}

TEST(OpCountsTest, GathersAndScattersCountTheirBytes) {
  const OpCounts counts = CountsOf(
      R"(
    func @main(%x: f32[n], %i: i64[3,1]) -> (f32[3]) {
      %out = gather(%x, %i) {collapsed_slice_dims = [0], index_vector_dim = 1, offset_dims = [],
          operand_batching_dims = [], slice_sizes = (1), start_index_map = [0],
          start_indices_batching_dims = []}
      return %out
    })",
      {{"n", 100}}, {Tensor::Zeros(DType::kF32, {100}), Tensor::Of<int64_t>({3, 1}, {5, 6, 7})});
  EXPECT_EQ(counts.bytes_gathered(), 12);
  EXPECT_EQ(counts.of("gather").elements, 3);
}

TEST(OpCountsTest, CountingAllocatesNothing) {
  auto graph = std::make_shared<const Graph>(*Parse(kOwnTrips, Ops()));
  auto executable = *Executable::Create(graph, "main");
  const std::vector<Tensor> inputs = {Tensor::Of<int64_t>({4}, {4, 0, 2, 7}),
                                      Tensor::Zeros(DType::kF32, {4})};
  std::vector<Tensor> outputs(1);
  Workspace workspace;
  OpCounts counts;
  RunStats stats;
  stats.ops = &counts;
  const SymbolBindings symbols = {{"n", 4}};
  auto run = [&] {
    return executable->Run(symbols, inputs, absl::MakeSpan(outputs), &workspace, &stats);
  };
  ASSERT_TRUE(run().ok());
  const int64_t before = AllocationsOnThisThread();
  ASSERT_TRUE(run().ok());
  const int64_t counting = AllocationsOnThisThread() - before;
  stats.ops = nullptr;
  ASSERT_TRUE(run().ok());
  EXPECT_EQ(counting, AllocationsOnThisThread() - before - counting);
  EXPECT_EQ(counts.of("sin").elements, 26);
}

}  // namespace
}  // namespace weir
