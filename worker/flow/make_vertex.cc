#include <algorithm>
#include <iterator>
#include <string_view>

#include "common/base/status.h"
#include "worker/flow/vertex.h"

namespace weir {

// A function may be declared more than once.
#define WEIR_VERTEX(kind, name) std::unique_ptr<Vertex> Make##name##Vertex(const VertexSetup&);
#include "worker/flow/vertex_list.inc"
#undef WEIR_VERTEX

namespace {

struct Maker {
  std::string_view kind;
  std::unique_ptr<Vertex> (*make)(const VertexSetup&);
};

constexpr Maker kMakers[] = {
#define WEIR_VERTEX(kind, name) {kind, Make##name##Vertex},
#include "worker/flow/vertex_list.inc"
#undef WEIR_VERTEX
};

}  // namespace

bool HasVertex(std::string_view kind) {
  return std::any_of(std::begin(kMakers), std::end(kMakers),
                     [&](const Maker& maker) { return maker.kind == kind; });
}

absl::StatusOr<std::unique_ptr<Vertex>> MakeVertex(const VertexSetup& setup) {
  const FlowVertex& vertex = setup.vertex();
  for (const Maker& maker : kMakers) {
    if (maker.kind == vertex.kind) return maker.make(setup);
  }
  return absl::UnimplementedError(
      StrCat("vertices of kind '", vertex.kind, "' run no records on a worker"));
}

}  // namespace weir
