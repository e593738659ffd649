// An op with a pfor rule launches as many kernels for many iterations as for few, over the samples
// of every op. A rule that loops inside would show here; ops that run one iteration after the other
// are reported as fallbacks and left out.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "common/base/status.h"
#include "common/ops/registry.h"
#include "common/ops/sample_program.h"
#include "server/compiler/pipeline.h"
#include "worker/executor/executable.h"
#include "worker/executor/op_counts.h"

namespace weir {
namespace {

using Launches = std::map<std::string_view, int64_t>;

absl::StatusOr<Launches> LaunchesOf(const std::shared_ptr<const Graph>& graph,
                                    const std::vector<Tensor>& inputs, int64_t n) {
  WEIR_ASSIGN_OR_RETURN(std::unique_ptr<Executable> executable,
                        Executable::Create(graph, graph->entry().name));
  std::vector<Tensor> outputs(graph->region(graph->entry().body).results.size());
  Workspace workspace;
  OpCounts counts;
  RunStats stats;
  stats.ops = &counts;
  WEIR_RETURN_IF_ERROR(
      executable->Run({{"n", n}}, inputs, absl::MakeSpan(outputs), &workspace, &stats));
  Launches launches;
  for (size_t i = 0; i < AllOps().size(); ++i) {
    if (counts.counts()[i].launches > 0) {
      launches[AllOps()[i].name] = counts.counts()[i].launches;
    }
  }
  return launches;
}

// How often a loop or branch runs depends on the values of its rows.
bool RunsRegions(const OpDef& op, const Sample& sample) {
  return op.regions.max > 0 || op.name == "call" || !sample.program.empty();
}

uint32_t AllThatMayVary(const Sample& sample) {
  uint32_t varying = 0;
  for (size_t k = 0; k < sample.operands.size(); ++k) {
    if (sample.operands[k].may_vary) varying |= 1u << k;
  }
  return varying;
}

TEST(LaunchesTest, DoNotDependOnTheNumberOfIterations) {
  int compared = 0;
  for (const OpDef& op : AllOps()) {
    const std::vector<Sample> samples = op.samples();
    for (size_t s = 0; s < samples.size(); ++s) {
      const std::string where = StrCat(op.name, " sample ", s, " \"", samples[s].label, "\"");
      if (RunsRegions(op, samples[s])) continue;
      const uint32_t varying = AllThatMayVary(samples[s]);
      absl::StatusOr<Graph> example = ProgramOf(op, samples[s]);
      ASSERT_TRUE(example.ok()) << where << ": " << example.status();
      absl::StatusOr<Graph> loop = LoopOver(*std::move(example), varying, Dim::Symbol("n"));
      ASSERT_TRUE(loop.ok()) << where << ": " << loop.status();
      absl::StatusOr<Compiled> compiled = Compile(*std::move(loop), {});
      ASSERT_TRUE(compiled.ok()) << where << ": " << compiled.status();
      if (!compiled->report.fallbacks.empty()) continue;
      auto graph = std::make_shared<const Graph>(std::move(compiled->graph));
      absl::StatusOr<Launches> few = LaunchesOf(graph, RowsOf(samples[s], varying, 2), 2);
      absl::StatusOr<Launches> many = LaunchesOf(graph, RowsOf(samples[s], varying, 40), 40);
      ASSERT_TRUE(few.ok() && many.ok()) << where << ": " << few.status() << many.status();
      EXPECT_EQ(*few, *many) << where;
      ++compared;
    }
  }
  EXPECT_GT(compared, 300);
}

}  // namespace
}  // namespace weir
