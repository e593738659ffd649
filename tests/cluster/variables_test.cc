// Variables on workers, over a session in this process and over gRPC, on one, two and three
// workers: always with the bits that a run has which takes values from the client and gives them
// back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "client/api/remote_session.h"
#include "client/embedded/embedded_cluster.h"
#include "common/base/status.h"
#include "tests/cluster/grpc_test_cluster.h"

namespace weir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Each row is moved by w, and what all were moved by is added to w.
constexpr char kMove[] = R"(func @main(%x: f32[3]) -> (f32[3] "moved") {
  %w = read_variable {name = "w", dtype = f32, shape = (3)}
  %moved = subtract(%x, %w)
  update_variable(%moved) {name = "w", kind = "sum"}
  return %moved
})";

constexpr char kSwap[] = R"(func @main(%a: f32[3], %b: f32[3]) -> (f32[3] "x", f32[3] "y") {
  return %b, %a
})";

constexpr char kPositive[] = R"(func @main(%by: f32[3], %w: f32[3]) -> (f32[3] "sum") {
  %sum = add(%w, %by)
  %zero = constant {value = f32[3] {0, 0, 0}}
  %ok = greater(%by, %zero)
  %all = reduce_and(%ok) {axes = [0]}
  check(%all) {message = "must be positive"}
  return %sum
})";

Tensor Rows(int64_t n) {
  Tensor x(DType::kF32, {n, 3});
  for (int64_t i = 0; i < 3 * n; ++i) {
    x.mutable_data<float>()[i] = static_cast<float>(i % 97) / 7 - 5;
  }
  return x;
}

Tensor First() { return Tensor::Of<float>({3}, {0.1f, -2, 3}); }

v1::JobSpec SpecOf(const std::string& source, const std::vector<std::string>& inputs) {
  v1::JobSpec spec;
  spec.mutable_program()->set_format(v1::Program::FORMAT_TEXT);
  spec.mutable_program()->set_source(source);
  spec.mutable_program()->set_name("test.weir");
  for (const std::string& name : inputs) spec.add_input_names(name);
  return spec;
}

v1::JobSpec MoveSpec() {
  v1::JobSpec spec = SpecOf(kMove, {"x"});
  spec.mutable_program()->add_map("x");
  return spec;
}

void Read(v1::JobSpec* spec, const std::string& input, const std::string& variable) {
  v1::VariableInput* added = spec->add_variable_inputs();
  added->set_input(input);
  added->set_variable(variable);
}

void Write(v1::JobSpec* spec, uint32_t result, const std::string& variable) {
  v1::VariableOutput* added = spec->add_variable_outputs();
  added->set_result(result);
  added->set_variable(variable);
}

std::string Create(Session& session, const std::string& name, const Tensor& value) {
  v1::NewVariable request;
  request.set_name(name);
  auto made = session.CreateVariable(request, value);
  EXPECT_TRUE(made.ok()) << made.status();
  return made.ok() ? made->id() : "";
}

Tensor Value(Session& session, const std::string& id) {
  auto value = session.ReadVariable(id);
  EXPECT_TRUE(value.ok()) << value.status();
  return value.value_or(Tensor::Scalar<float>(0));
}

v1::Job RunJob(Session& session, const v1::JobSpec& spec, const std::vector<Tensor>& inputs) {
  auto submitted = session.Submit(spec, inputs);
  EXPECT_TRUE(submitted.ok()) << submitted.status();
  if (!submitted.ok()) return {};
  auto job = session.Wait(submitted->job().id(), absl::Minutes(5));
  EXPECT_TRUE(job.ok()) << job.status();
  return job.value_or(v1::Job());
}

// Returns: the results of a job that succeeds.
std::vector<Tensor> ResultsOf(Session& session, const v1::JobSpec& spec,
                              const std::vector<Tensor>& inputs) {
  const v1::Job job = RunJob(session, spec, inputs);
  EXPECT_EQ(job.state(), v1::Job::SUCCEEDED) << job.failure().message();
  EXPECT_EQ(job.report().coordinator_tensor_bytes(), 0);
  std::vector<Tensor> results;
  auto named = session.Result(job.id());
  EXPECT_TRUE(named.ok()) << named.status();
  if (!named.ok()) return {};
  for (NamedTensor& each : *named) results.push_back(std::move(each.tensor));
  return results;
}

enum class Kind { kEmbedded, kGrpc };

class VariablesClusterTest : public testing::TestWithParam<std::tuple<Kind, int>> {
 public:
  void SetUp() override {
    const auto& [kind, workers] = GetParam();
    if (kind == Kind::kGrpc) {
      cluster_ = std::make_unique<GrpcTestCluster>(workers);
      auto session = ConnectRemote({.address = cluster_->server().address()});
      ASSERT_TRUE(session.ok()) << session.status();
      session_ = *std::move(session);
      return;
    }
    auto session = StartEmbedded({.workers = workers});
    ASSERT_TRUE(session.ok()) << session.status();
    session_ = *std::move(session);
  }

 protected:
  std::unique_ptr<GrpcTestCluster> cluster_;
  std::unique_ptr<Session> session_;
};

INSTANTIATE_TEST_SUITE_P(, VariablesClusterTest,
                         testing::Combine(testing::Values(Kind::kEmbedded, Kind::kGrpc),
                                          testing::Values(1, 2, 3)),
                         [](const auto& info) {
                           const bool is_grpc = std::get<0>(info.param) == Kind::kGrpc;
                           return StrCat(is_grpc ? "Grpc" : "Embedded", std::get<1>(info.param));
                         });

TEST_P(VariablesClusterTest, RunsGiveTheBitsOfThoseThatTakeAndGiveValues) {
  Create(*session_, "elsewhere", Tensor(DType::kF32, {100}));
  const std::string w = Create(*session_, "w", First());
  Tensor expected = First();
  v1::JobSpec plain = MoveSpec();
  plain.add_input_names("w");
  v1::JobSpec bound = MoveSpec();
  Read(&bound, "w", w);
  Write(&bound, 1, w);
  for (int64_t n : {1000, 0, 1, 1000}) {
    const std::vector<Tensor> wanted = ResultsOf(*session_, plain, {Rows(n), expected});
    const std::vector<Tensor> moved = ResultsOf(*session_, bound, {Rows(n)});
    ASSERT_EQ(wanted.size(), 2u);
    ASSERT_EQ(moved.size(), 1u);
    EXPECT_TRUE(moved[0].BitEquals(wanted[0]));
    expected = wanted[1];
    EXPECT_TRUE(Value(*session_, w).BitEquals(expected)) << n;
  }
  auto variables = session_->ListVariables();
  ASSERT_TRUE(variables.ok()) << variables.status();
  EXPECT_EQ((*variables)[1].version(), 5u);
  EXPECT_EQ((*variables)[1].name(), "w");
}

TEST_P(VariablesClusterTest, EveryNumberOfWorkersLeavesTheSameBits) {
  const std::string w = Create(*session_, "w", First());
  v1::JobSpec spec = MoveSpec();
  Read(&spec, "w", w);
  Write(&spec, 1, w);
  ResultsOf(*session_, spec, {Rows(3000)});
  ResultsOf(*session_, spec, {Rows(777)});
  static const Tensor* const first = new Tensor(Value(*session_, w));  // of the first cluster
  EXPECT_TRUE(Value(*session_, w).BitEquals(*first));
}

TEST_P(VariablesClusterTest, RowsOfAllWorkersBecomeTheValueOfOne) {
  const std::string w = Create(*session_, "w", First());
  const std::string rows = Create(*session_, "rows", Tensor::Zeros(DType::kF32, {50, 3}));
  v1::JobSpec spec = MoveSpec();
  Read(&spec, "w", w);
  Write(&spec, 0, rows);
  Write(&spec, 1, w);
  EXPECT_TRUE(ResultsOf(*session_, spec, {Rows(50)}).empty());
  v1::JobSpec plain = MoveSpec();
  plain.add_input_names("w");
  EXPECT_TRUE(
      Value(*session_, rows).BitEquals(ResultsOf(*session_, plain, {Rows(50), First()})[0]));
  // As rows they are an input again.
  v1::JobSpec again = SpecOf(kMove, {});
  again.mutable_program()->add_map("x");
  Read(&again, "x", rows);
  again.add_input_names("w");
  EXPECT_TRUE(ResultsOf(*session_, again, {First()})[0].BitEquals(
      ResultsOf(*session_, plain, {Value(*session_, rows), First()})[0]));
}

TEST_P(VariablesClusterTest, ValuesAreSwappedGivenAndTakenWithoutAStep) {
  const Tensor other = Tensor::Of<float>({3}, {7, 8, 9});
  const std::string a = Create(*session_, "a", First());
  const std::string b = Create(*session_, "b", other);
  v1::JobSpec swap = SpecOf(kSwap, {});
  Read(&swap, "a", a);
  Read(&swap, "b", b);
  Write(&swap, 0, a);
  Write(&swap, 1, b);
  EXPECT_TRUE(ResultsOf(*session_, swap, {}).empty());
  EXPECT_TRUE(Value(*session_, a).BitEquals(other));
  EXPECT_TRUE(Value(*session_, b).BitEquals(First()));
  // a becomes what the client gives and the client gets what a was.
  v1::JobSpec give = SpecOf(kSwap, {"b"});
  Read(&give, "a", a);
  Write(&give, 0, a);
  Tensor given = Tensor::Of<float>({3}, {4, 5, 6});
  std::vector<Tensor> results = ResultsOf(*session_, give, {given});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_TRUE(results[0].BitEquals(other));
  // Nobody's memory is another one's.
  std::fill_n(given.mutable_data<float>(), 3, -1.0f);
  results[0].mutable_data<float>()[0] = -1;
  EXPECT_TRUE(Value(*session_, a).BitEquals(Tensor::Of<float>({3}, {4, 5, 6})));
  Value(*session_, b).mutable_data<float>()[0] = -1;
  EXPECT_TRUE(Value(*session_, b).BitEquals(First()));
}

TEST_P(VariablesClusterTest, ARunThatFailsChangesNothing) {
  const std::string w = Create(*session_, "w", First());
  v1::JobSpec spec = SpecOf(kPositive, {"by"});
  Read(&spec, "w", w);
  Write(&spec, 0, w);
  const v1::Job failed = RunJob(*session_, spec, {Tensor::Of<float>({3}, {1, -1, 1})});
  EXPECT_EQ(failed.state(), v1::Job::FAILED);
  EXPECT_THAT(failed.failure().message(), HasSubstr("must be positive"));
  EXPECT_TRUE(Value(*session_, w).BitEquals(First()));
  ResultsOf(*session_, spec, {Tensor::Of<float>({3}, {1, 1, 1})});
  EXPECT_TRUE(Value(*session_, w).BitEquals(Tensor::Of<float>({3}, {0.1f + 1, -1, 4})));
}

TEST_P(VariablesClusterTest, JobsThatOverlapRunInTheOrderOfSubmission) {
  const std::string w = Create(*session_, "w", First());
  v1::JobSpec spec = MoveSpec();
  Read(&spec, "w", w);
  Write(&spec, 1, w);
  std::vector<std::string> jobs;
  for (int64_t n : {10, 500, 3, 70, 1})
    jobs.push_back(session_->Submit(spec, {Rows(n)})->job().id());
  for (const std::string& job : jobs) {
    EXPECT_EQ(session_->Wait(job, absl::Minutes(5))->state(), v1::Job::SUCCEEDED);
  }
  v1::JobSpec plain = MoveSpec();
  plain.add_input_names("w");
  Tensor expected = First();
  for (int64_t n : {10, 500, 3, 70, 1})
    expected = ResultsOf(*session_, plain, {Rows(n), expected})[1];
  EXPECT_TRUE(Value(*session_, w).BitEquals(expected));
}

TEST_P(VariablesClusterTest, BadUsesAreRefused) {
  const std::string w = Create(*session_, "w", First());
  v1::JobSpec unknown = MoveSpec();
  Read(&unknown, "w", "variable-none");
  EXPECT_TRUE(absl::IsNotFound(session_->Submit(unknown, {Rows(1)}).status()));
  EXPECT_TRUE(absl::IsNotFound(session_->ReadVariable("variable-none").status()));
  EXPECT_TRUE(absl::IsNotFound(session_->DeleteVariable("variable-none")));
  v1::JobSpec twice = MoveSpec();
  Read(&twice, "w", w);
  Read(&twice, "w", w);
  EXPECT_THAT(RunJob(*session_, twice, {Rows(1)}).failure().message(), HasSubstr("given twice"));
  v1::JobSpec type = MoveSpec();
  Read(&type, "w", w);
  Write(&type, 0, w);
  EXPECT_THAT(RunJob(*session_, type, {Rows(5)}).failure().message(),
              HasSubstr("is f32[3], but result 0, which it is to become, is f32[5,3]"));
  EXPECT_TRUE(session_->DeleteVariable(w).ok());
  EXPECT_TRUE(absl::IsNotFound(session_->ReadVariable(w).status()));
}

TEST(DirectVariablesTest, RunsWithoutAJobReadAndLeaveValuesToo) {
  auto started = StartEmbedded({.workers = 2});
  ASSERT_TRUE(started.ok()) << started.status();
  Session& session = **started;
  const std::string w = Create(session, "w", First());
  v1::JobSpec spec = SpecOf(kPositive, {"by"});
  Read(&spec, "w", w);
  Write(&spec, 0, w);
  const std::vector<Tensor> by = {Tensor::Of<float>({3}, {1, 1, 1})};
  const auto submitted = session.Submit(spec, by);
  ASSERT_EQ(session.Wait(submitted->job().id(), absl::Minutes(5))->state(), v1::Job::SUCCEEDED);
  spec.clear_program();
  spec.set_program_id(submitted->program_id());
  Tensor expected = Tensor::Of<float>({3}, {0.1f + 1, -1, 4});
  int direct = 0;
  for (int i = 0; i < 200; ++i) {
    if (auto results = session.RunHere(spec, by)) {
      EXPECT_TRUE(results->empty());
      ++direct;
    } else {
      ResultsOf(session, spec, by);
    }
    for (int k = 0; k < 3; ++k) expected.mutable_data<float>()[k] += 1;
  }
  EXPECT_GT(direct, 0);
  EXPECT_TRUE(Value(session, w).BitEquals(expected));
  EXPECT_FALSE(session.RunHere(spec, {Tensor::Of<float>({3}, {0, 1, 1})}).has_value());
  EXPECT_TRUE(Value(session, w).BitEquals(expected));
  // What a direct run was refused for, a job says.
  ASSERT_TRUE(session.DeleteVariable(w).ok());
  EXPECT_FALSE(session.RunHere(spec, by).has_value());
  EXPECT_TRUE(absl::IsNotFound(session.Submit(spec, by).status()));
}

std::vector<std::string> OwnersOf(Session& session) {
  std::vector<std::string> owners;
  const auto variables = session.ListVariables();
  for (const v1::Variable& each : *variables) owners.push_back(each.worker());
  return owners;
}

TEST(VariablesOverGrpcTest, AWorkerThatDrainsLeavesItsVariablesToTheOthers) {
  GrpcTestCluster cluster(1);  // the first of two that comes owns the first variable
  cluster.AddWorker();
  cluster.AwaitWorkers(2);
  auto session = *ConnectRemote({.address = cluster.server().address()});
  // More than one frame.
  Tensor big(DType::kF32, {1 << 20, 3});
  for (int64_t i = 0; i < big.num_elements(); ++i) {
    big.mutable_data<float>()[i] = static_cast<float>(i);
  }
  const std::string w = Create(*session, "w", First());
  Create(*session, "elsewhere", First());
  const std::string b = Create(*session, "big", big);
  EXPECT_THAT(OwnersOf(*session), ElementsAre("w1", "w2", "w1"));
  EXPECT_THAT(cluster.metrics().Text(), HasSubstr("weir_variable_bytes{worker=\"w2\"} 12"));
  ASSERT_TRUE(cluster.DrainWorker(0).ok());
  EXPECT_THAT(OwnersOf(*session), ElementsAre("w2", "w2", "w2"));
  cluster.DropWorker(0);
  cluster.AwaitWorkers(1);
  EXPECT_TRUE(Value(*session, b).BitEquals(big));
  v1::JobSpec spec = MoveSpec();
  Read(&spec, "w", w);
  Write(&spec, 1, w);
  ResultsOf(*session, spec, {Rows(10)});
  // Nobody takes those of the last one.
  ASSERT_TRUE(cluster.DrainWorker(0).ok());
  EXPECT_THAT(session->ReadVariable(w).status().message(),
              HasSubstr("it drained, and no other worker was ready"));
}

TEST(VariablesOverGrpcTest, WhatIsLostWithAWorkerIsSaidAndMadeAgain) {
  GrpcTestCluster cluster(1);  // the first of two that comes owns the first variable
  cluster.AddWorker();
  cluster.AwaitWorkers(2);
  auto session = *ConnectRemote({.address = cluster.server().address()});
  const std::string w = Create(*session, "w", First());
  cluster.DropWorker(0);
  cluster.AwaitWorkers(1);
  v1::JobSpec spec = MoveSpec();
  Read(&spec, "w", w);
  for (const absl::Status& status :
       {session->ReadVariable(w).status(), session->Submit(spec, {Rows(10)}).status()}) {
    EXPECT_TRUE(absl::IsAborted(status));
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(StrCat("variable 'w' (", w, ") is lost with worker w1, which held it")));
  }
  ASSERT_TRUE(session->DeleteVariable(w).ok());
  EXPECT_TRUE(Value(*session, Create(*session, "w", First())).BitEquals(First()));
}

}  // namespace
}  // namespace weir
