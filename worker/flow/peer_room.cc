#include "worker/flow/peer_room.h"

#include "common/flow/vertex_kind.h"

namespace weir {
namespace {

bool MayGoTo(int rank, const Routing& routing) {
  switch (routing.to) {
    case Routing::To::kSelf:
      return false;
    case Routing::To::kRoot:
      return rank == 0;
    case Routing::To::kKey:
    case Routing::To::kOrigin:
    case Routing::To::kAll:
      return true;
  }
  return true;
}

const std::vector<VertexId>& Nobody() {
  static const std::vector<VertexId> nobody;
  return nobody;
}

}  // namespace

PeerRoom::PeerRoom(const Flow& flow, int rank, int workers)
    : ways_(flow.vertices.size()), writers_(workers), full_(workers, false) {
  for (size_t v = 0; v < flow.vertices.size(); ++v) {
    const FlowVertex& reader = flow.vertices[v];
    for (size_t i = 0; i < reader.inputs.size(); ++i) {
      const VertexId writer = reader.inputs[i].vertex;
      const Routing routing = RouteOf(reader, static_cast<int>(i));
      for (int other = 0; other < workers; ++other) {
        if (other == rank || !MayGoTo(other, routing)) continue;
        ways_[writer.value()].push_back({other, VertexId(static_cast<int64_t>(v))});
        std::vector<VertexId>& writers = writers_[other];
        if (writers.empty() || writers.back() != writer) writers.push_back(writer);
      }
    }
  }
}

void PeerRoom::SetFull(int rank) {
  if (full_[rank]) return;
  full_[rank] = true;
  ++full_count_;
}

const std::vector<VertexId>& PeerRoom::SetRoom(int rank) {
  if (!full_[rank]) return Nobody();
  full_[rank] = false;
  --full_count_;
  return writers_[rank];
}

VertexId PeerRoom::FullBehind(VertexId vertex) const {
  if (full_count_ == 0) return VertexId();
  for (const Way& way : ways_[vertex.value()]) {
    if (full_[way.rank]) return way.reader;
  }
  return VertexId();
}

}  // namespace weir
