// A worker in operation: its event loop, compute threads and connections around a WorkerCore. Owned
// by the program that runs it (weir-worker, or the embedded cluster); the public methods may be
// called from any thread.
//
//   WorkerService worker({.name = "w1", .threads = 2, .coordinator_address = "host:7077"},
//   transports); worker.Start();
//   ...
//   worker.Drain(absl::Seconds(30));
#ifndef WEIR_WORKER_SERVICE_WORKER_SERVICE_H_
#define WEIR_WORKER_SERVICE_WORKER_SERVICE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/net/event_loop.h"
#include "common/net/link.h"
#include "worker/flow/files/data_directories.h"

namespace weir {

// How a worker reaches others. The dialers outlive the worker.
struct WorkerTransports {
  // Where the worker does all but compute; null makes a thread for it. Workers of one process may
  // share a loop with each other and with their network, which saves a switch of threads a message.
  std::shared_ptr<EventLoop> loop;
  Dialer* coordinator = nullptr;
  Dialer* peers = nullptr;
  // Opens the data port.
  std::function<absl::StatusOr<std::unique_ptr<Listener>>(LinkOptions options, OnAccept on_accept)>
      listen;
  // Returns: what others dial, given the address that the listener bound.
  std::function<std::string(const std::string& bound)> advertise = [](const std::string& bound) {
    return bound;
  };
};

struct Program;
class ComputePool;
class FlowMemory;
class ValueStore;

struct WorkerOptions {
  std::string name;
  int threads = 1;
  std::vector<int> cpus;  // that compute threads stay on; empty: any that the process may use
  std::string coordinator_address;
  // Bytes that the arenas of a run may take together; a job may ask for less. 0: any.
  int64_t memory_budget = 0;
  // Files that flows read and write here; none by default.
  DataDirectories data;
  // What flows may keep; workers of one process may share it. Null: made with its defaults.
  std::shared_ptr<FlowMemory> flow_memory;
};

struct WorkerStatus {
  bool registered = false;
  std::string last_error;  // of the connection to the coordinator
  uint64_t worker_id = 0;  // that the coordinator gave it; 0 unless registered
};

class WorkerService {
 public:
  WorkerService(WorkerOptions options, WorkerTransports transports);
  // Ends everything at once.
  ~WorkerService();

  // Opens the data port and begins to dial the coordinator, again and again until it answers.
  absl::Status Start();
  // Tells the coordinator, lets runs end, and returns when they have or after `limit`.
  absl::Status Drain(absl::Duration limit);
  WorkerStatus status() const;
  // The program that a coordinator knows by this number. Returns: null if it is not loaded or not
  // ready. Waits for the event loop: not for threads of it.
  std::shared_ptr<Program> FindProgram(uint64_t id) const;
  // Of the variables that it owns.
  const std::shared_ptr<ValueStore>& values() const;
  // Its compute threads, for whoever runs programs of this worker himself. Lives as long as this.
  ComputePool* compute_threads() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace weir

#endif  // WEIR_WORKER_SERVICE_WORKER_SERVICE_H_
