#include "worker/device/cpu/registry.h"

#include <set>
#include <string>

#include "common/ir/builder.h"
#include "common/ops/registry.h"
#include "common/ops/sample_program.h"
#include "gtest/gtest.h"
#include "worker/device/cpu/test_launch.h"

namespace weir::cpu {
namespace {

// Ops that no kernel runs: views and regions are the executor's, constants are memory.
bool NeedsNoKernel(const OpDef& op) {
  return op.is_view || op.regions.max > 0 || op.name == "call" || op.name == "constant";
}

TEST(KernelRegistry, EveryOpHasAKernelOrAReasonWhyItsReferenceWillDo) {
  const std::set<std::string_view> by_reference = {
      // One number from a shape: nothing to be faster at.
      "get_dimension_size", "dimension_size",
      // Reads booleans and stops at the first that is false.
      "check",
      // Writes text.
      "print",
      // Gone before anything runs: the loop around it is cut in two there.
      "iteration_reduce",
      // Gone too: state is made values.
      "read_variable", "update_variable", "assign_variable",
      // Its reference is the algorithm that a kernel would run; allocating is small beside it.
      "searchsorted"};
  for (const OpDef& op : AllOps()) {
    const bool listed = !KernelsFor(op.name).empty();
    EXPECT_EQ(listed, !NeedsNoKernel(op) && !by_reference.contains(op.name)) << op.name;
  }
}

TEST(KernelRegistry, RefusalsSayWhy) {
  const OpDef& op = *FindOp("dot_general");
  for (const Sample& sample : op.samples()) {
    if (sample.operands[0].dtype != DType::kC64) continue;
    const Graph graph = *ProgramOf(op, sample);
    const Region& body = graph.region(graph.entry().body);
    const Node& node = graph.node(body.nodes[0]);
    const KernelRequest request{&graph, body.nodes, node.inputs, node.outputs, {}, Isa::kBaseline};
    std::vector<std::string> refusals;
    const auto kernel = MakeKernel(request, &refusals);
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    EXPECT_EQ((*kernel)->name(), "reference");
    EXPECT_TRUE((*kernel)->allocates_per_call());
    EXPECT_EQ(refusals, std::vector<std::string>{"product: no tile loops for c64"});
  }
}

TEST(KernelRegistry, RegionsAreRefused) {
  for (const OpDef& op : AllOps()) {
    if (op.name != "while") continue;
    Graph graph;
    const RegionId body = graph.AddFunction("main").body;
    const RegionId regions[] = {graph.AddRegion(), graph.AddRegion()};
    const NodeId id = graph.AddNode(body, "while", {}, {}, {}, {regions[0], regions[1]});
    const KernelRequest request{&graph, absl::MakeConstSpan(&id, 1), {}, {}, {}, Isa::kBaseline};
    EXPECT_EQ(MakeKernel(request).status().code(), absl::StatusCode::kUnimplemented);
  }
}

}  // namespace
}  // namespace weir::cpu
