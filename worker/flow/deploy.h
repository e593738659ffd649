// What a worker makes of DeployFlow. Stateless; usable from any thread.
#ifndef WEIR_WORKER_FLOW_DEPLOY_H_
#define WEIR_WORKER_FLOW_DEPLOY_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "weir/v1/flow.pb.h"
#include "worker/flow/flow_setup.h"

namespace weir {

struct Program;

// `find_program` returns null for a program that is not loaded or not ready. Errors:
// InvalidArgument, what is wrong with the flow or its ranks; FailedPrecondition, a function without
// its program.
absl::StatusOr<FlowSetup> SetupFrom(
    const v1::DeployFlow& deploy,
    const std::function<std::shared_ptr<Program>(uint64_t id)>& find_program);

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_DEPLOY_H_
