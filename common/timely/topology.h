// A checked logical graph with dense numbers for its places, the hops between them, and the order
// in which changes go through it. Made once per job, the same on the coordinator and the workers;
// immutable, so usable from any thread.
//
// A location is a place where something can wait, counted by its (location, time):
//   input    a frame that is under way to an input port, or whose kernel has not finished
//   request  a notification that was asked for at an input port, or a frame that is kept for it
//   output   a capability to send from an output port
// Hops lead from output to input, from input to request, and from both of them to the outputs of
// their vertex: a request holds back what comes after its port, but not the port itself.
//
// Checked: ports exist and have one edge each coming in, edges stay in one scope, summaries keep
// exactly the counters of the scopes that input and output share, and every cycle adds something to
// what it keeps. (A cycle that adds nothing would hold back itself for ever; the error names it.)
#ifndef WEIR_COMMON_TIMELY_TOPOLOGY_H_
#define WEIR_COMMON_TIMELY_TOPOLOGY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "common/base/status.h"
#include "common/timely/logical_graph.h"

namespace weir {

using LocationId = Id<struct LocationTag>;

struct PortLocation {
  enum class Kind { kInput, kRequest, kOutput };

  Kind kind = Kind::kInput;
  Port port;
  ScopeId scope;
  int depth = 0;  // of its times
};

// From one location to the next.
struct Hop {
  LocationId to;
  PathSummary summary;
  bool keeps_time = false;  // the summary is the identity
};

// A hop as seen from where it leads to.
struct BackHop {
  LocationId from;
  int64_t number = 0;  // of the hop
};

class Topology {
 public:
  // Errors: InvalidArgument, with the vertex, the port or the cycle.
  static absl::StatusOr<std::shared_ptr<const Topology>> Of(LogicalGraph graph);

  const LogicalGraph& graph() const { return graph_; }
  int num_locations() const { return static_cast<int>(locations_.size()); }
  const PortLocation& location(LocationId id) const { return locations_[id.value()]; }
  LocationId input(VertexId vertex, int number) const;
  LocationId request(VertexId vertex, int number) const;
  LocationId output(VertexId vertex, int number) const;

  absl::Span<const Hop> hops(LocationId from) const;
  absl::Span<const BackHop> hops_to(LocationId to) const;
  const Hop& hop(const BackHop& back) const { return hops_[back.number]; }
  // Returns: whether what happens at (a, time_a) must be worked out before (b, time_b). A total
  // order in which every hop goes forward and that extends the order of times at one place.
  bool ComesBefore(LocationId a, const Timestamp& time_a, LocationId b,
                   const Timestamp& time_b) const;

  // Returns: "input 1 of 'join'".
  std::string Describe(LocationId id) const;
  // Returns: InvalidArgument if there is no such location or a time there has other coordinates.
  absl::Status CheckPointstamp(LocationId id, const Timestamp& time) const;

 private:
  friend class CausalOrder;

  explicit Topology(LogicalGraph graph) : graph_(std::move(graph)) {}
  absl::Status CheckPorts() const;
  absl::Status CheckSummaries() const;
  void NumberLocations();
  void CollectHops();
  void CollectBackHops();
  void CollectInner(const LogicalGraph::Vertex& vertex, int input, std::vector<Hop>* hops) const;

  LogicalGraph graph_;
  std::vector<PortLocation> locations_;
  std::vector<int64_t> first_;      // of each vertex: inputs, requests, outputs
  std::vector<int64_t> first_hop_;  // of each location, and one more
  std::vector<Hop> hops_;
  std::vector<int64_t> first_back_hop_;  // of each location, and one more
  std::vector<BackHop> back_hops_;
  std::vector<int64_t> first_rank_;  // of each location
  std::vector<int32_t> ranks_;       // one behind each coordinate
};

}  // namespace weir

#endif  // WEIR_COMMON_TIMELY_TOPOLOGY_H_
