// The flows of a worker: hands messages to them, gives each its turn, and ends them. Owned by the
// WorkerCore; used on the worker's event loop only.
//
// Turns are short: each flow in turn begins one call; a call that takes some microseconds runs at
// once, a longer one on a compute thread, of which a flow has only so many at a time. After a while
// the event loop has other work to do before the next turn.
#ifndef WEIR_WORKER_FLOW_FLOW_TABLE_H_
#define WEIR_WORKER_FLOW_FLOW_TABLE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "weir/v1/worker.pb.h"
#include "worker/flow/flow_job.h"

namespace weir {

class FlowTableOutbox : public FlowOutbox {
 public:
  // Runs the call (RunFlowCall) on a compute thread, then gives it to OnCallDone.
  virtual void RunCall(std::unique_ptr<FlowCall> call) = 0;
  // Calls Work again after what else waits for the event loop.
  virtual void WorkSoon() = 0;
};

class FlowTable {
 public:
  // Handing a call to another thread takes about this long.
  static constexpr int64_t kShortNs = 20'000;

  // REQUIRES: outbox outlives this. `threads`: calls of one flow that may be under way at a time.
  // Calls that will take less than `short_ns`, as far as one can tell, run at once.
  FlowTable(std::string worker, int threads, FlowTableOutbox* outbox, int64_t short_ns = kShortNs)
      : worker_(std::move(worker)), threads_(threads), short_ns_(short_ns), outbox_(outbox) {}

  // Begins with a flow, whose setup may be an error, and tells the coordinator how it went.
  void Deploy(uint64_t job, uint64_t generation, absl::StatusOr<FlowSetup> setup, absl::Time now);
  // REQUIRES: is for a flow (IsForFlow). What is of another generation, or of a flow that has
  // ended, is left out; frames of a flow that is not here yet wait for it.
  void OnCoordinatorMessage(const v1::CoordinatorMessage& message, std::vector<Tensor> payloads,
                            absl::Time now);
  void OnPeerMessage(const v1::PeerMessage& message, std::vector<Tensor> payloads, absl::Time now);
  void OnCallDone(std::unique_ptr<FlowCall> call, absl::Time now);
  // A connection to a worker failed for good: flows that it takes part in fail.
  void OnPeerLost(uint64_t worker_id, const absl::Status& reason);
  // More may be sent to a worker, after FlowOutbox::HasRoom said that it may not.
  void OnPeerRoom(uint64_t worker_id);

  // Does what there is to do, for a while; to be called after any of the above.
  void Work(absl::Time now);
  // Tells the coordinator what goes on, from time to time.
  void OnTick(absl::Time now);
  // The coordinator is gone: all flows are.
  void Clear();

  bool empty() const { return flows_.empty(); }
  size_t size() const { return flows_.size(); }
  // Returns: null if it is not here.
  FlowJob* FindJob(uint64_t job, uint64_t generation);
  size_t early_flows() const { return early_.size(); }

 private:
  using Key = std::pair<uint64_t, uint64_t>;  // job, generation
  struct Entry {
    std::unique_ptr<FlowJob> job;
    bool is_stopping = false;  // as soon as no call is under way it is gone
  };
  struct Early {
    v1::PeerMessage message;
    std::vector<Tensor> payloads;
  };

  Entry* Find(uint64_t job, uint64_t generation);
  // Fails the flow unless the status is OK.
  void Check(Entry* entry, const absl::Status& status);
  void Stop(const v1::StopFlow& stop, absl::Time now);
  void RemoveIfStopped(const Key& key);
  void SendReport(FlowJob* job, absl::Time now);
  void NoteEnded(const Key& key);
  void TakePeerMessage(Entry* entry, const v1::PeerMessage& message, std::vector<Tensor> payloads);
  // Returns: whether the flow had a call to begin. Adds to `spent_ns` what ran at once.
  bool BeginCall(Entry* entry, absl::Time now, int64_t* spent_ns);
  v1::Failure FailureOf(const absl::Status& status) const;

  const std::string worker_;
  const int threads_;
  const int64_t short_ns_;
  FlowTableOutbox* const outbox_;
  std::map<Key, Entry> flows_;
  std::map<Key, std::vector<Early>> early_;
  std::set<Key> ended_;  // the last ones
  absl::Time next_report_ = absl::InfinitePast();
};

// Whether a message is for a flow that is deployed.
bool IsForFlow(const v1::CoordinatorMessage& message);
bool IsForFlow(const v1::PeerMessage& message);

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_FLOW_TABLE_H_
