// A flow on one worker: its vertices, what waits for them, and its part in progress tracking. A
// state machine driven by messages and finished calls; owned by a FlowTable, used on the worker's
// event loop only; calls of vertices run where the table puts them.
//
// What a call did is taken as one when it is over: checked against what the worker holds, noted for
// the next batch of progress, and only then sent. So a frame is outstanding until the call that
// takes it is over, and nothing is sent that progress tracking does not know of.
//
// A vertex outside of loops begins no call while a channel behind it is full; so does an input,
// whose client gets its credit back when its records are taken. Inside of loops, and along cycles
// through a delay, nobody waits; but nothing enters a loop while what leaves it finds a full
// channel (held_channels.h). Wherever it is, a vertex whose records may go to another worker begins
// no call while the link to it is full (peer_room.h). What waits beyond the memory of the flow does
// so on disk (memory/flow_memory.h).
#ifndef WEIR_WORKER_FLOW_FLOW_JOB_H_
#define WEIR_WORKER_FLOW_FLOW_JOB_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "weir/v1/worker.pb.h"
#include "worker/flow/flow_call.h"
#include "worker/flow/flow_channels.h"
#include "worker/flow/flow_progress.h"
#include "worker/flow/flow_setup.h"
#include "worker/flow/frame_routes.h"
#include "worker/flow/peer_room.h"
#include "worker/flow/vertex_slot.h"

namespace weir {

// What a flow asks of the world. Calls return at once.
class FlowOutbox {
 public:
  virtual ~FlowOutbox() = default;
  virtual void SendToCoordinator(const v1::WorkerMessage& message,
                                 std::vector<Tensor> payloads) = 0;
  virtual void SendToPeer(const v1::Peer& peer, const v1::PeerMessage& message,
                          std::vector<Tensor> payloads) = 0;
  // Whether more may be sent to a peer: else it would wait in memory for what was sent before.
  // Once there is room again, FlowTable::OnPeerRoom is called.
  virtual bool HasRoom(const v1::Peer& peer) { return true; }
};

class FlowJob {
 public:
  // Errors: InvalidArgument, as a vertex cannot be made or what is granted does not fit.
  static absl::StatusOr<std::unique_ptr<FlowJob>> Make(FlowSetup setup, FlowOutbox* outbox);

  // --- Messages. Errors fail the flow.
  absl::Status OnFrontiers(const v1::FrontierUpdate& update);
  absl::Status OnFeed(const v1::FeedFlow& feed, std::vector<Tensor> payloads, absl::Time now);
  absl::Status OnAdvance(const v1::AdvanceFlow& advance, absl::Time now);
  absl::Status OnFrame(const v1::FlowFrame& frame, std::vector<Tensor> payloads);
  absl::Status OnCredit(const v1::FlowCredit& credit);
  // The coordinator has passed on so many bytes of an output.
  absl::Status OnOutputTaken(const v1::FlowOutputTaken& taken);
  // The link to a worker has room again.
  void OnPeerRoom(uint64_t worker_id);

  // --- Calls.
  // Returns: the next call, which then is under way; null if there is none. Records for outputs
  // are sent on the way. Errors fail the flow, here and below.
  absl::StatusOr<std::unique_ptr<FlowCall>> TakeCall(absl::Time now);
  // Whether it takes less than `short_ns`, as far as one can tell. What calls a function with a
  // loop never does: it may take any time.
  bool IsShort(const FlowCall& call, int64_t short_ns) const;
  absl::Status OnCallDone(FlowCall* call, absl::Time now);
  int calls_under_way() const { return calls_under_way_; }
  // What waits for vertices.
  int64_t queued_bytes() const;

  // Sends batches of progress that are due, as other work is left.
  void SendDue(absl::Time now);
  // Sends all that is noted and owed, as nothing is left to do but to wait.
  void SendAll();

  // Begins no call and takes nothing any more.
  void Stop() {
    stopped_ = true;
    setup_.cancelled->store(true);
    if (setup_.memory != nullptr) setup_.memory->BeginEnd();
  }
  bool stopped() const { return stopped_; }

  // Returns: what goes on.
  v1::FlowReport Report(absl::Time now);
  // Whether anything goes on, or did since the last report.
  bool has_news() const { return has_news_ || calls_under_way_ > 0; }

  const FlowSetup& setup() const { return setup_; }
  VertexSlot& slot(VertexId id) { return *slots_[id.value()]; }

 private:
  // All that one call, or one message, does.
  struct Effects {
    std::vector<FlowChange> changes;
    std::vector<OutgoingFrame> frames;
    std::shared_ptr<void> hold;  // let go of once no frame is under way any more
  };

  FlowJob(FlowSetup setup, FlowOutbox* outbox);
  absl::Status MakeSlots();
  void FindWaiting();
  absl::StatusOr<std::shared_ptr<Vertex>> MakeOne(VertexId id) const;
  bool CallsLoop(const FlowVertex& def) const;
  absl::Status TakeGrants();
  absl::StatusOr<VertexId> OpenInput(uint32_t vertex) const;
  void SendBatch(const v1::ProgressBatch& batch);

  void AddFrames(std::vector<OutgoingFrame> frames, Effects* effects) const;
  void AddConsumed(const FlowCall& call, Effects* effects);
  // A source gives up what it holds for what it holds from now on; nothing: it is closed.
  void AddAdvance(VertexId source, std::optional<int64_t> epoch, Effects* effects);
  void AddRequests(FlowCall* call, Effects* effects);
  // Checks, notes and sends. Errors: what was done was not allowed.
  absl::Status Commit(Effects effects, absl::Time now);
  absl::Status Deliver(OutgoingFrame frame, std::shared_ptr<void> hold);
  // Tells the coordinator of records that were left out; before the batch in which they are
  // consumed.
  void TellFailed(const FlowCall& call);
  // The same of what copies on all workers must find alike.
  void TellFound(const FlowCall& call);
  // Returns: the next call that puts frames on disk, one at a time; else null.
  std::unique_ptr<FlowCall> TakeSpill();
  std::unique_ptr<FlowCall> Begun(std::unique_ptr<FlowCall> call);
  // Returns: the next call of a source that reads for itself and is open; else null.
  std::unique_ptr<FlowCall> TakeTurn(const VertexSlot& slot) const;
  // The frames of a call are not under way any more.
  absl::Status GiveBack(const FlowCall& call);
  absl::Status SendOutput(const FlowCall& call, absl::Time now);

  void List(VertexId vertex);
  void ListSpill(VertexId vertex);
  // The vertex that may have waited for room at this input.
  void ListWriter(Port input);
  void ListMoved();
  // Returns: the vertex that has no room, so that this one begins no call; none if there is room.
  VertexId FullBehind(const VertexSlot& slot) const;
  template <class Message>
  void Label(Message* message) const {
    message->set_job(setup_.job);
    message->set_generation(setup_.generation);
  }
  std::string Named(VertexId vertex) const;

  const FlowSetup setup_;
  FlowOutbox* const outbox_;
  FlowProgress progress_;
  FlowChannels channels_;
  PeerRoom room_;
  std::vector<std::unique_ptr<VertexSlot>> slots_;
  std::shared_ptr<const FrameRoutes> routes_;
  std::vector<bool> calls_loop_;            // of each vertex
  std::vector<std::vector<Port>> holding_;  // by vertex: HoldingInputs
  // By vertex: those that wait for room behind it, besides itself.
  std::map<VertexId, std::vector<VertexId>> waiting_;
  std::map<VertexId, int64_t> open_epochs_;  // of sources that are not closed
  // Bytes of each input's records that are taken and not told yet; shared with holds of frames.
  std::shared_ptr<std::map<VertexId, int64_t>> consumed_ =
      std::make_shared<std::map<VertexId, int64_t>>();
  std::map<VertexId, int64_t> output_bytes_;  // of outputs: sent, and not passed on yet
  std::deque<VertexId> listed_;               // vertices that may have something to do
  std::deque<VertexId> to_spill_;             // with frames that belong on disk
  bool is_spilling_ = false;
  int calls_under_way_ = 0;
  bool stopped_ = false;
  bool has_news_ = false;  // since the last report
  int64_t sent_bytes_ = 0;
  int64_t sent_frames_ = 0;
  std::vector<std::string> lines_;
};

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_FLOW_JOB_H_
