#include "worker/flow/stateless_vertex.h"

namespace weir {

// Records go on as they are. The kinds differ in what the flow knows of them: in the way to the
// copies of the vertex (exchange) and in what happens to times (enter, leave, delay).
std::unique_ptr<Vertex> MakePassVertex(const VertexSetup& setup) {
  return std::make_unique<StatelessVertex>(setup);
}

}  // namespace weir
