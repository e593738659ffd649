// A coordinator behind a real gRPC server with real workers, as a client sees it.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/base/status.h"
#include "common/net/inproc_link.h"
#include "common/plan/tensor_chunks.h"
#include "server/api/grpc_server.h"
#include "server/api/http_paths.h"
#include "server/jobs/coordinator.h"
#include "tests/cluster/grpc_test_cluster.h"
#include "weir/v1/health.grpc.pb.h"
#include "weir/v1/service.grpc.pb.h"
#include "worker/service/worker_service.h"

namespace weir {
namespace {

using testing::HasSubstr;

constexpr char kDouble[] = R"(func @main(%x: f32[3]) -> (f32[3] "y") {
  %y = add(%x, %x)
  return %y
})";

// Does not end by itself within the time of a test.
constexpr char kLong[] = R"(func @main(%x: f32[3]) -> (f32[3] "y") {
  %zero = constant {value = i64[] {0}}
  %one = constant {value = i64[] {1}}
  %limit = constant {value = i64[] {400000000}}
  %count, %y = while(%zero, %x) (%i: i64[], %v: f32[3]) {
    %go = less(%i, %limit)
    yield %go
  } (%j: i64[], %w: f32[3]) {
    %next = add(%j, %one)
    %grown = add(%w, %x)
    yield %next, %grown
  }
  return %y
})";

using Cluster = GrpcTestCluster;

v1::JobSpec Spec(const std::string& source, const std::vector<std::string>& map = {}) {
  v1::JobSpec spec;
  spec.mutable_program()->set_format(v1::Program::FORMAT_TEXT);
  spec.mutable_program()->set_source(source);
  spec.mutable_program()->set_name("test.weir");
  for (const std::string& name : map) spec.mutable_program()->add_map(name);
  spec.add_input_names("x");
  return spec;
}

Tensor Rows(int64_t rows) {
  Tensor tensor(DType::kF32, {rows, 3});
  for (int64_t i = 0; i < rows * 3; ++i) tensor.mutable_data<float>()[i] = static_cast<float>(i);
  return tensor;
}

Tensor Doubled(const Tensor& tensor) {
  Tensor out = tensor.Clone();
  for (int64_t i = 0; i < out.num_elements(); ++i) out.mutable_data<float>()[i] *= 2;
  return out;
}

v1::RunRequest RunOf(v1::JobSpec spec, const Tensor& input) {
  v1::RunRequest request;
  *request.mutable_spec() = std::move(spec);
  ToMessage(input, request.add_inputs());
  return request;
}

grpc::Status Submit(v1::Jobs::Stub& jobs, const v1::JobSpec& spec, const Tensor& input,
                    v1::SubmitResponse* response) {
  grpc::ClientContext context;
  auto stream = jobs.Submit(&context, response);
  v1::SubmitRequest request;
  *request.mutable_spec() = spec;
  stream->Write(request);
  ChunkCutter cutter({input}, 1 << 20);
  while (cutter.Next(request.mutable_input())) stream->Write(request);
  stream->WritesDone();
  return stream->Finish();
}

v1::Job Wait(v1::Jobs::Stub& jobs, const std::string& id, absl::Duration limit) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + limit));
  v1::JobRequest request;
  request.set_id(id);
  v1::Job job;
  const grpc::Status status = jobs.Wait(&context, request, &job);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return job;
}

bool IsTooLate(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
}

void AwaitLog(Coordinator& coordinator, const std::string& id, const std::string& start) {
  while (true) {
    const auto entries = coordinator.Logs(id, 0);
    for (const v1::LogEntry& entry : *entries) {
      if (entry.text().starts_with(start)) return;
    }
    absl::SleepFor(absl::Milliseconds(5));
  }
}

absl::StatusOr<std::vector<Tensor>> Result(v1::Jobs::Stub& jobs, const std::string& id) {
  grpc::ClientContext context;
  v1::JobRequest request;
  request.set_id(id);
  auto stream = jobs.Result(&context, request);
  v1::ResultResponse response;
  ChunkAssembler assembler;
  while (stream->Read(&response)) {
    if (response.has_output()) {
      EXPECT_TRUE(assembler.Add(response.output()).ok());
    }
  }
  const grpc::Status status = stream->Finish();
  if (!status.ok()) {
    return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  }
  return assembler.Finish();
}

TEST(ApiTest, RunsOneProgramForEveryNumberOfRows) {
  Cluster cluster(3);
  auto jobs = cluster.Jobs();
  std::string program_id;
  for (const int64_t rows : {5, 0, 1, 2, 1000}) {
    v1::RunRequest request = RunOf(Spec(kDouble, {"x"}), Rows(rows));
    if (!program_id.empty()) {
      request.mutable_spec()->clear_program();
      request.mutable_spec()->set_program_id(program_id);
    }
    grpc::ClientContext context;
    v1::RunResponse response;
    const grpc::Status status = jobs->Run(&context, request, &response);
    ASSERT_TRUE(status.ok()) << status.error_message();
    ASSERT_EQ(response.job().state(), v1::Job::SUCCEEDED) << response.job().failure().message();
    ASSERT_EQ(response.outputs_size(), 1);
    EXPECT_TRUE(FromMessage(response.outputs(0))->BitEquals(Doubled(Rows(rows))));
    EXPECT_EQ(response.job().workers_size(), 3);
    EXPECT_EQ(response.job().report().compilations(), 1);
    EXPECT_EQ(response.job().report().coordinator_tensor_bytes(), 0);
    program_id = response.program_id();
  }
}

TEST(ApiTest, SubmitsWaitsAndFetchesResultsInChunks) {
  Cluster cluster(2);
  auto jobs = cluster.Jobs();
  const Tensor input = Rows(1 << 18);  // 3 MiB
  v1::JobSpec spec = Spec(kDouble, {"x"});
  spec.set_submission_id("once");
  v1::SubmitResponse response;
  ASSERT_TRUE(Submit(*jobs, spec, input, &response).ok());
  const std::string id = response.job().id();
  const v1::Job job = Wait(*jobs, id, absl::Minutes(5));
  ASSERT_EQ(job.state(), v1::Job::SUCCEEDED) << job.failure().message();
  const auto results = Result(*jobs, id);
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_TRUE((*results)[0].BitEquals(Doubled(input)));

  ASSERT_TRUE(Submit(*jobs, spec, input, &response).ok());
  EXPECT_TRUE(response.already_existed());
  EXPECT_EQ(response.job().id(), id);
  const grpc::Status other = Submit(*jobs, spec, Rows(1), &response);
  EXPECT_EQ(other.error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_THAT(other.error_message(), HasSubstr("differs in: inputs"));
}

TEST(ApiTest, ManySubmissionsOfOneIdAreOneJob) {
  Cluster cluster(1);
  std::vector<std::thread> threads;
  std::vector<std::string> ids(16);
  for (std::string& id : ids) {
    threads.emplace_back([&] {
      auto jobs = cluster.Jobs();
      v1::JobSpec spec = Spec(kDouble, {"x"});
      spec.set_submission_id("same");
      v1::SubmitResponse response;
      EXPECT_TRUE(Submit(*jobs, spec, Rows(2), &response).ok());
      id = response.job().id();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& id : ids) EXPECT_EQ(id, ids[0]);
  EXPECT_EQ(cluster.coordinator().Stats().jobs_accepted, 1);
}

TEST(ApiTest, BadRequestsNameWhatIsWrong) {
  Cluster cluster(1);
  auto jobs = cluster.Jobs();
  auto error_of = [&](const v1::RunRequest& request) {
    grpc::ClientContext context;
    v1::RunResponse response;
    const grpc::Status status = jobs->Run(&context, request, &response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    return status.error_message();
  };
  EXPECT_EQ(error_of(RunOf(Spec(kDouble, {"x"}), Rows(1).Row(0).Row(0))),
            "input 'x' is mapped over its leading axis, but its file has shape []");
  EXPECT_EQ(error_of(RunOf(Spec(kDouble), Rows(1))),
            "input 'x' has shape [1,3] of rank 2, but the program takes [3] of rank 1");
  EXPECT_THAT(error_of(RunOf(Spec(kDouble, {"z"}), Rows(1))), HasSubstr("no input 'z' to map"));
  EXPECT_THAT(error_of(RunOf(Spec("func @main() -> () { oops"), Rows(1))),
              testing::StartsWith("test.weir:1:"));
  v1::RunRequest request = RunOf(Spec(kDouble), Rows(1));
  request.mutable_inputs(0)->mutable_header()->set_extents(0, -1);
  EXPECT_THAT(error_of(request), testing::StartsWith("tensor 0: "));
  v1::RunRequest onnx = RunOf(Spec("this is no model"), Rows(1));
  onnx.mutable_spec()->mutable_program()->set_format(v1::Program::FORMAT_ONNX);
  EXPECT_THAT(error_of(onnx), HasSubstr("ONNX"));
}

TEST(ApiTest, UnknownJobsAndPrograms) {
  Cluster cluster(0);
  auto jobs = cluster.Jobs();
  v1::JobRequest request;
  request.set_id("job-0");
  v1::Job job;
  grpc::ClientContext get, run, wait;
  const grpc::Status status = jobs->Get(&get, request, &job);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(status.error_message(), "there is no job 'job-0'");
  EXPECT_EQ(jobs->Wait(&wait, request, &job).error_code(), grpc::StatusCode::NOT_FOUND);
  v1::RunRequest unknown = RunOf(v1::JobSpec(), Rows(1));
  unknown.mutable_spec()->add_input_names("x");
  unknown.mutable_spec()->set_program_id("0123");
  v1::RunResponse response;
  EXPECT_EQ(jobs->Run(&run, unknown, &response).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST(ApiTest, WaitAnswersBeforeTheDeadlineWithTheStateOfThen) {
  Cluster cluster(0);
  auto jobs = cluster.Jobs();
  v1::SubmitResponse response;
  ASSERT_TRUE(Submit(*jobs, Spec(kDouble, {"x"}), Rows(2), &response).ok());
  // Once it is compiled.
  while (cluster.coordinator().Get(response.job().id())->waits_for() != "a worker: none is ready") {
    absl::SleepFor(absl::Milliseconds(5));
  }
  v1::Job job;
  // A busy machine may bring the answer too late.
  for (absl::Duration limit = absl::Seconds(2); job.id().empty(); limit *= 2) {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + limit));
    v1::JobRequest request;
    request.set_id(response.job().id());
    const grpc::Status status = jobs->Wait(&context, request, &job);
    ASSERT_TRUE(status.ok() || (limit < absl::Minutes(2) && IsTooLate(status)))
        << status.error_message();
  }
  EXPECT_EQ(job.state(), v1::Job::QUEUED);
  EXPECT_EQ(job.waits_for(), "a worker: none is ready");
  EXPECT_EQ(Result(*jobs, job.id()).status().code(), absl::StatusCode::kFailedPrecondition);
  cluster.AddWorker();
  EXPECT_EQ(Wait(*jobs, job.id(), absl::Minutes(5)).state(), v1::Job::SUCCEEDED);
}

TEST(ApiTest, CancelsAndALeavingClientCancelsItsRun) {
  Cluster cluster(1);
  auto jobs = cluster.Jobs();
  v1::SubmitResponse response;
  ASSERT_TRUE(Submit(*jobs, Spec(kLong), Rows(1).Row(0), &response).ok());
  v1::JobRequest request;
  request.set_id(response.job().id());
  grpc::ClientContext cancel;
  v1::Job job;
  ASSERT_TRUE(jobs->Cancel(&cancel, request, &job).ok());
  EXPECT_EQ(job.state(), v1::Job::CANCELLED);
  const auto jobs_running = [&] { return cluster.coordinator().Stats().jobs_running; };
  while (jobs_running() > 0) absl::SleepFor(absl::Milliseconds(5));
  grpc::ClientContext run;
  std::thread client([&] {
    v1::RunResponse ran;
    EXPECT_EQ(jobs->Run(&run, RunOf(Spec(kLong), Rows(1).Row(0)), &ran).error_code(),
              grpc::StatusCode::CANCELLED);
  });
  while (jobs_running() == 0) absl::SleepFor(absl::Milliseconds(5));
  run.TryCancel();
  client.join();
  while (jobs_running() > 0) absl::SleepFor(absl::Milliseconds(5));
  EXPECT_EQ(cluster.coordinator().Stats().jobs_ended.at(v1::Job::CANCELLED), 2);
}

// More slow runs than workers have threads, and than jobs are in flight.
TEST(ApiTest, SlowRunsDoNotDelayTheAnswerOfALaterOne) {
  constexpr int kSlow = 8;
  Cluster cluster(1);
  auto jobs = cluster.Jobs();
  std::vector<std::string> slow;
  for (int i = 0; i < kSlow; ++i) {
    v1::SubmitResponse response;
    ASSERT_TRUE(Submit(*jobs, Spec(kLong), Rows(1).Row(0), &response).ok());
    slow.push_back(response.job().id());
  }
  for (const std::string& id : slow) AwaitLog(cluster.coordinator(), id, "runs on ");
  grpc::ClientContext run;
  v1::RunResponse ran;
  const grpc::Status status = jobs->Run(&run, RunOf(Spec(kDouble, {"x"}), Rows(8)), &ran);
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(cluster.coordinator().Stats().jobs_running, kSlow);
  for (const std::string& id : slow) {
    grpc::ClientContext cancel;
    v1::JobRequest request;
    request.set_id(id);
    v1::Job job;
    EXPECT_TRUE(jobs->Cancel(&cancel, request, &job).ok());
  }
}

TEST(ApiTest, ALostWorkerFailsTheJobByNameAndTheNextOneRuns) {
  Cluster cluster(2);
  auto jobs = cluster.Jobs();
  v1::SubmitResponse response;
  ASSERT_TRUE(Submit(*jobs, Spec(kLong, {"x"}), Rows(8), &response).ok());
  AwaitLog(cluster.coordinator(), response.job().id(), "runs on ");
  cluster.DropWorker(1);
  const v1::Job job = Wait(*jobs, response.job().id(), absl::Minutes(5));
  EXPECT_EQ(job.state(), v1::Job::FAILED);
  EXPECT_EQ(job.failure().worker(), "w2");
  EXPECT_THAT(job.failure().message(), HasSubstr("worker w2 was lost"));
  cluster.AwaitWorkers(1);
  ASSERT_TRUE(Submit(*jobs, Spec(kDouble, {"x"}), Rows(8), &response).ok());
  EXPECT_EQ(Wait(*jobs, response.job().id(), absl::Minutes(5)).state(), v1::Job::SUCCEEDED);
}

TEST(ApiTest, LogsAreFollowedToTheEnd) {
  Cluster cluster(0);
  auto jobs = cluster.Jobs();
  v1::SubmitResponse response;
  ASSERT_TRUE(Submit(*jobs, Spec(kDouble, {"x"}), Rows(2), &response).ok());
  std::vector<std::string> lines;
  std::promise<void> first_line;
  std::thread reader([&] {
    grpc::ClientContext context;
    v1::LogsRequest request;
    request.set_id(response.job().id());
    request.set_follow(true);
    auto stream = jobs->Logs(&context, request);
    v1::LogsResponse message;
    while (stream->Read(&message)) {
      for (const v1::LogEntry& entry : message.entries()) {
        lines.push_back(entry.text());
        if (lines.size() == 1) first_line.set_value();
      }
    }
    EXPECT_TRUE(stream->Finish().ok());
  });
  EXPECT_EQ(first_line.get_future().wait_for(std::chrono::minutes(5)), std::future_status::ready);
  cluster.AddWorker();
  reader.join();
  ASSERT_FALSE(lines.empty());
  EXPECT_THAT(lines.front(), HasSubstr("waiting for a worker"));
  EXPECT_THAT(lines.back(), HasSubstr("done on 1 workers"));
}

TEST(ApiTest, ExplainsEveryStageAndCountsOneCompilation) {
  Cluster cluster(1);
  auto compiler = v1::Compiler::NewStub(cluster.channel());
  for (int i = 0; i < 2; ++i) {
    grpc::ClientContext context;
    v1::ExplainRequest request;
    *request.mutable_program() = Spec(kDouble, {"x"}).program();
    auto stream = compiler->Explain(&context, request);
    v1::ExplainResponse message;
    std::vector<std::string> stages;
    int64_t compilations = 0;
    while (stream->Read(&message)) {
      if (message.has_stage()) stages.push_back(message.stage().name());
      compilations = std::max(compilations, message.compilations());
    }
    ASSERT_TRUE(stream->Finish().ok());
    EXPECT_EQ(stages.front(), "import");
    EXPECT_THAT(stages, testing::Contains("pfor"));
    EXPECT_EQ(compilations, 1);
  }
}

TEST(ApiTest, HealthFollowsWorkersAndDraining) {
  Cluster cluster(0);
  auto health = grpc::health::v1::Health::NewStub(cluster.channel());
  auto serving = [&](const std::string& service) {
    grpc::ClientContext context;
    grpc::health::v1::HealthCheckRequest request;
    request.set_service(service);
    grpc::health::v1::HealthCheckResponse response;
    EXPECT_TRUE(health->Check(&context, request, &response).ok());
    return response.status() == grpc::health::v1::HealthCheckResponse::SERVING;
  };
  EXPECT_TRUE(serving(""));
  EXPECT_FALSE(serving("weir.v1.Jobs"));
  cluster.AddWorker();
  cluster.AwaitWorkers(1);
  while (!serving("weir.v1.Jobs")) absl::SleepFor(absl::Milliseconds(5));
  cluster.server().SetDraining();
  EXPECT_FALSE(serving(""));
  EXPECT_FALSE(serving("weir.v1.Jobs"));
}

TEST(ApiTest, ClusterTellsItsWorkers) {
  Cluster cluster(2);
  auto stub = v1::Cluster::NewStub(cluster.channel());
  grpc::ClientContext list, info;
  v1::ListWorkersResponse workers;
  ASSERT_TRUE(stub->ListWorkers(&list, {}, &workers).ok());
  ASSERT_EQ(workers.workers_size(), 2);
  EXPECT_EQ(workers.workers(0).state(), v1::Worker::READY);
  EXPECT_THAT(workers.workers(0).data_address(), HasSubstr("127.0.0.1:"));
  v1::Info about;
  ASSERT_TRUE(stub->GetInfo(&info, {}, &about).ok());
  EXPECT_GT(about.inline_bytes(), 1u << 20);
}

TEST(ApiTest, APortInUseIsNamed) {
  Cluster cluster(0);
  const auto second = GrpcServer::Start({.address = cluster.server().address()},
                                        &cluster.coordinator(), &cluster.metrics());
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr(cluster.server().address()));
  auto jobs = cluster.Jobs();
  grpc::ClientContext context;
  v1::ListResponse response;
  EXPECT_TRUE(jobs->List(&context, {}, &response).ok());
}

TEST(ApiTest, HostileChunksAreRefused) {
  Cluster cluster(0);
  auto jobs = cluster.Jobs();
  auto error_of = [&](const std::vector<v1::SubmitRequest>& requests) {
    grpc::ClientContext context;
    v1::SubmitResponse response;
    auto stream = jobs->Submit(&context, &response);
    for (const v1::SubmitRequest& request : requests) stream->Write(request);
    stream->WritesDone();
    return stream->Finish().error_code();
  };
  v1::SubmitRequest spec, chunk;
  *spec.mutable_spec() = Spec(kDouble, {"x"});
  chunk.mutable_input()->mutable_header()->set_dtype(12);
  chunk.mutable_input()->mutable_header()->add_extents(int64_t{1} << 40);
  EXPECT_EQ(error_of({}), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(error_of({chunk}), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(error_of({spec}), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(error_of({spec, spec}), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(error_of({spec, chunk}), grpc::StatusCode::RESOURCE_EXHAUSTED);
  chunk.mutable_input()->mutable_header()->set_extents(0, 4);
  EXPECT_EQ(error_of({spec, chunk}), grpc::StatusCode::FAILED_PRECONDITION);
  chunk.mutable_input()->set_offset(4);
  EXPECT_EQ(error_of({spec, chunk}), grpc::StatusCode::FAILED_PRECONDITION);
}

}  // namespace
}  // namespace weir
