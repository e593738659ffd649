#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/str_cat.h"
#include "common/timely/batch_receiver.h"
#include "common/timely/simulation_testing.h"

namespace weir {
namespace {

constexpr int64_t kMostActivations = 60;  // after which kernels only consume

std::pair<int64_t, OracleTime> Key(const Pointstamp& pointstamp) {
  return {pointstamp.location.value(), ToOracle(pointstamp.time)};
}

void Count(const Pointstamp& pointstamp, int64_t delta, OracleCounts* counts) {
  const auto key = Key(pointstamp);
  if (((*counts)[key] += delta) == 0) counts->erase(key);
}

// Nothing but what common/timely has.
class TrackingCoordinator : public SimulatedCoordinator {
 public:
  explicit TrackingCoordinator(const std::shared_ptr<const Topology>& topology)
      : reachability_(topology), tracker_(topology) {}

  Joined Join() override {
    receivers_.emplace_back(&reachability_);
    Joined joined = {{}, std::max<int64_t>(updates_, 1), std::nullopt};
    for (size_t v = 0; v < tracker_.topology().graph().vertices().size(); ++v) {
      if (!tracker_.topology().graph().vertices()[v].inputs.empty()) continue;
      const LocationId output = tracker_.topology().output(VertexId(static_cast<int64_t>(v)), 0);
      const Frontier first = {Timestamp::Minimum(0)};
      for (const Timestamp& time : updates_ == 0 ? first : tracker_.frontier(output)) {
        joined.grants.push_back({{output, time}, 1});
      }
    }
    for (const Change& grant : joined.grants) {
      receivers_.back().Grant(grant.key, grant.delta);
      tracker_.Update(grant.key.location, grant.key.time, grant.delta);
    }
    if (updates_ > 0) joined.update = FrontierUpdate{updates_, tracker_.Frontiers()};
    return joined;
  }
  FrontierUpdate Start() override {
    tracker_.Propagate();
    return {++updates_, tracker_.Frontiers()};
  }
  absl::Status Accept(size_t worker, const ProgressBatch& batch, absl::Time now) override {
    WEIR_RETURN_IF_ERROR(receivers_[worker].Accept(batch));
    for (const Change& change : batch.changes) {
      tracker_.Update(change.key.location, change.key.time, change.delta);
    }
    return absl::OkStatus();
  }
  std::optional<FrontierUpdate> Propagate(absl::Time now) override {
    const absl::Span<const Change> changes = tracker_.Propagate();
    if (changes.empty()) return std::nullopt;
    return FrontierUpdate{++updates_, {changes.begin(), changes.end()}};
  }
  absl::Status CheckCounts() const override { return tracker_.CheckCounts(); }
  const Tracker& tracker() const override { return tracker_; }

 private:
  Reachability reachability_;
  Tracker tracker_;
  std::vector<BatchReceiver> receivers_;
  int64_t updates_ = 0;
};

}  // namespace

Simulation::Simulation(std::shared_ptr<const Topology> topology, int workers, Random* random)
    : Simulation(topology, workers, random, std::make_unique<TrackingCoordinator>(topology)) {}

Simulation::Simulation(std::shared_ptr<const Topology> topology, int workers, Random* random,
                       std::unique_ptr<SimulatedCoordinator> coordinator)
    : topology_(std::move(topology)),
      random_(*random),
      oracle_(*topology_),
      reachability_(topology_),
      coordinator_(std::move(coordinator)),
      told_(topology_) {
  for (int i = 0; i < workers; ++i) AddWorker();
}

void Simulation::AddWorker() {
  SimulatedCoordinator::Joined joined = coordinator_->Join();
  workers_.push_back(std::make_unique<Worker>(topology_, &reachability_, joined.first_update));
  for (const Change& grant : joined.grants) {
    workers_.back()->sender.Grant(grant.key, grant.delta);
    Count(grant.key, grant.delta, &truth_);
    Count(grant.key, grant.delta, &heard_);
  }
  if (joined.update.has_value()) workers_.back()->updates.push_back(*std::move(joined.update));
}

void Simulation::GiveToOneWorker(std::vector<VertexId> vertices) {
  std::vector<int> part_of(topology_->graph().vertices().size(), -1);
  for (const VertexId vertex : vertices) part_of[vertex.value()] = 0;
  inner_ = std::make_unique<InnerFrontiers>(topology_, part_of);
  is_inside_.assign(topology_->graph().vertices().size(), false);
  for (const VertexId vertex : vertices) is_inside_[vertex.value()] = true;
}

bool Simulation::IsInside(LocationId location) const {
  return inner_ != nullptr && is_inside_[topology_->location(location).port.vertex.value()];
}

// What worker 0 knows of at once: everything inside but frames at the entries, which it knows of
// from their delivery on. Here a kernel is finished as soon as its frame is delivered.
void Simulation::CountInside(const Activation& activation) {
  for (const Change& change : activation) {
    const absl::Span<const LocationId> entries = inner_->entries();
    if (std::find(entries.begin(), entries.end(), change.key.location) != entries.end()) continue;
    inner_->Update(change.key.location, change.key.time, change.delta);
  }
}

std::string Simulation::PropagateInside() {
  if (inner_ == nullptr) return "";
  std::vector<Frontier> before;
  for (int64_t l = 0; l < topology_->num_locations(); ++l) {
    before.push_back(inner_->frontier(LocationId(l)));
  }
  const bool was_known = inner_->is_known() && counters_.inner_changes > 0;
  for (const Change& change : inner_->Propagate()) {
    ++counters_.inner_changes;
    if (change.delta < 0 || !was_known) continue;
    if (before[change.key.location.value()].Covers(change.key.time)) continue;
    return StrCat("inner: ", ToString(change, *topology_), " goes back");
  }
  return "";
}

Timestamp Simulation::Later(const Timestamp& time) {
  if (random_.Chance(0.7)) return time;
  Coordinates later(time.coordinates().begin(), time.coordinates().end());
  ++later[Below(static_cast<int64_t>(later.size()))];
  return Timestamp(later);
}

Timestamp Simulation::MuchLater(const Timestamp& time) {
  Coordinates later(time.coordinates().begin(), time.coordinates().end());
  ++later[0];
  return Timestamp(later);
}

std::vector<Change> Simulation::HeldAt(const Worker& worker, PortLocation::Kind kind) const {
  std::vector<Change> held;
  for (const Change& change : worker.sender.held()) {
    if (topology_->location(change.key.location).kind == kind) held.push_back(change);
  }
  return held;
}

// A frame goes to every input behind the output: one count each.
void Simulation::SendFrom(LocationId output, const Timestamp& time, Activation* activation) {
  for (const Hop& hop : topology_->hops(output)) {
    activation->push_back({{hop.to, time}, 1});
    to_send_.push_back({hop.to, time});
  }
}

// What a kernel may do once it has consumed or was notified of `cause`.
void Simulation::React(const Pointstamp& cause, Activation* activation) {
  for (const Hop& hop : topology_->hops(cause.location)) {
    const std::optional<Timestamp> time = hop.summary.Apply(cause.time);
    if (topology_->location(hop.to).kind == PortLocation::Kind::kRequest) {
      if (random_.Chance(0.3)) activation->push_back({{hop.to, Later(cause.time)}, 1});
      continue;
    }
    if (random_.Chance(0.5)) SendFrom(hop.to, Later(*time), activation);
    if (random_.Chance(0.3)) activation->push_back({{hop.to, Later(*time)}, 1 + Below(2)});
  }
}

std::string Simulation::Consume(Worker* worker, Kernel kernel) {
  if (worker->inbox.empty() || !worker->view.is_known()) return "";
  std::swap(worker->inbox[Below(static_cast<int64_t>(worker->inbox.size()))], worker->inbox.back());
  const Pointstamp frame = worker->inbox.back();
  worker->inbox.pop_back();
  if (!worker->view.frontier(frame.location).Covers(frame.time) && !may_not_add_up_) {
    return StrCat("I14: a frame at ", topology_->Describe(frame.location), " of ",
                  ToString(frame.time), " comes after its time is complete");
  }
  Activation activation = {{frame, -1}};
  if (kernel == Kernel::kReacts) React(frame, &activation);
  return Perform(worker, std::move(activation));
}

std::string Simulation::UseCapability(Worker* worker) {
  const std::vector<Change> held = HeldAt(*worker, PortLocation::Kind::kOutput);
  if (held.empty()) return "";
  const Pointstamp chosen = held[Below(static_cast<int64_t>(held.size()))].key;
  Activation activation;
  if (random_.Chance(0.6)) SendFrom(chosen.location, Later(chosen.time), &activation);
  const int64_t then = Below(4);  // keep, drop, trade in, move on
  if (then >= 1) activation.push_back({chosen, -1});
  if (then == 2) activation.push_back({{chosen.location, Later(chosen.time)}, 1 + Below(2)});
  if (then == 3) activation.push_back({{chosen.location, MuchLater(chosen.time)}, 1});
  return Perform(worker, std::move(activation));
}

std::string Simulation::ServeRequest(Worker* worker) {
  for (const Change& change : HeldAt(*worker, PortLocation::Kind::kRequest)) {
    const PortLocation& place = topology_->location(change.key.location);
    const LocationId input = topology_->input(place.port.vertex, place.port.number);
    if (!worker->view.IsComplete(input, change.key.time)) continue;
    for (const auto& [pointstamp, count] : truth_) {
      if (may_not_add_up_ || pointstamp.first != input.value() || count <= 0) continue;
      if (OracleLessEqual(pointstamp.second, ToOracle(change.key.time))) {
        return "I20: notified while a frame is outstanding";
      }
    }
    ++counters_.notifications;
    Activation activation = {{change.key, -1}};
    React(change.key, &activation);
    return Perform(worker, std::move(activation));
  }
  return "";
}

std::string Simulation::Perform(Worker* worker, Activation activation) {
  const std::vector<Pointstamp> frames = std::exchange(to_send_, {});
  const absl::Status status = worker->sender.Report(activation, now_);
  if (!status.ok()) return StrCat("I16: ", status.ToString());
  ++counters_.activations;
  for (const Change& change : activation) {
    Count(change.key, change.delta, &truth_);
    Count(change.key, change.delta, &worker->unsent);
  }
  for (const Pointstamp& frame : frames) {
    const int64_t to = IsInside(frame.location) ? 0 : Below(static_cast<int64_t>(workers_.size()));
    workers_[to]->inbox.push_back(frame);
  }
  if (inner_ != nullptr) CountInside(activation);
  return PropagateInside();
}

std::string Simulation::Flush(Worker* worker) {
  const std::optional<ProgressBatch> batch = worker->sender.Flush();
  if (batch.has_value() == worker->unsent.empty()) return "I19: a batch without a change";
  worker->unsent.clear();
  if (!batch.has_value()) return "";
  if (batch->changes.empty()) return "I19: an empty batch";
  ++counters_.batches;
  worker->batches.push_back(*batch);
  return "";
}

std::string Simulation::Receive(size_t worker) {
  if (workers_[worker]->batches.empty()) return "";
  const ProgressBatch batch = std::move(workers_[worker]->batches.front());
  workers_[worker]->batches.pop_front();
  const absl::Status status = coordinator_->Accept(worker, batch, now_);
  if (!status.ok()) {
    noticed_ = noticed_ || !coordinator_->CheckCounts().ok();
    return noticed_ && may_not_add_up_ ? "" : StrCat("I16: ", status.ToString());
  }
  for (const Change& change : batch.changes) Count(change.key, change.delta, &heard_);
  return "";
}

std::string Simulation::Broadcast() {
  if (!told_.is_known()) return Tell(coordinator_->Start());
  const std::optional<FrontierUpdate> update = coordinator_->Propagate(now_);
  if (const absl::Status counts = coordinator_->CheckCounts(); !counts.ok()) {
    noticed_ = true;
    if (!may_not_add_up_) return StrCat("I15: ", counts.ToString());
  }
  return update.has_value() ? Tell(*update) : "";
}

std::string Simulation::Tell(const FrontierUpdate& update) {
  if (told_.is_known() && update.empty()) return "I19: an empty update";
  for (const std::unique_ptr<Worker>& worker : workers_) worker->updates.push_back(update);
  ++counters_.updates;
  const absl::Status status = told_.Apply(update);
  return status.ok() || may_not_add_up_ ? "" : StrCat("I13: ", status.ToString());
}

std::string Simulation::TakeUpdate(Worker* worker) {
  if (worker->updates.empty()) return "";
  const FrontierUpdate update = std::move(worker->updates.front());
  worker->updates.pop_front();
  const absl::Status status = worker->view.Apply(update);
  if (!status.ok() && !may_not_add_up_) return StrCat("I13: ", status.ToString());
  if (inner_ != nullptr && worker == workers_[0].get()) inner_->Apply(update);
  return PropagateInside();
}

std::string Simulation::Step() {
  enum { kConsume, kUse = 2, kServe = 4, kFlush, kReceive, kBroadcast = 8, kTake, kKinds = 12 };
  now_ += absl::Microseconds(Below(600));
  const int64_t number = Below(static_cast<int64_t>(workers_.size()));
  Worker* const worker = workers_[number].get();
  const int64_t kind = Below(kKinds);
  const Kernel kernel =
      counters_.activations < kMostActivations ? Kernel::kReacts : Kernel::kOnlyConsumes;
  std::string wrong;
  if (kind >= kReceive && kind < kBroadcast) {
    wrong = Receive(number);
  } else if (kind == kBroadcast) {
    wrong = Broadcast();
  } else if (!worker->is_lost) {
    if (kind < kUse) wrong = Consume(worker, kernel);
    if (kind >= kUse && kind < kServe) wrong = UseCapability(worker);
    if (kind == kServe) wrong = ServeRequest(worker);
    if (kind == kFlush || worker->sender.IsDue(now_, worker->view)) wrong += Flush(worker);
    if (kind >= kTake) wrong = TakeUpdate(worker);
  }
  return wrong.empty() ? Check() : wrong;
}

std::string Simulation::DropAll(Worker* worker, Keep keep) {
  Activation activation;
  bool keep_one = keep == Keep::kOneCapability;
  for (Change change : worker->sender.held()) {
    if (std::exchange(keep_one, false) && --change.delta == 0) continue;
    activation.push_back({change.key, -change.delta});
  }
  return Perform(worker, std::move(activation));
}

std::string Simulation::Drain(Keep keep) {
  std::string wrong = Broadcast();
  for (const std::unique_ptr<Worker>& worker : workers_) {
    while (wrong.empty() && !worker->updates.empty()) wrong = TakeUpdate(worker.get());
  }
  for (const std::unique_ptr<Worker>& worker : workers_) {
    if (worker->is_lost) continue;
    while (wrong.empty() && !worker->inbox.empty())
      wrong = Consume(worker.get(), Kernel::kOnlyConsumes);
    if (wrong.empty()) wrong = DropAll(worker.get(), std::exchange(keep, Keep::kNothing));
    if (wrong.empty()) wrong = Flush(worker.get());
    if (wrong.empty()) wrong = Check();
  }
  for (size_t w = 0; w < workers_.size(); ++w) {
    while (wrong.empty() && !workers_[w]->batches.empty()) wrong = Receive(w);
  }
  if (wrong.empty()) wrong = Broadcast();
  for (const std::unique_ptr<Worker>& worker : workers_) {
    while (wrong.empty() && !worker->updates.empty()) wrong = TakeUpdate(worker.get());
  }
  if (wrong.empty()) wrong = Check();
  return wrong.empty() ? CheckExact() : wrong;
}

void Simulation::Lose(size_t worker) {
  workers_[worker]->is_lost = true;
  // For the others it is as if it still had what it did not report.
  for (const auto& [key, delta] : workers_[worker]->unsent) {
    Count({LocationId(key.first), FromOracle(key.second)}, -delta, &truth_);
  }
  workers_[worker]->unsent.clear();
}

bool Simulation::RepeatAFrame() {
  for (const std::unique_ptr<Worker>& worker : workers_) {
    if (worker->inbox.empty()) continue;
    workers_[Below(static_cast<int64_t>(workers_.size()))]->inbox.push_back(worker->inbox.back());
    may_not_add_up_ = true;
    return true;
  }
  return false;
}

std::string Simulation::Join() {
  std::string wrong = Broadcast();
  if (!wrong.empty()) return wrong;
  if (tracker().active() == 0) return "";
  AddWorker();
  if (coordinator_->Propagate(now_).has_value()) return "I29: a frontier moves as a worker joins";
  return Check();
}

std::string Simulation::Check() const {
  if (may_not_add_up_) return "";
  std::string wrong = CheckConservation();
  if (wrong.empty()) wrong = CheckFrontiers();
  if (wrong.empty()) wrong = CheckInside();
  return wrong.empty() ? CheckUnderWay() : wrong;
}

std::string Simulation::CheckConservation() const {
  OracleCounts sums = heard_;
  for (const std::unique_ptr<Worker>& worker : workers_) {
    for (const auto& [key, delta] : worker->unsent) {
      Count({LocationId(key.first), FromOracle(key.second)}, delta, &sums);
    }
    for (const ProgressBatch& batch : worker->batches) {
      for (const Change& change : batch.changes) Count(change.key, change.delta, &sums);
    }
  }
  return sums == truth_ ? "" : "I10: heard + under way + not sent is not what is outstanding";
}

std::string Simulation::CheckFrontiers() const {
  if (!told_.is_known()) return "";
  const std::vector<OracleTimes> wanted = oracle_.Frontiers(truth_);
  for (int64_t l = 0; l < topology_->num_locations(); ++l) {
    const LocationId input(l);
    if (topology_->location(input).kind != PortLocation::Kind::kInput) continue;
    for (const OracleTime& element : wanted[l]) {
      if (tracker().frontier(input).Covers(FromOracle(element))) continue;
      return StrCat("I11: the frontier ", ToString(tracker().frontier(input)), " at ",
                    topology_->Describe(input), " is ahead of ", ToString(FromOracle(element)));
    }
    for (const std::unique_ptr<Worker>& worker : workers_) {
      if (!worker->view.is_known()) continue;
      for (const Timestamp& element : tracker().frontier(input)) {
        if (worker->view.frontier(input).Covers(element)) continue;
        return StrCat("I12: a worker is ahead of the coordinator at ", topology_->Describe(input));
      }
    }
  }
  return "";
}

std::string Simulation::CheckInside() const {
  if (inner_ == nullptr || !inner_->is_known()) return "";
  const std::vector<OracleTimes> wanted = oracle_.Frontiers(truth_);
  for (int64_t l = 0; l < topology_->num_locations(); ++l) {
    const LocationId input(l);
    if (!IsInside(input) || topology_->location(input).kind != PortLocation::Kind::kInput) continue;
    for (const OracleTime& element : wanted[l]) {
      if (inner_->frontier(input).Covers(FromOracle(element))) continue;
      return StrCat("inner: the frontier ", ToString(inner_->frontier(input)), " at ",
                    topology_->Describe(input), " is ahead of ", ToString(FromOracle(element)));
    }
  }
  return "";
}

std::string Simulation::CheckUnderWay() const {
  for (const std::unique_ptr<Worker>& worker : workers_) {
    for (const ProgressBatch& batch : worker->batches) {
      for (const Change& change : batch.changes) {
        const bool is_expected = std::any_of(heard_.begin(), heard_.end(), [&](const auto& entry) {
          return entry.second > 0 &&
                 reachability_.CouldResultIn(
                     {LocationId(entry.first.first), FromOracle(entry.first.second)}, change.key);
        });
        if (!is_expected) {
          return StrCat("I15: ", ToString(change, *topology_), " comes as a surprise");
        }
      }
    }
  }
  return "";
}

std::string Simulation::CheckExact() const {
  if (may_not_add_up_) return "";
  const std::vector<OracleTimes> wanted = oracle_.Frontiers(truth_);
  for (int64_t l = 0; l < topology_->num_locations(); ++l) {
    const LocationId input(l);
    if (topology_->location(input).kind != PortLocation::Kind::kInput) continue;
    if (ToOracle(tracker().frontier(input)) != wanted[l]) {
      return StrCat("I18: ", ToString(tracker().frontier(input)), " remains at ",
                    topology_->Describe(input));
    }
    for (const std::unique_ptr<Worker>& worker : workers_) {
      if (!worker->is_lost && ToOracle(worker->view.frontier(input)) != wanted[l]) {
        return StrCat("I18: a worker does not learn of the frontier at ",
                      topology_->Describe(input));
      }
    }
    if (IsInside(input) && ToOracle(inner_->frontier(input)) != wanted[l]) {
      return StrCat("inner: ", ToString(inner_->frontier(input)), " remains at ",
                    topology_->Describe(input));
    }
  }
  return truth_.empty() && tracker().active() != 0 ? "I18: something remains active" : "";
}

}  // namespace weir
