// The job that the benchmarks of progress tracking run: one source, a chain with frames and a chain
// without, on a thousand workers.
#ifndef WEIR_TESTS_BENCH_CHAIN_JOB_H_
#define WEIR_TESTS_BENCH_CHAIN_JOB_H_

#include <memory>
#include <utility>
#include <vector>

#include "common/timely/topology.h"

namespace weir {

struct ChainJob {
  static constexpr int kWorkers = 1000;
  static constexpr int kBusy = 90;  // vertices that frames go through
  static constexpr int kIdle = 9;   // and those beside them
  static constexpr int kPerWorker = 9;

  ChainJob() {
    LogicalGraph graph;
    source = graph.AddSource("source");
    Port last = {source, 0};
    for (int i = 0; i < kBusy + kIdle; ++i) {
      if (i == kBusy) last = {source, 0};
      chain.push_back(graph.AddVertex("vertex", LogicalGraph::kRoot, 1, 1));
      graph.Connect(last, {chain.back(), 0});
      last = {chain.back(), 0};
    }
    topology = *Topology::Of(std::move(graph));
  }

  LocationId out() const { return topology->output(source, 0); }
  LocationId in(int i) const { return topology->input(chain[i], 0); }

  VertexId source;
  std::vector<VertexId> chain;
  std::shared_ptr<const Topology> topology;
};

}  // namespace weir

#endif  // WEIR_TESTS_BENCH_CHAIN_JOB_H_
