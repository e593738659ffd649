#include "server/flows/pipelined/pipelined.h"

#include <memory>
#include <string>
#include <utility>

#include "common/base/status.h"
#include "server/flows/pipelined/flow_writer.h"
#include "server/flows/pipelined/function_ways.h"
#include "server/flows/pipelined/own_way.h"

namespace weir {
namespace {

// The function as the entry of a program, in which loops and branches are as they are brought out.
absl::StatusOr<Graph> ProgramOfOwnWays(const Graph& functions, const std::string& name,
                                       BroughtOut what) {
  Graph program = functions;
  std::vector<Function>& all = program.functions();
  for (Function& function : all) {
    if (function.name == name) std::swap(function, all.front());
  }
  WEIR_RETURN_IF_ERROR(MakeOwnWays(&program, what));
  return program;
}

absl::Status BringOut(Flow* flow, Graph* functions, size_t number) {
  const FlowVertex vertex = flow->vertices[number];
  const BroughtOut what =
      vertex.attr("pipelined").AsString() == "all" ? BroughtOut::kAll : BroughtOut::kLoops;
  WEIR_ASSIGN_OR_RETURN(const Graph program,
                        ProgramOfOwnWays(*functions, vertex.attr("function").AsString(), what));
  FlowWriter writer(flow, functions, vertex);
  FunctionWays ways(program,
                    {.what = what,
                     .hold_bytes = vertex.IntOr("hold_bytes", 0),
                     .drops_failing = vertex.StringOr("on_failure", "stop") == "drop"},
                    &writer);
  std::string function = vertex.attr("function").AsString();
  FlowPort last = vertex.inputs[0];
  if (HasBroughtOut(program, program.entry().body, what)) {
    WEIR_ASSIGN_OR_RETURN(const WayPoint end, ways.Run(vertex.inputs[0], vertex.scope, &function));
    last = end.port;
  }
  FlowVertex& rest = flow->vertices[number];
  rest.inputs = {last};
  rest.attrs.erase("pipelined");
  rest.attrs.erase("hold_bytes");
  if (!function.empty()) {
    rest.attrs.insert_or_assign("function", Attr(function));
  } else {
    rest.kind = "concat";
    rest.attrs.clear();
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status BringOutPipelined(Flow* flow) {
  std::shared_ptr<Graph> functions;  // made when there is a map to bring out
  for (size_t i = 0, end = flow->vertices.size(); i < end; ++i) {
    const FlowVertex& vertex = flow->vertices[i];
    if (vertex.kind != "map" || vertex.FindAttr("pipelined") == nullptr) continue;
    if (functions == nullptr) functions = std::make_shared<Graph>(*flow->functions);
    const std::string what = StrCat("'", vertex.name, "' (map)");
    WEIR_RETURN_IF_ERROR(Annotate(BringOut(flow, functions.get(), i), what));
  }
  if (functions == nullptr) return absl::OkStatus();
  flow->functions = std::move(functions);
  return CheckFlow(flow);
}

}  // namespace weir
