#include <vector>

#include "common/base/status.h"
#include "worker/flow/frame_bounds.h"
#include "worker/flow/stateless_vertex.h"

namespace weir {
namespace {

// Records for which the function is true go to output 0, the others to output 1, if there is one.
class ChooseVertex : public StatelessVertex {
 public:
  explicit ChooseVertex(const VertexSetup& setup)
      : StatelessVertex(setup),
        function_(setup.functions.at("function")),
        outputs_(static_cast<int>(setup.vertex().output_types.size())) {}

 protected:
  absl::Status Apply(RecordBatch batch, Timestamp time, VertexActivation* activation) override {
    WEIR_ASSIGN_OR_RETURN(const std::vector<Tensor> results,
                          function_->Call(batch.columns, batch.size()));
    const Tensor chosen = results[0].Contiguous();
    std::vector<int64_t> rows[2];
    for (int64_t row = 0; row < batch.size(); ++row) {
      rows[chosen.data<bool>()[row] ? 0 : 1].push_back(row);
    }
    for (int output = 0; output < outputs_; ++output) {
      const bool all = static_cast<int64_t>(rows[output].size()) == batch.size();
      SendRecords(output, time, all ? batch : SelectRows(batch, rows[output]), activation);
    }
    return absl::OkStatus();
  }

 private:
  const std::shared_ptr<const RecordFunction> function_;
  const int outputs_;
};

}  // namespace

std::unique_ptr<Vertex> MakeChooseVertex(const VertexSetup& setup) {
  return std::make_unique<ChooseVertex>(setup);
}

}  // namespace weir
