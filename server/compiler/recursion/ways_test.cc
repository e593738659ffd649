// Blocks that choose how to go on, alone and for many lanes, against the interpreter.
#include "server/compiler/recursion/ways.h"

#include <string>
#include <vector>

#include "common/interp/test_run.h"
#include "common/tensor/compare.h"
#include "gtest/gtest.h"
#include "server/compiler/map.h"
#include "server/compiler/pipeline.h"

namespace weir {
namespace {

int Count(const Graph& graph, const std::string& op) {
  int count = 0;
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const Node& node = graph.node(NodeId(i));
    count += node.op == op && node.parent.valid();
  }
  return count;
}

// Compares the mapped program with the interpreter. Returns: what it became.
Graph Check(const std::string& text, const std::vector<int64_t>& values) {
  absl::StatusOr<Graph> mapped = MapOver(MustParse(text), {"n"});
  EXPECT_TRUE(mapped.ok()) << mapped.status();
  absl::StatusOr<Compiled> compiled = Compile(*mapped, {.strict = true});
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  const Tensor numbers = Tensor::FromSpan<int64_t>({static_cast<int64_t>(values.size())}, values);
  const auto want = Interpret(*mapped, {numbers});
  const auto got = Interpret(compiled->graph, {numbers});
  EXPECT_TRUE(want.ok()) << want.status();
  EXPECT_TRUE(got.ok()) << got.status() << "\n" << Print(compiled->graph);
  EXPECT_EQ(Texts(*got), Texts(*want)) << Print(compiled->graph);
  return compiled->graph;
}

// The index is 0, 1 and 2 and, for those that the last way is for, below and above.
TEST(WaysTest, AChoiceByNumberTakesItsLastWayForOtherNumbers) {
  const Graph graph = Check(R"(
    func @main(%n: i64[]) -> (i64[]) {
      %one = constant {value = i64[] {1}}
      %three = constant {value = i64[] {3}}
      %ten = constant {value = i64[] {10}}
      %out = case(%n) {
        yield %ten
      } {
        yield %one
      } {
        %far = less(%n, %three)
        %low = constant {value = i64[] {0}}
        %index = select(%far, %low, %one)
        %m = subtract(%n, %three)
        %more = call(%index) {callee = "main"} : i64[]
        %sum = add(%more, %m)
        yield %sum
      } : i64[]
      return %out
    })",
                            {0, 1, 2, 3, 7, -1, -9, INT64_MAX, INT64_MIN});
  EXPECT_EQ(Count(graph, "case_rows"), 1);
}

TEST(WaysTest, AChoiceOfOneWayIsNone) {
  Check(R"(
    func @main(%n: i64[]) -> (i64[]) {
      %zero = constant {value = i64[] {0}}
      %one = constant {value = i64[] {1}}
      %out = case(%n) {
        %go = less(%zero, %n)
        %in = if(%go) {
          %m = subtract(%n, %one)
          %more = call(%m) {callee = "main"} : i64[]
          %sum = add(%more, %n)
          yield %sum
        } {
          yield %n
        } : i64[]
        yield %in
      } : i64[]
      return %out
    })",
        {0, 4, -3, 1});
}

// Choices behind choices by arithmetic alone are one; what decides by a table stays inside.
TEST(WaysTest, ChoicesByArithmeticAreOne) {
  constexpr char kText[] = R"(
    func @main(%n: i64[]) -> (i64[]) {
      %zero = constant {value = i64[] {0}}
      %one = constant {value = i64[] {1}}
      %two = constant {value = i64[] {2}}
      %table = constant {value = bool[4] {true, false, true, false}}
      %small = less(%n, %two)
      %out = if(%small) {
        %negative = less(%n, %zero)
        %in = select(%negative, %one, %zero)
        yield %in
      } {
        %m = subtract(%n, %one)
        %odd = WHAT
        %in = if(%odd) {
          %m2 = subtract(%n, %two)
          %a = call(%m2) {callee = "main"} : i64[]
          %b = add(%a, %n)
          yield %b
        } {
          %c = call(%m) {callee = "main"} : i64[]
          %d = multiply(%c, %two)
          yield %d
        } : i64[]
        yield %in
      } : i64[]
      return %out
    })";
  const auto with = [&](const std::string& what) {
    std::string text = kText;
    return text.replace(text.find("WHAT"), 4, what);
  };
  const std::vector<int64_t> values = {-1, 0, 1, 2, 3, 9, 12, 5};
  EXPECT_EQ(Count(Check(with("less(%m, %two)"), values), "case_rows"), 1);
  EXPECT_EQ(Count(Check(with("gather(%table, %m) {collapsed_slice_dims = [0], index_vector_dim = 0,"
                             " offset_dims = [], operand_batching_dims = [], slice_sizes = (1),"
                             " start_index_map = [0], start_indices_batching_dims = []}"),
                        values),
                  "case_rows"),
            2);
}

}  // namespace
}  // namespace weir
