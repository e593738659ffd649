#include "worker/device/cpu/fused.h"

#include <random>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/ir/builder.h"
#include "common/ir/text.h"
#include "common/ops/registry.h"
#include "gtest/gtest.h"
#include "worker/device/cpu/test_launch.h"

namespace weir::cpu {
namespace {

// A random graph of element-wise ops over values of one shape, some of them broadcast parameters.
struct RandomProgram {
  Graph graph;
  std::vector<Tensor> inputs;
};

RandomProgram MakeRandom(uint32_t seed, int nodes) {
  std::mt19937 random(seed);
  auto pick = [&](size_t count) { return random() % count; };
  const std::vector<Extents> shapes = {{1000}, {7, 33}, {3, 5, 64}, {2, 1, 4, 9}, {}, {0, 3}};
  const Extents extents = shapes[pick(shapes.size())];
  RandomProgram program;
  const RegionId body = program.graph.AddFunction("main").body;
  Builder b(&program.graph, body, &Ops());
  std::vector<ValueId> values;
  for (int i = 0; i < 3; ++i) {
    values.push_back(b.AddArg({DType::kF32, Shape::FromExtents(extents)}));
    program.inputs.push_back(Rand(DType::kF32, extents).Make(seed + i));
  }
  if (!extents.empty()) {
    const int axis = static_cast<int>(pick(extents.size()));
    const Extents line = {extents[axis]};
    const ValueId small = b.AddArg({DType::kF32, Shape::FromExtents(line)});
    program.inputs.push_back(Rand(DType::kF32, line).Make(seed + 9));
    values.push_back(b.Apply("broadcast_in_dim", {small},
                             {{"axes", Int64s{axis}}, {"shape", Shape::FromExtents(extents)}}));
  }
  const std::vector<std::string> unary = {"tanh", "negate", "abs", "logistic", "relu"};
  const std::vector<std::string> binary = {"add", "subtract", "multiply", "maximum"};
  for (int i = 0; i < nodes; ++i) {
    const ValueId x = values[pick(values.size())], y = values[pick(values.size())];
    if (pick(3) == 0) {
      values.push_back(b.Apply(unary[pick(unary.size())], {x}));
    } else {
      values.push_back(b.Apply(binary[pick(binary.size())], {x, y}));
    }
  }
  // Everything meets at the end, so that the whole graph is connected.
  ValueId sum = values[0];
  for (size_t i = 1; i < values.size(); ++i) sum = b.Apply("add", {sum, values[i]});
  b.Yield({sum, values.back()});
  EXPECT_TRUE(b.ok()) << b.status();
  return program;
}

TEST(Fused, RandomGraphsAreOneLaunchWithTheBitsOfTheirOps) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const RandomProgram program = MakeRandom(seed, 20);
    const auto want = RunReference(program.graph, program.inputs);
    ASSERT_TRUE(want.ok()) << want.status();
    int launches = 0;
    for (const Launch& launch : FormLaunches(program.graph, program.graph.entry().body)) {
      launches += program.graph.node(launch.nodes[0]).op != "broadcast_in_dim";
    }
    EXPECT_EQ(launches, 1) << "seed " << seed;
    for (Isa isa : SupportedIsas()) {
      for (Lie operands : kLies) {
        for (Lie results : kLies) {
          const auto got = RunLaunches(program.graph, program.inputs, {isa, operands, results});
          ASSERT_TRUE(got.ok()) << got.status();
          for (size_t r = 0; r < got->size(); ++r) {
            ASSERT_EQ(Difference((*got)[r], (*want)[r], 0, 0), "")
                << "seed " << seed << " result " << r << " on " << IsaName(isa);
          }
        }
      }
    }
  }
}

// One launch of the program's body with result 0 in the memory of operand `taken`.
Tensor RunInPlace(const Graph& graph, std::vector<Tensor> inputs, int taken) {
  const std::vector<Launch> launches = FormLaunches(graph, graph.entry().body);
  EXPECT_EQ(launches.size(), 1u);
  const KernelRequest request{&graph, launches[0].nodes, launches[0].operands, launches[0].results,
                              {},     DetectIsa()};
  const std::unique_ptr<Kernel> kernel = *MakeFused(request);
  for (Tensor& input : inputs) input = input.Clone();
  std::vector<View> operands, results;
  for (const Tensor& input : inputs) operands.push_back(ViewOf(input));
  results.push_back(operands[taken]);
  std::vector<std::byte> scratch(kernel->ScratchBytes(operands, results) + 64);
  std::byte* aligned =
      scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64) % 64;
  EXPECT_TRUE(kernel->Run({operands, results, {aligned, scratch.size() - 64}}).ok());
  return inputs[taken];
}

TEST(Fused, AResultMayLieOnAnOperandThatIsReadLater) {
  const Graph graph = *Parse(
      "func @main(%x: f32[5000], %y: f32[5000]) -> (f32[5000]) {\n"
      "  %a = add(%x, %y)\n  %b = multiply(%a, %x)\n  %c = subtract(%b, %y)\n"
      "  %d = multiply(%c, %x)\n  return %d\n}\n",
      Ops());
  const std::vector<Tensor> inputs = {Rand(DType::kF32, {5000}).Make(1),
                                      Rand(DType::kF32, {5000}).Make(2)};
  const Tensor want = (*RunReference(graph, inputs))[0];
  EXPECT_EQ(Difference(RunInPlace(graph, inputs, 0), want, 0, 0), "");
  EXPECT_EQ(Difference(RunInPlace(graph, inputs, 1), want, 0, 0), "");
}

TEST(Fused, AnInnerResultMayLieOnAnOperandThatIsReadLater) {
  const Graph graph = *Parse(
      "func @main(%x: f32[5000], %y: f32[5000]) -> (f32[5000], f32[5000]) {\n"
      "  %a = add(%x, %y)\n  %b = multiply(%a, %x)\n  return %a, %b\n}\n",
      Ops());
  const Tensor x = Rand(DType::kF32, {5000}).Make(1), y = Rand(DType::kF32, {5000}).Make(2);
  const std::vector<Tensor> want = *RunReference(graph, {x, y});
  const std::vector<Launch> launches = FormLaunches(graph, graph.entry().body);
  const KernelRequest request{&graph, launches[0].nodes, launches[0].operands, launches[0].results,
                              {},     DetectIsa()};
  const std::unique_ptr<Kernel> kernel = *MakeFused(request);
  const Tensor on_x = x.Clone(), other = y.Clone(), second(DType::kF32, {5000});
  const View operands[] = {ViewOf(on_x), ViewOf(other)};
  const View results[] = {ViewOf(on_x), ViewOf(second)};
  auto scratch = Buffer::Allocate(kernel->ScratchBytes(operands, results));
  ASSERT_TRUE(kernel->Run({operands, results, {scratch->data(), scratch->size()}}).ok());
  EXPECT_EQ(Difference(on_x, want[0], 0, 0), "");
  EXPECT_EQ(Difference(second, want[1], 0, 0), "");
}

}  // namespace
}  // namespace weir::cpu
