// Progress messages between coordinator and workers: values of common/timely from and to the
// messages of progress.proto. Stateless; usable from any thread.
//
// Here and not in common/timely, which knows no messages, since both ends need it as they need the
// rest of this folder. What is read may be damaged or hostile: it is a value that fits the job or
// an error, and memory is bounded by the size of the message.
#ifndef WEIR_COMMON_PLAN_PROGRESS_WIRE_H_
#define WEIR_COMMON_PLAN_PROGRESS_WIRE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/timely/logical_graph.h"
#include "common/timely/pointstamp.h"
#include "common/timely/topology.h"
#include "weir/v1/progress.pb.h"

namespace weir {

// What one message may hold at most.
struct ProgressLimits {
  int64_t changes = 65'536;
  int64_t scopes = 1'000;
  int depth = 32;  // of loops inside of each other
  int64_t vertices = 100'000;
  int64_t edges = 1'000'000;
  // Of all vertices together: inputs x outputs, each of which may have summaries.
  int64_t port_pairs = 1'000'000;
  int64_t ports = 1'000'000;
};

v1::LogicalGraph ToWire(const LogicalGraph& graph);
// Errors: InvalidArgument, with what names a scope, a vertex or a port that is not there, what is
// beside the bounds of a number, and which limit is exceeded. Topology::Of checks the rest.
absl::StatusOr<LogicalGraph> LogicalGraphFrom(const v1::LogicalGraph& message,
                                              const ProgressLimits& limits = {});

// Packs changes; those that are sorted by location and time take fewest bytes.
// REQUIRES: they are of locations of the topology, locations do not go down.
void PackChanges(absl::Span<const Change> changes,
                 google::protobuf::RepeatedField<uint64_t>* packed);
// Errors: InvalidArgument, with the number of the change: too many, a location that the job does
// not have, a coordinate below zero or beyond int64, numbers that end in the middle.
absl::StatusOr<std::vector<Change>> UnpackChanges(
    const google::protobuf::RepeatedField<uint64_t>& packed, const Topology& topology,
    const ProgressLimits& limits = {});

// The numbers of job and generation are the caller's.
v1::ProgressBatch ToWire(const ProgressBatch& batch);
absl::StatusOr<ProgressBatch> ProgressBatchFrom(const v1::ProgressBatch& message,
                                                const Topology& topology,
                                                const ProgressLimits& limits = {});

// REQUIRES: additions before removals, both sorted, as Tracker::Propagate gives them.
v1::FrontierUpdate ToWire(const FrontierUpdate& update);
// Errors: InvalidArgument as UnpackChanges; FrontierView::Apply checks the rest.
absl::StatusOr<FrontierUpdate> FrontierUpdateFrom(const v1::FrontierUpdate& message,
                                                  const Topology& topology,
                                                  const ProgressLimits& limits = {});

// What a worker is granted. Errors: InvalidArgument as UnpackChanges; something granted at an input
// or not at least once.
absl::StatusOr<std::vector<Change>> GrantsFrom(const v1::ProgressGrants& message,
                                               const Topology& topology,
                                               const ProgressLimits& limits = {});

}  // namespace weir

#endif  // WEIR_COMMON_PLAN_PROGRESS_WIRE_H_
