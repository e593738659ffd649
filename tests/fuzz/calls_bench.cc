#include "tests/fuzz/calls_bench.h"

#include <chrono>
#include <map>
#include <utility>

#include "common/plan/tensor_chunks.h"
#include "tests/fuzz/calls_script.h"
#include "tests/fuzz/target.h"
#include "worker/flow/files/data_directories.h"

namespace weir {
namespace {

// A call that waits for something is left after that; a stream must have ended by then.
constexpr std::chrono::milliseconds kPatience{20};
constexpr std::chrono::seconds kEnd{30};

std::chrono::system_clock::time_point In(std::chrono::milliseconds time) {
  return std::chrono::system_clock::now() + time;
}

v1::Tensor Record(int64_t x) {
  v1::Tensor message;
  ToMessage(Tensor::Of<int64_t>({}, {x}), &message);
  return message;
}

// One call that answers at once, or is left.
template <class Stub, class Request, class Response>
grpc::Status Ask(const Stub& stub,
                 grpc::Status (std::remove_reference_t<decltype(*stub)>::*method)(
                     grpc::ClientContext*, const Request&, Response*),
                 const Request& request, Response* response,
                 std::chrono::milliseconds patience = kPatience) {
  grpc::ClientContext context;
  context.set_deadline(In(patience));
  return ((*stub).*method)(&context, request, response);
}

// Reads a stream of answers to its end, or leaves it.
template <class Response, class Begin>
void ReadAll(Begin begin) {
  grpc::ClientContext context;
  context.set_deadline(In(kPatience));
  auto reader = begin(&context);
  Response response;
  while (reader->Read(&response)) {
  }
  (void)reader->Finish();
}

// A client's end of a stream in both directions.
template <class Request, class Response>
class OpenStream {
 public:
  template <class Begin>
  explicit OpenStream(Begin begin) {
    context_.set_deadline(In(kEnd));
    stream_ = begin(&context_);
  }

  void Send(const Request& request, bool leaves) {
    (void)stream_->Write(request);
    if (leaves) context_.TryCancel();
  }

  void End(const char* what) {
    (void)stream_->WritesDone();
    Response response;
    while (stream_->Read(&response)) {
    }
    Require(stream_->Finish().error_code() != grpc::DEADLINE_EXCEEDED, what);
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<Request, Response>> stream_;
};

// The same of a stream in one direction, which is answered once.
class OpenSubmit {
 public:
  explicit OpenSubmit(v1::Jobs::Stub* jobs) {
    context_.set_deadline(In(kEnd));
    stream_ = jobs->Submit(&context_, &response_);
  }

  void Send(const v1::SubmitRequest& request, bool leaves) {
    (void)stream_->Write(request);
    if (leaves) context_.TryCancel();
  }

  // Returns: the id of the job; empty if there is none.
  std::string End() {
    (void)stream_->WritesDone();
    Require(stream_->Finish().error_code() != grpc::DEADLINE_EXCEEDED, "Submit ends");
    return response_.job().id();
  }

 private:
  grpc::ClientContext context_;
  v1::SubmitResponse response_;
  std::unique_ptr<grpc::ClientWriter<v1::SubmitRequest>> stream_;
};

std::unique_ptr<EmbeddedCluster> StartCluster() {
  auto cluster = EmbeddedCluster::Start({.workers = 2, .data = DataDirectories()});
  Require(cluster.ok(), "a cluster starts");
  return *std::move(cluster);
}

}  // namespace

struct CallsBench::Streams {
  std::map<uint32_t, OpenStream<v1::AttachRequest, v1::AttachResponse>> attach;
  std::map<uint32_t, OpenStream<v1::CallManyRequest, v1::CallManyResponse>> call_many;
  std::map<uint32_t, OpenSubmit> submit;
  std::vector<std::string> begun;  // ids of flows and jobs
};

CallsBench::CallsBench() : cluster_(StartCluster()), metrics_(cluster_->coordinator()) {
  auto server = GrpcServer::Start({.address = "127.0.0.1:0"}, cluster_->coordinator(), &metrics_);
  Require(server.ok(), "the coordinator serves");
  server_ = *std::move(server);
  const auto channel = grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials());
  jobs_ = v1::Jobs::NewStub(channel);
  flows_ = v1::Flows::NewStub(channel);
  compiler_ = v1::Compiler::NewStub(channel);
  steady_flow_ = DeployFlow();
  CheckSteady();
}

std::string CallsBench::DeployFlow() {
  v1::DeployRequest request;
  request.set_flow(kScriptFlow);
  v1::DeployResponse response;
  Require(Ask(flows_, &v1::Flows::Stub::Deploy, request, &response, kEnd).ok(), "Deploy");
  return response.job().id();
}

std::string CallsBench::SubmitJob() {
  OpenSubmit submit(jobs_.get());
  for (const v1::SubmitRequest& request : ScriptSubmission()) submit.Send(request, false);
  return submit.End();
}

void CallsBench::Run(fuzz::Script script) {
  Streams streams;
  streams.begun = {DeployFlow(), SubmitJob()};
  PutIds(streams.begun[0], streams.begun[1], &script);
  for (const fuzz::Step& step : script.steps()) Take(step, &streams);
  for (auto& [number, stream] : streams.attach) stream.End("Attach ends");
  for (auto& [number, stream] : streams.call_many) stream.End("CallMany ends");
  for (auto& [number, stream] : streams.submit) streams.begun.push_back(stream.End());
  Cancel(streams.begun);
  CheckSteady();
}

void CallsBench::Take(const fuzz::Step& step, Streams* streams) {
  if (step.has_attach()) {
    const auto begin = [this](grpc::ClientContext* context) { return flows_->Attach(context); };
    streams->attach.try_emplace(step.stream(), begin)
        .first->second.Send(step.attach(), step.leaves());
  } else if (step.has_call_many()) {
    const auto begin = [this](grpc::ClientContext* context) { return flows_->CallMany(context); };
    streams->call_many.try_emplace(step.stream(), begin)
        .first->second.Send(step.call_many(), step.leaves());
  } else if (step.has_submit()) {
    streams->submit.try_emplace(step.stream(), jobs_.get())
        .first->second.Send(step.submit(), step.leaves());
  } else {
    TakeCall(step, streams);
  }
}

void CallsBench::TakeCall(const fuzz::Step& step, Streams* streams) {
  v1::CallFlowResponse answer;
  v1::DeployResponse deployed;
  v1::FlowStatus status;
  v1::ExplainFrontierResponse explained;
  v1::Job job;
  switch (step.kind_case()) {
    case fuzz::Step::kCall:
      (void)Ask(flows_, &v1::Flows::Stub::Call, step.call(), &answer);
      break;
    case fuzz::Step::kDeploy:
      (void)Ask(flows_, &v1::Flows::Stub::Deploy, step.deploy(), &deployed, kEnd);
      streams->begun.push_back(deployed.job().id());
      break;
    case fuzz::Step::kGetFlow:
      (void)Ask(flows_, &v1::Flows::Stub::Get, step.get_flow(), &status);
      break;
    case fuzz::Step::kCancelFlow:
      (void)Ask(flows_, &v1::Flows::Stub::Cancel, step.cancel_flow(), &job);
      break;
    case fuzz::Step::kExplainFlow:
      (void)Ask(flows_, &v1::Flows::Stub::Explain, step.explain_flow(), &explained);
      break;
    default:
      TakeJob(step);
  }
}

void CallsBench::TakeJob(const fuzz::Step& step) {
  v1::RunResponse ran;
  v1::ListResponse list;
  v1::Job job;
  switch (step.kind_case()) {
    case fuzz::Step::kRun:
      (void)Ask(jobs_, &v1::Jobs::Stub::Run, step.run(), &ran);
      break;
    case fuzz::Step::kGet:
      (void)Ask(jobs_, &v1::Jobs::Stub::Get, step.get(), &job);
      break;
    case fuzz::Step::kWait:
      (void)Ask(jobs_, &v1::Jobs::Stub::Wait, step.wait(), &job);
      break;
    case fuzz::Step::kCancel:
      (void)Ask(jobs_, &v1::Jobs::Stub::Cancel, step.cancel(), &job);
      break;
    case fuzz::Step::kList:
      (void)Ask(jobs_, &v1::Jobs::Stub::List, step.list(), &list);
      break;
    case fuzz::Step::kResult:
      return ReadAll<v1::ResultResponse>(
          [&](auto* context) { return jobs_->Result(context, step.result()); });
    case fuzz::Step::kLogs:
      return ReadAll<v1::LogsResponse>(
          [&](auto* context) { return jobs_->Logs(context, step.logs()); });
    case fuzz::Step::kExplain:
      return ReadAll<v1::ExplainResponse>(
          [&](auto* context) { return compiler_->Explain(context, step.explain()); });
    default:
      return;
  }
}

void CallsBench::Cancel(const std::vector<std::string>& ids) {
  for (const std::string& id : ids) {
    if (id.empty()) continue;
    v1::JobRequest request;
    request.set_id(id);
    v1::Job job;
    (void)Ask(jobs_, &v1::Jobs::Stub::Cancel, request, &job, kEnd);
    Require(Ask(jobs_, &v1::Jobs::Stub::Wait, request, &job, kEnd).ok(), "a job can be waited for");
    Require(job.ended_unix_ms() > 0, "a job that was cancelled ends");
  }
}

void CallsBench::CheckSteady() {
  v1::CallFlowRequest call;
  call.set_id(steady_flow_);
  *call.add_record() = Record(21);
  v1::CallFlowResponse answer;
  const grpc::Status called = Ask(flows_, &v1::Flows::Stub::Call, call, &answer, kEnd);
  Require(called.ok(), "the steady flow answers: " + called.error_message());
  const auto result = FromMessage(answer.record(0));
  Require(result.ok() && result->At<int64_t>({}) == 42, "the steady flow answers right");
  v1::RunResponse ran;
  const grpc::Status run = Ask(jobs_, &v1::Jobs::Stub::Run, ScriptRun(), &ran, kEnd);
  Require(run.ok() && ran.job().state() == v1::Job::SUCCEEDED,
          "the steady program runs: " + run.error_message());
}

}  // namespace weir
