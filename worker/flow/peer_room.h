// Which workers have room for more frames of a flow, and which vertices wait for one that has none.
// Owned by a FlowJob; thread-compatible.
//
// A link to a worker holds what the other side has not taken, in memory of both; who goes on
// sending makes that grow. So a vertex from which records may go to a worker whose link is full
// begins no call, inside of loops too. That cannot last: what arrives is always taken, into a
// queue and from there to disk, whatever its reader waits for, so each link empties by itself.
#ifndef WEIR_WORKER_FLOW_PEER_ROOM_H_
#define WEIR_WORKER_FLOW_PEER_ROOM_H_

#include <cstdint>
#include <vector>

#include "common/flow/flow.h"

namespace weir {

class PeerRoom {
 public:
  // Of the worker of this rank among `workers`; all have room. REQUIRES: the flow is checked.
  PeerRoom(const Flow& flow, int rank, int workers);

  void SetFull(int rank);
  // Returns: the vertices that may have waited for it; none if it was not full.
  const std::vector<VertexId>& SetRoom(int rank);
  // Returns: a reader of this vertex at a worker that is full; none if there is room for whatever
  // the vertex may send.
  VertexId FullBehind(VertexId vertex) const;

 private:
  // To a copy of `reader` on another worker.
  struct Way {
    int rank;
    VertexId reader;
  };

  std::vector<std::vector<Way>> ways_;          // by vertex
  std::vector<std::vector<VertexId>> writers_;  // by rank: those with a way there
  std::vector<bool> full_;                      // by rank
  int full_count_ = 0;
};

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_PEER_ROOM_H_
