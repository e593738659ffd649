#include "server/flows/prepared_flow.h"

#include <set>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/flow/flow_text.h"
#include "common/flow/flow_wire.h"
#include "common/ir/clone.h"
#include "common/ir/names.h"
#include "common/ir/text.h"
#include "common/tensor/digest.h"
#include "server/flows/pipelined/pipelined.h"
#include "server/jobs/compiled_program.h"
#include "server/jobs/program_loader.h"

namespace weir {
namespace {

// Adds the functions that nodes of a region call, and those inside.
void AddCallees(const Graph& graph, RegionId region, std::vector<std::string>* callees) {
  for (const NodeId id : graph.region(region).nodes) {
    const Node& node = graph.node(id);
    const Attr* callee = node.FindAttr("callee");
    if (callee != nullptr) callees->push_back(callee->AsString());
    for (const RegionId inner : node.regions) AddCallees(graph, inner, callees);
  }
}

// Itself first, then those that it calls in the order in which they are there.
std::vector<Function> ReachedFrom(const Graph& graph, const std::string& name) {
  std::set<std::string> reached = {name};
  std::vector<std::string> open = {name};
  while (!open.empty()) {
    const Function* function = graph.FindFunction(open.back());
    open.pop_back();
    std::vector<std::string> callees;
    if (function != nullptr) AddCallees(graph, function->body, &callees);
    for (std::string& callee : callees) {
      if (reached.insert(callee).second) open.push_back(std::move(callee));
    }
  }
  std::vector<Function> functions = {*graph.FindFunction(name)};
  if (reached.size() == 1) return functions;
  for (const Function& function : graph.functions()) {
    if (function.name != name && reached.contains(function.name)) functions.push_back(function);
  }
  return functions;
}

// A graph of these functions and nothing else.
Graph CopyOf(const std::vector<Function>& functions, const Graph& graph) {
  Graph copy;
  for (const Function& function : functions) {
    const RegionId body = copy.AddFunction(function.name).body;
    copy.functions().back().result_names = function.result_names;
    ValueMap map;
    for (const ValueId arg : graph.region(function.body).args) {
      map[arg] = copy.AddArg(body, graph.type(arg), graph.value(arg).name);
    }
    std::vector<ValueId> results = CloneRegionBody(graph, function.body, &copy, body, &map);
    copy.region(body).results = std::move(results);
  }
  return copy;
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
  Graph alone = CopyOf(ReachedFrom(functions, name), functions);
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
