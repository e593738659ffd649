#include <algorithm>
#include <vector>

#include "absl/types/span.h"
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
    const auto whether =
        absl::MakeConstSpan(chosen.data<bool>(), static_cast<size_t>(batch.size()));
    for (int output = 0; output < outputs_; ++output) {
      const std::vector<int64_t> rows = RowsThatAre(output == 0, whether);
      const bool all = static_cast<int64_t>(rows.size()) == batch.size();
      SendRecords(output, time, all ? batch : SelectRows(batch, rows), activation);
    }
    return absl::OkStatus();
  }

 private:
  static std::vector<int64_t> RowsThatAre(bool wanted, absl::Span<const bool> chosen) {
    std::vector<int64_t> rows(
        static_cast<size_t>(std::count(chosen.begin(), chosen.end(), wanted)));
    if (rows.empty()) return rows;
    auto row = rows.begin();
    for (size_t i = 0; i < chosen.size(); ++i) {
      if (chosen[i] == wanted) *row++ = static_cast<int64_t>(i);
    }
    return rows;
  }

  const std::shared_ptr<const RecordFunction> function_;
  const int outputs_;
};

}  // namespace

std::unique_ptr<Vertex> MakeChooseVertex(const VertexSetup& setup) {
  return std::make_unique<ChooseVertex>(setup);
}

}  // namespace weir
