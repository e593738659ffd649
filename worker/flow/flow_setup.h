// What a worker is told of a flow that it takes part in, checked. Made by FlowTable from
// DeployFlow, or by hand in tests. A value; thread-compatible.
#ifndef WEIR_WORKER_FLOW_FLOW_SETUP_H_
#define WEIR_WORKER_FLOW_FLOW_SETUP_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/flow/flow.h"
#include "common/flow/record_function.h"
#include "common/timely/topology.h"
#include "weir/v1/cluster.pb.h"
#include "weir/v1/progress.pb.h"
#include "worker/flow/files/data_directories.h"
#include "worker/flow/memory/flow_memory.h"

namespace weir {

struct FlowSetup {
  uint64_t job = 0;
  uint64_t generation = 0;
  int rank = 0;
  std::vector<v1::Peer> peers;  // by rank, this worker included
  std::shared_ptr<const Flow> flow;
  std::shared_ptr<const Topology> topology;  // of GraphOf(*flow)
  std::map<std::string, std::shared_ptr<const RecordFunction>, std::less<>> functions;  // by name
  v1::ProgressGrants grants;
  DataDirectories data;  // what vertices may read and write
  // Set once the flow is stopped: functions under way end early.
  std::shared_ptr<std::atomic<bool>> cancelled = std::make_shared<std::atomic<bool>>(false);
  // What the flow keeps counts there; null: nobody counts.
  std::shared_ptr<FlowShare> memory;
  // Bytes under way on one channel, or waiting behind it, before who sends has to wait.
  int64_t channel_bytes = int64_t{4} << 20;

  // `share` counts what the flow keeps; channels take a small part of it.
  void UseMemory(std::shared_ptr<FlowShare> share) {
    constexpr int64_t kLeastChannel = int64_t{64} << 10;
    channel_bytes = std::min(channel_bytes, std::max(share->budget() / 32, kLeastChannel));
    memory = std::move(share);
  }

  int workers() const { return static_cast<int>(peers.size()); }
};

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_FLOW_SETUP_H_
