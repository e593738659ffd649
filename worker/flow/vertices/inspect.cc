#include <algorithm>
#include <string>
#include <utility>

#include "common/base/status.h"
#include "worker/flow/frame_bounds.h"
#include "worker/flow/stateless_vertex.h"

namespace weir {
namespace {

constexpr int64_t kLinesByDefault = 10;

class InspectVertex : public StatelessVertex {
 public:
  explicit InspectVertex(const VertexSetup& setup)
      : StatelessVertex(setup),
        name_(setup.vertex().name),
        limit_(setup.vertex().IntOr("limit", kLinesByDefault)) {}

 protected:
  absl::Status Apply(RecordBatch batch, Timestamp time, VertexActivation* activation) override {
    const int64_t lines = std::min(limit_, batch.size());
    for (int64_t row = 0; row < lines; ++row) activation->Log(Line(batch, row, time));
    SendRecords(0, time, std::move(batch), activation);
    return absl::OkStatus();
  }

 private:
  // "'words' at (3): i64[] {7}, f32[2] {1, 2}; origin 5, weight -1".
  std::string Line(const RecordBatch& batch, int64_t row, const Timestamp& time) const {
    std::string line = StrCat("'", name_, "' at ", ToString(time), ": ");
    for (size_t i = 0; i < batch.columns.size(); ++i) {
      StrAppend(&line, i == 0 ? "" : ", ", batch.columns[i].Row(row).ToString());
    }
    StrAppend(&line, "; origin ", batch.origin(row));
    if (batch.weight(row) != 1) StrAppend(&line, ", weight ", batch.weight(row));
    return line;
  }

  const std::string name_;
  const int64_t limit_;
};

}  // namespace

std::unique_ptr<Vertex> MakeInspectVertex(const VertexSetup& setup) {
  return std::make_unique<InspectVertex>(setup);
}

}  // namespace weir
