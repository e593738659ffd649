// From the bytes that a client sends to a graph, by format. Stateless; usable from any thread.
#ifndef WEIR_SERVER_JOBS_PROGRAM_LOADER_H_
#define WEIR_SERVER_JOBS_PROGRAM_LOADER_H_

#include "absl/status/statusor.h"
#include "common/ir/graph.h"
#include "weir/v1/service.pb.h"

namespace weir {

// Returns: the verified graph, for one example; INVALID_ARGUMENT that names the file and the place
// in it.
absl::StatusOr<Graph> LoadProgram(const v1::Program& program);

}  // namespace weir

#endif  // WEIR_SERVER_JOBS_PROGRAM_LOADER_H_
