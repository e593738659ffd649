// The compiler: a program in text form goes through every pass, vectorized and as a loop, and the
// plan that comes out fits the program.
#include <algorithm>

#include "common/base/status.h"
#include "common/ir/text.h"
#include "common/ops/control/state.h"
#include "common/ops/registry.h"
#include "server/compiler/map.h"
#include "server/compiler/pipeline.h"
#include "tests/fuzz/seeds.h"
#include "tests/fuzz/target.h"

namespace weir {
namespace {

// The plan takes and gives the variables too. Those of called functions are not known before they
// are inlined.
void CheckPlan(const Graph& graph, const PartitionedPlan& plan) {
  const auto variables = VariablesOf(graph);
  if (!variables.ok()) return;
  const Region& body = graph.region(graph.entry().body);
  const auto written = std::count_if(variables->begin(), variables->end(),
                                     [](const auto& variable) { return variable.second.written; });
  Require(plan.input_types.size() == body.args.size() + variables->size(),
          "the plan has other inputs");
  Require(plan.output_names.size() == body.results.size() + written, "the plan has other outputs");
}

void CompileBothWays(const Graph& graph) {
  for (const auto loops : {CompileOptions::Loops::kVectorize, CompileOptions::Loops::kSequential}) {
    const absl::StatusOr<Compiled> compiled = Compile(graph, {.loops = loops});
    if (compiled.ok()) CheckPlan(graph, compiled->plan);
  }
}

}  // namespace

WEIR_FUZZ_TARGET(compile, {.seeds = &ProgramTexts, .words = &ProgramWords}) {
  absl::StatusOr<Graph> graph = Parse(View(data, size), Ops());
  if (!graph.ok() || graph->functions().empty()) return 0;
  CompileBothWays(*graph);
  const Region& body = graph->region(graph->entry().body);
  if (body.args.empty()) return 0;
  const std::string mapped = graph->value(body.args[0]).name;
  const absl::StatusOr<Graph> many = MapOver(*std::move(graph), {mapped});
  if (many.ok()) CompileBothWays(*many);
  return 0;
}

}  // namespace weir
