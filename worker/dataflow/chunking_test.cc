// Chunks within a memory budget: what is chosen, and that arenas keep to it.
#include "worker/dataflow/chunking.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "common/base/status.h"
#include "common/ir/text.h"
#include "common/ops/registry.h"

namespace weir {
namespace {

// Two buffers of 4000 bytes an iteration, and rows that run a product of their own.
constexpr char kText[] = R"(
    func @f(%first: i64[], %x: f32[m,1000], %which: i32[m]) -> (f32[m]) {
      %a = sin(%x)
      %b = reverse(%a) {axes = [1]}
      %c = multiply(%a, %b)
      %out = case_rows(%which, %c) {local = "k", operands = [0, 1]} () {
        %zero = constant {value = f32[] {0}}
        %zeros = broadcast_in_dim(%zero) {axes = [], shape = (k)}
        yield %zeros
      } (%p: f32[k,1000]) {
        %q = reverse(%p) {axes = [1]}
        %r = dot_general(%p, %q) {lhs_batch = [0], lhs_contract = [1], rhs_batch = [0],
            rhs_contract = [1]}
        yield %r
      }
      return %out
    })";

class ChunkingTest : public testing::Test {
 protected:
  ChunkingRequest RequestFor(int64_t iterations, int threads, int64_t budget) {
    return {.executable = executable_.get(),
            .function = "f",
            .symbols = &none_,
            .local = "m",
            .iterations = iterations,
            .threads = threads,
            .budget = budget,
            .detail = ChunkingDetail::kPredictions};
  }

  absl::StatusOr<Chunking> Choose(int64_t iterations, int threads, int64_t budget) {
    return ChooseChunking(RequestFor(iterations, threads, budget));
  }

  int64_t DemandOf(int64_t iterations) { return *executable_->ArenaDemand({{"m", iterations}}); }

  // Returns: the bytes of arena that a chunk really took.
  int64_t Run(int64_t iterations, int64_t limit) {
    Tensor which = Tensor::Zeros(DType::kI32, {iterations});
    for (int64_t i = 0; i < iterations; ++i) which.mutable_data<int32_t>()[i] = i % 3 == 0;
    const std::vector<Tensor> inputs = {Tensor::Scalar<int64_t>(0),
                                        Tensor::Zeros(DType::kF32, {iterations, 1000}), which};
    std::vector<Tensor> outputs(1);
    Workspace workspace;
    workspace.LimitArenas(limit);
    RunStats stats;
    const absl::Status status =
        executable_->Run({{"m", iterations}}, inputs, absl::MakeSpan(outputs), &workspace, &stats);
    EXPECT_TRUE(status.ok()) << status;
    return stats.arena_bytes;
  }

  const SymbolBindings none_;
  const std::unique_ptr<Executable> executable_ =
      *Executable::Create(std::make_shared<const Graph>(*Parse(kText, Ops())), "f");
};

TEST_F(ChunkingTest, WithoutABudgetTheCacheDecides) {
  const Chunking chosen = *Choose(10000, 4, 0);
  EXPECT_EQ(chosen.chunk % 48, 0);
  EXPECT_EQ(chosen.threads, 4);
  EXPECT_EQ(chosen.thread_budget, 0);
  EXPECT_EQ(Choose(5, 4, 0)->chunk, 5);
}

TEST_F(ChunkingTest, FewIterationsThatTakeLongAreSharedByThreads) {
  EXPECT_EQ(Choose(16, 2, 0)->threads, 1);
  ChunkingRequest request = RequestFor(16, 2, 0);
  request.block = kSmallChunkBlock;
  EXPECT_EQ(ChooseChunking(request)->chunk, 8);
  EXPECT_EQ(ChooseChunking(request)->threads, 2);
  request.iterations = 100;
  EXPECT_EQ(ChooseChunking(request)->chunk, 56);
  request.iterations = 5;
  EXPECT_EQ(ChooseChunking(request)->chunk, 5);
}

TEST_F(ChunkingTest, ArenasKeepToTheBudget) {
  for (int64_t budget :
       {DemandOf(1), DemandOf(1) * 3, DemandOf(7) * 4, DemandOf(500), DemandOf(100'000)}) {
    for (int threads : {1, 4}) {
      for (int64_t iterations : {1, 10, 10'000}) {
        const Chunking chosen = *Choose(iterations, threads, budget);
        EXPECT_GE(chosen.chunk, 1);
        EXPECT_LE(chosen.chunk, iterations);
        EXPECT_LE(chosen.threads, threads);
        EXPECT_LE(chosen.predicted_bytes, budget);
        EXPECT_LE(Run(chosen.chunk, chosen.thread_budget) * chosen.threads, budget);
      }
    }
  }
}

TEST_F(ChunkingTest, AMemoGivesWhatWouldBeChosen) {
  ChunkingMemo memo;
  for (int round = 0; round < 3; ++round) {
    for (int64_t iterations = 1; iterations <= 12; ++iterations) {
      for (int64_t budget : {int64_t{0}, DemandOf(3)}) {
        const ChunkingRequest request = RequestFor(iterations, 2, budget);
        const Chunking chosen = *memo.Choose(request);
        const Chunking want = *ChooseChunking(request);
        EXPECT_EQ(chosen.chunk, want.chunk);
        EXPECT_EQ(chosen.threads, want.threads);
        EXPECT_EQ(chosen.predicted_bytes, want.predicted_bytes);
        EXPECT_EQ(chosen.thread_budget, want.thread_budget);
      }
    }
  }
}

TEST_F(ChunkingTest, OneIterationThatDoesNotFitIsAnErrorThatSaysWhatToDo) {
  const int64_t needed = DemandOf(1);
  const absl::Status status = Choose(10, 2, needed - 1).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ToStd(status.message()),
            StrCat("step f needs ", needed,
                   " bytes of memory for one iteration, but the memory "
                   "budget is ",
                   needed - 1, " bytes: give a memory budget of at least ", needed,
                   " bytes, or make what one iteration computes smaller"));
}

TEST_F(ChunkingTest, AWorkspaceRefusesMoreThanItsLimit) {
  const std::vector<Tensor> inputs = {Tensor::Scalar<int64_t>(0),
                                      Tensor::Zeros(DType::kF32, {64, 1000}),
                                      Tensor::Zeros(DType::kI32, {64})};
  std::vector<Tensor> outputs(1);
  Workspace workspace;
  workspace.LimitArenas(4096);
  RunStats stats;
  const absl::Status status =
      executable_->Run({{"m", 64}}, inputs, absl::MakeSpan(outputs), &workspace, &stats);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
}

}  // namespace
}  // namespace weir
