// A vertex with state that acts when a time is complete. It keeps the records of a time until then,
// has a state for each time, each time of the loop around or the whole job (keyed_state.h), and
// sends what the state makes of the records frame by frame. A time that stands for itself and has
// more records than one call should take is cut by key, and one part is done after the other. Owned
// by the job, as every vertex; thread-compatible.
//
//   std::unique_ptr<Vertex> MakeCountVertex(const VertexSetup& setup) {
//     return std::make_unique<KeyedVertex>(setup, [] { return std::make_unique<CountState>(); });
//   }
#ifndef WEIR_WORKER_FLOW_KEYED_KEYED_VERTEX_H_
#define WEIR_WORKER_FLOW_KEYED_KEYED_VERTEX_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/flow/keyed_state.h"
#include "worker/flow/keyed/kept_records.h"
#include "worker/flow/keyed/key_parts.h"
#include "worker/flow/vertex.h"

namespace weir {

// The state of a vertex for as long as it lives. Times come one after the other.
class VertexState {
 public:
  // The records of a time, by input; no batch is empty.
  using Inputs = std::vector<std::vector<RecordBatch>>;

  virtual ~VertexState() = default;

  // REQUIRES: the time before is done.
  virtual absl::Status Begin(Inputs inputs) = 0;
  // Whether Next has nothing more to give for this time.
  virtual bool done() const = 0;
  // Some more of what comes out at this time: up to `most` records, perhaps none; then others
  // have their turn.
  // REQUIRES: not done.
  virtual absl::StatusOr<RecordBatch> Next(int64_t most) = 0;
  virtual int64_t bytes() const = 0;
};

class KeyedVertex : public Vertex {
 public:
  using MakeState = std::function<std::unique_ptr<VertexState>()>;

  // State lives as long as the vertex says (LifeOf), or this.
  KeyedVertex(const VertexSetup& setup, MakeState make_state);
  KeyedVertex(const VertexSetup& setup, StateLife life, MakeState make_state);

  absl::Status OnFrame(int input, RecordBatch batch, VertexActivation* activation) override;
  absl::Status OnNotify(VertexActivation* activation) override;
  void OnOuterComplete(const Timestamp& time) override;
  NotifyOrder notify_order() const override;
  bool keeps_outer_state() const override { return life_ == StateLife::kLoop; }
  int64_t state_bytes() const override;
  int64_t spilled_bytes() const override { return spilled_bytes_; }

 private:
  struct TimeWork {
    std::vector<KeptRecords> kept;    // by input
    bool begun = false;               // the time is complete
    std::unique_ptr<KeyParts> parts;  // of what was kept, if it is too much for one call
    VertexState* state = nullptr;     // at work
  };

  // The time by which a state is found.
  Timestamp StateTime(const Timestamp& time) const;
  VertexState* StateFor(const Timestamp& time);
  // Gives the records to the state, or begins to cut them.
  absl::Status BeginTime(const Timestamp& time, TimeWork* work);
  // Goes on with parts, if there are any. Returns: whether a state is at work or all is done.
  absl::StatusOr<bool> NextPart(const Timestamp& time, TimeWork* work);
  // What is kept, before and after it changes.
  void Count(const TimeWork& work, int64_t sign);

  const FlowVertex& form_;
  const StateLife life_;
  const MakeState make_state_;
  const int64_t records_per_frame_;
  std::map<Timestamp, TimeWork> times_;
  int64_t kept_bytes_ = 0;     // of the records of all times
  int64_t spilled_bytes_ = 0;  // of those, on disk
  std::map<Timestamp, std::unique_ptr<VertexState>> states_;
};

// Whether so much can be in memory at once: within what the flows of this worker may keep.
bool FitsWhole(int64_t bytes);
// That all these records can, as `who` needs them to be. Errors:
// ResourceExhausted, they are more than the flows of this worker may keep.
absl::Status CheckWhole(const std::vector<RecordBatch>& batches, std::string_view who);
// The same of so many bytes.
absl::Status CheckWhole(int64_t bytes, std::string_view who);

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_KEYED_KEYED_VERTEX_H_
