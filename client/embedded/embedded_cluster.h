// A whole cluster in this process: a coordinator and workers over in-process links. What `weir run`
// uses when no server is named, and what `weir dev` serves. Thread-safe.
#ifndef WEIR_CLIENT_EMBEDDED_EMBEDDED_CLUSTER_H_
#define WEIR_CLIENT_EMBEDDED_EMBEDDED_CLUSTER_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "client/api/session.h"
#include "client/embedded/direct_calls.h"
#include "common/net/inproc_link.h"
#include "server/flows/flow_batchers.h"
#include "server/jobs/coordinator.h"
#include "worker/flow/files/data_directories.h"
#include "worker/service/worker_service.h"

namespace weir {

struct EmbeddedOptions {
  int workers = 2;
  int threads_per_worker = 1;
  // Null: jobs are forgotten at the end.
  std::unique_ptr<Journal> journal;
  // Files that flows read and write: by default all that this process may.
  DataDirectories data = DataDirectories::All();
};

class EmbeddedCluster {
 public:
  // Returns once all workers have registered.
  static absl::StatusOr<std::unique_ptr<EmbeddedCluster>> Start(EmbeddedOptions options);
  ~EmbeddedCluster();

  Coordinator* coordinator() { return coordinator_.get(); }
  DirectCalls* direct_calls() { return direct_calls_.get(); }
  FlowBatchers* flow_batchers() { return flow_batchers_.get(); }
  // Of the workers and their network.
  EventLoop* loop() { return loop_.get(); }

 private:
  EmbeddedCluster() = default;

  std::shared_ptr<EventLoop> loop_;
  std::unique_ptr<InprocNetwork> network_;
  std::unique_ptr<Coordinator> coordinator_;
  std::unique_ptr<Listener> listener_;
  std::vector<std::unique_ptr<WorkerService>> workers_;
  std::unique_ptr<FlowBatchers> flow_batchers_;
  std::unique_ptr<DirectCalls> direct_calls_;
};

// A session with a cluster of its own.
absl::StatusOr<std::unique_ptr<Session>> StartEmbedded(EmbeddedOptions options);

}  // namespace weir

#endif  // WEIR_CLIENT_EMBEDDED_EMBEDDED_CLUSTER_H_
