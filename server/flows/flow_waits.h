// What the coordinator knows of a flow's waits beyond counts: where frames are and what goes on
// there, as workers last reported, and what the clients of its inputs and outputs do. A view of the
// core's state at one moment; thread-compatible.
#ifndef WEIR_SERVER_FLOWS_FLOW_WAITS_H_
#define WEIR_SERVER_FLOWS_FLOW_WAITS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "server/flows/flow_entry.h"
#include "server/jobs/worker_table.h"
#include "server/progress/explain_progress.h"

namespace weir {

// An output that has no room, so that workers do not go on in front of it.
struct FullOutput {
  VertexId vertex;
  std::vector<uint64_t> workers;
  int64_t kept_bytes = 0;  // that no client has acknowledged
  absl::Time since;
  std::string client;  // that takes it; empty if none does
};

class FlowWaits {
 public:
  // REQUIRES: all outlive this; flow.progress is there.
  FlowWaits(const FlowEntry& flow, const std::map<uint64_t, FlowAttachment>& attachments,
            const WorkerTable& workers, absl::Time now)
      : flow_(flow), attachments_(attachments), workers_(workers), now_(now) {}

  // Says of each what else is known, and of frames where they are.
  std::vector<Wait> WithDetails(std::vector<Wait> waits) const;

  std::vector<FullOutput> FullOutputs() const;
  // Returns: "output 'out' has no room: 4194304 bytes that no client takes; worker 'a' has waited
  // for 3s".
  std::string ToString(const FullOutput& full) const;

 private:
  // What a worker last said of a vertex.
  struct Part {
    uint64_t worker = 0;
    const v1::FlowReport::Vertex* vertex = nullptr;
    absl::Time came;
  };

  void AddDetail(Wait* wait) const;
  void AddPlace(const std::vector<Part>& parts, Wait* wait) const;
  std::vector<Part> PartsOf(VertexId vertex) const;
  std::string OfPart(const Part& part, const Wait& wait) const;
  std::string OfSource(const InputLedger& input, const Wait& wait) const;
  std::string OfLoop(const Wait& wait) const;
  bool IsSilent(uint64_t worker) const;
  std::string Named(uint64_t worker) const;
  std::string ClientOf(VertexId vertex) const;
  std::string Age(absl::Time since) const;

  const FlowEntry& flow_;
  const std::map<uint64_t, FlowAttachment>& attachments_;
  const WorkerTable& workers_;
  const absl::Time now_;
};

}  // namespace weir

#endif  // WEIR_SERVER_FLOWS_FLOW_WAITS_H_
