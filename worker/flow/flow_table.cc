#include "worker/flow/flow_table.h"

#include <utility>

#include "common/base/status.h"

namespace weir {
namespace {

// Of one turn: the event loop has other work too.
constexpr int64_t kTurnNs = 500'000;
constexpr int kTurnCalls = 256;
constexpr size_t kMostEnded = 1024;
constexpr absl::Duration kReportEvery = absl::Milliseconds(500);

}  // namespace

bool IsForFlow(const v1::CoordinatorMessage& message) {
  return message.has_frontiers() || message.has_feed_flow() || message.has_advance_flow() ||
         message.has_stop_flow() || message.has_flow_output_taken();
}

bool IsForFlow(const v1::PeerMessage& message) {
  return message.has_flow_frame() || message.has_flow_credit();
}

v1::Failure FlowTable::FailureOf(const absl::Status& status) const {
  v1::Failure failure;
  failure.set_code(static_cast<uint32_t>(status.code()));
  failure.set_message(std::string(ToStd(status.message())));
  failure.set_worker(worker_);
  return failure;
}

void FlowTable::Deploy(uint64_t job, uint64_t generation, absl::StatusOr<FlowSetup> setup,
                       absl::Time now) {
  const Key key = {job, generation};
  absl::Status status = setup.status();
  if (status.ok() && flows_.contains(key)) {
    status = absl::AlreadyExistsError(StrCat("flow ", job, " is deployed already"));
  }
  if (status.ok()) {
    auto made = FlowJob::Make(*std::move(setup), outbox_);
    status = made.status();
    if (status.ok()) flows_[key].job = *std::move(made);
  }
  v1::WorkerMessage message;
  v1::FlowDeployed* deployed = message.mutable_flow_deployed();
  deployed->set_job(job);
  deployed->set_generation(generation);
  if (!status.ok()) *deployed->mutable_failure() = FailureOf(status);
  outbox_->SendToCoordinator(message, {});
  auto early = early_.extract(key);
  if (early.empty() || !status.ok()) return;
  for (Early& one : early.mapped()) {
    TakePeerMessage(&flows_[key], one.message, std::move(one.payloads));
  }
}

FlowTable::Entry* FlowTable::Find(uint64_t job, uint64_t generation) {
  const auto found = flows_.find({job, generation});
  return found == flows_.end() ? nullptr : &found->second;
}

FlowJob* FlowTable::FindJob(uint64_t job, uint64_t generation) {
  Entry* entry = Find(job, generation);
  return entry == nullptr ? nullptr : entry->job.get();
}

void FlowTable::Check(Entry* entry, const absl::Status& status) {
  FlowJob& job = *entry->job;
  if (status.ok() || job.stopped()) return;
  job.Stop();
  v1::WorkerMessage message;
  v1::FlowFailed* failed = message.mutable_flow_failed();
  failed->set_job(job.setup().job);
  failed->set_generation(job.setup().generation);
  *failed->mutable_failure() = FailureOf(status);
  outbox_->SendToCoordinator(message, {});
}

void FlowTable::OnCoordinatorMessage(const v1::CoordinatorMessage& message,
                                     std::vector<Tensor> payloads, absl::Time now) {
  const auto with = [&](const auto& part, auto&& take) {
    Entry* entry = Find(part.job(), part.generation());
    if (entry != nullptr) Check(entry, take(entry->job.get(), part));
  };
  switch (message.kind_case()) {
    case v1::CoordinatorMessage::kFrontiers:
      return with(message.frontiers(),
                  [](FlowJob* job, const auto& update) { return job->OnFrontiers(update); });
    case v1::CoordinatorMessage::kFeedFlow:
      return with(message.feed_flow(), [&](FlowJob* job, const auto& feed) {
        return job->OnFeed(feed, std::move(payloads), now);
      });
    case v1::CoordinatorMessage::kAdvanceFlow:
      return with(message.advance_flow(),
                  [&](FlowJob* job, const auto& advance) { return job->OnAdvance(advance, now); });
    case v1::CoordinatorMessage::kFlowOutputTaken:
      return with(message.flow_output_taken(),
                  [](FlowJob* job, const auto& taken) { return job->OnOutputTaken(taken); });
    case v1::CoordinatorMessage::kStopFlow:
      return Stop(message.stop_flow(), now);
    default:
      return;
  }
}

void FlowTable::Stop(const v1::StopFlow& stop, absl::Time now) {
  const Key key = {stop.job(), stop.generation()};
  early_.erase(key);
  if (Entry* entry = Find(stop.job(), stop.generation())) {
    SendReport(entry->job.get(), now);
    entry->job->Stop();
    entry->is_stopping = true;
    return RemoveIfStopped(key);
  }
  NoteEnded(key);
}

void FlowTable::RemoveIfStopped(const Key& key) {
  const auto found = flows_.find(key);
  if (found == flows_.end() || !found->second.is_stopping) return;
  if (found->second.job->calls_under_way() > 0) return;
  flows_.erase(found);
  NoteEnded(key);
}

void FlowTable::NoteEnded(const Key& key) {
  ended_.insert(key);
  if (ended_.size() > kMostEnded) ended_.erase(ended_.begin());
  v1::WorkerMessage message;
  message.mutable_flow_stopped()->set_job(key.first);
  message.mutable_flow_stopped()->set_generation(key.second);
  outbox_->SendToCoordinator(message, {});
}

void FlowTable::TakePeerMessage(Entry* entry, const v1::PeerMessage& message,
                                std::vector<Tensor> payloads) {
  FlowJob& job = *entry->job;
  Check(entry, message.has_flow_frame() ? job.OnFrame(message.flow_frame(), std::move(payloads))
                                        : job.OnCredit(message.flow_credit()));
}

void FlowTable::OnPeerMessage(const v1::PeerMessage& message, std::vector<Tensor> payloads,
                              absl::Time now) {
  const Key key = message.has_flow_frame()
                      ? Key(message.flow_frame().job(), message.flow_frame().generation())
                      : Key(message.flow_credit().job(), message.flow_credit().generation());
  if (Entry* entry = Find(key.first, key.second)) {
    return TakePeerMessage(entry, message, std::move(payloads));
  }
  if (!ended_.contains(key)) early_[key].push_back({message, std::move(payloads)});
}

void FlowTable::OnCallDone(std::unique_ptr<FlowCall> call, absl::Time now) {
  Entry* entry = Find(call->job, call->generation);
  if (entry == nullptr) return;
  Check(entry, entry->job->OnCallDone(call.get(), now));
  RemoveIfStopped({call->job, call->generation});
}

void FlowTable::OnPeerLost(uint64_t worker_id, const absl::Status& reason) {
  for (auto& [key, entry] : flows_) {
    for (const v1::Peer& peer : entry.job->setup().peers) {
      if (peer.worker_id() != worker_id) continue;
      Check(&entry, absl::AbortedError(
                        StrCat("worker ", peer.name(), " is lost: ", ToStd(reason.message()))));
    }
  }
}

void FlowTable::OnPeerRoom(uint64_t worker_id) {
  for (auto& [key, entry] : flows_) entry.job->OnPeerRoom(worker_id);
}

bool FlowTable::BeginCall(Entry* entry, absl::Time now, int64_t* spent_ns) {
  FlowJob& job = *entry->job;
  if (job.calls_under_way() > threads_) return false;
  absl::StatusOr<std::unique_ptr<FlowCall>> taken = job.TakeCall(now);
  Check(entry, taken.status());
  if (!taken.ok() || *taken == nullptr) return false;
  if (!job.IsShort(**taken, short_ns_)) {
    outbox_->RunCall(*std::move(taken));
    return true;
  }
  RunFlowCall(taken->get());
  *spent_ns += (*taken)->run_ns;
  Check(entry, job.OnCallDone(taken->get(), now));
  return true;
}

void FlowTable::Work(absl::Time now) {
  int64_t spent_ns = 0;
  int calls = 0;
  bool any = true;
  while (any && spent_ns < kTurnNs && calls < kTurnCalls) {
    any = false;
    for (auto& [key, entry] : flows_) {
      if (!BeginCall(&entry, now, &spent_ns)) continue;
      any = true;
      ++calls;
    }
  }
  for (auto& [key, entry] : flows_) {
    if (entry.job->stopped()) continue;
    if (any) {
      entry.job->SendDue(now);
    } else {
      entry.job->SendAll();
    }
  }
  if (any) outbox_->WorkSoon();
}

void FlowTable::OnTick(absl::Time now) {
  if (flows_.empty() || now < next_report_) return;
  next_report_ = now + kReportEvery;
  for (auto& [key, entry] : flows_) {
    if (!entry.job->stopped() && entry.job->has_news()) SendReport(entry.job.get(), now);
  }
}

void FlowTable::SendReport(FlowJob* job, absl::Time now) {
  v1::WorkerMessage message;
  *message.mutable_flow_report() = job->Report(now);
  outbox_->SendToCoordinator(message, {});
}

void FlowTable::Clear() {
  // Functions under way end, too.
  for (auto& [key, entry] : flows_) entry.job->Stop();
  flows_.clear();
  early_.clear();
  ended_.clear();
}

}  // namespace weir
