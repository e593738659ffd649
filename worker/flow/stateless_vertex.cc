#include "worker/flow/stateless_vertex.h"

#include <optional>
#include <utility>

#include "common/base/status.h"
#include "common/flow/vertex_kind.h"

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
  WEIR_ASSIGN_OR_RETURN(RecordBatch result, Apply(std::move(batch)));
  if (!result.empty()) activation->Send(0, *std::move(time), std::move(result));
  return absl::OkStatus();
}

}  // namespace weir
