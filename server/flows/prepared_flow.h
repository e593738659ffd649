// A flow as a client asks for it, with all that can be worked out before anything is decided:
// parsed, checked, its topology, and a program for each function. Immutable; made on any thread.
#ifndef WEIR_SERVER_FLOWS_PREPARED_FLOW_H_
#define WEIR_SERVER_FLOWS_PREPARED_FLOW_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/flow/flow.h"
#include "common/flow/vertex_kind.h"
#include "common/timely/topology.h"
#include "server/jobs/job_spec.h"
#include "weir/v1/flows.pb.h"

namespace weir {

struct PreparedFlow {
  // A function as a program of its own.
  struct Function {
    v1::Program program;
    std::string key;  // ProgramKey
  };

  v1::DeployRequest request;  // without the text
  std::shared_ptr<const Flow> flow;
  std::shared_ptr<const Topology> topology;
  std::string text;                           // for workers: printed again, without large constants
  std::map<std::string, Function> functions;  // by name; those that vertices name
  SpecDigest digest;
};

// Errors: InvalidArgument, with the place in the text; ResourceExhausted beyond the limits.
absl::StatusOr<PreparedFlow> PrepareFlow(const v1::DeployRequest& request, const Limits& limits);

// The function, and those that it calls, as a program. One that is called for each record gets an
// axis of records in front of every parameter; one for all records of a time has it.
absl::StatusOr<v1::Program> ProgramOf(const Graph& functions, const std::string& name,
                                      FlowAttr::Calls calls);

}  // namespace weir

#endif  // WEIR_SERVER_FLOWS_PREPARED_FLOW_H_
