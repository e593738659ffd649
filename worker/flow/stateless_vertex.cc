#include "worker/flow/stateless_vertex.h"

#include <optional>
#include <utility>

#include "common/base/status.h"
#include "common/flow/vertex_kind.h"
#include "worker/flow/frame_bounds.h"

namespace weir {

StatelessVertex::StatelessVertex(const VertexSetup& setup)
    : summary_(SummaryOf(setup.vertex(), setup.flow->DepthOf(setup.vertex().scope))) {}

absl::Status StatelessVertex::OnFrame(int input, RecordBatch batch, VertexActivation* activation) {
  if (batch.empty()) return absl::OkStatus();
  std::optional<Timestamp> time = summary_.Apply(activation->time());
  if (!time || !Admits(*time)) {
    activation->CountDropped(batch.size());
    return absl::OkStatus();
  }
  return Apply(std::move(batch), *std::move(time), activation);
}

absl::Status StatelessVertex::Apply(RecordBatch batch, Timestamp time,
                                    VertexActivation* activation) {
  SendRecords(0, time, std::move(batch), activation);
  return absl::OkStatus();
}

}  // namespace weir
