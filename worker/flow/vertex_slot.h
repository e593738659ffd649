// One vertex of a flow on this worker, and what waits for it: frames by input, times that it asked
// to be told of. Owned by a FlowJob; used on the event loop only.
#ifndef WEIR_WORKER_FLOW_VERTEX_SLOT_H_
#define WEIR_WORKER_FLOW_VERTEX_SLOT_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/flow/record_batch.h"
#include "common/timely/timestamp.h"
#include "weir/v1/flow.pb.h"
#include "worker/flow/call_pace.h"
#include "worker/flow/flow_call.h"
#include "worker/flow/flow_progress.h"
#include "worker/flow/memory/flow_memory.h"
#include "worker/flow/vertex.h"

namespace weir {

struct VertexStats {
  int64_t frames = 0;       // that it took
  int64_t records = 0;      // in those; of a source, that came out
  int64_t peer_frames = 0;  // that came from other workers
  int64_t dropped = 0;      // records that a bound kept from going on
  int64_t busy_ns = 0;
  int64_t state_bytes = 0;    // after the last call
  int64_t spilled_bytes = 0;  // of that, records on disk; not in state_bytes
};

class VertexSlot {
 public:
  // `vertex` is null for inputs and outputs, which are the job's.
  // Frames beyond what `memory` may keep wait on disk; null: none do.
  VertexSlot(VertexId id, const FlowVertex& def, std::shared_ptr<Vertex> vertex,
             std::shared_ptr<FlowShare> memory);

  VertexId id() const { return id_; }
  const FlowVertex& def() const { return def_; }
  const std::shared_ptr<Vertex>& vertex() const { return vertex_; }
  int64_t queued_bytes() const { return queued_bytes_; }
  int64_t queued_frames() const { return queued_frames_; }
  // Of those bytes, on disk.
  int64_t queued_on_disk() const { return queued_bytes_ - charge_.bytes(); }
  bool has_frames() const { return queued_frames_ > 0; }
  // Whether anything waits here that a call would take, now or later.
  bool has_waiting() const { return has_frames() || !requests_.empty(); }
  VertexStats& stats() { return stats_; }
  const VertexStats& stats() const { return stats_; }

  // Beyond the memory of the flow it is noted for TakeSpill, or, far beyond, put on disk at once.
  // Errors: ResourceExhausted, of the disk.
  absl::Status AddFrame(int input, Timestamp time, RecordBatch batch, int from_rank);
  // Notes that the vertex asked for a time at an input. Returns: whether it had not already.
  bool AddRequest(int input, const Timestamp& time);

  // Whether another call may begin beside those under way.
  bool may_begin() const { return !running() || (vertex_ != nullptr && vertex_->is_stateless()); }
  // Returns: a call that puts some of the frames on disk that were noted; null if there are none.
  // They may be taken meanwhile.
  std::unique_ptr<FlowCall> TakeSpill();
  void OnSpilled(FlowCall* call);
  bool has_to_spill() const { return !to_spill_.empty(); }
  // Returns: a call for the frames that are next: those at one time of one input, as far as they
  // stand near each other; null if there are none. Frames come before times that are complete.
  std::unique_ptr<FlowCall> TakeFrames();
  // Returns: a call for the time that is next of those that are complete; null if none is.
  std::unique_ptr<FlowCall> TakeComplete(const FlowProgress& progress);
  void OnBegun(const FlowCall& call, absl::Time now) { calls_.push_back({&call, now}); }
  void OnDone(const FlowCall& call);
  bool running() const { return !calls_.empty(); }

  // No call can begin, as this vertex has no room; or there is room. Returns: whether that is new.
  bool NoteFull(VertexId vertex, absl::Time now);
  bool NoteRoom() { return std::exchange(full_, VertexId()).valid(); }

  // What it does and waits for at the moment.
  void Describe(absl::Time now, v1::FlowReport::Vertex* report) const;

  // What a call takes if it goes on as before; nothing before the first one of its kind.
  std::optional<int64_t> Predict(const FlowCall& call) const;

  // Tells a vertex that keeps state which times are over, in the loop and outside of it.
  void DropState(const FlowProgress& progress);

  bool is_listed = false;           // among the vertices that may have something to do
  bool is_listed_to_spill = false;  // and among those with frames that belong on disk

 private:
  struct QueuedFrame {
    uint64_t number;  // ascends in its queue
    Timestamp time;
    RecordBatch batch;                      // if it is in memory
    std::optional<SpilledRecords> on_disk;  // else
    int from_rank;
    int64_t bytes;
    int64_t records;
  };

  // The records of a frame that is taken out of a queue.
  FlowCall::Queued Taken(QueuedFrame* frame);
  // Null if it was taken.
  QueuedFrame* FindFrame(int input, uint64_t number);
  void SetOnDisk(QueuedFrame* frame, SpilledRecords records);
  bool IsComplete(const FlowProgress& progress, const Timestamp& time) const;
  // That nothing comes any more that is less in the total order, or the same.
  bool IsLast(const FlowProgress& progress, const Timestamp& time) const;
  // Whether nothing more can happen at a time of which `part_of` gives the part of another one.
  template <class PartOf>
  bool IsOver(const FlowProgress& progress, const Timestamp& time, PartOf part_of) const;
  int inputs() const { return static_cast<int>(queues_.size()); }

  const VertexId id_;
  const FlowVertex& def_;
  const std::shared_ptr<Vertex> vertex_;
  std::vector<std::deque<QueuedFrame>> queues_;  // by input
  int next_input_ = 0;                           // whose turn it is
  int64_t queued_frames_ = 0;
  int64_t queued_bytes_ = 0;
  uint64_t next_number_ = 0;
  std::deque<std::pair<int, uint64_t>> to_spill_;  // input and number of frames
  MemoryCharge charge_;                            // of frames in memory
  std::map<Timestamp, int> requests_;  // times in the total order, and the inputs asked at
  std::set<Timestamp> with_state_;     // times of which there may be state
  std::set<Timestamp> outer_;          // times outside of the loop of which there may be state
  CallPace frames_pace_;
  CallPace notify_pace_;  // for each call: what it sends is not known before
  // Those under way, oldest first.
  struct CallUnderWay {
    const FlowCall* call;
    absl::Time began;
  };
  std::vector<CallUnderWay> calls_;
  VertexId full_;  // that has no room; none if that is not so
  absl::Time full_since_;
  VertexStats stats_;
};

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_VERTEX_SLOT_H_
