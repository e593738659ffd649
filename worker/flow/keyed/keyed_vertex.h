// A vertex with state that acts when a time is complete. It keeps the records of a time until then,
// has a state for each time, each time of the loop around or the whole job (keyed_state.h), and
// sends what the state makes of the records frame by frame. Owned by the job, as every vertex;
// thread-compatible.
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
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/flow/keyed_state.h"
#include "worker/flow/keyed/kept_records.h"
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
  // Some more of what comes out at this time: up to `most` records, perhaps none.
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

 private:
  struct TimeWork {
    std::vector<KeptRecords> kept;  // by input
    VertexState* state = nullptr;   // once it has begun
  };

  // The time by which a state is found.
  Timestamp StateTime(const Timestamp& time) const;
  VertexState* StateFor(const Timestamp& time);

  const FlowVertex& form_;
  const StateLife life_;
  const MakeState make_state_;
  const int64_t records_per_frame_;
  std::map<Timestamp, TimeWork> times_;
  int64_t kept_bytes_ = 0;  // of the records of all times
  std::map<Timestamp, std::unique_ptr<VertexState>> states_;
};

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_KEYED_KEYED_VERTEX_H_
