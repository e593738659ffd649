#include <utility>
#include <vector>

#include "common/base/status.h"
#include "worker/flow/stateless_vertex.h"

namespace weir {
namespace {

class MapVertex : public StatelessVertex {
 public:
  explicit MapVertex(const VertexSetup& setup)
      : StatelessVertex(setup), function_(setup.functions.at("function")) {}

 protected:
  absl::StatusOr<RecordBatch> Apply(RecordBatch batch) const override {
    WEIR_ASSIGN_OR_RETURN(std::vector<Tensor> columns,
                          function_->Call(batch.columns, batch.size()));
    return WithColumns(batch, std::move(columns));
  }

 private:
  const std::shared_ptr<const RecordFunction> function_;
};

}  // namespace

std::unique_ptr<Vertex> MakeMapVertex(const VertexSetup& setup) {
  return std::make_unique<MapVertex>(setup);
}

}  // namespace weir
