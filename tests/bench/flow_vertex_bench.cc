// How many records per second one vertex of a flow takes on one core, from frames that arrive to
// frames that go out.
//
//   flow_vertex_bench [--benchmark_filter=...]
//
// Each line is one complete time: 1 Mi records come in frames of 64 Ki, then the time is complete
// and all that comes out is taken. items_per_second counts records of all inputs. BM_Copy copies
// the records of the first lines once (keys, values, origins), BM_RandomSum adds them to sums at
// random places of a table without asking where: what memory would allow.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "common/flow/flow_text.h"
#include "worker/flow/frame_bounds.h"
#include "worker/flow/vertex.h"

namespace weir {
namespace {

constexpr int64_t kRecords = 1 << 20;

Flow FlowOf(const std::string& vertex) {
  auto flow = ParseFlow(
      "func @zero() -> (i64[]) { %zero = constant {value = i64[] {0}} return %zero }\n"
      "func @add(%a: i64[], %b: i64[]) -> (i64[]) { %c = add(%a, %b) return %c }\n"
      "flow @bench {\n%a = input() {types = [\"i64[]\", \"i64[]\"]}\n"
      "%b = input() {types = [\"i64[]\", \"i64[]\"]}\n"
      "%f = input() {types = [\"i64[]\", \"f32[]\"]}\n%tested = " +
      vertex + "\n%out = output(%tested)\n}");
  if (!flow.ok()) std::fprintf(stderr, "%s\n", flow.status().ToString().c_str());
  return *std::move(flow);
}

enum class Keys { kRandom, kEachOnce };

// Random keys below `keys`, or each of them once, in no order.
Tensor KeysOf(int64_t keys, Keys which, uint64_t seed) {
  std::mt19937_64 random(seed);
  Tensor column(DType::kI64, {kRecords});
  int64_t* key = column.mutable_data<int64_t>();
  for (int64_t i = 0; i < kRecords; ++i) {
    key[i] = which == Keys::kEachOnce ? i : static_cast<int64_t>(random() % keys);
  }
  if (which == Keys::kEachOnce) std::shuffle(key, key + kRecords, random);
  // Not next to one another, as numbers of users are not.
  for (int64_t i = 0; i < kRecords; ++i) key[i] *= 1'000'003;
  return column;
}

template <class T>
Tensor ValuesOf() {
  Tensor column(kDTypeOf<T>, {kRecords});
  for (int64_t i = 0; i < kRecords; ++i) column.mutable_data<T>()[i] = static_cast<T>(i % 1000);
  return column;
}

std::vector<RecordBatch> FramesOf(std::vector<Tensor> columns) {
  const RecordBatch all = MakeBatch(std::move(columns));
  std::vector<RecordBatch> frames;
  std::vector<int64_t> rows(kMaxFrameRecords);
  for (int64_t begin = 0; begin < all.size(); begin += kMaxFrameRecords) {
    std::iota(rows.begin(), rows.end(), begin);
    frames.push_back(SelectRows(all, rows));  // each in memory of its own, as from a link
  }
  return frames;
}

// The two functions by hand, so that a line shows what is around them.
class Zero : public RecordFunction {
  absl::StatusOr<std::vector<Tensor>> Call(absl::Span<const Tensor>,
                                           int64_t records) const override {
    return std::vector<Tensor>{Tensor::Zeros(DType::kI64, {records})};
  }
};
class Add : public RecordFunction {
  absl::StatusOr<std::vector<Tensor>> Call(absl::Span<const Tensor> columns,
                                           int64_t records) const override {
    Tensor sums(DType::kI64, {records});
    const int64_t* a = columns[0].data<int64_t>();
    const int64_t* b = columns[1].data<int64_t>();
    std::transform(a, a + records, b, sums.mutable_data<int64_t>(), std::plus<>());
    return std::vector<Tensor>{std::move(sums)};
  }
};

// One time from its frames (by input) to all that comes out.
void RunTime(benchmark::State& state, const std::string& form,
             const std::vector<std::vector<RecordBatch>>& inputs) {
  const Flow flow = FlowOf(form);
  VertexSetup setup = {.flow = &flow, .id = flow.FindVertex("tested")};
  setup.functions = {{"init", std::make_shared<Zero>()}, {"assign", std::make_shared<Add>()}};
  const auto vertex = MakeVertex(setup);
  int64_t epoch = 0;
  int64_t taken = 0;
  int64_t out = 0;
  int64_t most_bytes = 0;
  for (auto _ : state) {
    const Timestamp time = {epoch++};
    for (size_t input = 0; input < inputs.size(); ++input) {
      for (const RecordBatch& frame : inputs[input]) {
        VertexActivation activation(time);
        if (!(*vertex)->OnFrame(static_cast<int>(input), frame, &activation).ok()) std::abort();
        taken += frame.size();
      }
    }
    for (bool more = true; more;) {
      VertexActivation activation(time);
      if (!(*vertex)->OnNotify(&activation).ok()) std::abort();
      for (const VertexActivation::Sent& sent : activation.sent()) out += sent.batch.size();
      most_bytes = std::max(most_bytes, (*vertex)->state_bytes());
      more = activation.continues();
    }
  }
  state.SetItemsProcessed(taken);
  state.counters["out"] = static_cast<double>(out) / static_cast<double>(state.iterations());
  state.counters["state_MB"] = static_cast<double>(most_bytes) / 1e6;
}

void BM_SumByKey(benchmark::State& state) {
  RunTime(state, "reduce_by_key(%a) {keys = 1, combine = \"sum\"}",
          {FramesOf({KeysOf(state.range(0), Keys::kRandom, 1), ValuesOf<int64_t>()})});
}
BENCHMARK(BM_SumByKey)->Arg(1'000)->Arg(100'000)->Arg(1'000'000);

void BM_SumOfFloatsByKey(benchmark::State& state) {
  RunTime(state, "reduce_by_key(%f) {keys = 1, combine = \"sum\"}",
          {FramesOf({KeysOf(state.range(0), Keys::kRandom, 1), ValuesOf<float>()})});
}
BENCHMARK(BM_SumOfFloatsByKey)->Arg(1'000)->Arg(1'000'000);

// The frames do not come in the order of their records.
void BM_SumOfFloatsOutOfOrder(benchmark::State& state) {
  auto frames = FramesOf({KeysOf(state.range(0), Keys::kRandom, 1), ValuesOf<float>()});
  std::reverse(frames.begin(), frames.end());
  RunTime(state, "reduce_by_key(%f) {keys = 1, combine = \"sum\"}", {frames});
}
BENCHMARK(BM_SumOfFloatsOutOfOrder)->Arg(1'000);

// State that lives as long as the job, with the changes of all keys.
void BM_ChangesOfSums(benchmark::State& state) {
  RunTime(state,
          "reduce_by_key(%a) {keys = 1, combine = \"sum\", state = \"job\", emit = \"changes\"}",
          {FramesOf({KeysOf(state.range(0), Keys::kRandom, 1), ValuesOf<int64_t>()})});
}
BENCHMARK(BM_ChangesOfSums)->Arg(1'000)->Arg(100'000);

void BM_Count(benchmark::State& state) {
  RunTime(state, "count(%a) {keys = 1}",
          {FramesOf({KeysOf(state.range(0), Keys::kRandom, 1), ValuesOf<int64_t>()})});
}
BENCHMARK(BM_Count)->Arg(100'000);

void BM_Distinct(benchmark::State& state) {
  const Tensor keys = KeysOf(state.range(0), Keys::kRandom, 1);
  RunTime(state, "distinct(%a)", {FramesOf({keys, keys})});
}
BENCHMARK(BM_Distinct)->Arg(1'000)->Arg(100'000)->Arg(1'000'000);

// 1 Mi records on each side, each key once.
void BM_Join(benchmark::State& state) {
  RunTime(state, "join(%a, %b) {keys = 1}",
          {FramesOf({KeysOf(kRecords, Keys::kEachOnce, 1), ValuesOf<int64_t>()}),
           FramesOf({KeysOf(kRecords, Keys::kEachOnce, 2), ValuesOf<int64_t>()})});
}
BENCHMARK(BM_Join);

void BM_Semijoin(benchmark::State& state) {
  RunTime(state, "semijoin(%a, %b) {keys = 1}",
          {FramesOf({KeysOf(kRecords, Keys::kEachOnce, 1), ValuesOf<int64_t>()}),
           FramesOf({KeysOf(1'000, Keys::kRandom, 2), ValuesOf<int64_t>()})});
}
BENCHMARK(BM_Semijoin);

void BM_TopK(benchmark::State& state) {
  RunTime(
      state, "top_k(%a) {keys = 1, k = 10, by = 1}",
      {FramesOf({KeysOf(state.range(0), Keys::kRandom, 1), KeysOf(kRecords, Keys::kEachOnce, 2)})});
}
BENCHMARK(BM_TopK)->Arg(1'000);

// Reads alone (of keys of which some were assigned to), updates alone, as many of both.
constexpr char kVariable[] = "variable(%a, %b) {keys = 1, init = \"zero\", assign = \"add\"}";

void BM_ReadVariable(benchmark::State& state) {
  RunTime(state, kVariable,
          {FramesOf({KeysOf(2 * state.range(0), Keys::kRandom, 1), ValuesOf<int64_t>()}),
           {MakeBatch({KeysOf(state.range(0), Keys::kRandom, 2).Rows(0, 1'000).Contiguous(),
                       ValuesOf<int64_t>().Rows(0, 1'000).Contiguous()})}});
}
BENCHMARK(BM_ReadVariable)->Arg(1'000);

void BM_UpdateVariable(benchmark::State& state) {
  RunTime(state, kVariable,
          {{}, FramesOf({KeysOf(state.range(0), Keys::kRandom, 1), ValuesOf<int64_t>()})});
}
BENCHMARK(BM_UpdateVariable)->Arg(1)->Arg(1'000)->Arg(100'000);

void BM_ReadAndUpdateVariable(benchmark::State& state) {
  RunTime(state, kVariable,
          {FramesOf({KeysOf(state.range(0), Keys::kRandom, 2), ValuesOf<int64_t>()}),
           FramesOf({KeysOf(state.range(0), Keys::kRandom, 1), ValuesOf<int64_t>()})});
}
BENCHMARK(BM_ReadAndUpdateVariable)->Arg(1'000)->Arg(100'000);

void BM_Collect(benchmark::State& state) {
  RunTime(state, "collect(%a)", {FramesOf({KeysOf(1'000, Keys::kRandom, 1), ValuesOf<int64_t>()})});
}
BENCHMARK(BM_Collect);

// Keys, values and origins, read and written once.
void BM_Copy(benchmark::State& state) {
  const Tensor from = Tensor::Zeros(DType::kI64, {3, kRecords});
  Tensor to = from.Clone();
  for (auto _ : state) {
    std::memcpy(to.raw_mutable_data(), from.raw_data(), from.num_bytes());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kRecords);
  state.SetBytesProcessed(state.iterations() * 2 * from.num_bytes());
}
BENCHMARK(BM_Copy);

// The least that a sum by key can do: one number at a random place is read and written.
void BM_RandomSum(benchmark::State& state) {
  const Tensor keys = KeysOf(state.range(0), Keys::kRandom, 1);
  const Tensor values = ValuesOf<int64_t>();
  std::vector<uint32_t> places(kRecords);
  for (int64_t i = 0; i < kRecords; ++i) {
    places[i] = static_cast<uint32_t>(keys.data<int64_t>()[i] / 1'000'003);
  }
  std::vector<int64_t> sums(state.range(0));
  for (auto _ : state) {
    const int64_t* value = values.data<int64_t>();
    for (int64_t i = 0; i < kRecords; ++i) sums[places[i]] += value[i];
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kRecords);
}
BENCHMARK(BM_RandomSum)->Arg(1'000)->Arg(100'000)->Arg(1'000'000);

}  // namespace
}  // namespace weir

BENCHMARK_MAIN();
