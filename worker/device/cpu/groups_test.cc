#include "worker/device/cpu/groups.h"

#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "common/base/status.h"
#include "common/ir/text.h"
#include "common/ops/registry.h"
#include "gtest/gtest.h"

namespace weir::cpu {
namespace {

Graph MustParse(const std::string& text) {
  absl::StatusOr<Graph> graph = Parse(text, Ops());
  EXPECT_TRUE(graph.ok()) << graph.status();
  return *std::move(graph);
}

// "add,tanh | reduce_sum": the ops of each launch.
std::string Launches(const std::string& text) {
  const Graph graph = MustParse(text);
  std::vector<std::string> launches;
  for (const Launch& launch : FormLaunches(graph, graph.entry().body)) {
    std::vector<std::string> ops;
    for (NodeId id : launch.nodes) ops.push_back(graph.node(id).op);
    launches.push_back(absl::StrJoin(ops, ","));
  }
  return absl::StrJoin(launches, " | ");
}

TEST(FormLaunches, ConnectedElementwiseNodesAreOneLaunch) {
  EXPECT_EQ(Launches("func @main(%x: f32[n], %y: f32[n]) -> (f32[n]) {\n"
                     "  %a = add(%x, %y)\n  %b = tanh(%a)\n  %c = multiply(%b, %x)\n"
                     "  %d = subtract(%c, %a)\n  return %d\n}\n"),
            "add,tanh,multiply,subtract");
}

TEST(FormLaunches, VectorsOfOneLengthAreOneLaunch) {
  EXPECT_EQ(
      Launches("func @main(%x: f32[n], %y: i64[n], %z: f32[m]) -> (f32[n], i64[n], f32[m]) {\n"
               "  %a = tanh(%x)\n  %b = negate(%y)\n  %c = exp(%z)\n"
               "  return %a, %b, %c\n}\n"),
      "tanh,negate | exp");
  EXPECT_EQ(Launches("func @main(%x: f32[n,2], %y: i64[n,2]) -> (f32[n,2], i64[n,2]) {\n"
                     "  %a = tanh(%x)\n  %b = negate(%y)\n  return %a, %b\n}\n"),
            "tanh | negate");
}

TEST(FormLaunches, ShortNodesWaitForOthersOfTheirLength) {
  const auto with_sorts = [](std::string text) {
    const std::string sort = ") {axis = 0, descending = false, is_stable = true}\n";
    for (size_t at; (at = text.find(" sorted\n")) != std::string::npos;) {
      text.replace(at - 1, 9, sort);
    }
    return text;
  };
  // Between the sorts there is a launch anyway: it serves what needs neither of them, or the first.
  EXPECT_EQ(Launches(with_sorts("func @main(%x: f32[n]) -> (f32[n], f32[n], f32[n], f32[n]) {\n"
                                "  %a = negate(%x)\n  %s = sort(%x) sorted\n"
                                "  %b = negate(%s)\n  %t = sort(%b) sorted\n"
                                "  %c = exp(%x)\n  %d = exp(%s)\n  %e = exp(%t)\n"
                                "  return %a, %c, %d, %e\n}\n")),
            "sort | negate,negate,exp,exp | sort | exp");
  // A node is never behind what uses it.
  EXPECT_EQ(Launches(with_sorts("func @main(%x: f32[n]) -> (f32[n], f32[n]) {\n"
                                "  %a = negate(%x)\n  %s = sort(%a) sorted\n"
                                "  %b = exp(%s)\n  %c = exp(%a)\n  return %b, %c\n}\n")),
            "negate,exp | sort | exp");
}

TEST(FormLaunches, NoPathLeavesAGroupAndComesBack) {
  // `exp` uses the sum of what it is fused with elsewhere: two groups around the reduction.
  EXPECT_EQ(Launches("func @main(%x: f32[n,4]) -> (f32[n,4]) {\n"
                     "  %a = exp(%x)\n  %s = reduce_sum(%a) {axes = [1]}\n"
                     "  %b = broadcast_in_dim(%s) {axes = [0], shape = (n, 4)}\n"
                     "  %q = divide(%a, %b)\n  return %q\n}\n"),
            "exp | reduce_sum | broadcast_in_dim | divide");
}

TEST(FormLaunches, WhatOnlyALaterGroupUsesJoinsIt) {
  EXPECT_EQ(Launches("func @main(%x: f32[n,4], %y: f32[n]) -> (f32[n]) {\n"
                     "  %a = tanh(%y)\n  %b = negate(%a)\n"
                     "  %s = reduce_sum(%x) {axes = [1]}\n  %q = add(%b, %s)\n  return %q\n}\n"),
            "reduce_sum | tanh,negate,add");
}

TEST(FormLaunches, BiasAndReluJoinTheProduct) {
  const std::string body =
      "  %p = dot_general(%x, %w) {lhs_batch = [], lhs_contract = [1], rhs_batch = [], "
      "rhs_contract "
      "= [0]}\n";
  EXPECT_EQ(
      Launches(StrCat("func @main(%x: f32[n,4], %w: f32[4,5], %b: f32[5]) -> (f32[n,5]) {\n", body,
                      "  %c = broadcast_in_dim(%b) {axes = [1], shape = (n, 5)}\n"
                      "  %s = add(%c, %p)\n  %r = relu(%s)\n  %t = tanh(%r)\n"
                      "  return %t\n}\n")),
      "broadcast_in_dim | dot_general,add,relu | tanh");
  // What varies over the rows is no bias.
  EXPECT_EQ(
      Launches(StrCat("func @main(%x: f32[n,4], %w: f32[4,5], %b: f32[n,5]) -> (f32[n,5]) {\n",
                      body, "  %s = add(%b, %p)\n  return %s\n}\n")),
      "dot_general | add");
  // Somebody else uses the bare product.
  EXPECT_EQ(Launches(StrCat("func @main(%x: f32[n,4], %w: f32[4,5]) -> (f32[n,5], f32[n,5]) {\n",
                            body, "  %r = relu(%p)\n  return %p, %r\n}\n")),
            "dot_general | relu");
}

TEST(FormLaunches, AReluIsAlsoAMaximumWithZero) {
  EXPECT_EQ(Launches("func @main(%x: f32[n,4], %w: f32[4,5]) -> (f32[n,5]) {\n"
                     "  %p = dot_general(%x, %w) {lhs_batch = [], lhs_contract = [1], rhs_batch = "
                     "[], rhs_contract = [0]}\n"
                     "  %z = constant {value = f32[] {0}}\n"
                     "  %b = broadcast_in_dim(%z) {axes = [], shape = (n, 5)}\n"
                     "  %r = maximum(%p, %b)\n  return %r\n}\n"),
            "constant | broadcast_in_dim | dot_general,maximum");
}

TEST(FormLaunches, NamesWhatComesInAndWhatIsUsed) {
  const Graph graph = MustParse(
      "func @main(%x: f32[n], %y: f32[n]) -> (f32[n], f32[n]) {\n"
      "  %a = add(%x, %y)\n  %b = multiply(%a, %x)\n  %c = tanh(%b)\n"
      "  return %a, %c\n}\n");
  const std::vector<Launch> launches = FormLaunches(graph, graph.entry().body);
  ASSERT_EQ(launches.size(), 1u);
  const Region& body = graph.region(graph.entry().body);
  EXPECT_EQ(launches[0].operands, body.args);
  EXPECT_EQ(launches[0].results, body.results);
}

TEST(FormLaunches, LongChainsAreCutInOrder) {
  std::string text = "func @main(%v0: f32[n]) -> (f32[n]) {\n";
  constexpr int kNodes = 3 * kMaxGroupNodes + 5;
  for (int i = 0; i < kNodes; ++i) text += StrCat("  %v", i + 1, " = tanh(%v", i, ")\n");
  const Graph graph = MustParse(StrCat(text, "  return %v", kNodes, "\n}\n"));
  const std::vector<Launch> launches = FormLaunches(graph, graph.entry().body);
  ASSERT_EQ(launches.size(), 4u);
  ValueId last = graph.region(graph.entry().body).args[0];
  for (const Launch& launch : launches) {
    EXPECT_LE(launch.nodes.size(), static_cast<size_t>(kMaxGroupNodes));
    ASSERT_EQ(launch.operands, std::vector<ValueId>{last});
    ASSERT_EQ(launch.results.size(), 1u);
    last = launch.results[0];
  }
}

TEST(FormLaunches, ManyOperandsAreCut) {
  std::string parameters = "%p0: f32[n]", sum = "  %s0 = tanh(%p0)\n";
  constexpr int kOperands = 2 * kMaxGroupOperands;
  for (int i = 1; i < kOperands; ++i) {
    parameters += StrCat(", %p", i, ": f32[n]");
    sum += StrCat("  %s", i, " = add(%s", i - 1, ", %p", i, ")\n");
  }
  const Graph graph = MustParse(StrCat("func @main(", parameters, ") -> (f32[n]) {\n", sum,
                                       "  return %s", kOperands - 1, "\n}\n"));
  for (const Launch& launch : FormLaunches(graph, graph.entry().body)) {
    EXPECT_LE(launch.operands.size(), static_cast<size_t>(kMaxGroupOperands));
  }
}

}  // namespace
}  // namespace weir::cpu
