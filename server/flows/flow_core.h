// The logic of flows at the coordinator: a state machine driven by clients' requests, workers'
// messages, finished compilations and time. Part of a CoordinatorCore, with which it shares
// workers, programs and jobs; thread-compatible, and never blocks.
//
// A flow waits until its functions are compiled and workers are there; then every worker gets the
// programs and makes its copies of the vertices. While it runs, records of a client go to the
// workers in turn, and what comes out is kept until the client has acknowledged it. It ends when
// nothing is outstanding any more (all inputs are closed), when a worker fails or is lost, or when
// it is cancelled; in the last two cases it has ended when every worker has stopped.
#ifndef WEIR_SERVER_FLOWS_FLOW_CORE_H_
#define WEIR_SERVER_FLOWS_FLOW_CORE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/clock.h"
#include "common/flow/attach_stream.h"
#include "server/flows/flow_entry.h"
#include "server/jobs/coordinator_outbox.h"
#include "server/jobs/limits.h"
#include "server/jobs/program_table.h"
#include "server/jobs/worker_table.h"

namespace weir {

// Sums over all flows since the start; the first three are of now.
struct FlowStats {
  int64_t deployed = 0;  // that have not ended
  int64_t waiting = 0;   // of those, that do not run yet
  int64_t clients = 0;
  int64_t records_in = 0;
  int64_t records_out = 0;
  int64_t bytes_in = 0;  // of those records
  int64_t bytes_out = 0;
  int64_t epochs = 0;            // by which frontiers at outputs went on
  int64_t kept_bytes = 0;        // by workers for flows that have not ended, in memory
  int64_t spilled_bytes = 0;     // and on disk
  std::map<int, int64_t> ended;  // by v1::Job::State
  ProgressCounters progress;
};

class FlowCore {
 public:
  // What it shares with the rest of the coordinator. REQUIRES: all outlive this.
  struct Shared {
    Clock* clock;
    CoordinatorOutbox* outbox;
    WorkerTable* workers;
    ProgramTable* programs;
    JobTable* jobs;
  };
  FlowCore(const Limits& limits, Shared shared) : limits_(limits), shared_(shared) {}

  // --- Flows. `view` is that of the new job, which is QUEUED.
  // Errors: ResourceExhausted while there are too many.
  absl::StatusOr<JobEntry*> Deploy(PreparedFlow prepared, v1::Job view);
  // Returns: whether the job is a flow.
  bool Has(const JobEntry& job) const { return flows_.contains(job.sequence); }
  // REQUIRES: Has(job). Nothing for one that has ended.
  void Cancel(const JobEntry& job);
  absl::StatusOr<v1::FlowStatus> Get(std::string_view job_id);
  v1::ListFlowsResponse List() const;
  // Errors: NotFound for a job, a vertex or an input that is not there; FailedPrecondition before
  // the flow runs.
  absl::StatusOr<v1::ExplainFrontierResponse> Explain(const v1::ExplainFrontierRequest& request);

  // --- Calls: records that one client feeds to `input` and whose answers it takes from `output`.
  // Returns: the other inputs that answers may depend on. Errors: NotFound; InvalidArgument, no
  // answer comes out there, or one that could not be told from records of another source.
  absl::StatusOr<std::vector<std::string>> CheckCalls(std::string_view job_id,
                                                      const std::string& input,
                                                      const std::string& output);
  // Returns: of the other inputs those, and at which epoch they are open, without which nothing
  // more can come out for records of this epoch, or be known not to; none while anything goes on.
  // Errors: NotFound.
  absl::StatusOr<std::vector<std::string>> CallsHeldBy(std::string_view job_id,
                                                       const std::string& input,
                                                       const std::string& output, int64_t epoch);

  // --- Clients that feed and take.
  // Returns: a number for what follows. Errors: NotFound, a job, an input or an output that is not
  // there; FailedPrecondition, another client feeds the input or takes the output; DataLoss, the
  // client knows of more than was here.
  absl::StatusOr<uint64_t> Attach(const v1::FlowAttach& request, std::function<void()> on_news);
  // Takes a message of the client. An error ends the attachment.
  absl::Status Take(uint64_t attachment, ToFlow message);
  // Returns: the next message to the client; nothing if there is none, and then on_news is called
  // once there is. Errors: why the attachment is over.
  absl::StatusOr<std::optional<FromFlow>> Next(uint64_t attachment);
  void Detach(uint64_t attachment);

  // --- Workers, the compiler and time.
  void OnWorkerMessage(const WorkerEntry& worker, const v1::WorkerMessage& message,
                       std::vector<Tensor> payloads);
  void OnProgramLoaded(const WorkerEntry& worker, const v1::ProgramLoaded& loaded);
  void OnWorkerDraining(const WorkerEntry& worker);
  // REQUIRES: the worker is not in the table any more.
  void OnWorkerLost(uint64_t worker, const std::string& name, const absl::Status& reason);
  // REQUIRES: called while the program is in the table.
  void OnCompileFailed(uint64_t program, const absl::Status& status);
  void OnTick();
  // Starts what can start.
  void Advance();
  // Ends every flow at once, whatever workers do.
  void FailAll(const absl::Status& reason);
  bool idle() const { return alive_.empty(); }

  FlowStats Stats() const;

 private:
  using Stage = FlowEntry::Stage;

  // --- flow_deploy.cc
  void TryStart(FlowEntry* flow);
  bool IsCompiled(const FlowEntry& flow) const;
  void Load(FlowEntry* flow, std::vector<uint64_t> workers);
  void BackToWaiting(FlowEntry* flow);
  void DeployIfLoaded(FlowEntry* flow);
  absl::Status DeployOn(FlowEntry* flow, size_t rank);
  void OnDeployed(FlowEntry* flow, const WorkerEntry& worker, const v1::FlowDeployed& deployed);
  void Run(FlowEntry* flow);

  // --- flow_workers.cc
  // Null for what is of another generation, or of a flow in which the worker has no part.
  template <class Message>
  FlowEntry* FlowOf(const WorkerEntry& worker, const Message& message) {
    FlowEntry* flow = At(message.job());
    if (flow == nullptr || message.generation() != FlowEntry::kGeneration) return nullptr;
    return flow->names.contains(worker.id) ? flow : nullptr;
  }
  void OnFound(FlowEntry* flow, const WorkerEntry& worker, const v1::FlowFound& found);
  void OnFailed(FlowEntry* flow, const WorkerEntry& worker, const v1::FlowFailed& failed);
  void OnStopped(FlowEntry* flow, const WorkerEntry& worker);
  void OnProgress(FlowEntry* flow, const WorkerEntry& worker, const v1::ProgressBatch& batch);
  void OnOutput(FlowEntry* flow, const WorkerEntry& worker, const v1::FlowOutput& output,
                std::vector<Tensor> payloads);
  void OnConsumed(FlowEntry* flow, const WorkerEntry& worker, const v1::FlowConsumed& consumed);
  void OnRecordFailed(FlowEntry* flow, const v1::FlowRecordFailed& failed);
  void OnReport(FlowEntry* flow, const WorkerEntry& worker, const v1::FlowReport& report);
  void TellFrontiers(FlowEntry* flow, const v1::FrontierUpdate& update);
  void NoteComplete(FlowEntry* flow);
  void NoteLoops(FlowEntry* flow);

  // --- flow_clients.cc
  absl::StatusOr<FlowEntry*> FindFlow(std::string_view job_id);
  absl::Status Resume(FlowEntry* flow, const v1::FlowAttach& request, FlowAttachment* attachment);
  absl::Status CheckFree(const FlowEntry& flow, VertexId vertex, const std::string& client) const;
  void TakeOver(FlowEntry* flow, const std::string& client);
  // The client feeds and takes nothing any more.
  void Release(FlowAttachment* attachment);
  absl::StatusOr<VertexId> OwnPort(const FlowEntry& flow, const std::vector<VertexId>& ports,
                                   const std::string& name) const;
  absl::Status TakeFrom(const FlowAttachment& attachment, FlowEntry* flow, ToFlow message);
  absl::Status TakeRecords(FlowEntry* flow, VertexId input, ToFlow message);
  uint64_t NextWorker(FlowEntry* flow, VertexId input, int64_t bytes);
  absl::Status TakeAdvance(FlowEntry* flow, VertexId input, const v1::FlowAdvance& advance);
  absl::Status TakeAck(FlowEntry* flow, VertexId output, uint64_t number);
  std::optional<FromFlow> NextOf(FlowEntry* flow, FlowAttachment* attachment);
  v1::FlowAttached AttachedTo(const FlowEntry& flow, const FlowAttachment& attachment);
  // Something is there for who is attached to this vertex, or to the flow.
  void Wake(FlowAttachment* attachment);
  void WakeAt(const FlowEntry& flow, VertexId vertex);
  void WakeAll(const FlowEntry& flow);

  // --- flow_ends.cc
  void Fail(FlowEntry* flow, v1::Failure failure);
  void End(FlowEntry* flow, v1::Job::State state, v1::Failure failure);
  void TellToStop(const FlowEntry& flow, std::string_view why);
  void FinishIfStopped(FlowEntry* flow);
  void Finish(FlowEntry* flow);
  void Complete(FlowEntry* flow);
  void Forget();
  // Of flows that have ended only so much is kept; the oldest goes first.
  void BoundKept();

  JobEntry* JobOf(const FlowEntry& flow) const { return shared_.jobs->Get(flow.id); }
  v1::FlowStatus StatusOf(const FlowEntry& flow) const;
  void Note(const FlowEntry& flow, std::string_view text, std::string_view worker = "");
  absl::Time Now() const { return shared_.clock->Now(); }
  // Those that have not ended, by their numbers: what is called may end them.
  std::vector<uint64_t> Alive() const { return {alive_.begin(), alive_.end()}; }
  // Null for one that is not kept: a flow is forgotten with its job.
  FlowEntry* At(uint64_t id);

  const Limits limits_;
  const Shared shared_;
  std::map<uint64_t, FlowEntry> flows_;  // by sequence of the job; kept as long as the job
  std::set<uint64_t> alive_;             // those that have not ended
  int ticks_of_release_ = 0;             // while memory of what has ended comes free
  std::map<uint64_t, FlowAttachment> attachments_;
  uint64_t next_attachment_ = 1;
  FlowStats stats_;  // without what is counted by flows that are alive
};

}  // namespace weir

#endif  // WEIR_SERVER_FLOWS_FLOW_CORE_H_
