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
      : StatelessVertex(setup),
        function_(setup.functions.at("function")),
        drops_(setup.vertex().StringOr("on_failure", "stop") == "drop") {}

 protected:
  absl::Status Apply(RecordBatch batch, Timestamp time, VertexActivation* activation) override {
    absl::StatusOr<std::vector<Tensor>> columns = function_->Call(batch.columns, batch.size());
    if (columns.ok()) {
      SendRecords(0, time, WithColumns(batch, *std::move(columns)), activation);
      return absl::OkStatus();
    }
    if (!drops_ || !IsOfARecord(columns.status())) return columns.status();
    if (batch.size() == 1) {
      activation->FailRecord(batch.origin(0), columns.status());
      return absl::OkStatus();
    }
    // Which records it were is found by halves.
    const int64_t half = batch.size() / 2;
    WEIR_RETURN_IF_ERROR(Apply(SliceRows(batch, 0, half), time, activation));
    return Apply(SliceRows(batch, half, batch.size()), std::move(time), activation);
  }

 private:
  // Whether another record might not fail in the same way.
  static bool IsOfARecord(const absl::Status& status) {
    return status.code() != absl::StatusCode::kCancelled &&
           status.code() != absl::StatusCode::kResourceExhausted &&
           status.code() != absl::StatusCode::kInternal;
  }

  const std::shared_ptr<const RecordFunction> function_;
  const bool drops_;
};

}  // namespace

std::unique_ptr<Vertex> MakeMapVertex(const VertexSetup& setup) {
  return std::make_unique<MapVertex>(setup);
}

}  // namespace weir
