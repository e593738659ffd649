#include "worker/service/worker_service.h"

#include <unistd.h>

#include <condition_variable>
#include <fstream>
#include <future>
#include <map>
#include <mutex>
#include <random>
#include <utility>

#include "common/base/aligned_memory.h"
#include "common/base/log.h"
#include "common/base/service_process.h"
#include "common/base/status.h"
#include "common/base/version.h"
#include "common/net/event_loop.h"
#include "common/plan/frames.h"
#include "worker/dataflow/step_runner.h"
#include "worker/dataflow/worker_core.h"
#include "worker/device/cpu/kernel.h"
#include "worker/executor/compute_pool.h"
#include "worker/flow/deploy.h"
#include "worker/flow/flow_table.h"
#include "worker/flow/memory/flow_memory.h"
#include "worker/service/peer_links.h"

namespace weir {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(100);
constexpr absl::Duration kReleaseEvery = absl::Seconds(1);
constexpr size_t kMuch = size_t{4} << 20;

int64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t total = 0;
  int64_t resident = 0;
  statm >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

uint64_t FreshIncarnation() {
  std::random_device random;
  return (static_cast<uint64_t>(random()) << 32) | random();
}

}  // namespace

// Everything below happens on the event loop, except Submit-ted work and what mutex_ guards.
class WorkerService::Impl : public WorkerOutbox,
                            public FlowTableOutbox,
                            public std::enable_shared_from_this<Impl> {
 public:
  Impl(WorkerOptions options, WorkerTransports transports)
      : options_(std::move(options)),
        transports_(std::move(transports)),
        incarnation_(FreshIncarnation()),
        loop_(transports_.loop != nullptr
                  ? transports_.loop
                  : std::shared_ptr<EventLoop>(MakeThreadEventLoop(options_.name))),
        core_(options_.name, this, {.memory_budget = options_.memory_budget, .values = values_}),
        flow_memory_(options_.flow_memory != nullptr ? options_.flow_memory
                                                     : *FlowMemory::Make({})),
        flows_(options_.name, options_.threads, this),
        pool_(std::make_unique<ComputePool>(options_.threads, options_.cpus)) {}

  absl::Status Start() {
    std::weak_ptr<Impl> weak = weak_from_this();
    auto accept = [weak](std::shared_ptr<Link> link) {
      if (auto self = weak.lock()) self->AcceptPeer(std::move(link));
    };
    LinkOptions link;
    link.receive_window = static_cast<size_t>(flow_memory_->link_bytes());
    WEIR_ASSIGN_OR_RETURN(listener_, transports_.listen(std::move(link), accept));
    data_address_ = transports_.advertise(listener_->address());
    auto on_lost = [weak](uint64_t worker_id, const absl::Status& reason) {
      if (auto self = weak.lock()) {
        self->Post([worker_id, reason](Impl* impl) {
          impl->core_.OnPeerLost(worker_id, reason);
          impl->flows_.OnPeerLost(worker_id, reason);
        });
      }
    };
    auto on_room = [weak](uint64_t worker_id) {
      if (auto self = weak.lock()) {
        self->Post([worker_id](Impl* impl) {
          if (impl->stopping()) return;
          impl->flows_.OnPeerRoom(worker_id);
          impl->WorkSoon();
        });
      }
    };
    peers_ = std::make_unique<PeerLinks>(transports_.peers, on_lost, on_room);
    Post([](Impl* impl) {
      impl->DialCoordinator();
      impl->Tick();
    });
    return absl::OkStatus();
  }

  absl::Status Drain(absl::Duration limit) {
    Post([](Impl* impl) {
      impl->core_.Drain();
      impl->NoteDrained();
    });
    bool drained = false;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      drained = drained_changed_.wait_for(lock, absl::ToChronoNanoseconds(limit),
                                          [this] { return drained_; });
    }
    if (!drained) {
      return absl::DeadlineExceededError(
          StrCat("worker ", options_.name, " still has runs after ", absl::FormatDuration(limit)));
    }
    peers_->Flush();
    return absl::OkStatus();
  }

  void Stop() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    }
    if (listener_ != nullptr) listener_->Close();
    Post([](Impl* impl) {
      if (impl->coordinator_ != nullptr) impl->coordinator_->Close(absl::OkStatus());
      impl->core_.OnCoordinatorLost(absl::CancelledError("the worker stops"));
      impl->flows_.Clear();
    });
    if (peers_ != nullptr) peers_->CloseAll();
    CloseIncoming();
    // Once what was posted so far has run, nothing here touches the transports or starts work any
    // more.
    std::promise<void> quiet;
    loop_->Post([&quiet] { quiet.set_value(); });
    quiet.get_future().wait();
    pool_.reset();
  }

  WorkerStatus status() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return status_;
  }

  ComputePool* compute_threads() const { return pool_.get(); }

  std::shared_ptr<Program> FindProgram(uint64_t id) {
    std::promise<std::shared_ptr<Program>> found;
    loop_->Post([this, id, &found] { found.set_value(core_.FindProgram(id)); });
    return found.get_future().get();
  }

  const std::shared_ptr<ValueStore>& values() const { return values_; }

  // --- WorkerOutbox and FlowTableOutbox

  void SendToCoordinator(const v1::WorkerMessage& message, std::vector<Tensor> payloads) override {
    if (coordinator_ == nullptr) return;
    const absl::Status status = coordinator_->Send(EncodeFrame(message, payloads));
    if (!status.ok()) Log(LogLevel::kDebug, "cannot send to the coordinator", {{"why", status}});
    NoteDrained();
  }

  void SendToPeer(const v1::Peer& peer, const v1::PeerMessage& message,
                  std::vector<Tensor> payloads) override {
    peers_->Send(peer, EncodeFrame(message, payloads));
  }

  bool HasRoom(const v1::Peer& peer) override { return peers_->HasRoom(peer); }

  void Prepare(std::shared_ptr<Program> program) override {
    pool_->Submit([weak = weak_from_this(), program = std::move(program)]() mutable {
      const absl::Status status = PrepareProgram(program.get());
      const uint64_t id = program->id;
      program.reset();
      if (auto self = weak.lock()) {
        self->Post([id, status](Impl* impl) { impl->core_.OnProgramReady(id, status); });
      }
    });
  }

  void Execute(StepTask task) override {
    const uint64_t run = task.run_id;
    const int step = task.step;
    RunStep(std::move(task), pool_.get(),
            [weak = weak_from_this(), run, step](absl::StatusOr<std::vector<Tensor>> outputs,
                                                 const StepStats& stats) {
              auto self = weak.lock();
              if (self == nullptr) return;
              self->loop_->Visit([&] {
                self->Post([run, step, stats, outputs = std::move(outputs)](Impl* impl) mutable {
                  if (impl->stopping()) return;
                  impl->core_.OnStepDone(run, step, std::move(outputs), stats);
                  impl->NoteDrained();
                });
              });
            });
  }

  void RunCall(std::unique_ptr<FlowCall> call) override {
    auto shared = std::make_shared<std::unique_ptr<FlowCall>>(std::move(call));
    pool_->Submit([weak = weak_from_this(), shared] {
      RunFlowCall(shared->get());
      if (auto self = weak.lock()) {
        self->Post([shared](Impl* impl) {
          if (impl->stopping()) return;
          impl->flows_.OnCallDone(std::move(*shared), impl->loop_->clock()->Now());
          impl->WorkSoon();
        });
      }
    });
  }

  // Once what has come is taken: work that is there together is reported together, and the fuller
  // the machine is, the more comes at once.
  void WorkSoon() override {
    if (std::exchange(works_soon_, true)) return;
    Post([](Impl* impl) {
      impl->works_soon_ = false;
      if (!impl->stopping()) impl->WorkOnFlows();
    });
  }

 private:
  void WorkOnFlows() {
    flows_.Work(loop_->clock()->Now());
    NoteDrained();
  }

  template <class Task>
  void Post(Task task) {
    loop_->Post([weak = weak_from_this(), task = std::move(task)]() mutable {
      if (auto self = weak.lock()) task(self.get());
    });
  }

  bool stopping() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return stopping_;
  }

  void SetStatus(WorkerStatus status) {
    std::lock_guard<std::mutex> lock(mutex_);
    status_ = std::move(status);
  }

  void NoteDrained() {
    if (!core_.drained() || !flows_.empty()) return;
    std::lock_guard<std::mutex> lock(mutex_);
    drained_ = true;
    drained_changed_.notify_all();
  }

  void DialCoordinator() {
    if (stopping()) return;
    DialOptions dial;
    dial.link.greeting = options_.name;
    transports_.coordinator->Dial(
        options_.coordinator_address, dial,
        [weak = weak_from_this()](absl::StatusOr<std::shared_ptr<Link>> link) {
          auto self = weak.lock();
          if (self == nullptr) return;
          self->Post(
              [link = std::move(link)](Impl* impl) mutable { impl->OnDialed(std::move(link)); });
        });
  }

  void OnDialed(absl::StatusOr<std::shared_ptr<Link>> link) {
    if (stopping()) return;
    if (!link.ok()) {
      Log(LogLevel::kWarning, "the coordinator does not answer",
          {{"address", options_.coordinator_address}, {"why", link.status()}});
      SetStatus({.last_error = std::string(ToStd(link.status().message()))});
      return DialCoordinator();
    }
    coordinator_ = *std::move(link);
    std::weak_ptr<Impl> weak = weak_from_this();
    coordinator_->Start({.on_frame =
                             [weak](Frame frame, Credit) {
                               if (auto self = weak.lock())
                                 self->OnCoordinatorFrame(std::move(frame));
                             },
                         .on_writable = [] {},
                         .on_closed =
                             [weak](const absl::Status& reason) {
                               if (auto self = weak.lock()) {
                                 self->Post(
                                     [reason](Impl* impl) { impl->OnCoordinatorClosed(reason); });
                               }
                             }});
    v1::WorkerMessage message;
    v1::Register* hello = message.mutable_register_();
    hello->set_name(options_.name);
    hello->set_incarnation(incarnation_);
    hello->set_data_address(data_address_);
    hello->set_threads(static_cast<uint32_t>(options_.threads));
    hello->set_numerics_class(StrCat("cpu-", cpu::IsaName(cpu::DetectIsa())));
    hello->set_version(kVersion);
    SendToCoordinator(message, {});
  }

  void OnCoordinatorFrame(Frame frame) {
    loop_->Visit([&] {
      Post([frame = std::move(frame)](Impl* impl) { impl->OnCoordinatorMessage(frame); });
    });
  }

  void OnCoordinatorMessage(const Frame& frame) {
    if (stopping()) return;
    absl::StatusOr<FromCoordinator> decoded = DecodeFromCoordinator(frame);
    if (!decoded.ok()) {
      if (coordinator_ != nullptr) coordinator_->Close(decoded.status());
      return;
    }
    if (decoded->message.has_refused()) {
      Log(LogLevel::kError, "the coordinator refuses this worker",
          {{"why", decoded->message.refused().reason()}});
      SetStatus({.last_error = decoded->message.refused().reason()});
      return;
    }
    // What gRPC took to receive much is given back before the run takes its own.
    if (frame.payload_bytes() >= kMuch) ReleaseReceivedMemory();
    has_run_ = has_run_ || decoded->message.has_start_run();
    const absl::Time now = loop_->clock()->Now();
    if (decoded->message.has_deploy_flow() || IsForFlow(decoded->message)) {
      core_.NoteHeard(now);
      return OnFlowMessage(decoded->message, std::move(decoded->payloads), now);
    }
    core_.OnCoordinatorMessage(decoded->message, std::move(decoded->payloads), now);
    NoteDrained();
    if (decoded->message.has_registered()) {
      SetStatus({.registered = true, .worker_id = decoded->message.registered().worker_id()});
      Log(LogLevel::kInfo, "registered",
          {{"coordinator", options_.coordinator_address},
           {"id", decoded->message.registered().worker_id()}});
    }
  }

  void OnFlowMessage(const v1::CoordinatorMessage& message, std::vector<Tensor> payloads,
                     absl::Time now) {
    if (message.has_deploy_flow()) {
      const v1::DeployFlow& deploy = message.deploy_flow();
      absl::StatusOr<FlowSetup> setup =
          SetupFrom(deploy, [this](uint64_t id) { return core_.FindProgram(id); });
      if (setup.ok()) {
        setup->data = options_.data;
        setup->UseMemory(flow_memory_->AddFlow());
      }
      flows_.Deploy(deploy.job(), deploy.generation(), std::move(setup), now);
    } else {
      flows_.OnCoordinatorMessage(message, std::move(payloads), now);
    }
    WorkSoon();
  }

  void OnCoordinatorClosed(const absl::Status& reason) {
    coordinator_ = nullptr;
    core_.OnCoordinatorLost(reason);
    flows_.Clear();
    SetStatus({.last_error = std::string(ToStd(reason.message()))});
    if (stopping()) return;
    Log(LogLevel::kWarning, "the connection to the coordinator ended", {{"why", reason}});
    loop_->PostAfter(absl::Milliseconds(200), [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->DialCoordinator();
    });
  }

  void AcceptPeer(std::shared_ptr<Link> link) {
    std::weak_ptr<Impl> weak = weak_from_this();
    std::weak_ptr<Link> weak_link = link;
    link->Start({.on_frame =
                     [weak, weak_link](Frame frame, Credit credit) {
                       auto self = weak.lock();
                       if (self == nullptr) return;
                       // Who sends has credit again when the frame is taken, not when it has come.
                       auto held = std::make_shared<Credit>(std::move(credit));
                       self->Post([frame = std::move(frame), held, weak_link](Impl* impl) {
                         impl->OnPeerFrame(frame, weak_link);
                       });
                     },
                 .on_writable = [] {},
                 .on_closed =
                     [weak, weak_link](const absl::Status&) {
                       auto self = weak.lock();
                       auto closed = weak_link.lock();
                       if (self != nullptr && closed != nullptr) self->ForgetIncoming(closed);
                     }});
    std::lock_guard<std::mutex> lock(mutex_);
    incoming_.push_back(std::move(link));
  }

  void CloseIncoming() {
    std::vector<std::shared_ptr<Link>> links;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      links.swap(incoming_);
    }
    for (const std::shared_ptr<Link>& link : links) link->Close(absl::OkStatus());
  }

  void ForgetIncoming(const std::shared_ptr<Link>& link) {
    std::lock_guard<std::mutex> lock(mutex_);
    incoming_.erase(std::remove(incoming_.begin(), incoming_.end(), link), incoming_.end());
  }

  void OnPeerFrame(const Frame& frame, const std::weak_ptr<Link>& from) {
    if (stopping()) return;
    absl::StatusOr<FromPeer> decoded = DecodeFromPeer(frame);
    if (decoded.ok() && IsForFlow(decoded->message)) {
      flows_.OnPeerMessage(decoded->message, std::move(decoded->payloads), loop_->clock()->Now());
      return WorkSoon();
    }
    if (decoded.ok()) {
      return core_.OnPeerMessage(decoded->message, std::move(decoded->payloads));
    }
    if (auto link = from.lock()) link->Close(decoded.status());
  }

  // Whether flows keep so much that what malloc holds free, beside it, had better go now and then.
  bool IsShortOfMemory(absl::Time now) {
    if (flow_memory_->kept_bytes() <= flow_memory_->budget() / 2 || now < next_release_) {
      return false;
    }
    next_release_ = now + kReleaseEvery;
    return true;
  }

  void Tick() {
    const absl::Time now = loop_->clock()->Now();
    const bool has_ended = flows_.size() < std::exchange(flow_count_, flows_.size());
    // After runs once a tick has passed without one: who calls again and again finds his blocks.
    const bool ran = std::exchange(has_run_, false);
    keeps_memory_ = keeps_memory_ || ran;
    if (has_ended || (keeps_memory_ && !ran && core_.idle()) || IsShortOfMemory(now)) {
      ReleaseKeptMemory();
      keeps_memory_ = false;
    }
    flows_.OnTick(now);
    if (!core_.OnTick(now, ResidentBytes())) {
      flows_.Clear();
      if (coordinator_ != nullptr) {
        coordinator_->Close(absl::UnavailableError("the coordinator is silent"));
      }
    }
    loop_->PostAfter(kTick, [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->Tick();
    });
  }

  const WorkerOptions options_;
  const WorkerTransports transports_;
  const uint64_t incarnation_;
  const std::shared_ptr<EventLoop> loop_;
  const std::shared_ptr<ValueStore> values_ = std::make_shared<ValueStore>();
  WorkerCore core_;
  const std::shared_ptr<FlowMemory> flow_memory_;
  FlowTable flows_;
  bool has_run_ = false;       // since the last tick
  bool keeps_memory_ = false;  // of runs before it
  bool works_soon_ = false;    // a turn of the flows is posted
  size_t flow_count_ = 0;      // at the last tick
  absl::Time next_release_ = absl::InfinitePast();
  std::unique_ptr<ComputePool> pool_;
  std::unique_ptr<Listener> listener_;
  std::string data_address_;
  std::shared_ptr<Link> coordinator_;
  std::unique_ptr<PeerLinks> peers_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable drained_changed_;
  bool drained_ = false;
  bool stopping_ = false;
  WorkerStatus status_;
  std::vector<std::shared_ptr<Link>> incoming_;
};

WorkerService::WorkerService(WorkerOptions options, WorkerTransports transports)
    : impl_(std::make_shared<Impl>(std::move(options), std::move(transports))) {}

WorkerService::~WorkerService() { impl_->Stop(); }

absl::Status WorkerService::Start() { return impl_->Start(); }
absl::Status WorkerService::Drain(absl::Duration limit) { return impl_->Drain(limit); }
WorkerStatus WorkerService::status() const { return impl_->status(); }
ComputePool* WorkerService::compute_threads() const { return impl_->compute_threads(); }

std::shared_ptr<Program> WorkerService::FindProgram(uint64_t id) const {
  return impl_->FindProgram(id);
}
const std::shared_ptr<ValueStore>& WorkerService::values() const { return impl_->values(); }

}  // namespace weir
