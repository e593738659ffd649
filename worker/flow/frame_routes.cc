#include "worker/flow/frame_routes.h"

#include <utility>

namespace weir {

FrameRoutes::FrameRoutes(const Flow& flow, int rank, int workers, int64_t max_bytes)
    : rank_(rank), workers_(workers), max_bytes_(max_bytes) {
  for (const FlowVertex& vertex : flow.vertices) readers_.emplace_back(vertex.def->outputs);
  for (size_t v = 0; v < flow.vertices.size(); ++v) {
    const FlowVertex& reader = flow.vertices[v];
    for (size_t i = 0; i < reader.inputs.size(); ++i) {
      const int input = static_cast<int>(i);
      const FlowPort& from = reader.inputs[i];
      readers_[from.vertex.value()][from.output].push_back(
          {{VertexId(static_cast<int64_t>(v)), input}, RouteOf(reader, input)});
    }
  }
}

void FrameRoutes::Cut(FlowPort from, const Timestamp& time, const RecordBatch& batch,
                      std::vector<OutgoingFrame>* frames) const {
  for (const Reader& reader : readers_[from.vertex.value()][from.output]) {
    for (FramePart& part : SplitFrame(batch, reader.routing, rank_, workers_, max_bytes_)) {
      frames->push_back({reader.input, time, std::move(part)});
    }
  }
}

}  // namespace weir
