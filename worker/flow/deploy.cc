#include "worker/flow/deploy.h"

#include <utility>

#include "common/base/status.h"
#include "common/flow/flow_text.h"
#include "worker/flow/program_function.h"

namespace weir {

absl::StatusOr<FlowSetup> SetupFrom(
    const v1::DeployFlow& deploy,
    const std::function<std::shared_ptr<Program>(uint64_t id)>& find_program) {
  const uint32_t workers = static_cast<uint32_t>(deploy.peers_size());
  if (deploy.rank() >= workers) {
    return InvalidArgument("flow ", deploy.job(), ": rank ", deploy.rank(), " of ", workers,
                           " workers");
  }
  WEIR_ASSIGN_OR_RETURN(Flow flow, ParseFlow(deploy.flow()));
  FlowSetup setup;
  setup.job = deploy.job();
  setup.generation = deploy.generation();
  setup.rank = static_cast<int>(deploy.rank());
  setup.peers = {deploy.peers().begin(), deploy.peers().end()};
  setup.grants = deploy.grants();
  if (deploy.limits().channel_bytes() > 0) setup.channel_bytes = deploy.limits().channel_bytes();
  WEIR_ASSIGN_OR_RETURN(setup.topology, Topology::Of(GraphOf(flow)));
  for (const auto& [name, program_id] : deploy.programs()) {
    std::shared_ptr<Program> program = find_program(program_id);
    if (program == nullptr) {
      return absl::FailedPreconditionError(StrCat("flow ", deploy.job(), ": program ", program_id,
                                                  " of function @", name, " is not loaded"));
    }
    if (flow.functions == nullptr || flow.functions->FindFunction(name) == nullptr) {
      return InvalidArgument("flow ", deploy.job(), ": there is no function @", name);
    }
    WEIR_ASSIGN_OR_RETURN(
        std::unique_ptr<RecordFunction> function,
        MakeProgramFunction(std::move(program), RecordSignature::Of(*flow.functions, name),
                            setup.cancelled));
    setup.functions.emplace(name, std::move(function));
  }
  setup.flow = std::make_shared<const Flow>(std::move(flow));
  return setup;
}

}  // namespace weir
