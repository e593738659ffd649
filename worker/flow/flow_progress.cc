#include "worker/flow/flow_progress.h"

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

// Whether no frame from inside of the loop to a vertex inside goes to another worker.
bool StaysOnItsWorker(const Flow& flow, ScopeId loop) {
  for (const FlowVertex& vertex : flow.vertices) {
    if (OutermostLoop(flow, vertex.scope) != loop) continue;
    for (size_t i = 0; i < vertex.inputs.size(); ++i) {
      const FlowVertex& from = flow.vertex(vertex.inputs[i].vertex);
      if (OutermostLoop(flow, from.scope) != loop) continue;
      if (RouteOf(vertex, static_cast<int>(i)).to != Routing::To::kSelf) return false;
    }
  }
  return true;
}

}  // namespace

FlowProgress::FlowProgress(const Flow& flow, std::shared_ptr<const Topology> topology, int workers,
                           uint64_t job, uint64_t generation)
    : topology_(std::move(topology)),
      job_(job),
      generation_(generation),
      reachability_(topology_),
      sender_(&reachability_),
      region_of_(flow.vertices.size(), -1),
      has_moved_(flow.vertices.size(), false) {
  FindRegions(flow, workers);
}

void FlowProgress::FindRegions(const Flow& flow, int workers) {
  const auto add = [&](auto&& belongs) {
    std::vector<VertexId> vertices;
    for (size_t v = 0; v < flow.vertices.size(); ++v) {
      if (!belongs(flow.vertices[v])) continue;
      vertices.push_back(VertexId(static_cast<int64_t>(v)));
      region_of_[v] = static_cast<int>(regions_.size());
    }
    if (vertices.empty()) return;
    regions_.push_back(std::make_unique<InnerFrontiers>(topology_, vertices));
  };
  if (workers == 1) return add([](const FlowVertex&) { return true; });
  for (size_t i = 0; i < flow.loops.size(); ++i) {
    const ScopeId loop(static_cast<int64_t>(i) + 1);
    if (OutermostLoop(flow, loop) != loop || !StaysOnItsWorker(flow, loop)) continue;
    add([&](const FlowVertex& vertex) { return OutermostLoop(flow, vertex.scope) == loop; });
  }
}

InnerFrontiers* FlowProgress::RegionOf(LocationId location) const {
  const int region = region_of_[topology_->location(location).port.vertex.value()];
  return region < 0 ? nullptr : regions_[region].get();
}

absl::Status FlowProgress::Grant(const v1::ProgressGrants& grants) {
  WEIR_ASSIGN_OR_RETURN(const std::vector<Change> changes, GrantsFrom(grants, *topology_));
  for (const Change& change : changes) {
    sender_.Grant(change.key, change.delta);
    if (InnerFrontiers* region = RegionOf(change.key.location)) {
      region->Update(change.key.location, change.key.time, change.delta);
    }
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
  for (const FlowChange& change : changes) {
    if (change.at == FlowChange::At::kElsewhere) continue;
    if (InnerFrontiers* region = RegionOf(change.location)) {
      region->Update(change.location, change.time, change.delta);
    }
  }
  return absl::OkStatus();
}

void FlowProgress::Arrived(LocationId input, const Timestamp& time) {
  if (InnerFrontiers* region = RegionOf(input)) region->Update(input, time, 1);
}

absl::Status FlowProgress::Apply(const v1::FrontierUpdate& message) {
  if (view_ == nullptr) {
    return absl::FailedPreconditionError("frontiers came before what this worker is granted");
  }
  WEIR_ASSIGN_OR_RETURN(const FrontierUpdate update, FrontierUpdateFrom(message, *topology_));
  WEIR_RETURN_IF_ERROR(view_->Apply(update));
  for (const auto& region : regions_) region->Apply(update);
  NoteMoved(update.changes);
  return absl::OkStatus();
}

const Frontier& FlowProgress::frontier(VertexId vertex, int input) const {
  const LocationId location = topology_->input(vertex, input);
  const int region = region_of_[vertex.value()];
  return region < 0 ? view_->frontier(location) : regions_[region]->frontier(location);
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
  for (const auto& region : regions_) NoteMoved(region->Propagate());
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
