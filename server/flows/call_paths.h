// What the answers to calls of a flow follow from: records that one client feeds to an input, one
// for each, and whose answers it takes from an output (request_batcher.h). Stateless.
#ifndef WEIR_SERVER_FLOWS_CALL_PATHS_H_
#define WEIR_SERVER_FLOWS_CALL_PATHS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/flow/flow.h"
#include "server/progress/job_progress.h"

namespace weir {

// Returns: the other inputs of the flow from which there is a way to the output: they may bring
// something that changes answers. Errors: InvalidArgument, there is no way from `input`, or records
// of another source come out there too: an answer is told by its origin, the number of its record
// in the epoch, and theirs have the same numbers.
absl::StatusOr<std::vector<VertexId>> OtherInputsOf(const Flow& flow, VertexId input,
                                                    VertexId output);

// Returns: of `others` those that alone hold up what is left of an epoch at the output: all that is
// outstanding and could result in it is open in them, or waits for a time that they could still
// bring something to. None while something goes on, or if nothing is left.
std::vector<VertexId> HeldUpBy(const JobProgress& job, absl::Span<const VertexId> others,
                               VertexId output, int64_t epoch);

}  // namespace weir

#endif  // WEIR_SERVER_FLOWS_CALL_PATHS_H_
