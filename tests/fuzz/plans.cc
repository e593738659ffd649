#include "tests/fuzz/plans.h"

#include <string>
#include <utility>

#include "common/ir/text.h"
#include "common/ops/registry.h"
#include "server/compiler/pipeline.h"
#include "tests/fuzz/seeds.h"
#include "tests/fuzz/target.h"

namespace weir {

std::vector<PartitionedPlan> CorpusPlans() {
  std::vector<PartitionedPlan> plans;
  for (const std::string& text : FilesOf("fuzz/corpus", ".weir")) {
    absl::StatusOr<Graph> graph = Parse(text, Ops());
    Require(graph.ok(), graph.status().ToString());
    absl::StatusOr<Compiled> compiled = Compile(*std::move(graph), {});
    Require(compiled.ok(), compiled.status().ToString());
    plans.push_back(std::move(compiled->plan));
  }
  return plans;
}

}  // namespace weir
