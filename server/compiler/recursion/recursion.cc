#include "server/compiler/recursion/recursion.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/ops/control/recursion.h"
#include "server/compiler/recursion/blocks.h"
#include "server/compiler/recursion/machine.h"
#include "server/compiler/recursion/members.h"

namespace weir {
namespace {

// The recursive functions that something else needs: the entry, and what is called by functions of
// other sets or of none.
FunctionNames Roots(const Graph& graph, const Recursion& recursion) {
  FunctionNames roots;
  for (const Function& function : graph.functions()) {
    const int set = recursion.SetOf(function.name);
    for (const std::string& callee : CalleesOf(graph, function.body)) {
      const int called = recursion.SetOf(callee);
      if (called >= 0 && called != set) roots.insert(callee);
    }
  }
  if (recursion.SetOf(graph.entry().name) >= 0) roots.insert(graph.entry().name);
  return roots;
}

// A body that is ready to take the place of a function's.
struct Lowered {
  std::string name;
  RegionId nodes;
  std::vector<ValueId> results;
};

absl::StatusOr<Lowered> Lower(Graph* graph, const Recursion::Set& set, const std::string& root) {
  WEIR_ASSIGN_OR_RETURN(const Members members, Members::Create(graph, set, root));
  Lowered lowered{root, graph->AddRegion(), {}};
  Machine machine(graph, lowered.nodes, set.max_depth);
  const std::vector<ValueId> arguments = graph->region(graph->FindFunction(root)->body).args;
  Blocks blocks(graph, members, arguments, &machine);
  WEIR_ASSIGN_OR_RETURN(lowered.results, blocks.Lower(TooDeepText(set)));
  return lowered;
}

void TakePlace(Graph* graph, const Lowered& lowered) {
  const RegionId body = graph->FindFunction(lowered.name)->body;
  std::vector<NodeId> nodes = std::exchange(graph->region(lowered.nodes).nodes, {});
  for (NodeId id : nodes) {
    graph->node(id).parent = body;
    for (ValueId output : graph->node(id).outputs) graph->value(output).region = body;
  }
  graph->region(body).nodes = std::move(nodes);
  graph->region(body).results = lowered.results;
}

}  // namespace

absl::Status LowerRecursion(Graph* graph, const CompileOptions&, CompileReport*) {
  const Recursion recursion(*graph);
  if (recursion.sets().empty()) return absl::OkStatus();
  const FunctionNames roots = Roots(*graph, recursion);
  std::vector<Lowered> all;
  for (const std::string& root : roots) {
    const Recursion::Set& set = recursion.sets()[recursion.SetOf(root)];
    absl::StatusOr<Lowered> lowered = Lower(graph, set, root);
    WEIR_RETURN_IF_ERROR(Annotate(lowered.status(), StrCat("recursion of @", root)));
    all.push_back(*std::move(lowered));
  }
  for (const Lowered& lowered : all) TakePlace(graph, lowered);
  std::vector<Function>& functions = graph->functions();
  std::erase_if(functions, [&](const Function& function) {
    return recursion.SetOf(function.name) >= 0 && !roots.contains(function.name);
  });
  return absl::OkStatus();
}

}  // namespace weir
