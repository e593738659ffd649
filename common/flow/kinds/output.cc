#include "common/flow/vertex_kind.h"

namespace weir {

VertexKind OutputKind() {
  VertexKind kind = {.name = "output", .summary = "records and their times go to the client"};
  kind.outputs = 0;
  kind.infer = [](const KindContext&) { return NotKnownYet(); };
  return kind;
}

}  // namespace weir
