#include "client/embedded/embedded_cluster.h"

#include <condition_variable>
#include <future>
#include <mutex>
#include <utility>

#include "client/embedded/embedded_caller.h"
#include "client/embedded/embedded_flows.h"
#include "common/base/status.h"
#include "server/variables/variable_gateway.h"
#include "worker/device/cpu/compute_thread.h"
#include "worker/flow/memory/flow_memory.h"

namespace weir {
namespace {

constexpr absl::Duration kNever = absl::Hours(24 * 30);

constexpr char kCoordinatorAddress[] = "coordinator";
constexpr absl::Duration kStartLimit = absl::Minutes(2);

class EmbeddedSession : public Session {
 public:
  explicit EmbeddedSession(std::unique_ptr<EmbeddedCluster> cluster)
      : cluster_(std::move(cluster)) {}

  absl::StatusOr<v1::SubmitResponse> Submit(const v1::JobSpec& spec,
                                            const std::vector<Tensor>& inputs) override {
    absl::StatusOr<CoordinatorCore::Accepted> submitted;
    cluster_->loop()->Visit([&] { submitted = coordinator().Submit({spec, inputs}); });
    WEIR_ASSIGN_OR_RETURN(const auto accepted, std::move(submitted));
    v1::SubmitResponse response;
    *response.mutable_job() = accepted.job;
    response.set_already_existed(accepted.already_existed);
    response.set_program_id(accepted.program_id);
    return response;
  }

  std::optional<std::vector<Tensor>> RunHere(const v1::JobSpec& spec,
                                             const std::vector<Tensor>& inputs) override {
    return cluster_->direct_calls()->Run(spec, inputs);
  }

  absl::StatusOr<v1::Job> Get(const std::string& id) override { return coordinator().Get(id); }

  absl::StatusOr<std::vector<v1::Job>> List() override {
    std::vector<v1::Job> jobs;
    v1::ListRequest request;
    do {
      WEIR_ASSIGN_OR_RETURN(const v1::ListResponse page, coordinator().List(request));
      jobs.insert(jobs.end(), page.jobs().begin(), page.jobs().end());
      request.set_page_token(page.next_page_token());
    } while (!request.page_token().empty());
    return jobs;
  }

  absl::StatusOr<v1::Job> Wait(const std::string& id, absl::Duration limit) override {
    WEIR_ASSIGN_OR_RETURN(JobOutcome outcome, coordinator().Wait(id, absl::Now() + limit));
    return std::move(outcome.job);
  }

  absl::StatusOr<std::vector<NamedTensor>> Result(const std::string& id) override {
    WEIR_ASSIGN_OR_RETURN(JobOutcome outcome, coordinator().Result(id));
    std::vector<NamedTensor> results;
    for (size_t i = 0; i < outcome.results.size(); ++i) {
      results.push_back(
          {outcome.job.result_names(static_cast<int>(i)), std::move(outcome.results[i])});
    }
    return results;
  }

  void Release(const std::string& id) override { coordinator().ReleaseResults(id); }

  absl::StatusOr<v1::Job> Cancel(const std::string& id) override {
    return coordinator().Cancel(id);
  }

  absl::Status Logs(const std::string& id, uint64_t offset, LogMode mode,
                    const std::function<void(const v1::LogEntry&)>& on_entry) override {
    if (mode == LogMode::kFollow) {
      WEIR_RETURN_IF_ERROR(coordinator().Wait(id, absl::InfiniteFuture()).status());
    }
    WEIR_ASSIGN_OR_RETURN(const std::vector<v1::LogEntry> entries, coordinator().Logs(id, offset));
    for (const v1::LogEntry& entry : entries) on_entry(entry);
    return absl::OkStatus();
  }

  absl::StatusOr<v1::Variable> CreateVariable(const v1::NewVariable& request,
                                              const Tensor& value) override {
    return variables().Create(request, value);
  }
  absl::StatusOr<Tensor> ReadVariable(const std::string& id) override {
    if (std::optional<Tensor> value = cluster_->direct_calls()->ReadVariable(id)) return *value;
    using Outcome = absl::StatusOr<VariableCore::ReadOutcome>;
    auto answer = std::make_shared<std::promise<Outcome>>();
    variables().Read(id, [answer](Outcome outcome) { answer->set_value(std::move(outcome)); });
    WEIR_ASSIGN_OR_RETURN(VariableCore::ReadOutcome read, answer->get_future().get());
    return std::move(read.value);
  }
  absl::Status DeleteVariable(const std::string& id) override { return variables().Delete(id); }
  absl::StatusOr<std::vector<v1::Variable>> ListVariables() override {
    const v1::ListVariablesResponse response = variables().List();
    return std::vector<v1::Variable>(response.variables().begin(), response.variables().end());
  }

  absl::StatusOr<v1::DeployResponse> Deploy(const v1::DeployRequest& request) override {
    return flows().Deploy(request);
  }
  absl::StatusOr<std::unique_ptr<FlowStream>> Attach(const v1::FlowAttach& request) override {
    return AttachHere(flows(), request);
  }
  absl::StatusOr<std::vector<Tensor>> CallFlow(const v1::CallFlowRequest& request,
                                               const std::vector<Tensor>& record) override {
    auto answer = std::make_shared<std::promise<absl::StatusOr<std::vector<Tensor>>>>();
    cluster_->flow_batchers()->Call(request, record,
                                    [answer](absl::StatusOr<std::vector<Tensor>> columns) {
                                      answer->set_value(std::move(columns));
                                    });
    return answer->get_future().get();
  }
  std::unique_ptr<FlowCaller> OpenCaller(const v1::CallFlowRequest& request) override {
    return MakeEmbeddedCaller(cluster_->flow_batchers(), request);
  }
  absl::StatusOr<v1::FlowStatus> GetFlow(const std::string& id) override { return flows().Get(id); }
  absl::StatusOr<std::vector<v1::FlowStatus>> ListFlows() override {
    const v1::ListFlowsResponse response = flows().List();
    return std::vector<v1::FlowStatus>(response.flows().begin(), response.flows().end());
  }
  absl::StatusOr<v1::ExplainFrontierResponse> ExplainFrontier(
      const v1::ExplainFrontierRequest& request) override {
    return cluster_->flow_batchers()->Explain(request);
  }

  absl::StatusOr<ExplainResult> Explain(const v1::Program& program) override {
    WEIR_ASSIGN_OR_RETURN(Explanation explanation, coordinator().Explain(program));
    return ExplainResult{std::move(explanation.stages), std::move(explanation.fallbacks),
                         std::move(explanation.notes), explanation.compilations};
  }

  absl::StatusOr<std::vector<v1::Worker>> Workers() override { return coordinator().Workers(); }
  absl::StatusOr<v1::Info> GetInfo() override { return coordinator().Info(); }

 private:
  Coordinator& coordinator() { return *cluster_->coordinator(); }
  FlowGateway flows() { return FlowGateway(cluster_->coordinator()); }
  VariableGateway variables() { return VariableGateway(cluster_->coordinator()); }

  const std::unique_ptr<EmbeddedCluster> cluster_;
};

// Waits until the coordinator counts `wanted` ready workers.
class ReadyGate {
 public:
  void Set(int ready) {
    std::lock_guard<std::mutex> lock(mutex_);
    ready_ = ready;
    changed_.notify_all();
  }
  bool WaitFor(int wanted, absl::Duration limit) {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, absl::ToChronoMilliseconds(limit),
                             [&] { return ready_ >= wanted; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int ready_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<EmbeddedCluster>> EmbeddedCluster::Start(EmbeddedOptions options) {
  auto cluster = std::unique_ptr<EmbeddedCluster>(new EmbeddedCluster);
  const std::shared_ptr<EventLoop> loop = MakeThreadEventLoop("weir-embedded");
  cluster->loop_ = loop;
  cluster->network_ = std::make_unique<InprocNetwork>(loop);
  InprocNetwork* network = cluster->network_.get();
  if (options.journal == nullptr) options.journal = MakeMemoryJournal();
  // Nobody is cut off from another inside of one process: who is silent sleeps with all of them.
  CoordinatorOptions coordinator_options;
  coordinator_options.limits.fence = kNever;
  coordinator_options.limits.lost_after = kNever;
  coordinator_options.limits.register_within = kNever;
  cluster->coordinator_ =
      std::make_unique<Coordinator>(coordinator_options, std::move(options.journal));
  auto gate = std::make_shared<ReadyGate>();
  cluster->coordinator_->OnWorkersChanged([gate](int ready) { gate->Set(ready); });
  WEIR_ASSIGN_OR_RETURN(cluster->listener_, network->Listen(kCoordinatorAddress, LinkOptions(),
                                                            cluster->coordinator_->Acceptor()));
  WEIR_ASSIGN_OR_RETURN(const std::shared_ptr<FlowMemory> flow_memory, FlowMemory::Make({}));
  for (int i = 0; i < options.workers; ++i) {
    const std::string name = StrCat("worker-", i);
    WorkerTransports transports;
    transports.loop = loop;
    transports.coordinator = network;
    transports.peers = network;
    transports.listen = [network, name](LinkOptions link, OnAccept on_accept) {
      return network->Listen(StrCat(name, "/data"), std::move(link), std::move(on_accept));
    };
    cluster->workers_.push_back(
        std::make_unique<WorkerService>(WorkerOptions{.name = name,
                                                      .threads = options.threads_per_worker,
                                                      .cpus = cpu::PartOfCpus(i, options.workers),
                                                      .coordinator_address = kCoordinatorAddress,
                                                      .data = options.data,
                                                      .flow_memory = flow_memory},
                                        std::move(transports)));
    WEIR_RETURN_IF_ERROR(cluster->workers_.back()->Start());
  }
  if (!gate->WaitFor(options.workers, kStartLimit)) {
    return absl::UnavailableError(
        StrCat("the embedded workers did not start within ", absl::FormatDuration(kStartLimit)));
  }
  cluster->flow_batchers_ =
      std::make_unique<FlowBatchers>(FlowGateway(cluster->coordinator_.get()), loop);
  cluster->direct_calls_ =
      std::make_unique<DirectCalls>(cluster->coordinator_.get(), &cluster->workers_);
  return cluster;
}

EmbeddedCluster::~EmbeddedCluster() {
  direct_calls_.reset();
  flow_batchers_.reset();
  workers_.clear();
  if (listener_ != nullptr) listener_->Close();
  coordinator_.reset();
  listener_.reset();
  network_.reset();
}

absl::StatusOr<std::unique_ptr<Session>> StartEmbedded(EmbeddedOptions options) {
  WEIR_ASSIGN_OR_RETURN(std::unique_ptr<EmbeddedCluster> cluster,
                        EmbeddedCluster::Start(std::move(options)));
  return std::make_unique<EmbeddedSession>(std::move(cluster));
}

}  // namespace weir
