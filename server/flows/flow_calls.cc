// The part of the core that says what answers to calls wait for.
#include "common/base/status.h"
#include "server/flows/call_paths.h"
#include "server/flows/flow_core.h"

namespace weir {
namespace {

struct Ends {
  VertexId input;
  VertexId output;
};

absl::StatusOr<Ends> EndsOf(const FlowEntry& flow, const std::string& input,
                            const std::string& output) {
  const Ends ends = {flow.flow().FindVertex(input), flow.flow().FindVertex(output)};
  if (!flow.inputs.contains(ends.input)) {
    return absl::NotFoundError(StrCat("the flow has no input '", input, "'"));
  }
  if (!flow.outputs.contains(ends.output)) {
    return absl::NotFoundError(StrCat("the flow has no output '", output, "'"));
  }
  return ends;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> FlowCore::CheckCalls(std::string_view job_id,
                                                              const std::string& input,
                                                              const std::string& output) {
  WEIR_ASSIGN_OR_RETURN(const FlowEntry* flow, FindFlow(job_id));
  WEIR_ASSIGN_OR_RETURN(const Ends ends, EndsOf(*flow, input, output));
  WEIR_ASSIGN_OR_RETURN(const std::vector<VertexId> others,
                        OtherInputsOf(flow->flow(), ends.input, ends.output));
  std::vector<std::string> names;
  for (const VertexId other : others) names.push_back(flow->flow().vertex(other).name);
  return names;
}

absl::StatusOr<std::vector<std::string>> FlowCore::CallsHeldBy(std::string_view job_id,
                                                               const std::string& input,
                                                               const std::string& output,
                                                               int64_t epoch) {
  WEIR_ASSIGN_OR_RETURN(const FlowEntry* flow, FindFlow(job_id));
  WEIR_ASSIGN_OR_RETURN(const Ends ends, EndsOf(*flow, input, output));
  std::vector<std::string> held_by;
  if (flow->stage != Stage::kRunning) return held_by;
  WEIR_ASSIGN_OR_RETURN(const std::vector<VertexId> others,
                        OtherInputsOf(flow->flow(), ends.input, ends.output));
  for (const VertexId other : HeldUpBy(*flow->progress, others, ends.output, epoch)) {
    const InputLedger& ledger = flow->inputs.at(other);
    // It was moved on, which workers have not said yet.
    if (ledger.closed() || ledger.epoch() > epoch) return std::vector<std::string>();
    held_by.push_back(StrCat("'", ledger.name(), "', which is open at epoch ", ledger.epoch()));
  }
  return held_by;
}

}  // namespace weir
