// TensorFlow's model of computation on flows (Abadi, Isard, Murray, "A Computational Model for
// TensorFlow", MAPL 2017): graphs of operations with data and control edges, some of which read and
// write variables. One step is one epoch; an edge is a stream that has one record of the step; a
// node is a map behind `zip` (data edges) and `after` (control edges). Properties T1 to T4 and T7,
// on simulated clusters under random timing, against all topological orders. The variables are the
// test's: functions that are injected touch them, each call in one atomic step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/random.h"
#include "common/base/str_cat.h"
#include "common/flow/flow_text.h"
#include "tests/cluster/flow_simulation.h"

namespace weir {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

struct Operation {
  enum class Kind { kCompute, kRead, kAssign };
  Kind kind = Kind::kCompute;
  // Earlier nodes, or -1 for the input of the step.
  std::vector<int> data = {-1};
  std::vector<int> control = {};
};
using OpGraph = std::vector<Operation>;  // in an order in which edges go forward

// What a step gives: the value of each node, and behind them that of the variable.
using Outcome = std::vector<int64_t>;

constexpr int64_t kInput = 3;
constexpr int64_t kFirst = 1;  // value of the variable

// One node fires. Assign is the read-modify-write variable = 3 variable + value.
int64_t Fire(const Operation& op, size_t number, absl::Span<const int64_t> values,
             int64_t* variable) {
  int64_t sum = static_cast<int64_t>(number) + 1;
  for (const int64_t value : values) sum += 2 * value;
  if (op.kind == Operation::Kind::kCompute) return sum;
  if (op.kind == Operation::Kind::kRead) return sum + *variable;
  *variable = (3 * *variable + sum) % 100'003;
  return sum;
}

// --- The model: all orders.

void AddOutcomes(const OpGraph& ops, std::vector<bool>* fired, Outcome* values, int64_t variable,
                 std::set<Outcome>* outcomes) {
  if (std::all_of(fired->begin(), fired->end(), [](bool is) { return is; })) {
    Outcome outcome = *values;
    outcome.push_back(variable);
    outcomes->insert(std::move(outcome));
    return;
  }
  const auto is_there = [&](int from) { return from < 0 || (*fired)[from]; };
  for (size_t k = 0; k < ops.size(); ++k) {
    const bool may_fire = !(*fired)[k] &&
                          std::all_of(ops[k].data.begin(), ops[k].data.end(), is_there) &&
                          std::all_of(ops[k].control.begin(), ops[k].control.end(), is_there);
    if (!may_fire) continue;
    std::vector<int64_t> inputs;
    for (const int from : ops[k].data) inputs.push_back(from < 0 ? kInput : (*values)[from]);
    int64_t after = variable;
    (*values)[k] = Fire(ops[k], k, inputs, &after);
    (*fired)[k] = true;
    AddOutcomes(ops, fired, values, after, outcomes);
    (*fired)[k] = false;
  }
}

std::set<Outcome> OutcomesOf(const OpGraph& ops) {
  std::set<Outcome> outcomes;
  std::vector<bool> fired(ops.size(), false);
  Outcome values(ops.size(), 0);
  AddOutcomes(ops, &fired, &values, kFirst, &outcomes);
  return outcomes;
}

// --- The same as a flow.

std::string NodeName(int node) { return node < 0 ? "%in" : StrCat("%n", node); }

std::string TextOf(const OpGraph& ops) {
  std::string functions;
  std::string flow = "flow @step {\n  %in = input() {types = [\"i64[]\"]}\n";
  for (size_t k = 0; k < ops.size(); ++k) {
    std::string parameters;
    std::string inputs;
    for (size_t i = 0; i < ops[k].data.size(); ++i) {
      StrAppend(&parameters, i > 0 ? ", " : "", "%x", i, ": i64[]");
      StrAppend(&inputs, i > 0 ? ", " : "", NodeName(ops[k].data[i]));
    }
    StrAppend(&functions, "func @f", k, "(", parameters, ") -> (i64[]) { return %x0 }\n");
    std::string from = inputs;
    if (ops[k].data.size() > 1) {
      StrAppend(&flow, "  %z", k, " = zip(", inputs, ") {unmatched = \"stop\"}\n");
      from = StrCat("%z", k);
    }
    if (!ops[k].control.empty()) {
      StrAppend(&flow, "  %a", k, " = after(", from);
      for (const int control : ops[k].control) StrAppend(&flow, ", ", NodeName(control));
      StrAppend(&flow, ") {unmatched = \"stop\"}\n");
      from = StrCat("%a", k);
    }
    StrAppend(&flow, "  %n", k, " = map(", from, ") {function = \"f", k, "\"}\n  %o", k,
              " = output(%n", k, ")\n");
  }
  return StrCat(functions, flow, "}\n");
}

// The variable, and how often each node has fired.
struct Step {
  int64_t variable = kFirst;
  std::vector<int> fired;
};

class Firing : public RecordFunction {
 public:
  Firing(Operation op, size_t number, std::shared_ptr<Step> step)
      : op_(std::move(op)), number_(number), step_(std::move(step)) {}

  absl::StatusOr<std::vector<Tensor>> Call(absl::Span<const Tensor> columns,
                                           int64_t records) const override {
    Tensor results(DType::kI64, {records});
    for (int64_t row = 0; row < records; ++row) {
      std::vector<int64_t> values;
      for (const Tensor& column : columns) values.push_back(column.At<int64_t>({row}));
      results.mutable_data<int64_t>()[row] = Fire(op_, number_, values, &step_->variable);
      ++step_->fired[number_];
    }
    return std::vector<Tensor>{results};
  }

 private:
  const Operation op_;
  const size_t number_;
  const std::shared_ptr<Step> step_;
};

struct Ran {
  absl::Status status;
  Outcome outcome;
  std::vector<int> fired;
};

Ran RunStep(const OpGraph& ops, uint64_t seed, int workers) {
  auto parsed = ParseFlow(TextOf(ops));
  EXPECT_TRUE(parsed.ok()) << parsed.status() << TextOf(ops);
  const auto flow = std::make_shared<const Flow>(*std::move(parsed));
  const auto step = std::make_shared<Step>();
  step->fired.resize(ops.size());
  FlowSimulation::Options options = {.workers = workers, .seed = seed};
  for (size_t k = 0; k < ops.size(); ++k) {
    options.functions[StrCat("f", k)] = std::make_shared<Firing>(ops[k], k, step);
  }
  FlowSimulation cluster(flow, options);
  const RecordBatch input =
      MakeBatch({Tensor::Of<int64_t>({1}, {kInput})}, static_cast<int64_t>(seed % 7));
  cluster.Feed({{flow->FindVertex("in"), 0, input}});
  cluster.Run();
  Ran ran = {.status = cluster.failure(), .fired = step->fired};
  if (!ran.status.ok()) return ran;
  EXPECT_EQ(cluster.progress().state(), JobProgress::State::kCompleted);
  for (size_t k = 0; k < ops.size(); ++k) {
    const FlowOutputs outputs = cluster.NamedOutputs();
    const RecordBatch& value = outputs.at(StrCat("o", k)).at(0);
    EXPECT_EQ(value.size(), 1);
    ran.outcome.push_back(value.columns[0].At<int64_t>({0}));
  }
  ran.outcome.push_back(step->variable);
  return ran;
}

// Two to five nodes, of which most touch the variable.
OpGraph RandomOps(Random* random) {
  OpGraph ops(2 + random->Below(4));
  for (size_t k = 0; k < ops.size(); ++k) {
    Operation& op = ops[k];
    op.kind = static_cast<Operation::Kind>(random->Below(3));
    const auto before = [&] {
      return static_cast<int>(random->Below(k + 1)) - 1;  // -1: the input
    };
    op.data = {before()};
    if (random->Chance(0.4)) op.data.push_back(before());
    if (k > 0 && random->Chance(0.3)) {
      op.control.push_back(static_cast<int>(random->Below(k)));
    }
  }
  return ops;
}

constexpr uint64_t kGraphs = 60;
constexpr uint64_t kRuns = 12;

// T1: each node fires once and nothing is left on an edge (`unmatched` would stop the flow).
// T3: a run gives what some order of firing gives.
TEST(TensorFlowModel, EachNodeFiresOnceAndSomeOrderGivesWhatARunGives) {
  int of_several = 0;
  int seen = 0;
  int possible = 0;
  for (uint64_t graph = 0; graph < kGraphs; ++graph) {
    SeededRandom random(graph);
    const OpGraph ops = RandomOps(&random);
    SCOPED_TRACE(StrCat("graph ", graph, "\n", TextOf(ops)));
    const std::set<Outcome> outcomes = OutcomesOf(ops);
    std::set<Outcome> found;
    for (uint64_t run = 0; run < kRuns; ++run) {
      const Ran ran = RunStep(ops, graph * kRuns + run, 1 + static_cast<int>(run % 3));
      ASSERT_EQ(ran.status, absl::OkStatus());
      ASSERT_EQ(ran.fired, std::vector<int>(ops.size(), 1));
      ASSERT_THAT(outcomes, Contains(ran.outcome));
      found.insert(ran.outcome);
    }
    of_several += found.size() > 1 ? 1 : 0;
    seen += static_cast<int>(found.size());
    possible += static_cast<int>(std::min<size_t>(outcomes.size(), kRuns));
  }
  // The timing does change the order.
  EXPECT_GT(of_several, static_cast<int>(kGraphs) / 4);
  EXPECT_GT(seen, possible / 3);
}

// T4: control edges that put all nodes with state in one order leave one outcome.
TEST(TensorFlowModel, EnoughControlEdgesLeaveOneOutcome) {
  int had_several = 0;
  for (uint64_t graph = 0; graph < kGraphs / 2; ++graph) {
    SeededRandom random(graph);
    OpGraph ops = RandomOps(&random);
    had_several += OutcomesOf(ops).size() > 1 ? 1 : 0;
    int last = -1;
    for (size_t k = 0; k < ops.size(); ++k) {
      if (ops[k].kind == Operation::Kind::kCompute) continue;
      if (last >= 0) ops[k].control = {last};
      last = static_cast<int>(k);
    }
    SCOPED_TRACE(StrCat("graph ", graph, "\n", TextOf(ops)));
    const std::set<Outcome> outcomes = OutcomesOf(ops);
    ASSERT_EQ(outcomes.size(), 1u);
    for (uint64_t run = 0; run < kRuns; ++run) {
      const Ran ran = RunStep(ops, run, 1 + static_cast<int>(run % 3));
      ASSERT_EQ(ran.status, absl::OkStatus());
      ASSERT_EQ(ran.outcome, *outcomes.begin());
    }
  }
  EXPECT_GT(had_several, static_cast<int>(kGraphs) / 8);
}

// T7: what a graph may give, it may give without one of its control edges, too.
TEST(TensorFlowModel, AControlEdgeOnlyTakesOutcomesAway) {
  int took = 0;
  for (uint64_t graph = 0; graph < kGraphs; ++graph) {
    SeededRandom random(graph);
    const OpGraph ops = RandomOps(&random);
    for (size_t k = 0; k < ops.size(); ++k) {
      if (ops[k].control.empty()) continue;
      SCOPED_TRACE(StrCat("graph ", graph, ", node ", k, "\n", TextOf(ops)));
      OpGraph without = ops;
      without[k].control.clear();
      const std::set<Outcome> less = OutcomesOf(ops);
      const std::set<Outcome> more = OutcomesOf(without);
      ASSERT_TRUE(std::includes(more.begin(), more.end(), less.begin(), less.end()));
      took += more.size() > less.size() ? 1 : 0;
      for (uint64_t run = 0; run < 4; ++run) {
        const Ran with_edge = RunStep(ops, run, 2);
        ASSERT_EQ(with_edge.status, absl::OkStatus());
        EXPECT_THAT(more, Contains(with_edge.outcome));
        const Ran without_edge = RunStep(without, run, 2);
        ASSERT_EQ(without_edge.status, absl::OkStatus());
        EXPECT_THAT(more, Contains(without_edge.outcome));
      }
    }
  }
  EXPECT_GT(took, 3);
}

// T2: an edge is not written again before it was read, nor after. What breaks that is named, under
// any timing: a second value of the step on an edge of a zip, of an after, of a merge.
TEST(TensorFlowModel, ASecondValueOnAnEdgeIsAnErrorUnderAnyTiming) {
  const std::string functions =
      "func @one(%x: i64[]) -> (i64[]) { return %x }\nflow @twice {\n"
      "  %in = input() {types = [\"i64[]\"]}\n  %n = map(%in) {function = \"one\"}\n"
      "  %m = map(%n) {function = \"one\"}\n  %two = concat(%in, %m)\n";
  const std::pair<const char*, const char*> vertices[] = {{"zip", "%both = zip(%n, %two)"},
                                                          {"after", "%both = after(%two, %n)"},
                                                          {"merge", "%both = merge(%n, %m)"}};
  for (const auto& [kind, vertex] : vertices) {
    auto parsed = ParseFlow(StrCat(functions, "  ", vertex, "\n  %out = output(%both)\n}"));
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    const auto flow = std::make_shared<const Flow>(*std::move(parsed));
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      FlowSimulation cluster(flow, {.workers = 1 + static_cast<int>(seed % 3), .seed = seed});
      const VertexId input = flow->FindVertex("in");
      cluster.Feed({{input, 4, std::nullopt},
                    {input, 4, MakeBatch({Tensor::Of<int64_t>({1}, {kInput})}, 9)}});
      cluster.Run();
      const std::string message(cluster.failure().message());
      EXPECT_THAT(message, HasSubstr(StrCat("'both' (", kind, ") at time (4)"))) << seed;
      EXPECT_THAT(message, HasSubstr("more than one record of origin 9"));
    }
  }
}

// A control edge from a branch that was not taken: there is no dead token, the node behind it does
// not fire, for that example only.
TEST(TensorFlowModel, BehindABranchThatWasNotTakenNothingFires) {
  auto parsed = ParseFlow(R"(
    func @even(%x: i64[]) -> (bool[]) {
      %two = constant {value = i64[] {2}}
      %one = constant {value = i64[] {1}}
      %rest = floor_mod(%x, %two)
      %is = less(%rest, %one)
      return %is
    }
    func @half(%x: i64[]) -> (i64[]) {
      %two = constant {value = i64[] {2}}
      %half = floor_divide(%x, %two)
      return %half
    }
    flow @branches {
      %in = input() {types = ["i64[]"]}
      %even, %odd = switch(%in) {function = "even"}
      %half = map(%even) {function = "half"}
      %value = merge(%half, %odd)
      %all = after(%value, %in) {unmatched = "stop"}
      %some = after(%in, %half)
      %o1 = output(%all)
      %o2 = output(%some)
    })");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const auto flow = std::make_shared<const Flow>(*std::move(parsed));
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    FlowSimulation cluster(flow, {.workers = 1 + static_cast<int>(seed % 3), .seed = seed});
    cluster.Feed(
        {{flow->FindVertex("in"), 0, MakeBatch({Tensor::Of<int64_t>({4}, {10, 11, 12, 13})}, 0)}});
    cluster.Run();
    ASSERT_EQ(cluster.failure(), absl::OkStatus());
    EXPECT_EQ(ToString(cluster.NamedOutputs()),
              "o1 0: i64[] {5} of 0 x 1\no1 0: i64[] {11} of 1 x 1\no1 0: i64[] {6} of 2 x 1\n"
              "o1 0: i64[] {13} of 3 x 1\no2 0: i64[] {10} of 0 x 1\no2 0: i64[] {12} of 2 x 1\n");
  }
}

}  // namespace
}  // namespace weir
