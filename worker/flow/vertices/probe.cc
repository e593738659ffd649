#include "worker/flow/vertex.h"

namespace weir {
namespace {

// What a probe is for, its frontier, is the job's; records end here.
class ProbeVertex : public Vertex {
 public:
  absl::Status OnFrame(int, RecordBatch, VertexActivation*) override { return absl::OkStatus(); }
  bool is_stateless() const override { return true; }
};

}  // namespace

std::unique_ptr<Vertex> MakeProbeVertex(const VertexSetup&) {
  return std::make_unique<ProbeVertex>();
}

}  // namespace weir
