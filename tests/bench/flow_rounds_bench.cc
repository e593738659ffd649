// A client that times epochs of a flow, one after the other: records go into its input `in`, and an
// epoch is over when the client knows that output `out` is complete. Loops in the flow make one
// epoch many rounds.
//
//   flow_rounds_bench CLUSTER FLOW.txt RECORDS EPOCHS [stay]
//
// With `stay` the flow stays deployed. CLUSTER is HOST:PORT, or a number of workers in this
// process. `in` takes i64[]; each epoch has RECORDS records for each worker, whose keys belong to
// it. Prints the 10th, 50th and 90th percentile of an epoch in microseconds.
#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

#include "absl/time/clock.h"
#include "client/api/deployed_flow.h"
#include "common/flow/record_rows.h"
#include "tests/bench/bench_session.h"

namespace weir {
namespace {

constexpr absl::Duration kLimit = absl::Minutes(5);

// So many keys for each worker, in one column.
Tensor KeysOfAll(int workers, int64_t each) {
  std::vector<int64_t> keys;
  std::vector<int64_t> left(static_cast<size_t>(workers), each);
  for (int64_t key = 0; static_cast<int64_t>(keys.size()) < workers * each; ++key) {
    Tensor column(DType::kI64, {1});
    column.mutable_data<int64_t>()[0] = key;
    const RecordBatch batch = MakeBatch({column});
    const uint64_t hash = RecordRows(batch, 1).Hash(0);
    if (--left[static_cast<size_t>(WorkerOfGroup(KeyGroupOf(hash), workers))] >= 0) {
      keys.push_back(key);
    }
  }
  Tensor column(DType::kI64, {static_cast<int64_t>(keys.size())});
  std::copy(keys.begin(), keys.end(), column.mutable_data<int64_t>());
  return column;
}

// One epoch; returns how long it took.
absl::Duration RunEpoch(DeployedFlow* flow, int64_t epoch, const Tensor& keys) {
  const absl::Time begin = absl::Now();
  const absl::Time deadline = begin + kLimit;
  if (keys.num_elements() > 0) OrDie(flow->Send("in", epoch, {keys}, deadline));
  OrDie(flow->Advance("in", epoch + 1));
  OrDie(flow->AwaitComplete("out", epoch, deadline));
  return absl::Now() - begin;
}

int Main(int argc, char** argv) {
  const bool stays = argc == 6 && std::string_view(argv[5]) == "stay";
  if (argc != 5 && !stays) {
    std::fprintf(stderr, "usage: flow_rounds_bench CLUSTER FLOW.txt RECORDS EPOCHS [stay]\n");
    return 2;
  }
  const std::shared_ptr<Session> session = SessionWith(argv[1]);
  const int workers = static_cast<int>(OrDie(session->Workers()).size());
  const Tensor keys = KeysOfAll(workers, std::strtol(argv[3], nullptr, 10));
  const int64_t epochs = std::max(1L, std::strtol(argv[4], nullptr, 10));
  const std::unique_ptr<DeployedFlow> flow = DeployFrom(session, argv[2]);
  const int64_t warm = std::min<int64_t>(epochs, 1 + epochs / 10);
  std::vector<double> micros;
  for (int64_t epoch = 0; epoch < warm + epochs; ++epoch) {
    const absl::Duration took = RunEpoch(flow.get(), epoch, keys);
    if (epoch >= warm) micros.push_back(absl::ToDoubleMicroseconds(took));
  }
  std::sort(micros.begin(), micros.end());
  const auto at = [&](double part) {
    return micros[static_cast<size_t>(part * static_cast<double>(micros.size() - 1))];
  };
  std::printf("%.2f %.2f %.2f\n", at(0.1), at(0.5), at(0.9));
  if (!stays) OrDie(flow->Cancel());
  return 0;
}

}  // namespace
}  // namespace weir

int main(int argc, char** argv) { return weir::Main(argc, argv); }
