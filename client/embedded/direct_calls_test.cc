// A session with a cluster of its own, with and without jobs.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "client/embedded/embedded_cluster.h"
#include "common/base/status.h"

namespace weir {
namespace {

constexpr char kSquares[] = R"(func @main(%x: f32[], %by: f32[]) -> (f32[] "y", f32[] "by") {
  %s = multiply(%x, %x)
  %y = add(%s, %by)
  return %y, %by
})";

constexpr char kPositive[] = R"(func @main(%x: f32[]) -> (f32[] "y") {
  %zero = constant {value = f32[] {0}}
  %ok = greater(%x, %zero)
  check(%ok) {message = "must be positive"}
  return %x
})";

constexpr char kPrint[] = R"(func @main(%x: f32[]) -> (f32[] "y") {
  %y = add(%x, %x)
  print(%y) {message = "{}", place = [1], rows = 0}
  return %y
})";

// As many trips as the example says.
constexpr char kCount[] = R"(func @main(%x: i64[]) -> (i64[] "y") {
  %zero = constant {value = i64[] {0}}
  %one = constant {value = i64[] {1}}
  %y = while(%zero) (%i: i64[]) { %go = less(%i, %x) yield %go }
    (%j: i64[]) { %next = add(%j, %one) yield %next }
  return %y
})";

v1::JobSpec SpecOf(const std::string& source, const std::vector<std::string>& inputs) {
  v1::JobSpec spec;
  spec.mutable_program()->set_format(v1::Program::FORMAT_TEXT);
  spec.mutable_program()->set_source(source);
  spec.mutable_program()->set_name("test.weir");
  spec.mutable_program()->add_map("x");
  for (const std::string& name : inputs) spec.add_input_names(name);
  return spec;
}

Tensor Rows(int64_t n) {
  Tensor x(DType::kF32, {n});
  for (int64_t i = 0; i < n; ++i) x.mutable_data<float>()[i] = static_cast<float>(i % 100 + 1) / 3;
  return x;
}

class DirectCallsTest : public testing::TestWithParam<int> {
 public:
  void SetUp() override {
    auto session = StartEmbedded({.workers = GetParam()});
    ASSERT_TRUE(session.ok()) << session.status();
    session_ = *std::move(session);
  }

  // Runs a job. Returns: its end; `spec` then names the program.
  v1::Job RunJob(v1::JobSpec* spec, const std::vector<Tensor>& inputs,
                 std::vector<Tensor>* results = nullptr) {
    auto submitted = session_->Submit(*spec, inputs);
    EXPECT_TRUE(submitted.ok()) << submitted.status();
    spec->clear_program();
    spec->set_program_id(submitted->program_id());
    auto job = session_->Wait(submitted->job().id(), absl::Minutes(5));
    EXPECT_TRUE(job.ok()) << job.status();
    if (results == nullptr) return *job;
    auto kept = session_->Result(job->id());
    EXPECT_TRUE(kept.ok()) << kept.status();
    for (NamedTensor& each : *kept) results->push_back(std::move(each.tensor));
    return *job;
  }

  // The way of a call, until it needs no job any more.
  std::vector<Tensor> RunUntilHere(v1::JobSpec* spec, const std::vector<Tensor>& inputs) {
    for (int i = 0; i < 2000; ++i) {
      if (auto results = session_->RunHere(*spec, inputs)) return *std::move(results);
      RunJob(spec, inputs);
    }
    ADD_FAILURE() << "always needs a job";
    return {};
  }

  std::unique_ptr<Session> session_;
};

INSTANTIATE_TEST_SUITE_P(Workers, DirectCallsTest, testing::Values(1, 2, 3));

TEST_P(DirectCallsTest, GivesTheBitsOfAJobWithoutOne) {
  for (int64_t n : {0, 1, 5, 200}) {
    v1::JobSpec spec = SpecOf(kSquares, {"x", "by"});
    const std::vector<Tensor> inputs = {Rows(n), Tensor::Scalar<float>(0.1f)};
    EXPECT_FALSE(session_->RunHere(spec, inputs).has_value()) << "without a program's id";
    std::vector<Tensor> want;
    ASSERT_EQ(RunJob(&spec, inputs, &want).state(), v1::Job::SUCCEEDED);
    const std::vector<Tensor> got = RunUntilHere(&spec, inputs);
    const size_t jobs = session_->List()->size();
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(got[i].BitEquals(want[i])) << i;
    int here = 0;
    for (int i = 0; i < 50; ++i) {
      if (session_->RunHere(spec, inputs).has_value()) ++here;
    }
    EXPECT_GT(here, 0);
    EXPECT_EQ(session_->List()->size(), jobs);
  }
}

TEST_P(DirectCallsTest, InputsOfOtherTypesAreBoundAnew) {
  v1::JobSpec spec = SpecOf(kSquares, {"x", "by"});
  const Tensor by = Tensor::Scalar<float>(2);
  RunUntilHere(&spec, {Rows(4), by});
  const std::vector<Tensor> longer = RunUntilHere(&spec, {Rows(6), by});
  ASSERT_EQ(longer.size(), 2);
  EXPECT_EQ(longer[0].extents(), Extents{6});
  // What does not fit is left to a job, which says so.
  EXPECT_FALSE(session_->RunHere(spec, {Rows(4), Rows(3)}).has_value());
  const v1::Job job = RunJob(&spec, {Rows(4), Rows(3)});
  EXPECT_EQ(job.state(), v1::Job::FAILED);
  EXPECT_NE(job.failure().message().find("input 'by' has shape [3]"), std::string::npos)
      << job.failure().message();
}

TEST_P(DirectCallsTest, WhatAJobGivesBesidesResultsTakesAJob) {
  v1::JobSpec spec = SpecOf(kSquares, {"x", "by"});
  const std::vector<Tensor> inputs = {Rows(5), Tensor::Scalar<float>(1)};
  RunUntilHere(&spec, inputs);
  std::vector<v1::JobSpec> others(7, spec);
  others[0].set_profile(true);
  others[1].set_memory_budget(1 << 20);
  others[2].set_repeat(1);
  others[3].set_submission_id("once");
  (*others[4].mutable_labels())["a"] = "b";
  others[5].set_workers(static_cast<uint32_t>(GetParam()) + 1);
  others[6].set_program_id("0123");
  for (const v1::JobSpec& other : others) {
    EXPECT_FALSE(session_->RunHere(other, inputs).has_value()) << other.DebugString();
  }
  v1::JobSpec prints = SpecOf(kPrint, {"x"});
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(session_->RunHere(prints, {Rows(3)}).has_value());
    RunJob(&prints, {Rows(3)});
  }
}

TEST_P(DirectCallsTest, ARunThatFailsIsLeftToAJob) {
  v1::JobSpec spec = SpecOf(kPositive, {"x"});
  RunUntilHere(&spec, {Rows(5)});
  Tensor bad = Rows(5);
  bad.mutable_data<float>()[3] = -1;
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(session_->RunHere(spec, {bad}).has_value());
  const v1::Job job = RunJob(&spec, {bad});
  EXPECT_EQ(job.state(), v1::Job::FAILED);
  EXPECT_NE(job.failure().message().find("check failed: must be positive"), std::string::npos)
      << job.failure().message();
  RunUntilHere(&spec, {Rows(5)});
}

TEST_P(DirectCallsTest, ALoopThatTakesLongIsLeftToAJobThatCanBeCancelled) {
  v1::JobSpec spec = SpecOf(kCount, {"x"});
  RunUntilHere(&spec, {Tensor::Of<int64_t>({3}, {1, 2, 3})});
  const Tensor endless = Tensor::Of<int64_t>({3}, {1, int64_t{1} << 62, 3});
  EXPECT_FALSE(session_->RunHere(spec, {endless}).has_value());
  auto submitted = session_->Submit(spec, {endless});
  ASSERT_TRUE(submitted.ok()) << submitted.status();
  auto cancelled = session_->Cancel(submitted->job().id());
  ASSERT_TRUE(cancelled.ok()) << cancelled.status();
  EXPECT_EQ(cancelled->state(), v1::Job::CANCELLED);
}

TEST_P(DirectCallsTest, ProgramsThatTheCoordinatorDroppedTakeAJob) {
  v1::JobSpec spec = SpecOf(kSquares, {"x", "by"});
  const std::vector<Tensor> inputs = {Rows(5), Tensor::Scalar<float>(1)};
  RunUntilHere(&spec, inputs);
  for (int i = 0; i < Limits().max_programs + 1; ++i) {
    v1::JobSpec other = SpecOf(StrCat(kSquares, " // ", i), {"x", "by"});
    RunJob(&other, inputs);
  }
  // Workers hear of it a moment later.
  const absl::Time end = absl::Now() + absl::Minutes(5);
  while (session_->RunHere(spec, inputs).has_value() && absl::Now() < end) {
    absl::SleepFor(absl::Milliseconds(5));
  }
  EXPECT_FALSE(session_->RunHere(spec, inputs).has_value());
  EXPECT_TRUE(absl::IsNotFound(session_->Submit(spec, inputs).status()));
}

TEST_P(DirectCallsTest, ThreadsRunSideBySideAndBesideJobs) {
  v1::JobSpec spec = SpecOf(kSquares, {"x", "by"});
  RunUntilHere(&spec, {Rows(5), Tensor::Scalar<float>(0)});
  std::atomic<int> here{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      v1::JobSpec own = spec;
      for (int i = 0; i < 200; ++i) {
        const Tensor by = Tensor::Scalar<float>(static_cast<float>(t * 1000 + i));
        const Tensor x = Rows(i % 7 == 0 ? 6 : 5);
        std::vector<Tensor> results;
        if (auto direct = session_->RunHere(own, {x, by})) {
          results = *std::move(direct);
          ++here;
        } else {
          RunJob(&own, {x, by}, &results);
        }
        ASSERT_EQ(results.size(), 2);
        ASSERT_EQ(results[0].extents(), x.extents());
        for (int64_t row = 0; row < x.extent(0); ++row) {
          const float value = x.At<float>({row});
          ASSERT_EQ(results[0].At<float>({row}), value * value + by.At<float>({}));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(here, 0);
}

}  // namespace
}  // namespace weir
