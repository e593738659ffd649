#include "common/flow/vertex_kind.h"

namespace weir {

VertexKind ProbeKind() {
  VertexKind kind = {.name = "probe",
                     .summary = "takes records and shows which times are complete there"};
  kind.outputs = 0;
  kind.infer = [](const KindContext&) { return NotKnownYet(); };
  return kind;
}

}  // namespace weir
