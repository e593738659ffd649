#include <utility>
#include <vector>

#include "common/base/status.h"
#include "worker/flow/frame_bounds.h"
#include "worker/flow/stateless_vertex.h"

namespace weir {
namespace {

class MapVertex : public StatelessVertex {
 public:
  explicit MapVertex(const VertexSetup& setup)
      : StatelessVertex(setup), function_(setup.functions.at("function")) {}

 protected:
  absl::Status Apply(RecordBatch batch, Timestamp time, VertexActivation* activation) override {
    WEIR_ASSIGN_OR_RETURN(std::vector<Tensor> columns,
                          function_->Call(batch.columns, batch.size()));
    SendRecords(0, time, WithColumns(batch, std::move(columns)), activation);
    return absl::OkStatus();
  }

 private:
  const std::shared_ptr<const RecordFunction> function_;
};

}  // namespace

std::unique_ptr<Vertex> MakeMapVertex(const VertexSetup& setup) {
  return std::make_unique<MapVertex>(setup);
}

}  // namespace weir
