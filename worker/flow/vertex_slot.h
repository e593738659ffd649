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
#include <vector>

#include "common/flow/record_batch.h"
#include "common/timely/timestamp.h"
#include "worker/flow/call_pace.h"
#include "worker/flow/flow_call.h"
#include "worker/flow/flow_progress.h"
#include "worker/flow/vertex.h"

namespace weir {

struct VertexStats {
  int64_t frames = 0;   // that it took
  int64_t records = 0;  // in those
  int64_t dropped = 0;  // records that a bound kept from going on
  int64_t busy_ns = 0;
  int64_t state_bytes = 0;  // after the last call
};

class VertexSlot {
 public:
  // `vertex` is null for inputs and outputs, which are the job's.
  VertexSlot(VertexId id, const FlowVertex& def, std::shared_ptr<Vertex> vertex);

  VertexId id() const { return id_; }
  const FlowVertex& def() const { return def_; }
  const std::shared_ptr<Vertex>& vertex() const { return vertex_; }
  int64_t queued_bytes() const { return queued_bytes_; }
  bool has_frames() const { return queued_frames_ > 0; }
  VertexStats& stats() { return stats_; }
  const VertexStats& stats() const { return stats_; }

  void AddFrame(int input, Timestamp time, RecordBatch batch, int from_rank);
  // Notes that the vertex asked for a time at an input. Returns: whether it had not already.
  bool AddRequest(int input, const Timestamp& time);

  // Whether another call may begin beside those under way.
  bool may_begin() const { return running_ == 0 || vertex_ == nullptr || vertex_->is_stateless(); }
  // Returns: a call for the frames that are next: those at one time of one input, as far as they
  // stand behind each other; null if there are none. Frames come before times that are complete.
  std::unique_ptr<FlowCall> TakeFrames();
  // Returns: a call for the time that is next of those that are complete; null if none is.
  std::unique_ptr<FlowCall> TakeComplete(const FlowProgress& progress);
  void OnBegun(absl::Time now) {
    if (running_++ == 0) began_ = now;
  }
  void OnDone(const FlowCall& call);
  bool running() const { return running_ > 0; }
  // How long some call has been under way without a pause.
  absl::Duration RunningFor(absl::Time now) const {
    return running() ? now - began_ : absl::ZeroDuration();
  }

  // What a call takes if it goes on as before; nothing before the first one of its kind.
  std::optional<int64_t> Predict(const FlowCall& call) const;

  // Tells a vertex that keeps state which times are over, in the loop and outside of it.
  void DropState(const FlowProgress& progress);

  bool is_listed = false;  // among the vertices that may have something to do

 private:
  struct QueuedFrame {
    Timestamp time;
    RecordBatch batch;
    int from_rank;
    int64_t bytes;
  };

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
  std::map<Timestamp, int> requests_;  // times in the total order, and the inputs asked at
  std::set<Timestamp> with_state_;     // times of which there may be state
  std::set<Timestamp> outer_;          // times outside of the loop of which there may be state
  int running_ = 0;
  absl::Time began_;
  CallPace frames_pace_;
  CallPace notify_pace_;  // for each call: what it sends is not known before
  VertexStats stats_;
};

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_VERTEX_SLOT_H_
