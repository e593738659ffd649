#include "server/progress/job_progress.h"

#include <algorithm>
#include <utility>

#include "common/base/str_cat.h"

namespace weir {

JobProgress::JobProgress(Setup setup, std::shared_ptr<const Topology> topology, absl::Time now)
    : setup_(std::move(setup)),
      topology_(std::move(topology)),
      began_(now),
      reachability_(std::make_unique<Reachability>(topology_)),
      tracker_(std::make_unique<Tracker>(topology_)),
      clients_(setup_.clients) {}

absl::Status JobProgress::CheckOpen() const {
  if (state_ == State::kStarting || state_ == State::kRunning) return absl::OkStatus();
  return absl::FailedPreconditionError(StrCat("job ", setup_.job, " is ", NameOf(state_)));
}

std::string JobProgress::Named(const Worker& worker) const {
  return StrCat("job ", setup_.job, ", worker '", worker.name, "'");
}

template <class Message>
Message JobProgress::Labelled(Message message) const {
  message.set_job(setup_.job);
  message.set_generation(setup_.generation);
  return message;
}

absl::StatusOr<JobProgress::Joined> JobProgress::Join(uint64_t id, std::string name,
                                                      absl::Time now) {
  WEIR_RETURN_IF_ERROR(CheckOpen());
  const auto [at, is_new] = workers_.try_emplace(id, std::move(name), reachability_.get());
  if (!is_new) {
    return absl::AlreadyExistsError(StrCat(Named(at->second), " has joined already"));
  }
  Worker& worker = at->second;
  worker.since = now;
  ++working_;
  Joined joined;
  joined.grants = GrantsFor(&worker, now);
  // The update that it begins with stands in for the last one that the others got.
  joined.grants.set_first_update(static_cast<uint64_t>(std::max<int64_t>(last_update_, 1)));
  counters_.bytes_out += static_cast<int64_t>(joined.grants.ByteSizeLong());
  if (state_ == State::kRunning) {
    joined.update = AllFrontiers();
    counters_.bytes_out += static_cast<int64_t>(joined.update->ByteSizeLong());
  }
  return joined;
}

// Before the start the first epoch; then what may come out of the sources anyway, so that no
// frontier moves.
v1::ProgressGrants JobProgress::GrantsFor(Worker* worker, absl::Time now) {
  std::vector<Change> grants;
  const auto& vertices = topology_->graph().vertices();
  for (size_t v = 0; v < vertices.size(); ++v) {
    if (!vertices[v].inputs.empty()) continue;
    for (size_t o = 0; o < vertices[v].outputs.size(); ++o) {
      const LocationId output =
          topology_->output(VertexId(static_cast<int64_t>(v)), static_cast<int>(o));
      if (state_ == State::kRunning) {
        for (const Timestamp& time : tracker_->frontier(output)) {
          grants.push_back({{output, time}, 1});
        }
      } else {
        Coordinates first(topology_->location(output).depth + 1, 0);
        first[0] = setup_.first_epoch;
        grants.push_back({{output, Timestamp(std::move(first))}, 1});
      }
    }
  }
  for (const Change& grant : grants) {
    worker->receiver.Grant(grant.key, grant.delta, now);
    tracker_->Update(grant.key.location, grant.key.time, grant.delta);
  }
  v1::ProgressGrants message;
  PackChanges(grants, message.mutable_changes());
  return Labelled(std::move(message));
}

absl::StatusOr<v1::FrontierUpdate> JobProgress::Start(absl::Time now) {
  if (state_ != State::kStarting) {
    return absl::FailedPreconditionError(StrCat("job ", setup_.job, " is ", NameOf(state_)));
  }
  if (workers_.empty()) {
    return absl::FailedPreconditionError(StrCat("no worker has joined job ", setup_.job));
  }
  WEIR_RETURN_IF_ERROR(Settle(now).status());
  last_update_ = 1;
  v1::FrontierUpdate update = AllFrontiers();
  Broadcast(update);
  return update;
}

absl::StatusOr<absl::Span<const Change>> JobProgress::Settle(absl::Time now) {
  const absl::Span<const Change> moves = tracker_->Propagate(now);
  counters_.frontier_moves += static_cast<int64_t>(moves.size());
  const absl::Status counts =
      Annotate(tracker_->CheckCounts(), StrCat("job ", setup_.job, " cannot go on"));
  if (!counts.ok()) {
    NoteWrong(counts);
    state_ = State::kFailed;
    return counts;
  }
  state_ = tracker_->active() == 0 ? State::kCompleted : State::kRunning;
  return moves;
}

v1::FrontierUpdate JobProgress::AllFrontiers() const {
  return Labelled(ToWire(FrontierUpdate{last_update_, tracker_->Frontiers()}));
}

void JobProgress::Broadcast(const v1::FrontierUpdate& update) {
  ++counters_.updates;
  counters_.bytes_out += static_cast<int64_t>(update.ByteSizeLong()) * working_;
}

absl::Status JobProgress::OnBatch(uint64_t id, const v1::ProgressBatch& batch, absl::Time now) {
  counters_.bytes_in += static_cast<int64_t>(batch.ByteSizeLong());
  const auto at = workers_.find(id);
  if (at == workers_.end()) {
    ++counters_.refused;
    WEIR_RETURN_IF_ERROR(CheckOpen());
    return absl::NotFoundError(StrCat("worker ", id, " has no part in job ", setup_.job));
  }
  const absl::Status status = Take(&at->second, batch, now);
  if (status.ok()) return status;
  ++counters_.refused;
  const absl::Status named = Annotate(status, Named(at->second));
  if (!absl::IsFailedPrecondition(status)) EndPart(&at->second, Part::kEnded, named, now);
  return named;
}

absl::Status JobProgress::CheckGeneration(const v1::ProgressBatch& batch) const {
  if (batch.job() != setup_.job) {
    return InvalidArgument("progress batch ", batch.number(), " is of job ", batch.job());
  }
  if (batch.generation() == setup_.generation) return absl::OkStatus();
  const std::string why = StrCat("progress batch ", batch.number(), " is of generation ",
                                 batch.generation(), "; the job is in ", setup_.generation);
  return batch.generation() < setup_.generation ? absl::FailedPreconditionError(why)
                                                : absl::InvalidArgumentError(why);
}

absl::Status JobProgress::Take(Worker* worker, const v1::ProgressBatch& batch, absl::Time now) {
  WEIR_RETURN_IF_ERROR(CheckGeneration(batch));
  if (worker->part != Part::kWorking) {
    return absl::FailedPreconditionError(
        StrCat("the worker's part in the job is over: ", worker->why.message()));
  }
  if (state_ == State::kCompleted) {
    state_ = State::kFailed;
    return InvalidArgument("progress batch ", batch.number(),
                           " comes although nothing was outstanding and the job was completed:",
                           " counts did not add up, as if a frame was consumed twice");
  }
  WEIR_RETURN_IF_ERROR(CheckOpen());
  const absl::StatusOr<ProgressBatch> taken = ProgressBatchFrom(batch, *topology_, setup_.limits);
  if (!taken.ok()) {
    return Annotate(taken.status(), StrCat("progress batch ", batch.number()));
  }
  WEIR_RETURN_IF_ERROR(worker->receiver.Accept(*taken, now));
  for (const Change& change : taken->changes) {
    tracker_->Update(change.key.location, change.key.time, change.delta);
  }
  ++counters_.batches;
  counters_.changes += static_cast<int64_t>(taken->changes.size());
  return absl::OkStatus();
}

void JobProgress::EndPart(Worker* worker, Part part, const absl::Status& why, absl::Time now) {
  if (worker->part == Part::kWorking) --working_;
  worker->part = part;
  worker->why = why;
  worker->since = now;
  if (!why.ok()) NoteWrong(why);
}

void JobProgress::OnWorkerLost(uint64_t id, const absl::Status& why, absl::Time stops_by,
                               absl::Time now) {
  const auto at = workers_.find(id);
  if (at == workers_.end()) return;
  Worker& worker = at->second;
  worker.stops_by = std::min(worker.stops_by, stops_by);
  if (worker.part == Part::kWorking) {
    EndPart(&worker, Part::kLost, Annotate(why, StrCat(Named(worker), " is lost")), now);
  } else if (worker.part == Part::kEnded) {
    worker.part = Part::kLost;
  }
  OnTick(now);
}

void JobProgress::OnClientFeeds(VertexId source, std::string client) {
  lost_clients_.erase(client);
  clients_[source] = std::move(client);
}

void JobProgress::OnClientLost(std::string_view client, absl::Time now) {
  lost_clients_.try_emplace(std::string(client), now);
}

std::optional<absl::Time> JobProgress::ClientLostAt(std::string_view client) const {
  const auto at = lost_clients_.find(client);
  return at == lost_clients_.end() ? std::nullopt : std::optional(at->second);
}

std::optional<v1::FrontierUpdate> JobProgress::Propagate(absl::Time now) {
  if (state_ != State::kRunning) return std::nullopt;
  const absl::StatusOr<absl::Span<const Change>> moves = Settle(now);
  if (!moves.ok() || moves->empty()) return std::nullopt;
  const v1::FrontierUpdate message =
      Labelled(ToWire(FrontierUpdate{++last_update_, {moves->begin(), moves->end()}}));
  Broadcast(message);
  return message;
}

void JobProgress::NoteWrong(const absl::Status& why) {
  if (status_.ok() && state_ != State::kCompleted) status_ = why;
}

void JobProgress::Cancel(const absl::Status& why, absl::Time now) {
  if (state_ == State::kCompleted || state_ == State::kCancelling || state_ == State::kCancelled) {
    return;
  }
  NoteWrong(why);
  state_ = State::kCancelling;
  OnTick(now);
}

void JobProgress::OnStopped(uint64_t id, absl::Time now) {
  const auto at = workers_.find(id);
  if (at == workers_.end() || state_ != State::kCancelling) return;
  EndPart(&at->second, Part::kStopped, absl::OkStatus(), now);
  OnTick(now);
}

std::vector<uint64_t> JobProgress::not_stopped(absl::Time now) const {
  std::vector<uint64_t> ids;
  for (const auto& [id, worker] : workers_) {
    if (worker.part != Part::kStopped && worker.stops_by > now) ids.push_back(id);
  }
  return ids;
}

void JobProgress::OnTick(absl::Time now) {
  if (state_ != State::kCancelling || !not_stopped(now).empty()) return;
  state_ = State::kCancelled;
  counters_ = counters();
  workers_.clear();
  working_ = 0;
  tracker_.reset();
  reachability_.reset();
}

std::vector<uint64_t> JobProgress::working() const {
  std::vector<uint64_t> ids;
  for (const auto& [id, worker] : workers_) {
    if (worker.part == Part::kWorking) ids.push_back(id);
  }
  return ids;
}

ProgressCounters JobProgress::counters() const {
  ProgressCounters counters = counters_;
  if (tracker_ != nullptr) counters.pops = tracker_->pops();
  return counters;
}

std::string_view NameOf(JobProgress::State state) {
  switch (state) {
    case JobProgress::State::kStarting:
      return "starting";
    case JobProgress::State::kRunning:
      return "running";
    case JobProgress::State::kCompleted:
      return "completed";
    case JobProgress::State::kFailed:
      return "failed";
    case JobProgress::State::kCancelling:
      return "being cancelled";
    case JobProgress::State::kCancelled:
      return "cancelled";
  }
  return "in no state";
}

}  // namespace weir
