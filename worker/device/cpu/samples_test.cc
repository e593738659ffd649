// Every kernel against its op's reference evaluation, over the op's samples and all ways in which
// operands and results can lie in memory.
#include "common/base/status.h"
#include "common/ops/registry.h"
#include "common/ops/sample_program.h"
#include "gtest/gtest.h"
#include "worker/device/cpu/registry.h"
#include "worker/device/cpu/test_launch.h"

namespace weir::cpu {
namespace {

bool HasKernel(const OpDef& op) { return !KernelsFor(op.name).empty(); }

TEST(KernelSamples, AgreeWithTheReference) {
  int compared = 0;
  for (const OpDef& op : AllOps()) {
    if (!HasKernel(op)) continue;
    const std::vector<Sample> samples = op.samples();
    for (size_t i = 0; i < samples.size(); ++i) {
      const Sample& sample = samples[i];
      if (!sample.program.empty()) continue;
      const std::string where = StrCat(op.name, " sample ", i, " \"", sample.label, "\"");
      const absl::StatusOr<Graph> graph = ProgramOf(op, sample);
      ASSERT_TRUE(graph.ok()) << where << ": " << graph.status();
      const std::vector<Tensor> operands = OperandsOf(sample);
      const absl::StatusOr<std::vector<Tensor>> want = RunReference(*graph, operands);
      ASSERT_TRUE(want.ok()) << where << ": " << want.status();
      for (Isa isa : SupportedIsas()) {
        for (Lie lie : kLies) {
          for (const RunOptions& options :
               {RunOptions{isa, lie, Lie::kRowMajor, false},
                RunOptions{isa, Lie::kRowMajor, lie, true}, RunOptions{isa, lie, lie, false}}) {
            const auto got = RunLaunches(*graph, operands, options);
            ASSERT_TRUE(got.ok()) << where << ": " << got.status();
            for (size_t r = 0; r < got->size(); ++r) {
              ASSERT_EQ(Difference((*got)[r], (*want)[r], sample.ulp, sample.absolute), "")
                  << where << " result " << r << " on " << IsaName(isa) << ", operands "
                  << static_cast<int>(options.operands) << ", results "
                  << static_cast<int>(options.results);
            }
            ++compared;
          }
        }
      }
    }
  }
  EXPECT_GT(compared, 1000);
}

}  // namespace
}  // namespace weir::cpu
