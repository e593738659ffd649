#include "worker/device/cpu/groups.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "common/base/str_cat.h"
#include "common/ops/registry.h"
#include "worker/device/cpu/epilogue.h"

namespace weir::cpu {
namespace {

// Groups are unions of nodes with equal depth. The depth of a node is the largest number of
// launches that must end before it starts; it grows along every edge but those inside a group, so
// no path leaves a group and comes back.
class Grouping {
 public:
  Grouping(const Graph& graph, RegionId region) : graph_(graph), region_(graph.region(region)) {
    for (size_t i = 0; i < region_.nodes.size(); ++i) position_[region_.nodes[i]] = i;
    CountUses();
    const size_t count = region_.nodes.size();
    unit_.resize(count);
    std::iota(unit_.begin(), unit_.end(), 0);
    fusable_.resize(count);
    depth_.assign(count, 0);
    FindUnits();
    Deepen();
    Sink();
    Await();
  }

  std::vector<Launch> Launches() {
    JoinNeighbours();
    JoinShort();
    absl::flat_hash_map<size_t, std::vector<size_t>> members;
    for (size_t i = 0; i < unit_.size(); ++i) members[Root(i)].push_back(i);
    std::vector<std::vector<size_t>> parts;
    for (auto& [root, nodes] : members) Split(nodes, &parts);
    std::sort(parts.begin(), parts.end(), [&](const auto& a, const auto& b) {
      return std::pair(depth_[a[0]], a[0]) < std::pair(depth_[b[0]], b[0]);
    });
    std::vector<Launch> launches;
    for (const std::vector<size_t>& part : parts) launches.push_back(Describe(part));
    return launches;
  }

 private:
  const Node& node(size_t i) const { return graph_.node(region_.nodes[i]); }

  // Users inside the region; a use by an inner region counts for the node that owns that region.
  void CountUses() {
    for (size_t i = 0; i < region_.nodes.size(); ++i) {
      std::vector<ValueId> used = node(i).inputs;
      for (RegionId inner : node(i).regions) {
        const std::vector<ValueId> captures = graph_.Captures(inner);
        used.insert(used.end(), captures.begin(), captures.end());
      }
      for (ValueId value : used) users_[value].push_back(i);
      for (NodeId before : node(i).control_inputs) ordered_.insert(before);
    }
    for (ValueId result : region_.results) results_.insert(result);
  }

  std::vector<size_t> Producers(size_t i) const {
    std::vector<size_t> producers;
    auto add = [&](ValueId value) {
      const Value& v = graph_.value(value);
      if (!v.producer.valid()) return;
      auto it = position_.find(v.producer);
      if (it != position_.end()) producers.push_back(it->second);
    };
    for (ValueId value : node(i).inputs) add(value);
    for (RegionId inner : node(i).regions) {
      for (ValueId value : graph_.Captures(inner)) add(value);
    }
    for (NodeId before : node(i).control_inputs) {
      auto it = position_.find(before);
      if (it != position_.end()) producers.push_back(it->second);
    }
    return producers;
  }

  bool StandsAlone(size_t i) const {
    return !node(i).control_inputs.empty() || ordered_.contains(region_.nodes[i]) ||
           !node(i).regions.empty();
  }

  bool IsFusable(size_t i) const {
    if (StandsAlone(i)) return false;
    const OpDef* op = FindOp(node(i).op);
    if (op == nullptr || !op->elementwise.has_value() || op->is_view) return false;
    std::vector<DType> operands;
    for (ValueId value : node(i).inputs) operands.push_back(graph_.type(value).dtype);
    const DType result = graph_.type(node(i).outputs[0]).dtype;
    return op->elementwise->find(node(i), operands, result, Isa::kBaseline) != nullptr;
  }

  // Products and convolutions with their epilogues become one unit each.
  void FindUnits() {
    for (size_t i = 0; i < unit_.size(); ++i) fusable_[i] = IsFusable(i);
    auto single_user = [&](ValueId value) {
      auto it = users_.find(value);
      if (it == users_.end() || it->second.size() != 1 || results_.contains(value)) return NodeId();
      return StandsAlone(it->second[0]) ? NodeId() : region_.nodes[it->second[0]];
    };
    for (size_t i = 0; i < unit_.size(); ++i) {
      if (StandsAlone(i)) continue;
      for (NodeId id : FindEpilogue(graph_, region_.nodes[i], single_user)) {
        const size_t member = position_.at(id);
        if (member == i) continue;
        unit_[member] = i;
        fusable_[member] = false;
      }
    }
  }

  size_t Root(size_t i) {
    while (unit_[i] != i) i = unit_[i] = unit_[unit_[i]];
    return i;
  }

  // Members of a unit take the depth of its deepest; so go over the unit's producers at its end.
  void Deepen() {
    absl::flat_hash_map<size_t, std::vector<size_t>> units;
    for (size_t i = 0; i < unit_.size(); ++i) {
      const size_t root = Root(i);
      std::vector<size_t>& members = units[root];
      members.push_back(i);
      int depth = depth_[root];
      for (size_t p : Producers(i)) {
        if (Root(p) == root) continue;
        depth = std::max(depth, depth_[p] + (fusable_[p] && fusable_[i] ? 0 : 1));
      }
      for (size_t member : members) depth_[member] = depth;
    }
  }

  // An element-wise node that only later groups use joins the first of them.
  void Sink() {
    for (size_t i = unit_.size(); i-- > 0;) {
      if (!fusable_[i]) continue;
      auto it = users_.find(node(i).outputs[0]);
      if (it == users_.end()) continue;
      int depth = INT_MAX;
      for (size_t user : it->second) {
        depth = fusable_[user] ? std::min(depth, depth_[user]) : -1;
        if (depth < 0) break;
      }
      depth_[i] = std::max(depth_[i], depth);
    }
  }

  bool IsShort(size_t i) const {
    return fusable_[i] && graph_.type(node(i).outputs[0]).rank() <= 1;
  }

  // The largest depth at which each short node may run.
  std::vector<int> LatestDepths() const {
    const int deepest = depth_.empty() ? 0 : *std::max_element(depth_.begin(), depth_.end());
    std::vector<int> latest(unit_.size(), deepest);
    for (size_t i = unit_.size(); i-- > 0;) {
      if (!IsShort(i)) continue;
      auto it = users_.find(node(i).outputs[0]);
      if (it == users_.end()) continue;
      for (size_t user : it->second) {
        const int last = IsShort(user) ? latest[user] : depth_[user] - (fusable_[user] ? 0 : 1);
        latest[i] = std::min(latest[i], last);
      }
    }
    return latest;
  }

  // Short nodes wait for others of their shape: of the depths that they may run at, the fewest that
  // serve all of them. A node never runs before one that it uses, as neither of its bounds is less.
  void Await() {
    const std::vector<int> latest = LatestDepths();
    absl::flat_hash_map<std::string, std::vector<size_t>> by_shape;
    for (size_t i = 0; i < unit_.size(); ++i) {
      if (IsShort(i)) by_shape[graph_.type(node(i).outputs[0]).shape.ToString()].push_back(i);
    }
    for (auto& [shape, nodes] : by_shape) {
      std::stable_sort(nodes.begin(), nodes.end(),
                       [&](size_t a, size_t b) { return latest[a] < latest[b]; });
      std::vector<int> served;
      for (size_t i : nodes) {
        if (served.empty() || served.back() < depth_[i]) served.push_back(latest[i]);
      }
      for (size_t i : nodes) {
        depth_[i] = *std::lower_bound(served.begin(), served.end(), depth_[i]);
      }
    }
  }

  void JoinNeighbours() {
    for (size_t i = 0; i < unit_.size(); ++i) {
      if (!fusable_[i]) continue;
      for (size_t p : Producers(i)) {
        if (fusable_[p] && depth_[p] == depth_[i]) unit_[Root(i)] = Root(p);
      }
    }
  }

  // Vectors of one length join though nothing connects them: a launch costs more than such a group.
  void JoinShort() {
    absl::flat_hash_map<std::string, size_t> first;  // by depth and shape
    for (size_t i = 0; i < unit_.size(); ++i) {
      if (!IsShort(i)) continue;
      const Shape& shape = graph_.type(node(i).outputs[0]).shape;
      const auto [it, added] = first.emplace(StrCat(depth_[i], " ", shape.ToString()), i);
      if (!added) unit_[Root(i)] = Root(it->second);
    }
  }

  // Cuts what exceeds the limits of a group, in program order.
  void Split(const std::vector<size_t>& nodes, std::vector<std::vector<size_t>>* parts) const {
    std::vector<size_t> part;
    absl::flat_hash_set<ValueId> operands, made;
    for (size_t i : nodes) {
      absl::flat_hash_set<ValueId> with = operands;
      for (ValueId value : node(i).inputs) {
        if (!made.contains(value)) with.insert(value);
      }
      const bool full = part.size() >= kMaxGroupNodes || with.size() > kMaxGroupOperands;
      if (full && !part.empty() && fusable_[i]) {
        parts->push_back(std::move(part));
        part.clear();
        made.clear();
        with.clear();
        with.insert(node(i).inputs.begin(), node(i).inputs.end());
      }
      operands = std::move(with);
      for (ValueId value : node(i).outputs) made.insert(value);
      part.push_back(i);
    }
    parts->push_back(std::move(part));
  }

  Launch Describe(const std::vector<size_t>& part) const {
    Launch launch;
    const absl::flat_hash_set<size_t> inside(part.begin(), part.end());
    absl::flat_hash_set<ValueId> made, seen;
    for (size_t i : part) {
      launch.nodes.push_back(region_.nodes[i]);
      for (ValueId value : node(i).inputs) {
        if (!made.contains(value) && seen.insert(value).second) launch.operands.push_back(value);
      }
      for (ValueId value : node(i).outputs) {
        made.insert(value);
        bool needed = results_.contains(value) || part.size() == 1;
        auto it = users_.find(value);
        if (it != users_.end()) {
          for (size_t user : it->second) needed |= !inside.contains(user);
        }
        if (needed) launch.results.push_back(value);
      }
    }
    // A group whose results nobody uses still has to have one.
    if (launch.results.empty()) launch.results = node(part.back()).outputs;
    return launch;
  }

  const Graph& graph_;
  const Region& region_;
  absl::flat_hash_map<NodeId, size_t> position_;
  absl::flat_hash_map<ValueId, std::vector<size_t>> users_;
  absl::flat_hash_set<NodeId> ordered_;  // others wait for them
  absl::flat_hash_set<ValueId> results_;
  std::vector<size_t> unit_;  // a node that stands for the node's unit or group
  std::vector<bool> fusable_;
  std::vector<int> depth_;
};

}  // namespace

std::vector<Launch> FormLaunches(const Graph& graph, RegionId region) {
  return Grouping(graph, region).Launches();
}

}  // namespace weir::cpu
