// What vertices have in common that turn the records of a frame into others at once and keep
// nothing: the time of the result is what the vertex's summary makes of the frame's. Owned by the
// job, as every vertex; thread-safe.
//
//   class FilterVertex : public StatelessVertex {
//     absl::Status Apply(RecordBatch batch, Timestamp time, VertexActivation* activation) override
//     {
//       SendRecords(0, time, Chosen(batch), activation);
//     }
//   };
#ifndef WEIR_WORKER_FLOW_STATELESS_VERTEX_H_
#define WEIR_WORKER_FLOW_STATELESS_VERTEX_H_

#include "absl/status/statusor.h"
#include "common/timely/path_summary.h"
#include "worker/flow/vertex.h"

namespace weir {

class StatelessVertex : public Vertex {
 public:
  explicit StatelessVertex(const VertexSetup& setup);

  // What would come to a time that there is not is dropped and counted.
  absl::Status OnFrame(int input, RecordBatch batch, VertexActivation* activation) final;
  bool is_stateless() const final { return true; }

 protected:
  // Makes something of records, one at least, at a time of the outputs. By default they go on.
  virtual absl::Status Apply(RecordBatch batch, Timestamp time, VertexActivation* activation);
  // Whether records may have this time, which is one of the output.
  virtual bool Admits(const Timestamp& time) const { return true; }

 private:
  const PathSummary summary_;
};

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_STATELESS_VERTEX_H_
