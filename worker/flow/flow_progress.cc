#include "worker/flow/flow_progress.h"

#include <algorithm>
#include <utility>

#include "common/base/status.h"
#include "common/flow/vertex_kind.h"
#include "common/plan/progress_wire.h"

namespace weir {
namespace {

// The outermost loop around a scope; the root for what is in none.
ScopeId OutermostLoop(const Flow& flow, ScopeId scope) {
  while (scope != LogicalGraph::kRoot) {
    const ScopeId parent = flow.loops[scope.value() - 1].parent;
    if (parent == LogicalGraph::kRoot) return scope;
    scope = parent;
  }
  return scope;
}

// Loops around all others from which no frame to a vertex inside goes to another worker: of each
// vertex, the number of the one that it is in; -1: it is in none.
std::vector<int> LoopsOnOneWorker(const Flow& flow) {
  std::vector<ScopeId> loops;  // outermost, of each vertex
  for (const FlowVertex& vertex : flow.vertices) {
    loops.push_back(OutermostLoop(flow, vertex.scope));
  }
  std::vector<bool> stays(flow.loops.size() + 1, true);
  stays[LogicalGraph::kRoot.value()] = false;
  for (size_t v = 0; v < flow.vertices.size(); ++v) {
    const FlowVertex& vertex = flow.vertices[v];
    for (size_t i = 0; i < vertex.inputs.size(); ++i) {
      if (loops[vertex.inputs[i].vertex.value()] != loops[v]) continue;
      if (RouteOf(vertex, static_cast<int>(i)).to == Routing::To::kSelf) continue;
      stays[loops[v].value()] = false;
    }
  }
  std::vector<int> numbers;
  for (const ScopeId loop : loops) {
    numbers.push_back(stays[loop.value()] ? static_cast<int>(loop.value()) : -1);
  }
  return numbers;
}

}  // namespace

FlowProgress::FlowProgress(const Flow& flow, std::shared_ptr<const Topology> topology, int workers,
                           uint64_t job, uint64_t generation)
    : topology_(std::move(topology)),
      job_(job),
      generation_(generation),
      reachability_(topology_),
      sender_(&reachability_),
      region_of_(workers == 1 ? std::vector<int>(flow.vertices.size(), 0) : LoopsOnOneWorker(flow)),
      has_moved_(flow.vertices.size(), false) {
  const bool any =
      std::any_of(region_of_.begin(), region_of_.end(), [](int region) { return region >= 0; });
  if (any) regions_ = std::make_unique<InnerFrontiers>(topology_, region_of_);
}

absl::Status FlowProgress::Grant(const v1::ProgressGrants& grants) {
  WEIR_ASSIGN_OR_RETURN(const std::vector<Change> changes, GrantsFrom(grants, *topology_));
  for (const Change& change : changes) {
    sender_.Grant(change.key, change.delta);
    if (regions_ == nullptr) continue;
    regions_->Update(change.key.location, change.key.time, change.delta);
  }
  view_ = std::make_unique<FrontierView>(topology_, static_cast<int64_t>(grants.first_update()));
  return absl::OkStatus();
}

absl::Status FlowProgress::Report(absl::Span<const FlowChange> changes, absl::Time now) {
  std::vector<Change> all;
  all.reserve(changes.size());
  for (const FlowChange& change : changes) {
    all.push_back({{change.location, change.time}, change.delta});
  }
  WEIR_RETURN_IF_ERROR(sender_.Report(std::move(all), now));
  if (regions_ == nullptr) return absl::OkStatus();
  for (const FlowChange& change : changes) {
    if (change.at == FlowChange::At::kElsewhere) continue;
    regions_->Update(change.location, change.time, change.delta);
  }
  return absl::OkStatus();
}

void FlowProgress::Arrived(LocationId input, const Timestamp& time) {
  if (regions_ != nullptr) regions_->Update(input, time, 1);
}

absl::Status FlowProgress::Apply(const v1::FrontierUpdate& message) {
  if (view_ == nullptr) {
    return absl::FailedPreconditionError("frontiers came before what this worker is granted");
  }
  WEIR_ASSIGN_OR_RETURN(const FrontierUpdate update, FrontierUpdateFrom(message, *topology_));
  WEIR_RETURN_IF_ERROR(view_->Apply(update));
  if (regions_ != nullptr) regions_->Apply(update);
  NoteMoved(update.changes);
  return absl::OkStatus();
}

const Frontier& FlowProgress::frontier(VertexId vertex, int input) const {
  const LocationId location = topology_->input(vertex, input);
  return IsInRegion(vertex) ? regions_->frontier(location) : view_->frontier(location);
}

void FlowProgress::NoteMoved(absl::Span<const Change> changes) {
  for (const Change& change : changes) {
    const VertexId vertex = topology_->location(change.key.location).port.vertex;
    if (has_moved_[vertex.value()]) continue;
    has_moved_[vertex.value()] = true;
    moved_.push_back(vertex);
  }
}

std::vector<VertexId> FlowProgress::TakeMoved() {
  if (!is_known()) return {};
  if (regions_ != nullptr) NoteMoved(regions_->Propagate());
  for (const VertexId vertex : moved_) has_moved_[vertex.value()] = false;
  return std::exchange(moved_, {});
}

v1::ProgressBatch FlowProgress::Labelled(const ProgressBatch& batch) const {
  v1::ProgressBatch message = ToWire(batch);
  message.set_job(job_);
  message.set_generation(generation_);
  return message;
}

std::optional<v1::ProgressBatch> FlowProgress::TakeDue(absl::Time now) {
  if (!sender_.IsDue(now, *view_)) return std::nullopt;
  return Flush();
}

std::optional<v1::ProgressBatch> FlowProgress::Flush() {
  std::optional<ProgressBatch> batch = sender_.Flush();
  if (!batch.has_value()) return std::nullopt;
  return Labelled(*batch);
}

}  // namespace weir
