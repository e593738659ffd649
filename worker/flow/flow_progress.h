// Progress of a flow as one worker sees and reports it: what its activations change goes to the
// coordinator in batches; what may still come follows from the coordinator's frontiers and, for
// parts of the flow that lie wholly on this worker, from its own counts, without a round trip.
// Owned by a FlowJob; thread-compatible.
#ifndef WEIR_WORKER_FLOW_FLOW_PROGRESS_H_
#define WEIR_WORKER_FLOW_FLOW_PROGRESS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/flow/flow.h"
#include "common/timely/batch_sender.h"
#include "common/timely/frontier_view.h"
#include "common/timely/inner_frontiers.h"
#include "common/timely/reachability.h"
#include "common/timely/topology.h"
#include "weir/v1/progress.pb.h"

namespace weir {

// What one activation changes at one place.
struct FlowChange {
  enum class At {
    kHere,
    kElsewhere,  // a frame for another worker's copy
  };
  LocationId location;
  Timestamp time;
  int64_t delta = 0;
  At at = At::kHere;
};

class FlowProgress {
 public:
  FlowProgress(const Flow& flow, std::shared_ptr<const Topology> topology, int workers,
               uint64_t job, uint64_t generation);

  // Once, before anything else. Errors: InvalidArgument, what nobody could be granted.
  absl::Status Grant(const v1::ProgressGrants& grants);

  // All that one activation changed. Errors: InvalidArgument, and nothing is noted, if it was not
  // allowed: a frame or a request at a time that nothing held could result in.
  absl::Status Report(absl::Span<const FlowChange> changes, absl::Time now);
  // A frame of another worker, or of a client, is here.
  void Arrived(LocationId input, const Timestamp& time);
  // The coordinator's next update. Errors: as FrontierView::Apply.
  absl::Status Apply(const v1::FrontierUpdate& message);

  // Whether any update has come; before the first one nothing runs.
  bool is_known() const { return view_ != nullptr && view_->is_known(); }
  // What may still come to an input. REQUIRES: is_known().
  const Frontier& frontier(VertexId vertex, int input) const;
  bool IsComplete(VertexId vertex, int input, const Timestamp& time) const {
    return is_known() && !frontier(vertex, input).Covers(time);
  }
  // Returns: vertices of which a frontier has moved since the last call, each once.
  std::vector<VertexId> TakeMoved();

  // Returns: a batch for the coordinator if one is due although there is other work.
  std::optional<v1::ProgressBatch> TakeDue(absl::Time now);
  // Returns: all that was not sent yet. To be called before waiting.
  std::optional<v1::ProgressBatch> Flush();

 private:
  v1::ProgressBatch Labelled(const ProgressBatch& batch) const;
  void NoteMoved(absl::Span<const Change> changes);
  bool IsInRegion(VertexId vertex) const { return region_of_[vertex.value()] >= 0; }

  const std::shared_ptr<const Topology> topology_;
  const uint64_t job_;
  const uint64_t generation_;
  Reachability reachability_;
  BatchSender sender_;
  std::unique_ptr<FrontierView> view_;  // null before Grant
  // Of each vertex, the part of the flow that it is in, inside of which frames never come from
  // other workers' copies; -1: none.
  std::vector<int> region_of_;
  std::unique_ptr<InnerFrontiers> regions_;  // null if there are none
  std::vector<bool> has_moved_;              // of each vertex
  std::vector<VertexId> moved_;
};

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_FLOW_PROGRESS_H_
