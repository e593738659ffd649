#include "server/flows/prepared_flow.h"

#include <set>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/flow/flow_text.h"
#include "common/flow/flow_wire.h"
#include "common/ir/names.h"
#include "common/ir/text.h"
#include "common/tensor/digest.h"
#include "server/flows/pipelined/pipelined.h"
#include "server/jobs/compiled_program.h"
#include "server/jobs/program_loader.h"

namespace weir {
namespace {

// Of the function, the names of those that it calls, itself among them if it is recursive.
std::vector<std::string> CalleesOf(const Graph& graph, const Function& function) {
  std::vector<std::string> callees;
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const Node& node = graph.node(NodeId(i));
    const Attr* callee = node.FindAttr("callee");
    if (callee == nullptr || !graph.Contains(function.body, node.parent)) continue;
    callees.push_back(callee->AsString());
  }
  return callees;
}

std::set<std::string> ReachedFrom(const Graph& graph, const std::string& name) {
  std::set<std::string> reached;
  std::vector<std::string> open = {name};
  while (!open.empty()) {
    const std::string next = std::move(open.back());
    open.pop_back();
    const Function* function = graph.FindFunction(next);
    if (function == nullptr || !reached.insert(next).second) continue;
    for (std::string& callee : CalleesOf(graph, *function)) open.push_back(std::move(callee));
  }
  return reached;
}

// A number reads back as no name, and inputs are found by name.
void NameParameters(Graph* program) {
  int number = 0;
  for (const ValueId parameter : program->region(program->entry().body).args) {
    std::string& name = program->value(parameter).name;
    if (name.empty() || IsAllDigits(name)) name = StrCat("column", number);
    ++number;
  }
}

absl::Status CheckRequest(const v1::DeployRequest& request, const Limits& limits) {
  if (request.flow().size() > limits.max_program_bytes) {
    return absl::ResourceExhaustedError(StrCat("the flow has ", request.flow().size(),
                                               " bytes; at most ", limits.max_program_bytes,
                                               " are allowed"));
  }
  if (request.submission_id().size() > limits.max_name_bytes) {
    return absl::ResourceExhaustedError(
        StrCat("the submission id has more than ", limits.max_name_bytes, " bytes"));
  }
  return CheckLabels(request.labels(), limits);
}

SpecDigest DigestOf(const v1::DeployRequest& request, const std::string& text) {
  SpecDigest digest;
  digest.program = ContentDigest(text);
  digest.inputs = ContentDigest("a flow");
  digest.options = StrCat(request.workers());
  digest.labels = DigestOfLabels(request.labels());
  return digest;
}

}  // namespace

absl::StatusOr<v1::Program> ProgramOf(const Graph& functions, const std::string& name,
                                      FlowAttr::Calls calls) {
  const std::set<std::string> reached = ReachedFrom(functions, name);
  Graph alone = functions;
  std::vector<Function> kept = {*functions.FindFunction(name)};
  for (const Function& function : functions.functions()) {
    if (function.name != name && reached.contains(function.name)) kept.push_back(function);
  }
  alone.functions() = std::move(kept);
  NameParameters(&alone);
  v1::Program program;
  program.set_format(v1::Program::FORMAT_TEXT);
  program.set_mode(v1::Program::MODE_VECTORIZED);
  program.set_name(StrCat("@", name));
  program.set_source(Print(alone));
  if (calls == FlowAttr::Calls::kBatch) return program;
  // The text decides on the names of parameters.
  WEIR_ASSIGN_OR_RETURN(const Graph printed, LoadProgram(program));
  for (const ValueId parameter : printed.region(printed.entry().body).args) {
    program.add_map(printed.value(parameter).name);
  }
  return program;
}

namespace {

absl::StatusOr<PreparedFlow> Prepare(Flow flow, const v1::DeployRequest& request) {
  PreparedFlow out;
  WEIR_ASSIGN_OR_RETURN(out.topology, Topology::Of(GraphOf(flow)));
  for (const auto& [function, calls] : CalledFunctions(flow)) {
    WEIR_ASSIGN_OR_RETURN(v1::Program program, ProgramOf(*flow.functions, function, calls));
    const std::string key = ProgramKey(program);
    out.functions[function] = {std::move(program), key};
  }
  out.request = request;
  out.request.clear_flow();
  out.text = PrintFlow(flow, {.blob_name = NameOfLeftOut});
  out.digest = DigestOf(request, PrintFlow(flow));
  out.flow = std::make_shared<const Flow>(std::move(flow));
  return out;
}

}  // namespace

absl::StatusOr<PreparedFlow> PrepareFlow(const v1::DeployRequest& request, const Limits& limits) {
  WEIR_RETURN_IF_ERROR(CheckRequest(request, limits));
  FlowParseOptions options;
  if (!request.name().empty()) options.functions.file = request.name();
  options.functions.max_nodes = static_cast<int64_t>(limits.max_nodes);
  WEIR_ASSIGN_OR_RETURN(Flow flow, ParseFlow(request.flow(), options));
  WEIR_RETURN_IF_ERROR(BringOutPipelined(&flow));
  return Prepare(std::move(flow), request);
}

}  // namespace weir
