// What programs with variables compute, by hand; that compilers and executors agree is seen from
// the samples of the ops.
#include "common/ops/control/state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/status.h"
#include "common/interp/interpreter.h"
#include "common/interp/test_run.h"
#include "common/ir/text.h"
#include "common/ir/verify.h"
#include "common/ops/registry.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Graph Parsed(const std::string& text) {
  absl::StatusOr<Graph> graph = Parse(text, Ops());
  EXPECT_TRUE(graph.ok()) << graph.status();
  if (graph.ok()) {
    EXPECT_TRUE(Verify(*graph, Ops()).ok());
  }
  return graph.ok() ? *std::move(graph) : Graph();
}

std::vector<int64_t> RunInts(const std::string& text, const std::vector<Tensor>& inputs) {
  absl::StatusOr<std::vector<Tensor>> outputs = Interpret(Parsed(text), inputs);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  std::vector<int64_t> numbers;
  if (!outputs.ok()) return numbers;
  for (const Tensor& output : *outputs) {
    const Tensor flat = output.Reshape({output.num_elements()});
    for (int64_t i = 0; i < flat.num_elements(); ++i) numbers.push_back(flat.At<int64_t>({i}));
  }
  return numbers;
}

Tensor Int(int64_t value) { return Tensor::Scalar<int64_t>(value); }

std::string ErrorOf(const std::string& text) {
  Graph graph = Parsed(text);
  return std::string(ToStd(ThreadState(&graph).message()));
}

// A loop body around an update of %x in every trip of a while over 0 .. %i-1.
std::string Counting(std::string_view loop) {
  return StrCat(R"(
    func @main(%lengths: i64[3]) -> () {
      )",
                loop, R"( (%i: i64[]) {
        %length = dynamic_slice(%lengths, %i) {sizes = (1)}
        %end = reshape(%length) {shape = ()}
        %zero = constant {value = i64[] {0}}
        %last = while(%zero) (%k: i64[]) {
          %more = less(%k, %end)
          yield %more
        } (%k2: i64[]) {
          %one = constant {value = i64[] {1}}
          update_variable(%one) {name = "trips", kind = "sum"}
          %next = add(%k2, %one)
          yield %next
        }
        yield
      }
      return
    })");
}

TEST(StateTest, IterationsCountTheirTripsAndNoOther) {
  const Tensor lengths = Tensor::Of<int64_t>({3}, {4, 0, 2});
  EXPECT_THAT(RunInts(Counting("pfor {extent = (3)}"), {lengths, Int(0)}), ElementsAre(6));
  EXPECT_THAT(RunInts(Counting("pfor {extent = (3)}"), {lengths, Int(10)}), ElementsAre(16));
  EXPECT_THAT(RunInts(Counting("pfor {extent = (0)}"), {lengths, Int(10)}), ElementsAre(10));
}

TEST(StateTest, ALoopOutsideOfPforSeesWhatItWrote) {
  EXPECT_THAT(RunInts(R"(
    func @main() -> (i64[3] "seen") {
      %trips = constant {value = i64[] {3}}
      %seen = for(%trips) {extent = (3)} (%k: i64[]) {
        %before = read_variable {name = "v", dtype = i64, shape = ()}
        %twice = add(%before, %before)
        assign_variable(%twice) {name = "v"}
        update_variable(%k) {name = "v", kind = "sum"}
        yield %before
      }
      return %seen
    })",
                      {Int(1)}),
              ElementsAre(1, 2, 5, 12));
}

TEST(StateTest, ARegionThatOnlyReadsCapturesTheValue) {
  EXPECT_THAT(RunInts(R"(
    func @main(%p: bool[]) -> (i64[] "out") {
      %out = if(%p) {
        %v = read_variable {name = "v", dtype = i64, shape = ()}
        yield %v
      } {
        %zero = constant {value = i64[] {0}}
        yield %zero
      }
      return %out
    })",
                      {Tensor::Scalar<bool>(true), Int(7)}),
              ElementsAre(7));
}

TEST(StateTest, AReadBehindAnUpdateSeesAllIterations) {
  EXPECT_THAT(RunInts(R"(
    func @main() -> (i64[3] "before", i64[3] "after") {
      %before, %after = pfor {extent = (3)} (%i: i64[]) {
        %b = read_variable {name = "v", dtype = i64, shape = ()}
        update_variable(%i) {name = "v", kind = "max"}
        %a = read_variable {name = "v", dtype = i64, shape = ()}
        update_variable(%a) {name = "v", kind = "max"}
        yield %b, %a
      }
      return %before, %after
    })",
                      {Int(1)}),
              ElementsAre(1, 1, 1, 2, 2, 2, 2));
}

// Iterations 1 and 3 assign 10 i, and 3 once more in a loop.
std::string Assigning(std::string_view mode) {
  return StrCat(R"(
    func @main() -> (f64[5] "seen") {
      %zero = constant {value = i64[] {0}}
      %two = constant {value = i64[] {2}}
      %ten = constant {value = f64[] {10}}
      %seen = pfor {extent = (5)} (%i: i64[]) {
        %f = convert(%i) {dtype = f64}
        %x = multiply(%f, %ten)
        %odd = remainder(%i, %two)
        case(%odd) {
          yield
        } {
          assign_variable(%x) {name = "v", mode = ")",
                mode, R"("}
          yield
        }
        %met = read_variable {name = "v", dtype = f64, shape = ()}
        %half = divide(%i, %two)
        %again = multiply(%half, %odd)
        for(%again) (%k: i64[]) {
          %y = add(%x, %ten)
          assign_variable(%y) {name = "v", mode = ")",
                mode, R"("}
          yield
        }
        yield %met
      }
      return %seen
    })");
}

TEST(StateTest, AssignmentsMeetByTheirMode) {
  auto run = [](std::string_view mode) {
    const std::vector<Tensor> out = MustRun(Assigning(mode), {Tensor::Scalar<double>(7)});
    return std::pair(out[0].At<double>({4}), out[1].At<double>({}));
  };
  EXPECT_EQ(run("last"), std::pair(30.0, 40.0));
  EXPECT_EQ(run("mean"), std::pair(20.0, 25.0));
  EXPECT_EQ(run("sum"), std::pair(40.0, 50.0));
}

TEST(StateTest, AssignmentsInOrderSeeThoseBefore) {
  EXPECT_THAT(RunInts(R"(
    func @main() -> (i64[4] "seen", i64[4] "all") {
      %one = constant {value = i64[] {1}}
      %s, %a = pfor {extent = (4)} (%i: i64[]) {
        %before = read_variable {name = "v", dtype = i64, shape = ()}
        %twice = add(%before, %before)
        assign_variable(%twice) {name = "v", mode = "ordered"}
        update_variable(%one) {name = "v", kind = "sum"}
        %all = iteration_reduce(%i) {extent = (4), kind = "sum"}
        yield %before, %all
      }
      return %s, %a
    })",
                      {Int(1)}),
              ElementsAre(1, 3, 7, 15, 6, 6, 6, 6, 31));
}

TEST(StateTest, ReadsBeforeWritesSeeNothingOfOtherIterations) {
  EXPECT_THAT(RunInts(R"(
    func @main() -> (i64[3] "before") {
      %before = pfor {extent = (3)} (%i: i64[]) {
        %b = read_variable {name = "v", dtype = i64, shape = ()}
        %c = add(%b, %i)
        update_variable(%c) {name = "v", kind = "sum"}
        yield %b
      }
      return %before
    })",
                      {Int(5)}),
              ElementsAre(5, 5, 5, 5 + 5 + 6 + 7));
}

TEST(StateTest, NestedLoopsAddUp) {
  EXPECT_THAT(RunInts(R"(
    func @main() -> () {
      pfor {extent = (3)} (%i: i64[]) {
        pfor {extent = (2)} (%j: i64[]) {
          %sum = add(%i, %j)
          update_variable(%sum) {name = "v", kind = "sum"}
          yield
        }
        update_variable(%i) {name = "v", kind = "sum"}
        yield
      }
      return
    })",
                      {Int(100)}),
              ElementsAre(100 + 2 * 3 + 3 + 3));
}

TEST(StateTest, VariablesComeInTheOrderOfTheirNamesAndOnlyWrittenOnesGoOut) {
  Graph graph = Parsed(R"(
    func @main(%x: i64[]) -> (i64[] "y") {
      update_variable(%x) {name = "z", kind = "min"}
      %b = read_variable {name = "b", dtype = i64, shape = ()}
      assign_variable(%b) {name = "a"}
      return %b
    })");
  ASSERT_TRUE(ThreadState(&graph).ok());
  ASSERT_TRUE(Verify(graph, Ops()).ok());
  EXPECT_FALSE(HasState(graph));
  std::vector<std::string> args;
  for (ValueId arg : graph.region(graph.entry().body).args) args.push_back(graph.value(arg).name);
  EXPECT_THAT(args, ElementsAre("x", "a", "b", "z"));
  EXPECT_THAT(graph.entry().result_names, ElementsAre("y", "a", "z"));
}

TEST(StateTest, AnotherFunctionOfAProgramWithStateRunsAsItIs) {
  const Graph graph = Parsed(R"(
    func @main() -> (i64[] "v2") {
      %v = read_variable {name = "v", dtype = i64, shape = ()}
      return %v
    }
    func @twice(%x: i64[]) -> (i64[] "y") {
      %y = add(%x, %x)
      return %y
    })");
  const absl::StatusOr<std::vector<Tensor>> outputs = InterpretFunction(graph, "twice", {Int(4)});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ((*outputs)[0].At<int64_t>({}), 8);
}

using Cases = std::vector<std::pair<std::string, std::string>>;

// Bodies of a pfor over three %i, and what is said about them.
void ExpectErrors(const Cases& cases) {
  for (const auto& [body, wanted] : cases) {
    EXPECT_THAT(ErrorOf(StrCat(R"(
    func @main(%x: f32[]) -> () {
      pfor {extent = (3)} (%i: i64[]) {
        )",
                               body, R"(
        yield
      }
      return
    })")),
                HasSubstr(wanted));
  }
}

TEST(StateTest, ErrorsNameTheVariable) {
  ExpectErrors({
      {R"(assign_variable(%i) {name = "v"})", "assigns variable 'v' in a pfor"},
      {R"(%trips = constant {value = i64[] {2}}
          for(%trips) (%k: i64[]) {
            assign_variable(%k) {name = "v"}
            yield
          })",
       "assigns variable 'v' in a pfor"},
      {R"(update_variable(%i) {name = "v", kind = "sum"}
          update_variable(%i) {name = "v", kind = "max"})",
       "variable 'v' is updated by sum and updated by max in one pfor"},
      {R"(update_variable(%i) {name = "v", kind = "sum"}
          %f = convert(%i) {dtype = f32}
          update_variable(%f) {name = "v", kind = "sum"})",
       "variable 'v' is i64[] elsewhere, but f32[] here"},
      {R"(update_variable(%i) {name = "v", kind = "sum"}
          %yes = constant {value = bool[] {true}}
          if(%yes) {
            %r = read_variable {name = "v", dtype = i64, shape = ()}
            yield
          } {
            yield
          })",
       "reads variable 'v' in a branch or loop of a pfor that writes it"},
      {R"(update_variable(%i) {name = "x", kind = "sum"})",
       "variable 'x' has the name of an input or a result of @main"},
  });
}

TEST(StateTest, ErrorsOfAssignmentsAndBranchesNameTheVariable) {
  ExpectErrors({
      {R"(assign_variable(%i) {name = "v", mode = "last"}
          update_variable(%i) {name = "v", kind = "sum"})",
       "variable 'v' is assigned with mode last and updated by sum in one pfor"},
      {R"(%yes = constant {value = bool[] {true}}
          if(%yes) {
            update_variable(%i) {name = "v", kind = "sum"}
            yield
          } {
            %r = read_variable {name = "v", dtype = i64, shape = ()}
            yield
          })",
       "reads variable 'v' in a branch or loop of a pfor that writes it"},
      {R"(%r = read_variable {name = "v", dtype = i64, shape = ()}
          %all = iteration_reduce(%r) {extent = (3), kind = "sum"}
          assign_variable(%all) {name = "v", mode = "ordered"})",
       "reduces over the iterations of a loop between accesses of variable 'v'"},
      {R"(%yes = constant {value = bool[] {true}}
          if(%yes) {
            assign_variable(%i) {name = "v", mode = "ordered"}
            assign_variable(%i) {name = "w", mode = "last"}
            yield
          } {
            yield
          })",
       "variable 'w' is assigned between accesses of variable 'v'"},
  });
}

}  // namespace
}  // namespace weir
