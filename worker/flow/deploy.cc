#include "worker/flow/deploy.h"

#include <utility>

#include "common/base/status.h"
#include "common/flow/flow_text.h"
#include "common/flow/flow_wire.h"
#include "common/flow/vertex_kind.h"
#include "worker/flow/program_function.h"

namespace weir {
namespace {

absl::StatusOr<std::shared_ptr<const RecordFunction>> FunctionOf(
    const Flow& flow, const std::string& name, FlowAttr::Calls calls,
    std::shared_ptr<Program> program, std::shared_ptr<std::atomic<bool>> cancelled) {
  const bool is_for_batch = calls == FlowAttr::Calls::kBatch;
  const RecordSignature signature = is_for_batch ? RecordSignature::OfBatch(*flow.functions, name)
                                                 : RecordSignature::Of(*flow.functions, name);
  auto function =
      is_for_batch ? MakeProgramBatchFunction(std::move(program), signature, std::move(cancelled))
                   : MakeProgramFunction(std::move(program), signature, std::move(cancelled));
  WEIR_RETURN_IF_ERROR(function.status());
  return std::shared_ptr<const RecordFunction>(*std::move(function));
}

}  // namespace

absl::StatusOr<FlowSetup> SetupFrom(
    const v1::DeployFlow& deploy,
    const std::function<std::shared_ptr<Program>(uint64_t id)>& find_program) {
  const uint32_t workers = static_cast<uint32_t>(deploy.peers_size());
  if (deploy.rank() >= workers) {
    return InvalidArgument("flow ", deploy.job(), ": rank ", deploy.rank(), " of ", workers,
                           " workers");
  }
  WEIR_ASSIGN_OR_RETURN(Flow flow, ParseFlow(deploy.flow(), {.functions = {.find_blob = StandIn}}));
  FlowSetup setup;
  setup.job = deploy.job();
  setup.generation = deploy.generation();
  setup.rank = static_cast<int>(deploy.rank());
  setup.peers = {deploy.peers().begin(), deploy.peers().end()};
  setup.grants = deploy.grants();
  if (deploy.limits().channel_bytes() > 0) setup.channel_bytes = deploy.limits().channel_bytes();
  WEIR_ASSIGN_OR_RETURN(setup.topology, Topology::Of(GraphOf(flow)));
  for (const auto& [name, calls] : CalledFunctions(flow)) {
    const auto id = deploy.programs().find(name);
    std::shared_ptr<Program> program =
        id == deploy.programs().end() ? nullptr : find_program(id->second);
    if (program == nullptr) {
      return absl::FailedPreconditionError(
          StrCat("flow ", deploy.job(), ": the program of function @", name, " is not loaded"));
    }
    WEIR_ASSIGN_OR_RETURN(std::shared_ptr<const RecordFunction> function,
                          FunctionOf(flow, name, calls, std::move(program), setup.cancelled));
    setup.functions.emplace(name, std::move(function));
  }
  setup.flow = std::make_shared<const Flow>(std::move(flow));
  return setup;
}

}  // namespace weir
