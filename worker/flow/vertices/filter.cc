#include <vector>

#include "common/base/status.h"
#include "worker/flow/stateless_vertex.h"

namespace weir {
namespace {

class FilterVertex : public StatelessVertex {
 public:
  explicit FilterVertex(const VertexSetup& setup)
      : StatelessVertex(setup), function_(setup.functions.at("function")) {}

 protected:
  absl::StatusOr<RecordBatch> Apply(RecordBatch batch) const override {
    WEIR_ASSIGN_OR_RETURN(const std::vector<Tensor> results,
                          function_->Call(batch.columns, batch.size()));
    const Tensor keep = results[0].Contiguous();
    std::vector<int64_t> kept;
    for (int64_t row = 0; row < batch.size(); ++row) {
      if (keep.data<bool>()[row]) kept.push_back(row);
    }
    if (static_cast<int64_t>(kept.size()) == batch.size()) return batch;
    return SelectRows(batch, kept);
  }

 private:
  const std::shared_ptr<const RecordFunction> function_;
};

}  // namespace

std::unique_ptr<Vertex> MakeFilterVertex(const VertexSetup& setup) {
  return std::make_unique<FilterVertex>(setup);
}

}  // namespace weir
