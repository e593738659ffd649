#include "tests/cluster/flow_simulation.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "common/base/status.h"
#include "common/flow/flow_text.h"
#include "common/flow/flow_wire.h"
#include "common/flow/vertex_kind.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

constexpr uint64_t kJob = 5;

struct CoordinatorMail {
  v1::WorkerMessage message;
  std::vector<Tensor> payloads;
};

int64_t BytesOf(const std::vector<Tensor>& payloads) {
  int64_t bytes = 0;
  for (const Tensor& tensor : payloads) bytes += tensor.num_bytes();
  return bytes;
}

// Of each function that a vertex calls, by name.
std::map<std::string, std::shared_ptr<const RecordFunction>, std::less<>> ReferenceFunctions(
    const Flow& flow) {
  std::map<std::string, std::shared_ptr<const RecordFunction>, std::less<>> functions;
  for (const auto& [name, calls] : CalledFunctions(flow)) {
    functions.emplace(name, calls == FlowAttr::Calls::kBatch
                                ? MakeReferenceBatchFunction(flow.functions, name)
                                : MakeReferenceFunction(flow.functions, name));
  }
  return functions;
}

}  // namespace

class FlowSimulation::Worker : public FlowTableOutbox {
 public:
  // How long calls take does not matter: all are handed over, or all but the first of each vertex
  // run at once.
  Worker(int workers, int rank, bool hands_over, int64_t link_bytes)
      : table("w" + std::to_string(rank), 2, this,
              hands_over ? 0 : std::numeric_limits<int64_t>::max()),
        mail(workers),
        mail_bytes(workers, 0),
        tells_room(workers, false),
        rank(rank),
        link_bytes(link_bytes) {}

  void SendToCoordinator(const v1::WorkerMessage& message, std::vector<Tensor> payloads) override {
    const bool is_of_the_end = message.has_flow_stopped() || message.has_flow_report();
    if (is_stopped && !is_of_the_end) ++sent_after_stop;
    to_coordinator.push_back({message, std::move(payloads)});
  }
  void SendToPeer(const v1::Peer& peer, const v1::PeerMessage& message,
                  std::vector<Tensor> payloads) override {
    if (is_stopped) ++sent_after_stop;
    const uint64_t to = peer.worker_id() - 1;
    mail_bytes[to] += BytesOf(payloads);
    mail[to].push_back({message, std::move(payloads)});
  }
  bool HasRoom(const v1::Peer& peer) override { return HasRoomTo(peer.worker_id() - 1); }
  bool HasRoomTo(size_t to) const { return link_bytes == 0 || mail_bytes[to] < link_bytes; }
  void RunCall(std::unique_ptr<FlowCall> call) override {
    if (is_stopped) ++sent_after_stop;
    calls.push_back(std::move(call));
  }
  void WorkSoon() override { has_work = true; }

  FlowTable table;
  std::deque<std::function<void(absl::Time now)>> inbox;  // from the coordinator
  std::deque<CoordinatorMail> to_coordinator;
  std::vector<std::deque<PeerMail>> mail;  // by the rank that it goes to
  std::vector<int64_t> mail_bytes;
  std::vector<bool> tells_room;  // by rank: a link was full and is not
  void Take(const v1::CoordinatorMessage& message, std::vector<Tensor> payloads) {
    inbox.push_back([this, message, payloads = std::move(payloads)](absl::Time now) {
      is_stopped = is_stopped || message.has_stop_flow();
      table.OnCoordinatorMessage(message, payloads, now);
    });
  }

  std::vector<std::unique_ptr<FlowCall>> calls;
  bool has_work = false;
  bool is_stopped = false;  // was told to
  int64_t sent_after_stop = 0;
  const int rank;
  const int64_t link_bytes;
};

FlowSimulation::FlowSimulation(std::shared_ptr<const Flow> flow, Options options)
    : flow_(std::move(flow)), options_(options), random_(options.seed) {
  auto topology = Topology::Of(GraphOf(*flow_));
  EXPECT_TRUE(topology.ok()) << topology.status();
  topology_ = *topology;
  JobProgress::Setup setup;
  setup.job = kJob;
  setup.generation = options_.generation;
  progress_ = std::make_unique<JobProgress>(std::move(setup), topology_, now_);
  FlowSetup flow_setup{.job = kJob,
                       .generation = options_.generation,
                       .flow = flow_,
                       .topology = topology_,
                       .data = DataDirectories::All(),
                       .channel_bytes = options_.channel_bytes};
  for (int rank = 0; rank < options_.workers; ++rank) {
    v1::Peer& peer = flow_setup.peers.emplace_back();
    peer.set_worker_id(static_cast<uint64_t>(rank) + 1);
    peer.set_name("w" + std::to_string(rank));
  }
  flow_setup.functions = options_.functions;
  flow_setup.functions.merge(ReferenceFunctions(*flow_));
  for (int rank = 0; rank < options_.workers; ++rank) {
    auto joined = progress_->Join(rank + 1, "w" + std::to_string(rank), now_);
    EXPECT_TRUE(joined.ok()) << joined.status();
    flow_setup.rank = rank;
    flow_setup.grants = joined->grants;
    if (options_.memory_bytes > 0) {
      auto memory = FlowMemory::Make({.budget = options_.memory_bytes});
      EXPECT_TRUE(memory.ok()) << memory.status();
      flow_setup.memory = (*memory)->AddFlow();
    }
    Worker* worker = workers_
                         .emplace_back(std::make_unique<Worker>(
                             options_.workers, rank, options_.seed % 2 == 0, options_.link_bytes))
                         .get();
    worker->inbox.push_back([this, worker, flow_setup](absl::Time now) {
      worker->table.Deploy(kJob, options_.generation, flow_setup, now);
    });
  }
  for (size_t v = 0; v < flow_->vertices.size(); ++v) {
    if (flow_->vertices[v].kind == "input") open_[VertexId(static_cast<int64_t>(v))] = 0;
  }
  auto first = progress_->Start(now_);
  EXPECT_TRUE(first.ok()) << first.status();
  v1::CoordinatorMessage message;
  *message.mutable_frontiers() = *first;
  Broadcast(message);
}

FlowSimulation::~FlowSimulation() = default;

FlowTable& FlowSimulation::table(int rank) { return workers_[rank]->table; }

int64_t FlowSimulation::sent_after_stop() const {
  int64_t sum = 0;
  for (const auto& worker : workers_) sum += worker->sent_after_stop;
  return sum;
}

std::deque<PeerMail>& FlowSimulation::mail(int from, int to) { return workers_[from]->mail[to]; }

void FlowSimulation::Broadcast(const v1::CoordinatorMessage& message,
                               const std::vector<Tensor>& payloads) {
  for (const auto& worker : workers_) worker->Take(message, payloads);
}

void FlowSimulation::Feed(std::vector<FeedStep> steps) {
  FeedOpen(std::move(steps));
  closes_ = true;
}

void FlowSimulation::FeedOpen(std::vector<FeedStep> steps) {
  steps_to_feed_.insert(steps_to_feed_.end(), steps.begin(), steps.end());
}

bool FlowSimulation::MayFeed() const {
  if (steps_to_feed_.empty()) return closes_ && !open_.empty();
  const FeedStep& step = steps_to_feed_.front();
  const auto bytes = feed_bytes_.find(step.input);
  return !step.batch.has_value() || bytes == feed_bytes_.end() ||
         bytes->second < options_.channel_bytes;
}

void FlowSimulation::FeedNext() {
  v1::CoordinatorMessage message;
  if (steps_to_feed_.empty()) {
    v1::AdvanceFlow* close = message.mutable_advance_flow();
    close->set_job(kJob);
    close->set_generation(options_.generation);
    close->set_vertex(static_cast<uint32_t>(open_.begin()->first.value()));
    close->set_closed(true);
    open_.erase(open_.begin());
    return Broadcast(message);
  }
  const FeedStep step = std::move(steps_to_feed_.front());
  steps_to_feed_.pop_front();
  if (!step.batch.has_value()) {
    v1::AdvanceFlow* advance = message.mutable_advance_flow();
    advance->set_job(kJob);
    advance->set_generation(options_.generation);
    advance->set_vertex(static_cast<uint32_t>(step.input.value()));
    advance->set_epoch(step.epoch);
    return Broadcast(message);
  }
  v1::FeedFlow* feed = message.mutable_feed_flow();
  feed->set_job(kJob);
  feed->set_generation(options_.generation);
  feed->set_vertex(static_cast<uint32_t>(step.input.value()));
  feed->set_epoch(step.epoch);
  *feed->mutable_batch() = HeaderOf(*step.batch);
  feed_bytes_[step.input] += step.batch->bytes();
  const size_t rank = random_() % workers_.size();
  workers_[rank]->Take(message, PayloadsOf(*step.batch));
}

std::vector<FlowSimulation::Choice> FlowSimulation::Choices() {
  std::vector<Choice> choices;
  for (int a = 0; a < options_.workers; ++a) {
    Worker& worker = *workers_[a];
    if (!worker.inbox.empty()) choices.push_back({Event::kToWorker, a});
    if (!worker.to_coordinator.empty()) choices.push_back({Event::kToCoordinator, a});
    if (!worker.calls.empty()) choices.push_back({Event::kCall, a});
    if (worker.has_work) choices.push_back({Event::kWork, a});
    for (int b = 0; b < options_.workers; ++b) {
      if (!worker.mail[b].empty()) choices.push_back({Event::kToPeer, a, b});
      if (worker.tells_room[b]) choices.push_back({Event::kRoom, a, b});
    }
  }
  if (has_news_) choices.push_back({Event::kPropagate});
  if (MayFeed()) choices.push_back({Event::kFeed});
  return choices;
}

bool FlowSimulation::Step() {
  const std::vector<Choice> choices = Choices();
  if (choices.empty()) return false;
  Do(choices[random_() % choices.size()]);
  ++steps_;
  now_ += absl::Microseconds(random_() % 500);
  int64_t queued = 0;
  for (const auto& worker : workers_) {
    if (FlowJob* job = worker->table.FindJob(kJob, options_.generation)) {
      queued += job->queued_bytes();
    }
  }
  most_queued_bytes_ = std::max(most_queued_bytes_, queued);
  for (const auto& worker : workers_) {
    for (const int64_t bytes : worker->mail_bytes) {
      most_link_bytes_ = std::max(most_link_bytes_, bytes);
    }
  }
  return true;
}

void FlowSimulation::Do(const Choice& choice) {
  switch (choice.event) {
    case Event::kToWorker: {
      Worker& worker = *workers_[choice.a];
      const auto next = std::move(worker.inbox.front());
      worker.inbox.pop_front();
      next(now_);
      worker.has_work = true;
      return;
    }
    case Event::kToCoordinator:
      return TakeAtCoordinator(choice.a);
    case Event::kToPeer:
      return TakeAtPeer(choice.a, choice.b);
    case Event::kRoom: {
      Worker& worker = *workers_[choice.a];
      worker.tells_room[choice.b] = false;
      worker.table.OnPeerRoom(static_cast<uint64_t>(choice.b) + 1);
      worker.has_work = true;
      return;
    }
    case Event::kCall: {
      Worker& worker = *workers_[choice.a];
      const size_t at = random_() % worker.calls.size();
      std::unique_ptr<FlowCall> call = std::move(worker.calls[at]);
      worker.calls.erase(worker.calls.begin() + static_cast<int64_t>(at));
      RunFlowCall(call.get());
      worker.table.OnCallDone(std::move(call), now_);
      worker.has_work = true;
      return;
    }
    case Event::kWork:
      workers_[choice.a]->has_work = false;
      return workers_[choice.a]->table.Work(now_);
    case Event::kPropagate: {
      has_news_ = false;
      const std::optional<v1::FrontierUpdate> update = progress_->Propagate(now_);
      if (!update.has_value()) return;
      v1::CoordinatorMessage message;
      *message.mutable_frontiers() = *update;
      return Broadcast(message);
    }
    case Event::kFeed:
      return FeedNext();
  }
}

void FlowSimulation::TakeAtPeer(int from, int to) {
  Worker& sender = *workers_[from];
  PeerMail next = std::move(sender.mail[to].front());
  sender.mail[to].pop_front();
  const bool was_full = !sender.HasRoomTo(to);
  sender.mail_bytes[to] -= BytesOf(next.payloads);
  if (was_full && sender.HasRoomTo(to)) sender.tells_room[to] = true;
  if (next.message.has_flow_frame()) ++peer_frames_;
  workers_[to]->table.OnPeerMessage(next.message, std::move(next.payloads), now_);
  workers_[to]->has_work = true;
}

void FlowSimulation::TakeAtCoordinator(int rank) {
  CoordinatorMail next = std::move(workers_[rank]->to_coordinator.front());
  workers_[rank]->to_coordinator.pop_front();
  const v1::WorkerMessage& message = next.message;
  if (message.has_progress()) {
    const absl::Status status =
        progress_->OnBatch(static_cast<uint64_t>(rank) + 1, message.progress(), now_);
    if (progress_->state() == JobProgress::State::kRunning) failure_.Update(status);
    has_news_ = true;
  } else if (message.has_flow_output()) {
    TakeOutput(rank, message.flow_output(), std::move(next.payloads));
  } else if (message.has_flow_consumed()) {
    feed_bytes_[VertexId(message.flow_consumed().vertex())] -= message.flow_consumed().bytes();
  } else if (message.has_flow_record_failed()) {
    failed_records_.push_back(message.flow_record_failed());
  } else if (message.has_flow_failed()) {
    const v1::Failure& failure = message.flow_failed().failure();
    failure_.Update(absl::Status(static_cast<absl::StatusCode>(failure.code()),
                                 failure.worker() + ": " + failure.message()));
    Cancel();
  } else if (message.has_flow_deployed() && message.flow_deployed().has_failure()) {
    failure_.Update(absl::InternalError(message.flow_deployed().failure().message()));
  } else if (message.has_flow_stopped()) {
    progress_->OnStopped(static_cast<uint64_t>(rank) + 1, now_);
  }
}

void FlowSimulation::TakeOutput(int rank, const v1::FlowOutput& output,
                                std::vector<Tensor> payloads) {
  const VertexId vertex(output.vertex());
  auto batch = BatchFrom(output.batch(), std::move(payloads), flow_->vertex(vertex).input_types[0],
                         "output");
  ASSERT_TRUE(batch.ok()) << batch.status();
  const bool runs = progress_->state() == JobProgress::State::kRunning;
  if (runs) {
    const Frontier& frontier = progress_->tracker().frontier(topology_->input(vertex, 0));
    EXPECT_TRUE(frontier.Covers(Timestamp{output.epoch()}))
        << "records of epoch " << output.epoch() << " after it was complete";
  }
  v1::CoordinatorMessage message;
  v1::FlowOutputTaken* taken = message.mutable_flow_output_taken();
  taken->set_job(kJob);
  taken->set_generation(options_.generation);
  taken->set_vertex(output.vertex());
  taken->set_bytes(batch->bytes());
  workers_[rank]->Take(message, {});
  if (runs) outputs_[vertex][output.epoch()].push_back(*std::move(batch));
}

void FlowSimulation::Cancel() {
  if (progress_->state() == JobProgress::State::kCancelling) return;
  progress_->Cancel(absl::CancelledError("the client wants no more"), now_);
  steps_to_feed_.clear();
  closes_ = false;
  v1::CoordinatorMessage message;
  message.mutable_stop_flow()->set_job(kJob);
  message.mutable_stop_flow()->set_generation(options_.generation);
  Broadcast(message);
}

FlowOutputs FlowSimulation::NamedOutputs() const {
  FlowOutputs named;
  for (const auto& [id, epochs] : outputs_) {
    const FlowVertex& vertex = flow_->vertex(id);
    for (const auto& [epoch, batches] : epochs) {
      RecordBatch batch = MultisetOf(batches, vertex.input_types[0]);
      if (!batch.empty()) named[vertex.name].emplace(epoch, std::move(batch));
    }
  }
  return named;
}

RecordBatch MultisetOf(const std::vector<RecordBatch>& batches, const RecordType& type) {
  return Consolidated(ConcatBatches(batches, type));
}

std::shared_ptr<const Flow> FlowOf(std::string_view text) {
  auto flow = ParseFlow(text);
  EXPECT_TRUE(flow.ok()) << flow.status();
  return std::make_shared<const Flow>(*std::move(flow));
}

}  // namespace weir
