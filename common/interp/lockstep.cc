#include "common/interp/lockstep.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/status.h"
#include "common/ops/control/assignment.h"
#include "common/ops/control/ragged.h"
#include "common/ops/control/region.h"

namespace weir {
namespace {

constexpr std::string_view kReduction = "iteration_reduce";

bool IsRead(const Node& node) { return node.op == "read_variable"; }
bool IsWrite(const Node& node) {
  return node.op == "update_variable" || node.op == "assign_variable";
}

// Calls visit(node) for the nodes of a region and of those inside, in inner pfors if `deep`.
template <class Visit>
void ForEachNode(const Graph& graph, RegionId region, bool deep, const Visit& visit) {
  for (NodeId id : graph.region(region).nodes) {
    const Node& node = graph.node(id);
    visit(node);
    if (!deep && node.op == "pfor") continue;
    for (RegionId inner : node.regions) ForEachNode(graph, inner, deep, visit);
  }
}

bool Reduces(const Graph& graph, RegionId region) {
  bool found = false;
  ForEachNode(graph, region, false, [&](const Node& n) { found = found || n.op == kReduction; });
  return found;
}

Variables::Names OrderedIn(const Graph& graph, RegionId region) {
  Variables::Names names;
  ForEachNode(graph, region, true, [&](const Node& node) {
    const Attr* mode = node.op == "assign_variable" ? node.FindAttr("mode") : nullptr;
    if (mode != nullptr && mode->AsString() == control::kOrdered) {
      names.insert(node.attr("name").AsString());
    }
  });
  return names;
}

}  // namespace

bool Lockstep::Needs(const Graph& graph, NodeId id) {
  const RegionId body = graph.node(id).regions[0];
  bool writes = false;
  ForEachNode(graph, body, true, [&](const Node& node) { writes = writes || IsWrite(node); });
  return writes || Reduces(graph, body);
}

bool Lockstep::MeetsInOrder(const Graph& graph) {
  bool found = false;
  ForEachNode(graph, graph.entry().body, true, [&](const Node& pfor) {
    if (pfor.op != "pfor" || found) return;
    const Variables::Names ordered = OrderedIn(graph, pfor.regions[0]);
    if (ordered.empty()) return;
    std::set<std::string> read, written;
    ForEachNode(graph, pfor.regions[0], true, [&](const Node& node) {
      if (!IsRead(node) && !IsWrite(node)) return;
      const std::string& name = node.attr("name").AsString();
      if (!ordered.contains(name)) (IsRead(node) ? read : written).insert(name);
    });
    found =
        Reduces(graph, pfor.regions[0]) ||
        std::any_of(read.begin(), read.end(), [&](const auto& n) { return written.contains(n); });
  });
  return found;
}

Lockstep::Lockstep(Interpretation* run, NodeId pfor)
    : run_(run), graph_(run->graph()), pfor_(graph_.node(pfor)) {
  in_order_ = OrderedIn(graph_, pfor_.regions[0]);
}

absl::StatusOr<Values> Lockstep::RunPfor(Scope* scope, Values* slots) {
  WEIR_ASSIGN_OR_RETURN(extent_, pfor_.attr("extent").AsDims()[0].Evaluate(*scope->symbols));
  if (extent_ < 0) return InvalidArgument("pfor extent ", extent_, " is negative");
  int64_t count = extent_;
  if (!pfor_.inputs.empty()) {
    count = (*slots)[run_->lifetimes_.slot(pfor_.inputs[0])].At<int64_t>({});
  }
  WEIR_RETURN_IF_ERROR(control::CheckCount(count, extent_));
  if (extent_ > run_->options_.max_tensor_bytes / int64_t{sizeof(void*)}) {
    return absl::ResourceExhaustedError(StrCat("a pfor of ", extent_, " iterations that meet"));
  }
  Variables* const around = run_->variables_;
  std::vector<size_t> all;
  Lanes lanes;
  for (int64_t i = 0; i < count; ++i) {
    WEIR_RETURN_IF_ERROR(run_->Step());
    lanes_.push_back(std::make_unique<Lane>(Lane{i, *slots, Variables(around, &in_order_)}));
    lanes.push_back({lanes_.back().get(), scope, nullptr});
    all.push_back(i);
  }
  Rows results;
  absl::Status status;
  // Together, or in order one by one.
  const size_t step = in_order_.empty() ? all.size() : 1;
  for (size_t first = 0; first < all.size() && status.ok(); first += step) {
    const std::vector<size_t> some(all.begin() + first, all.begin() + first + step);
    Rows args;
    for (size_t i : some) args.push_back({Tensor::Scalar<int64_t>(static_cast<int64_t>(i))});
    Lanes group;
    for (size_t i : some) group.push_back({lanes[i].lane, scope, nullptr});
    absl::StatusOr<Rows> rows = RunRegion(pfor_.regions[0], std::move(args), std::move(group));
    status = rows.status();
    if (rows.ok()) results.insert(results.end(), rows->begin(), rows->end());
  }
  run_->variables_ = around;
  WEIR_RETURN_IF_ERROR(status);
  WEIR_RETURN_IF_ERROR(WriteBehind());
  return Stacked(results, *scope);
}

absl::StatusOr<Values> Lockstep::Stacked(const Rows& results, const Scope& scope) const {
  Values out;
  for (size_t k = 0; k < pfor_.outputs.size(); ++k) {
    const TensorType& type = graph_.type(pfor_.outputs[k]);
    std::vector<Tensor> parts;
    for (const Values& row : results) parts.push_back(row[k]);
    Extents extents;
    if (parts.empty()) {
      WEIR_ASSIGN_OR_RETURN(extents, type.shape.Evaluate(*scope.symbols));
      extents.erase(extents.begin());
    } else {
      extents = parts[0].extents();
    }
    for (const Tensor& part : parts) {
      if (part.extents() == extents) continue;
      return InvalidArgument("result ", k, " is ", part.type().ToString(),
                             ", but the first iteration made ", parts[0].type().ToString(),
                             "; iterations must agree in shape");
    }
    parts.resize(static_cast<size_t>(extent_), Tensor::Zeros(type.dtype, extents));
    out.push_back(Stack(type.dtype, extents, parts));
  }
  return out;
}

bool Lockstep::Meets(NodeId id) const {
  const Node& node = graph_.node(id);
  if (node.op == kReduction) return true;
  return node.op != "pfor" && std::any_of(node.regions.begin(), node.regions.end(),
                                          [&](RegionId region) { return Reduces(graph_, region); });
}

const Tensor& Lockstep::At(const Active& active, ValueId value) const {
  return active.lane->slots[run_->lifetimes_.slot(value)];
}

// The same lanes at the entry of a region.
Lockstep::Lanes Lockstep::Inside(const Lanes& lanes, const std::vector<size_t>& which) {
  Lanes inside;
  for (size_t k : which) inside.push_back({lanes[k].lane, lanes[k].scope.get(), nullptr});
  return inside;
}

absl::StatusOr<Lockstep::Rows> Lockstep::RunRegion(RegionId id, Rows args, Lanes lanes) {
  const Region& region = graph_.region(id);
  for (size_t k = 0; k < lanes.size(); ++k) {
    Active& active = lanes[k];
    active.scope = std::make_unique<Scope>(*active.around->symbols);
    WEIR_RETURN_IF_ERROR(
        run_->Enter(region, std::move(args[k]), active.scope.get(), &active.lane->slots));
  }
  ++run_->depth_;
  absl::Status status;
  for (NodeId node : region.nodes) {
    if (!status.ok()) break;
    status = RunNode(node, id == pfor_.regions[0], lanes);
    if (!status.ok()) status = run_->WithNode(status, node);
  }
  --run_->depth_;
  WEIR_RETURN_IF_ERROR(status);
  Rows rows;
  for (const Active& active : lanes) {
    Values results;
    for (ValueId result : region.results) results.push_back(At(active, result));
    rows.push_back(std::move(results));
  }
  return rows;
}

absl::Status Lockstep::RunNode(NodeId id, bool in_body, const Lanes& lanes) {
  const Node& node = graph_.node(id);
  if (Meets(id) || (in_body && IsRead(node))) {
    WEIR_ASSIGN_OR_RETURN(Rows rows, RunMeeting(id, lanes));
    for (size_t k = 0; k < lanes.size(); ++k) {
      WEIR_RETURN_IF_ERROR(
          run_->Keep(id, std::move(rows[k]), lanes[k].scope.get(), &lanes[k].lane->slots));
    }
    return absl::OkStatus();
  }
  for (const Active& active : lanes) {
    run_->variables_ = &active.lane->variables;
    const absl::Status status = run_->RunNode(id, active.scope.get(), &active.lane->slots);
    if (!status.ok()) return control::InIteration(status, active.lane->index);
  }
  return absl::OkStatus();
}

absl::StatusOr<Lockstep::Rows> Lockstep::RunMeeting(NodeId id, const Lanes& lanes) {
  WEIR_RETURN_IF_ERROR(run_->Step());
  const Node& node = graph_.node(id);
  if (lanes.empty()) return Rows();
  if (node.op == kReduction) return Reduce(node, lanes);
  if (IsRead(node)) return Read(node, lanes);
  if (node.op == "while") return RunWhile(node, lanes);
  if (node.op == "for") return RunFor(node, lanes);
  if (node.op == "if" || node.op == "case") return RunBranches(node, lanes);
  return InvalidArgument("iterations of a loop cannot meet inside of ", node.op);
}

absl::StatusOr<Lockstep::Rows> Lockstep::Reduce(const Node& node, const Lanes& lanes) {
  WEIR_ASSIGN_OR_RETURN(const int64_t extent,
                        node.attr("extent").AsDims()[0].Evaluate(*lanes[0].scope->symbols));
  if (extent != extent_) {
    return InvalidArgument("has the extent ", extent, ", but the loop around it ", extent_);
  }
  std::vector<const Tensor*> rows(static_cast<size_t>(extent_));
  for (const Active& active : lanes) {
    const Tensor& row = At(active, node.inputs[0]);
    const Tensor& first = At(lanes[0], node.inputs[0]);
    if (row.extents() != first.extents()) {
      return InvalidArgument("reduces ", row.type().ToString(), " of iteration ",
                             active.lane->index, " with ", first.type().ToString(),
                             "; iterations must agree in shape");
    }
    rows[static_cast<size_t>(active.lane->index)] = &row;
  }
  WEIR_ASSIGN_OR_RETURN(const Tensor all, ReduceRowsOf(node.attr("kind").AsString(), rows));
  return Rows(lanes.size(), Values{all});
}

absl::StatusOr<Lockstep::Rows> Lockstep::RunBranches(const Node& node, const Lanes& lanes) {
  const int64_t last = static_cast<int64_t>(node.regions.size()) - 1;
  Rows rows(lanes.size());
  for (int64_t branch = 0; branch <= last; ++branch) {
    std::vector<size_t> taken;
    for (size_t k = 0; k < lanes.size(); ++k) {
      const Tensor& chosen = At(lanes[k], node.inputs[0]);
      int64_t index = 0;
      if (node.op == "if") {
        index = chosen.At<bool>({}) ? 0 : 1;
      } else {
        index = chosen.dtype() == DType::kI32 ? chosen.At<int32_t>({}) : chosen.At<int64_t>({});
      }
      if ((index < 0 || index > last ? last : index) == branch) taken.push_back(k);
    }
    if (taken.empty()) continue;
    WEIR_ASSIGN_OR_RETURN(Rows some, RunRegion(node.regions[static_cast<size_t>(branch)],
                                               Rows(taken.size()), Inside(lanes, taken)));
    for (size_t i = 0; i < taken.size(); ++i) rows[taken[i]] = std::move(some[i]);
  }
  return rows;
}

absl::StatusOr<Lockstep::Rows> Lockstep::RunWhile(const Node& node, const Lanes& lanes) {
  Rows carried(lanes.size());
  std::vector<size_t> active;
  for (size_t k = 0; k < lanes.size(); ++k) {
    for (ValueId input : node.inputs) carried[k].push_back(At(lanes[k], input));
    active.push_back(k);
  }
  for (;;) {
    Rows args;
    for (size_t k : active) args.push_back(carried[k]);
    WEIR_ASSIGN_OR_RETURN(const Rows goes_on,
                          RunRegion(node.regions[0], args, Inside(lanes, active)));
    std::vector<size_t> left;
    for (size_t i = 0; i < active.size(); ++i) {
      if (goes_on[i][0].At<bool>({})) left.push_back(active[i]);
    }
    active = std::move(left);
    if (active.empty()) return carried;
    args.clear();
    for (size_t k : active) args.push_back(carried[k]);
    WEIR_ASSIGN_OR_RETURN(Rows next, RunRegion(node.regions[1], args, Inside(lanes, active)));
    for (size_t i = 0; i < active.size(); ++i) carried[active[i]] = std::move(next[i]);
  }
}

absl::StatusOr<Lockstep::Rows> Lockstep::RunFor(const Node& node, const Lanes& lanes) {
  const size_t num_carried = node.inputs.size() - 1;
  Rows carried(lanes.size());
  std::vector<Rows> collected(lanes.size());  // by lane and trip
  std::vector<int64_t> trips;
  for (size_t k = 0; k < lanes.size(); ++k) {
    for (size_t i = 1; i <= num_carried; ++i) carried[k].push_back(At(lanes[k], node.inputs[i]));
    trips.push_back(std::max<int64_t>(0, At(lanes[k], node.inputs[0]).At<int64_t>({})));
    if (node.FindAttr("extent") == nullptr) continue;
    WEIR_ASSIGN_OR_RETURN(const int64_t extent,
                          node.attr("extent").AsDims()[0].Evaluate(*lanes[k].scope->symbols));
    if (extent == trips[k]) continue;
    return InvalidArgument("the trip count is ", trips[k], ", but the extent of what is collected ",
                           extent);
  }
  for (int64_t trip = 0;; ++trip) {
    std::vector<size_t> active;
    Rows args;
    for (size_t k = 0; k < lanes.size(); ++k) {
      if (trip >= trips[k]) continue;
      active.push_back(k);
      args.push_back({Tensor::Scalar<int64_t>(trip)});
      args.back().insert(args.back().end(), carried[k].begin(), carried[k].end());
    }
    if (active.empty()) break;
    WEIR_ASSIGN_OR_RETURN(const Rows next,
                          RunRegion(node.regions[0], std::move(args), Inside(lanes, active)));
    for (size_t i = 0; i < active.size(); ++i) {
      carried[active[i]].assign(next[i].begin(), next[i].begin() + num_carried);
      collected[active[i]].emplace_back(next[i].begin() + num_carried, next[i].end());
    }
  }
  for (size_t k = 0; k < lanes.size(); ++k) {
    for (size_t i = num_carried; i < node.outputs.size(); ++i) {
      const TensorType& type = graph_.type(node.outputs[i]);
      WEIR_ASSIGN_OR_RETURN(Extents extents, type.shape.Evaluate(*lanes[k].scope->symbols));
      extents.erase(extents.begin());
      std::vector<Tensor> parts;
      for (const Values& row : collected[k]) parts.push_back(row[i - num_carried]);
      carried[k].push_back(Stack(type.dtype, extents, parts));
    }
  }
  return carried;
}

// Directly in the body all iterations meet.
absl::StatusOr<Lockstep::Rows> Lockstep::Read(const Node& node, const Lanes& lanes) {
  const std::string& name = node.attr("name").AsString();
  const bool wrote = std::any_of(lanes_.begin(), lanes_.end(), [&](const auto& lane) {
    return lane->variables.written().contains(name);
  });
  Tensor* before = lanes[0].lane->variables.For(node);
  if (before == nullptr) return absl::NotFoundError(StrCat("there is no variable '", name, "'"));
  Tensor value = *before;
  if (wrote) {
    WEIR_ASSIGN_OR_RETURN(const Variables::Written met, Written(name));
    WEIR_ASSIGN_OR_RETURN(value, Variables::Then(value, met));
  }
  return Rows(lanes.size(), Values{value});
}

absl::StatusOr<Variables::Written> Lockstep::Written(const std::string& name) const {
  std::vector<const Variables::Written*> written(static_cast<size_t>(extent_));
  for (const auto& lane : lanes_) {
    auto it = lane->variables.written().find(name);
    if (it != lane->variables.written().end()) written[lane->index] = &it->second;
  }
  return Variables::Meet(written);
}

absl::Status Lockstep::WriteBehind() {
  std::set<std::string> names;
  for (const auto& lane : lanes_) {
    for (const auto& [name, written] : lane->variables.written()) names.insert(name);
  }
  for (const std::string& name : names) {
    WEIR_ASSIGN_OR_RETURN(const Variables::Written met, Written(name));
    WEIR_RETURN_IF_ERROR(run_->variables_->Write(name, met));
  }
  return absl::OkStatus();
}

}  // namespace weir
