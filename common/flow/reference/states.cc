#include "common/base/status.h"
#include "common/flow/reference/reference_vertex.h"

namespace weir {

Coordinates StateOf(StateLife life, const Timestamp& time) {
  const absl::Span<const int64_t> all = time.coordinates();
  if (life == StateLife::kJob) return {};
  return Coordinates(all.begin(), life == StateLife::kTime ? all.end() : all.end() - 1);
}

absl::Status CheckWeights(const FlowVertex& vertex, const RecordBag& records) {
  if (LifeOf(vertex) == StateLife::kTime || EmitOf(vertex) == Emit::kChanges) {
    return absl::OkStatus();
  }
  for (const auto& [key, weight] : records) {
    if (weight > 0) continue;
    return InvalidArgument("a record of origin ", key.origin, " has the weight ", weight,
                           "; what is taken back needs emit = \"changes\"");
  }
  return absl::OkStatus();
}

}  // namespace weir
