// Variables in a coordinator's core driven by hand: whom it tells what, and in which order runs
// that share variables start.
#include "server/variables/variable_core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "common/base/status.h"
#include "server/jobs/core_test_harness.h"

namespace weir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

// y = f(x, w) by rows, z = g(y, w) on rank 0; the results are y, z and w itself.
std::shared_ptr<CompiledProgram> UpdateProgram() {
  auto program = std::make_shared<CompiledProgram>();
  v1::Plan& plan = program->plan.plan;
  const auto value = [&plan](const char* name, const char* type, v1::PlanValue::Placement place) {
    v1::PlanValue* added = plan.add_values();
    added->set_name(name);
    added->set_type(type);
    added->set_placement(place);
  };
  value("x", "f32[n,2]", v1::PlanValue::PLACEMENT_FEED);
  value("w", "f32[2]", v1::PlanValue::PLACEMENT_FEED);
  value("y", "f32[n,2]", v1::PlanValue::PLACEMENT_SPLIT);
  value("z", "f32[2]", v1::PlanValue::PLACEMENT_ROOT);
  for (uint32_t input : {0, 1}) plan.add_inputs(input);
  for (uint32_t output : {2, 3, 1}) plan.add_outputs(output);
  const auto take = [](v1::Step* step, uint32_t from, v1::StepOperand::Part part) {
    v1::StepOperand* operand = step->add_operands();
    operand->set_value(from);
    operand->set_part(part);
  };
  v1::Step* shard = plan.add_steps();
  shard->set_extent("n");
  shard->add_outputs(2);
  take(shard, 0, v1::StepOperand::PART_ROWS);
  take(shard, 1, v1::StepOperand::PART_WHOLE);
  v1::Step* root = plan.add_steps();
  root->add_outputs(3);
  take(root, 2, v1::StepOperand::PART_WHOLE);
  take(root, 1, v1::StepOperand::PART_WHOLE);
  program->plan.output_names = {"y", "z", "w"};
  program->inputs = {{"x", *TensorType::Parse("f32[n,2]"), true, ""},
                     {"w", *TensorType::Parse("f32[2]"), false, ""}};
  program->sharded = true;
  return program;
}

const Tensor& Ones() {
  static const Tensor* const ones = new Tensor(Tensor::Of<float>({2}, {1, 1}));
  return *ones;
}

class VariablesTest : public testing::Test {
 public:
  explicit VariablesTest(int workers = 2) {
    for (int i = 1; i <= workers; ++i) harness.AddWorker(i, StrCat("w", i));
  }

  // Returns: the id, which is the name.
  std::string Create(const std::string& name, const Tensor& value = Ones()) {
    v1::NewVariable request;
    request.set_name(name);
    auto made = harness.core.variables().Create(name, request, "", value);
    EXPECT_TRUE(made.ok()) << made.status();
    return name;
  }

  // A job that reads `read` as w and leaves z as that of `written`. Returns: its id.
  absl::StatusOr<std::string> TrySubmit(const std::string& read, const std::string& written,
                                        uint32_t result = 1, uint32_t repeat = 0) {
    Submission submission;
    submission.spec.mutable_program()->set_format(v1::Program::FORMAT_TEXT);
    submission.spec.mutable_program()->set_source("update");
    submission.spec.set_repeat(repeat);
    submission.spec.add_input_names("x");
    submission.inputs = {CoreHarness::Rows(4, 0)};
    if (!read.empty()) {
      submission.spec.add_variable_inputs()->set_input("w");
      submission.spec.mutable_variable_inputs(0)->set_variable(read);
    }
    if (!written.empty()) {
      submission.spec.add_variable_outputs()->set_result(result);
      submission.spec.mutable_variable_outputs(0)->set_variable(written);
    }
    if (read.empty()) {
      submission.spec.add_input_names("w");
      submission.inputs.push_back(Tensor::Of<float>({2}, {5, 5}));
    }
    auto prepared = Prepare(std::move(submission), Limits());
    if (!prepared.ok()) return prepared.status();
    auto accepted = harness.core.Submit(*std::move(prepared));
    if (!accepted.ok()) return accepted.status();
    for (uint64_t program : std::exchange(harness.compiling, {})) {
      harness.core.OnCompiled(program, std::shared_ptr<const CompiledProgram>(UpdateProgram()));
    }
    harness.LoadAll();
    return accepted->job.id();
  }
  std::string Submit(const std::string& read, const std::string& written) {
    auto id = TrySubmit(read, written);
    EXPECT_TRUE(id.ok()) << id.status();
    return id.value_or("");
  }

  v1::Job::State State(const std::string& job) { return harness.State(job); }
  const v1::Failure& Failure(const std::string& job) { return harness.Job(job).view.failure(); }

  v1::Variable View(const std::string& id) {
    const v1::ListVariablesResponse all = harness.core.variables().List();
    for (const v1::Variable& each : all.variables()) {
      if (each.id() == id) return each;
    }
    return {};
  }

  // What workers were told about values since the last call, by worker; starts are kept.
  std::map<uint64_t, v1::ValueOrders> TakeOrders() {
    std::map<uint64_t, v1::ValueOrders> orders;
    std::vector<SentToWorker> others;
    for (SentToWorker& item : harness.TakeSent()) {
      if (item.message.has_values()) {
        orders[item.worker].MergeFrom(item.message.values());
      } else if (item.message.has_start_run()) {
        others.push_back(std::move(item));
      }
    }
    harness.sent = std::move(others);
    return orders;
  }

  void Report(uint64_t worker, uint64_t value) {
    v1::WorkerMessage message;
    message.mutable_value_report()->set_id(value);
    harness.core.OnWorkerMessage(worker, message, {});
  }

  // What workers answer to `starts`: y as their feed, z as a value of a variable or for the client.
  void Finish(const std::vector<SentToWorker>& starts) {
    for (const SentToWorker& start : starts) {
      const v1::StartRun& run = start.message.start_run();
      v1::WorkerMessage message;
      v1::RunFinished* finished = message.mutable_run_finished();
      finished->set_run_id(run.run_id());
      std::vector<Tensor> payloads;
      const auto add = [&](uint32_t value, int64_t first_row, const Tensor& tensor) {
        v1::Feed* feed = finished->add_results();
        feed->set_value(value);
        feed->set_first_row(first_row);
        *feed->mutable_header() = HeaderOf(tensor);
        payloads.push_back(tensor);
      };
      add(2, run.feeds(0).first_row(), start.payloads[0]);
      if (run.rank() == 0 && run.stores().empty()) add(3, 0, Ones());
      if (run.rank() == 0) {
        for (const v1::StoredResult& store : run.stores()) {
          if (store.output() == 1) Report(store.owner().worker_id(), store.id());
        }
      }
      harness.core.OnWorkerMessage(start.worker, message, std::move(payloads));
    }
  }
  void Finish() { Finish(harness.TakeStarts()); }

  void LoseWorker(uint64_t worker) {
    harness.core.OnWorkerClosed(worker, absl::UnavailableError("it crashed"));
  }

  CoreHarness harness;
};

std::vector<uint64_t> Ids(const google::protobuf::RepeatedPtrField<v1::NewValue>& values) {
  std::vector<uint64_t> ids;
  for (const v1::NewValue& value : values) ids.push_back(value.id());
  return ids;
}

TEST_F(VariablesTest, TheWorkerWithLeastBytesOwnsANewOne) {
  Create("a");
  Create("b", Tensor(DType::kF32, {100}));
  Create("c");
  Create("d");
  EXPECT_EQ(View("a").worker(), "w1");
  EXPECT_EQ(View("b").worker(), "w2");
  EXPECT_EQ(View("c").worker(), "w1");
  EXPECT_EQ(View("d").worker(), "w1");
  const auto orders = TakeOrders();
  EXPECT_THAT(Ids(orders.at(1).stores()), ElementsAre(1, 3, 4));
  EXPECT_THAT(Ids(orders.at(2).stores()), ElementsAre(2));
  EXPECT_EQ(harness.core.Stats().variable_bytes.at("w2"), 400);
  ASSERT_TRUE(harness.core.variables().Delete("b").ok());
  EXPECT_THAT(TakeOrders().at(2).drops(), ElementsAre(2));
  EXPECT_EQ(harness.core.Stats().variable_bytes.at("w2"), 0);
}

TEST_F(VariablesTest, OwnersHandValuesToRanksAndKeepWhatRanksMake) {
  Create("big", Tensor(DType::kF32, {100}));
  Create("w");  // on the second worker, which becomes rank 0
  TakeOrders();
  const std::string job = Submit("w", "w");
  const auto orders = TakeOrders();
  ASSERT_EQ(orders.size(), 1u);
  const v1::ValueOrders& owner = orders.at(2);
  EXPECT_THAT(Ids(owner.expects()), ElementsAre(3));
  ASSERT_EQ(owner.hands_size(), 3);  // to two ranks, and to the coordinator for the result w
  std::vector<uint64_t> fed;
  for (int i : {0, 1}) {
    EXPECT_EQ(owner.hands(i).id(), 2u);
    EXPECT_EQ(owner.hands(i).feed().value(), 1u);
    EXPECT_FALSE(owner.hands(i).feed().has_rows());
    fed.push_back(owner.hands(i).peer().worker_id());
  }
  EXPECT_THAT(fed, ElementsAre(2, 1));
  const std::vector<SentToWorker> starts = harness.TakeStarts();
  ASSERT_EQ(starts.size(), 2u);
  EXPECT_EQ(starts[0].worker, 2u);
  for (const SentToWorker& start : starts) {
    EXPECT_EQ(start.message.start_run().feeds_size(), 1);  // x; w comes from its owner
    ASSERT_EQ(start.message.start_run().stores_size(), 1);
    EXPECT_EQ(start.message.start_run().stores(0).output(), 1u);
    EXPECT_EQ(start.message.start_run().stores(0).owner().name(), "w2");
  }
  Finish(starts);
  EXPECT_EQ(State(job), v1::Job::RUNNING);  // the result w has not come
  v1::WorkerMessage answer;
  answer.mutable_value_report()->set_id(2);
  answer.mutable_value_report()->set_reader(owner.hands(2).reader());
  *answer.mutable_value_report()->mutable_header() = HeaderOf(Ones());
  harness.core.OnWorkerMessage(1, answer, {Tensor::Of<float>({2}, {9, 9})});  // not the owner
  EXPECT_EQ(State(job), v1::Job::RUNNING);
  harness.core.OnWorkerMessage(2, answer, {Ones()});
  ASSERT_EQ(State(job), v1::Job::SUCCEEDED) << Failure(job).message();
  EXPECT_THAT(harness.Job(job).view.result_names(), ElementsAre("y", "w"));
  EXPECT_TRUE(harness.Job(job).results[1].BitEquals(Ones()));
  EXPECT_EQ(harness.Job(job).view.report().coordinator_tensor_bytes(), 0);
  EXPECT_EQ(harness.core.Stats().other_tensor_bytes, 0);
  EXPECT_EQ(View("w").version(), 2u);
  EXPECT_EQ(View("w").jobs(), 0u);
  EXPECT_THAT(TakeOrders().at(2).drops(), ElementsAre(2));
}

TEST_F(VariablesTest, ARunIsOverOnceItsValuesAreWithTheirOwners) {
  Create("w");
  const std::string job = Submit("", "w");
  std::vector<SentToWorker> starts = harness.TakeStarts();
  const uint64_t made = starts[0].message.start_run().stores(0).id();
  // As if the value were still on its way.
  for (SentToWorker& start : starts) {
    start.message.mutable_start_run()->mutable_stores(0)->set_output(7);
  }
  Finish(starts);
  EXPECT_EQ(State(job), v1::Job::RUNNING);
  EXPECT_EQ(View("w").version(), 1u);
  Report(2, made);  // from a worker that does not own it
  EXPECT_EQ(State(job), v1::Job::RUNNING);
  Report(1, made);
  EXPECT_EQ(State(job), v1::Job::SUCCEEDED);
  EXPECT_EQ(View("w").version(), 2u);
}

TEST_F(VariablesTest, RunsThatShareAVariableWhichOneWritesStartInTheOrderOfSubmission) {
  Create("w");
  Create("v");
  const std::string first = Submit("w", "w");
  const std::string second = Submit("w", "w");
  const std::string reader = Submit("w", "");
  const std::string another = Submit("w", "");
  const std::string last = Submit("", "w");
  const std::string apart = Submit("v", "v");
  const auto running = [&] {
    std::vector<std::string> jobs;
    for (const std::string& job : {first, second, reader, another, last, apart}) {
      if (State(job) == v1::Job::RUNNING) jobs.push_back(job);
    }
    return jobs;
  };
  EXPECT_THAT(running(), ElementsAre(first, apart));
  EXPECT_THAT(harness.Job(second).view.waits_for(),
              HasSubstr(StrCat("variable 'w' (w), which job ", first, " writes before")));
  harness.core.Cancel(first).IgnoreError();
  EXPECT_THAT(running(), ElementsAre(second, apart));
  harness.core.Cancel(second).IgnoreError();
  EXPECT_THAT(running(), ElementsAre(reader, another, apart));
  harness.core.Cancel(another).IgnoreError();
  EXPECT_THAT(running(), ElementsAre(reader, apart));
  harness.core.Cancel(reader).IgnoreError();
  EXPECT_THAT(running(), ElementsAre(last, apart));
}

TEST_F(VariablesTest, WhatFailsOrIsCancelledChangesNothing) {
  Create("w");
  for (const bool is_cancelled : {false, true}) {
    TakeOrders();
    const std::string job = Submit("", "w");
    const std::vector<uint64_t> made = Ids(TakeOrders().at(1).expects());
    const std::vector<SentToWorker> starts = harness.TakeStarts();
    Report(1, made[0]);  // the value is there, but another worker fails
    if (is_cancelled) {
      harness.core.Cancel(job).IgnoreError();
    } else {
      harness.FailRun(starts[1], absl::StatusCode::kInvalidArgument, "no such row");
      EXPECT_EQ(State(job), v1::Job::FAILED);
    }
    EXPECT_EQ(View("w").version(), 1u);
    EXPECT_THAT(TakeOrders().at(1).drops(), ElementsAre(made[0]));
  }
  const std::string next = Submit("w", "");
  EXPECT_EQ(TakeOrders().at(1).hands(0).id(), 1u);
}

TEST_F(VariablesTest, RepeatedRunsBeginWithTheSameValueAndTheLastCounts) {
  Create("w");
  TakeOrders();
  const std::string job = *TrySubmit("w", "w", 1, 1);
  const v1::ValueOrders first = TakeOrders().at(1);
  const auto answer = [&](const v1::ValueOrders& orders) {
    v1::WorkerMessage read;
    read.mutable_value_report()->set_id(1);
    read.mutable_value_report()->set_reader(orders.hands(2).reader());
    harness.core.OnWorkerMessage(1, read, {Ones()});
  };
  Finish();
  answer(first);
  EXPECT_EQ(View("w").version(), 1u);
  const v1::ValueOrders second = TakeOrders().at(1);
  EXPECT_EQ(second.hands(0).id(), 1u);
  EXPECT_THAT(second.drops(), ElementsAre(first.expects(0).id()));
  Finish();
  answer(second);
  ASSERT_EQ(State(job), v1::Job::SUCCEEDED) << Failure(job).message();
  EXPECT_EQ(View("w").version(), 2u);
}

TEST_F(VariablesTest, ALostOwnerFailsWhatUsesItsVariables) {
  Create("w");
  const std::string running = Submit("w", "w");
  const std::string waiting = Submit("w", "");
  LoseWorker(1);
  const std::string why =
      "variable 'w' (w) is lost with worker w1, which held it: it crashed; delete it and create it "
      "again";
  for (const std::string& job : {running, waiting}) {
    EXPECT_EQ(State(job), v1::Job::FAILED);
    EXPECT_EQ(Failure(job).message(), why);
    EXPECT_EQ(Failure(job).code(), static_cast<uint32_t>(absl::StatusCode::kAborted));
  }
  EXPECT_EQ(View("w").state(), v1::Variable::LOST);
  EXPECT_EQ(TrySubmit("w", "").status(), absl::AbortedError(why));
  absl::Status read;
  harness.core.variables().Read("w", [&](const auto& outcome) { read = outcome.status(); });
  for (auto& call : std::exchange(harness.deferred, {})) call();
  EXPECT_EQ(read, absl::AbortedError(why));
  ASSERT_TRUE(harness.core.variables().Delete("w").ok());
  Create("w");
  EXPECT_EQ(State(Submit("w", "")), v1::Job::RUNNING);
}

TEST_F(VariablesTest, ARunOnOtherWorkersNeedsTheOwnerToo) {
  Create("big", Tensor(DType::kF32, {100}));
  Create("w");
  Submission submission;
  submission.spec.mutable_program()->set_format(v1::Program::FORMAT_TEXT);
  submission.spec.mutable_program()->set_source("update");
  submission.spec.set_workers(1);
  submission.spec.add_input_names("x");
  submission.inputs = {CoreHarness::Rows(4, 0)};
  submission.spec.add_variable_inputs()->set_input("w");
  submission.spec.mutable_variable_inputs(0)->set_variable("w");
  const std::string job = Submit("w", "w");
  EXPECT_THAT(harness.Job(job).view.workers(), ElementsAre("w2", "w1"));
  auto alone = harness.core.Submit(*Prepare(std::move(submission), Limits()));
  ASSERT_TRUE(alone.ok()) << alone.status();
  harness.core.Cancel(job).IgnoreError();
  EXPECT_THAT(harness.Job(alone->job.id()).view.workers(), ElementsAre("w2"));
}

TEST_F(VariablesTest, AWorkerThatDrainsHandsItsVariablesOver) {
  Create("w");
  const std::string job = Submit("w", "w");
  v1::ValueOrders orders = TakeOrders().at(1);
  const std::vector<SentToWorker> starts = harness.TakeStarts();
  harness.DrainWorker(1);
  EXPECT_TRUE(TakeOrders().empty());  // the run still needs it there
  const std::string next = Submit("w", "");
  EXPECT_THAT(harness.Job(next).view.waits_for(), HasSubstr("writes before"));
  Finish(starts);
  v1::WorkerMessage read;
  read.mutable_value_report()->set_id(1);
  read.mutable_value_report()->set_reader(orders.hands(2).reader());
  harness.core.OnWorkerMessage(1, read, {Ones()});
  ASSERT_EQ(State(job), v1::Job::SUCCEEDED);
  EXPECT_EQ(View("w").state(), v1::Variable::MOVING);
  auto moved = TakeOrders();
  ASSERT_EQ(moved.at(2).expects_size(), 1);
  const uint64_t value = moved.at(2).expects(0).id();
  EXPECT_EQ(moved.at(1).hands(0).id(), orders.expects(0).id());  // what the run has left
  EXPECT_EQ(moved.at(1).hands(0).new_id(), value);
  EXPECT_EQ(State(next), v1::Job::QUEUED);
  EXPECT_THAT(harness.Job(next).view.waits_for(), HasSubstr("moves away from worker w1"));
  Report(2, value);
  harness.LoadAll();
  EXPECT_EQ(View("w").worker(), "w2");
  EXPECT_EQ(View("w").version(), 2u);
  EXPECT_EQ(State(next), v1::Job::RUNNING);
  moved = TakeOrders();
  EXPECT_THAT(moved.at(1).drops(), testing::Contains(orders.expects(0).id()));
  EXPECT_EQ(moved.at(2).hands(0).id(), value);
  EXPECT_EQ(harness.core.Stats().variable_bytes.at("w2"), 8);
  harness.core.OnWorkerClosed(1, absl::OkStatus());
  EXPECT_EQ(View("w").state(), v1::Variable::READY);
}

TEST_F(VariablesTest, AMoveWhoseEndsAreLostEndsToo) {
  Create("w");
  harness.DrainWorker(1);
  EXPECT_EQ(View("w").state(), v1::Variable::MOVING);
  const uint64_t value = TakeOrders().at(2).expects(0).id();
  harness.AddWorker(3, "w3");
  LoseWorker(2);
  // It goes to another one.
  EXPECT_EQ(View("w").state(), v1::Variable::MOVING);
  const uint64_t again = TakeOrders().at(3).expects(0).id();
  Report(2, value);
  Report(3, value);
  EXPECT_EQ(View("w").worker(), "w1");
  v1::WorkerMessage unreachable;
  unreachable.mutable_peer_lost()->set_worker_id(3);
  harness.core.OnWorkerMessage(1, unreachable, {});
  const uint64_t third = TakeOrders().at(3).expects(0).id();
  EXPECT_GT(third, again);
  LoseWorker(1);
  EXPECT_EQ(View("w").state(), v1::Variable::LOST);
  Report(3, third);
  EXPECT_EQ(View("w").state(), v1::Variable::LOST);
}

TEST_F(VariablesTest, WithoutAnotherWorkerADrainedOneTakesItsVariablesAlong) {
  Create("w");
  harness.DrainWorker(2);
  harness.DrainWorker(1);
  EXPECT_THAT(TakeOrders().at(1).drops(), ElementsAre(1));
  EXPECT_THAT(
      TrySubmit("w", "").status().message(),
      HasSubstr("is lost with worker w1, which held it: it drained, and no other worker was "
                "ready to take the variable; delete it"));
}

TEST_F(VariablesTest, AnOwnerThatCannotReachARankFailsTheRun) {
  Create("w");
  const std::string job = Submit("w", "w");
  v1::WorkerMessage message;
  message.mutable_peer_lost()->set_worker_id(2);
  message.mutable_peer_lost()->set_reason("connection refused");
  harness.core.OnWorkerMessage(1, message, {});
  harness.clock.Advance(Limits().cause_within);
  harness.core.OnTick();
  ASSERT_EQ(State(job), v1::Job::FAILED);
  EXPECT_THAT(Failure(job).message(), HasSubstr("worker w2 cannot be reached"));
  EXPECT_THAT(Failure(job).message(), HasSubstr("connection refused"));
}

TEST_F(VariablesTest, AnOwnerWithoutTheValueHasLostIt) {
  Create("w");
  const std::string job = Submit("w", "w");
  v1::WorkerMessage message;
  message.mutable_value_report()->set_id(1);
  message.mutable_value_report()->mutable_failure()->set_code(5);
  message.mutable_value_report()->mutable_failure()->set_message("worker w1 has no value 1");
  harness.core.OnWorkerMessage(1, message, {});
  ASSERT_EQ(State(job), v1::Job::FAILED);
  EXPECT_THAT(Failure(job).message(), HasSubstr("worker w1 has no value 1; delete it"));
}

TEST_F(VariablesTest, BadUsesAreRefusedWithWhatToDo) {
  Create("w");
  EXPECT_THAT(TrySubmit("unknown", "").status().message(),
              HasSubstr("there is no variable 'unknown': it was deleted, or the coordinator has"));
  const std::string beyond = *TrySubmit("w", "w", 3);
  EXPECT_THAT(Failure(beyond).message(), HasSubstr("result 3, but the program has 3"));
  const std::string rows = *TrySubmit("w", "w", 0);
  EXPECT_THAT(Failure(rows).message(),
              HasSubstr("variable 'w' (w) is f32[2], but result 0, which it is to become, is "
                        "f32[4,2]"));
  Create("other", Tensor::Of<double>({2}, {1, 1}));
  const std::string other = *TrySubmit("other", "");
  EXPECT_THAT(Failure(other).message(), HasSubstr("input 'w' has element type f64"));
  const std::string job = Submit("w", "w");
  EXPECT_THAT(harness.core.variables().Delete("w").message(),
              HasSubstr(StrCat("cannot be deleted: job ", job, " writes it; cancel that")));
  harness.core.Cancel(job).IgnoreError();
  EXPECT_TRUE(harness.core.variables().Delete("w").ok());
  EXPECT_FALSE(harness.core.variables().Delete("w").ok());
}

TEST_F(VariablesTest, OneVariableBecomesOneResultAndBack) {
  for (const bool is_variable_twice : {true, false}) {
    Submission submission;
    submission.spec.mutable_program()->set_format(v1::Program::FORMAT_TEXT);
    submission.spec.mutable_program()->set_source("update");
    for (uint32_t i : {0, 1}) {
      v1::VariableOutput* output = submission.spec.add_variable_outputs();
      output->set_result(is_variable_twice ? i : 1);
      output->set_variable(is_variable_twice ? "w" : StrCat("w", i));
    }
    const absl::Status status = Prepare(std::move(submission), Limits()).status();
    EXPECT_THAT(status.message(),
                HasSubstr(is_variable_twice ? "would become result 0 and result 1"
                                            : "would go to variable 'w0' and variable 'w1'"));
  }
}

TEST_F(VariablesTest, CreationIsIdempotentAndBounded) {
  v1::NewVariable request;
  request.set_name("w");
  request.set_submission_id("s");
  VariableCore& variables = harness.core.variables();
  ASSERT_TRUE(variables.Create("1", request, "digest", Ones()).ok());
  EXPECT_EQ(variables.Create("2", request, "digest", Ones())->id(), "1");
  EXPECT_TRUE(absl::IsAlreadyExists(variables.Create("3", request, "other", Ones()).status()));
  ASSERT_TRUE(variables.Delete("1").ok());
  EXPECT_EQ(variables.Create("4", request, "other", Ones())->id(), "4");

  Limits limits;
  limits.max_variables = 2;
  limits.max_variable_bytes = 20;
  CoreHarness bounded(limits);
  const v1::NewVariable plain;
  EXPECT_TRUE(
      absl::IsUnavailable(bounded.core.variables().Create("a", plain, "", Ones()).status()));
  bounded.AddWorker(1, "w1");
  ASSERT_TRUE(bounded.core.variables().Create("a", plain, "", Ones()).ok());
  EXPECT_THAT(
      bounded.core.variables().Create("b", plain, "", Tensor(DType::kF32, {4})).status().message(),
      HasSubstr("variables have 8 bytes and may have 20"));
  ASSERT_TRUE(bounded.core.variables().Create("b", plain, "", Ones()).ok());
  EXPECT_THAT(
      bounded.core.variables().Create("c", plain, "", Tensor(DType::kF32, {0})).status().message(),
      HasSubstr("there are 2 variables; at most 2 may be"));
}

TEST_F(VariablesTest, RunsWithoutAJobHaveWhatTheyWriteAlone) {
  Create("w");
  Create("v");
  VariableCore& variables = harness.core.variables();
  const auto use = variables.BeginDirect({"w", "v"}, {"w"});
  ASSERT_TRUE(use.has_value());
  EXPECT_EQ(use->inputs[0].value, 1u);
  EXPECT_FALSE(variables.BeginDirect({"w"}, {}).has_value());
  EXPECT_FALSE(variables.BeginDirect({}, {"v"}).has_value());
  EXPECT_TRUE(absl::IsFailedPrecondition(variables.Delete("w")));
  const auto reader = variables.BeginDirect({"v"}, {});
  ASSERT_TRUE(reader.has_value());
  EXPECT_TRUE(harness.core.EndDirect(*reader, VariableCore::Ending::kForget).empty());
  const std::string job = Submit("w", "");
  EXPECT_EQ(State(job), v1::Job::QUEUED);
  const auto old = harness.core.EndDirect(*use, VariableCore::Ending::kCommit);
  ASSERT_EQ(old.size(), 1u);
  EXPECT_EQ(old[0].value, 1u);
  harness.LoadAll();
  EXPECT_EQ(State(job), v1::Job::RUNNING);
  EXPECT_EQ(View("w").version(), 2u);
  EXPECT_FALSE(variables.BeginDirect({}, {"w"}).has_value());
  EXPECT_FALSE(variables.BeginDirect({"unknown"}, {}).has_value());
  EXPECT_FALSE(variables.BeginDirect({}, {"v", "v"}).has_value());
}

TEST_F(VariablesTest, AReadThatIsUnderWayKeepsTheValueOfBefore) {
  Create("w");
  TakeOrders();
  VariableCore& variables = harness.core.variables();
  const auto use = variables.BeginDirect({}, {"w"});
  std::optional<Tensor> read;
  variables.Read("w", [&](auto outcome) { read = outcome->value; });
  EXPECT_TRUE(harness.core.EndDirect(*use, VariableCore::Ending::kCommit).empty());
  v1::WorkerMessage answer;
  answer.mutable_value_report()->set_reader(TakeOrders().at(1).hands(0).reader());
  harness.core.OnWorkerMessage(1, answer, {Ones()});
  for (auto& call : std::exchange(harness.deferred, {})) call();
  ASSERT_TRUE(read.has_value());
  EXPECT_TRUE(read->BitEquals(Ones()));
  EXPECT_THAT(TakeOrders().at(1).drops(), ElementsAre(1));
}

}  // namespace
}  // namespace weir
