#include "client/api/remote_session.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "client/api/grpc_status.h"
#include "client/api/remote_flows.h"
#include "client/api/remote_variables.h"
#include "common/base/status.h"
#include "common/plan/tensor_chunks.h"
#include "weir/v1/health.grpc.pb.h"
#include "weir/v1/service.grpc.pb.h"

namespace weir {
namespace {

constexpr size_t kSourceBytes = size_t{1} << 20;

std::chrono::system_clock::time_point After(absl::Duration limit) {
  return std::chrono::system_clock::now() + absl::ToChronoMilliseconds(limit);
}

class RemoteSession : public Session {
 public:
  RemoteSession(std::string address, std::shared_ptr<grpc::Channel> channel)
      : address_(std::move(address)),
        jobs_(v1::Jobs::NewStub(channel)),
        compiler_(v1::Compiler::NewStub(channel)),
        cluster_(v1::Cluster::NewStub(channel)),
        flows_(address_, channel),
        variables_(address_, channel) {}

  absl::StatusOr<v1::SubmitResponse> Submit(const v1::JobSpec& spec,
                                            const std::vector<Tensor>& inputs) override {
    grpc::ClientContext context;
    v1::SubmitResponse response;
    std::unique_ptr<grpc::ClientWriter<v1::SubmitRequest>> stream =
        jobs_->Submit(&context, &response);
    bool open = WriteSpec(spec, stream.get());
    ChunkCutter cutter(inputs);
    v1::SubmitRequest request;
    while (open && cutter.Next(request.mutable_input())) open = stream->Write(request);
    stream->WritesDone();
    WEIR_RETURN_IF_ERROR(Translate(stream->Finish()));
    return response;
  }

  absl::StatusOr<v1::Job> Get(const std::string& id) override {
    return Call<v1::Job>(Request(id), [this](auto* context, const auto& request, auto* response) {
      return jobs_->Get(context, request, response);
    });
  }

  absl::StatusOr<std::vector<v1::Job>> List() override {
    std::vector<v1::Job> jobs;
    v1::ListRequest request;
    do {
      WEIR_ASSIGN_OR_RETURN(
          const v1::ListResponse page,
          Call<v1::ListResponse>(request, [this](auto* context, const auto& r, auto* response) {
            return jobs_->List(context, r, response);
          }));
      jobs.insert(jobs.end(), page.jobs().begin(), page.jobs().end());
      request.set_page_token(page.next_page_token());
    } while (!request.page_token().empty());
    return jobs;
  }

  absl::StatusOr<v1::Job> Wait(const std::string& id, absl::Duration limit) override {
    const absl::Time deadline = absl::Now() + limit;
    while (true) {
      const absl::Duration slice =
          std::clamp(deadline - absl::Now(), absl::Milliseconds(50), absl::Seconds(30));
      grpc::ClientContext context;
      context.set_deadline(After(slice));
      v1::Job job;
      const grpc::Status status = jobs_->Wait(&context, Request(id), &job);
      const bool timed_out = status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
      if (!status.ok() && !timed_out) return Translate(status);
      if (!timed_out && IsTerminal(job.state())) return job;
      if (absl::Now() >= deadline) return Get(id);
    }
  }

  absl::StatusOr<std::vector<NamedTensor>> Result(const std::string& id) override {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReader<v1::ResultResponse>> stream =
        jobs_->Result(&context, Request(id));
    v1::ResultResponse message;
    v1::Job job;
    ChunkAssembler reader({.max_tensors = std::numeric_limits<size_t>::max(),
                           .max_bytes = std::numeric_limits<uint64_t>::max()});
    absl::Status added;
    while (added.ok() && stream->Read(&message)) {
      if (message.has_job()) job = message.job();
      if (message.has_output()) added = reader.Add(message.output());
    }
    if (!added.ok()) context.TryCancel();
    const absl::Status finished = Translate(stream->Finish());
    WEIR_RETURN_IF_ERROR(added);
    WEIR_RETURN_IF_ERROR(finished);
    WEIR_ASSIGN_OR_RETURN(std::vector<Tensor> tensors, reader.Finish());
    if (tensors.size() != static_cast<size_t>(job.result_names_size())) {
      return absl::DataLossError(StrCat("job ", id, " has ", job.result_names_size(),
                                        " results, but ", tensors.size(), " came"));
    }
    std::vector<NamedTensor> results;
    for (size_t i = 0; i < tensors.size(); ++i) {
      results.push_back({job.result_names(static_cast<int>(i)), std::move(tensors[i])});
    }
    return results;
  }

  absl::StatusOr<v1::Job> Cancel(const std::string& id) override {
    return Call<v1::Job>(Request(id), [this](auto* context, const auto& request, auto* response) {
      return jobs_->Cancel(context, request, response);
    });
  }

  absl::Status Logs(const std::string& id, uint64_t offset, LogMode mode,
                    const std::function<void(const v1::LogEntry&)>& on_entry) override {
    grpc::ClientContext context;
    v1::LogsRequest request;
    request.set_id(id);
    request.set_offset(offset);
    request.set_follow(mode == LogMode::kFollow);
    std::unique_ptr<grpc::ClientReader<v1::LogsResponse>> stream = jobs_->Logs(&context, request);
    v1::LogsResponse message;
    while (stream->Read(&message)) {
      for (const v1::LogEntry& entry : message.entries()) on_entry(entry);
    }
    return Translate(stream->Finish());
  }

  absl::StatusOr<v1::Variable> CreateVariable(const v1::NewVariable& request,
                                              const Tensor& value) override {
    return variables_.Create(request, value);
  }
  absl::StatusOr<Tensor> ReadVariable(const std::string& id) override {
    return variables_.Read(id);
  }
  absl::Status DeleteVariable(const std::string& id) override { return variables_.Delete(id); }
  absl::StatusOr<std::vector<v1::Variable>> ListVariables() override { return variables_.List(); }

  absl::StatusOr<v1::DeployResponse> Deploy(const v1::DeployRequest& request) override {
    return flows_.Deploy(request);
  }
  absl::StatusOr<std::unique_ptr<FlowStream>> Attach(const v1::FlowAttach& request) override {
    return flows_.Attach(request);
  }
  absl::StatusOr<std::vector<Tensor>> CallFlow(const v1::CallFlowRequest& request,
                                               const std::vector<Tensor>& record) override {
    return flows_.Call(request, record);
  }
  std::unique_ptr<FlowCaller> OpenCaller(const v1::CallFlowRequest& request) override {
    return flows_.OpenCaller(request);
  }
  absl::StatusOr<v1::FlowStatus> GetFlow(const std::string& id) override { return flows_.Get(id); }
  absl::StatusOr<std::vector<v1::FlowStatus>> ListFlows() override { return flows_.List(); }
  absl::StatusOr<v1::ExplainFrontierResponse> ExplainFrontier(
      const v1::ExplainFrontierRequest& request) override {
    return flows_.Explain(request);
  }

  absl::StatusOr<ExplainResult> Explain(const v1::Program& program) override {
    grpc::ClientContext context;
    v1::ExplainRequest request;
    *request.mutable_program() = program;
    std::unique_ptr<grpc::ClientReader<v1::ExplainResponse>> stream =
        compiler_->Explain(&context, request);
    ExplainResult out;
    v1::ExplainResponse message;
    while (stream->Read(&message)) {
      if (message.has_stage()) out.stages.push_back(message.stage());
      out.fallbacks.insert(out.fallbacks.end(), message.fallbacks().begin(),
                           message.fallbacks().end());
      out.notes.insert(out.notes.end(), message.notes().begin(), message.notes().end());
      out.compilations = std::max(out.compilations, message.compilations());
    }
    WEIR_RETURN_IF_ERROR(Translate(stream->Finish()));
    return out;
  }

  absl::StatusOr<std::vector<v1::Worker>> Workers() override {
    WEIR_ASSIGN_OR_RETURN(
        const v1::ListWorkersResponse response,
        Call<v1::ListWorkersResponse>(v1::ListWorkersRequest(),
                                      [this](auto* context, const auto& request, auto* response) {
                                        return cluster_->ListWorkers(context, request, response);
                                      }));
    return std::vector<v1::Worker>(response.workers().begin(), response.workers().end());
  }

  absl::StatusOr<v1::Info> GetInfo() override {
    return Call<v1::Info>(v1::InfoRequest(),
                          [this](auto* context, const auto& request, auto* response) {
                            return cluster_->GetInfo(context, request, response);
                          });
  }

 private:
  static v1::JobRequest Request(const std::string& id) {
    v1::JobRequest request;
    request.set_id(id);
    return request;
  }

  absl::Status Translate(const grpc::Status& status) const { return FromGrpc(status, address_); }

  // A unary call that changes nothing or is idempotent.
  template <class Response, class Req, class Method>
  absl::StatusOr<Response> Call(const Req& request, Method method) {
    grpc::ClientContext context;
    context.set_deadline(After(absl::Seconds(30)));
    Response response;
    WEIR_RETURN_IF_ERROR(Translate(method(&context, request, &response)));
    return response;
  }

  // A large program goes in several messages.
  static bool WriteSpec(const v1::JobSpec& spec, grpc::ClientWriter<v1::SubmitRequest>* stream) {
    const std::string& source = spec.program().source();
    v1::SubmitRequest first;
    *first.mutable_spec() = spec;
    first.mutable_spec()->mutable_program()->set_source(source.substr(0, kSourceBytes));
    if (!stream->Write(first)) return false;
    for (size_t begin = kSourceBytes; begin < source.size(); begin += kSourceBytes) {
      v1::SubmitRequest more;
      more.set_more_source(source.substr(begin, kSourceBytes));
      if (!stream->Write(more)) return false;
    }
    return true;
  }

  const std::string address_;
  const std::unique_ptr<v1::Jobs::Stub> jobs_;
  const std::unique_ptr<v1::Compiler::Stub> compiler_;
  const std::unique_ptr<v1::Cluster::Stub> cluster_;
  RemoteFlows flows_;
  RemoteVariables variables_;
};

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  arguments.SetMaxReceiveMessageSize(-1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Session>> ConnectRemote(const RemoteOptions& options) {
  WEIR_RETURN_IF_ERROR(CheckAddress(options.address));
  const std::shared_ptr<grpc::Channel> channel = MakeChannel(options.address);
  // A call that fails fast tells what is wrong; waiting for the channel alone would only say that
  // time ran out.
  auto session = std::make_unique<RemoteSession>(options.address, channel);
  std::unique_ptr<v1::Cluster::Stub> probe = v1::Cluster::NewStub(channel);
  const absl::Time deadline = absl::Now() + options.connect_timeout;
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(deadline));
  v1::Info info;
  WEIR_RETURN_IF_ERROR(
      FromGrpc(probe->GetInfo(&context, v1::InfoRequest(), &info), options.address));
  return session;
}

absl::StatusOr<bool> CheckHealth(const RemoteOptions& options, const std::string& service) {
  WEIR_RETURN_IF_ERROR(CheckAddress(options.address));
  auto stub = grpc::health::v1::Health::NewStub(MakeChannel(options.address));
  grpc::ClientContext context;
  context.set_deadline(After(options.connect_timeout));
  grpc::health::v1::HealthCheckRequest request;
  request.set_service(service);
  grpc::health::v1::HealthCheckResponse response;
  WEIR_RETURN_IF_ERROR(FromGrpc(stub->Check(&context, request, &response), options.address));
  return response.status() == grpc::health::v1::HealthCheckResponse::SERVING;
}

}  // namespace weir
