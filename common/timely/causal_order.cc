#include "common/timely/causal_order.h"

#include <algorithm>
#include <deque>
#include <numeric>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "common/base/str_cat.h"

namespace weir {
namespace {

// Tarjan's search without recursion, over places that are numbered 0..n-1 here.
class ComponentSearch {
 public:
  explicit ComponentSearch(const std::vector<std::vector<int64_t>>& next)
      : next_(next), index_(next.size(), -1), low_(next.size(), 0), open_(next.size(), false) {}

  // Returns: the components, those that others lead to first.
  std::vector<std::vector<int64_t>> Run() {
    for (size_t place = 0; place < next_.size(); ++place) {
      if (index_[place] < 0) Visit(static_cast<int64_t>(place));
    }
    return std::move(components_);
  }

 private:
  struct Call {
    int64_t place;
    size_t done = 0;  // of its successors
  };

  void Open(int64_t place) {
    index_[place] = low_[place] = counter_++;
    stack_.push_back(place);
    open_[place] = true;
    calls_.push_back({place});
  }

  void Visit(int64_t root) {
    Open(root);
    while (!calls_.empty()) {
      const int64_t place = calls_.back().place;
      if (calls_.back().done < next_[place].size()) {
        const int64_t other = next_[place][calls_.back().done++];
        if (index_[other] < 0) {
          Open(other);
        } else if (open_[other]) {
          low_[place] = std::min(low_[place], index_[other]);
        }
        continue;
      }
      calls_.pop_back();
      if (!calls_.empty()) {
        const int64_t caller = calls_.back().place;
        low_[caller] = std::min(low_[caller], low_[place]);
      }
      if (low_[place] == index_[place]) Close(place);
    }
  }

  void Close(int64_t root) {
    components_.emplace_back();
    int64_t place;
    do {
      place = stack_.back();
      stack_.pop_back();
      open_[place] = false;
      components_.back().push_back(place);
    } while (place != root);
  }

  const std::vector<std::vector<int64_t>>& next_;
  std::vector<int64_t> index_, low_;
  std::vector<bool> open_;
  std::vector<int64_t> stack_;
  std::vector<Call> calls_;
  std::vector<std::vector<int64_t>> components_;
  int64_t counter_ = 0;
};

}  // namespace

absl::Status CausalOrder::Compute() {
  int64_t total = 0;
  for (const PortLocation& location : topology_.locations_) {
    topology_.first_rank_.push_back(total);
    total += location.depth + 1;
  }
  topology_.ranks_.assign(total, 0);
  position_.assign(topology_.locations_.size(), -1);
  Places all(topology_.locations_.size());
  std::iota(all.begin(), all.end(), 0);
  return RankPlaces(all, 0);
}

absl::Status CausalOrder::RankPlaces(const Places& places, int level) {
  for (const Places& component : Components(places, level)) {
    if (component.size() == 1 && Way(component, level, component[0], component[0]).empty())
      continue;
    const Places cycle = CycleWithoutCounter(component, level);
    if (!cycle.empty()) return Refusal(cycle);
    WEIR_RETURN_IF_ERROR(RankPlaces(component, level + 1));
  }
  return absl::OkStatus();
}

bool CausalOrder::Follows(const Hop& hop, int level) const {
  const int looked_at = std::min(level + 1, hop.summary.kept());
  const absl::Span<const int64_t> add = hop.summary.add().first(looked_at);
  return std::all_of(add.begin(), add.end(), [](int64_t by) { return by == 0; });
}

std::vector<CausalOrder::Places> CausalOrder::Components(const Places& places, int level) {
  for (size_t i = 0; i < places.size(); ++i) position_[places[i]] = static_cast<int64_t>(i);
  std::vector<std::vector<int64_t>> next(places.size());
  for (size_t i = 0; i < places.size(); ++i) {
    for (const Hop& hop : topology_.hops(LocationId(places[i]))) {
      const int64_t to = position_[hop.to.value()];
      if (to >= 0 && Follows(hop, level)) next[i].push_back(to);
    }
  }
  for (const int64_t place : places) position_[place] = -1;
  std::vector<Places> components = ComponentSearch(next).Run();
  std::reverse(components.begin(), components.end());
  for (size_t rank = 0; rank < components.size(); ++rank) {
    for (int64_t& place : components[rank]) {
      place = places[place];
      topology_.ranks_[topology_.first_rank_[place] + level] = static_cast<int32_t>(rank);
    }
  }
  return components;
}

CausalOrder::Places CausalOrder::CycleWithoutCounter(const Places& component, int level) const {
  const LogicalGraph& graph = topology_.graph();
  const auto scope = [&](int64_t place) {
    return graph.Ancestor(topology_.locations_[place].scope, level + 1);
  };
  for (const int64_t place : component) {
    // What goes through a request goes past it, too.
    if (topology_.locations_[place].kind == PortLocation::Kind::kRequest) continue;
    if (!scope(place).valid()) return Way(component, level, place, place);
    if (scope(place) == scope(component[0])) continue;
    Places cycle = Way(component, level, place, component[0]);
    const Places back = Way(component, level, component[0], place);
    cycle.insert(cycle.end(), back.begin() + 1, back.end());
    return cycle;
  }
  return {};
}

CausalOrder::Places CausalOrder::Way(const Places& component, int level, int64_t from,
                                     int64_t to) const {
  const absl::flat_hash_set<int64_t> members(component.begin(), component.end());
  absl::flat_hash_map<int64_t, int64_t> came_from;
  std::deque<int64_t> waiting = {from};
  while (!waiting.empty() && !came_from.contains(to)) {
    const int64_t place = waiting.front();
    waiting.pop_front();
    for (const Hop& hop : topology_.hops(LocationId(place))) {
      if (!members.contains(hop.to.value()) || !Follows(hop, level)) continue;
      if (came_from.try_emplace(hop.to.value(), place).second) waiting.push_back(hop.to.value());
    }
  }
  if (!came_from.contains(to)) return {};
  Places way = {to};
  do {
    way.push_back(came_from.at(way.back()));
  } while (way.back() != from);
  std::reverse(way.begin(), way.end());
  return way;
}

absl::Status CausalOrder::Refusal(const Places& cycle) const {
  std::string text;
  for (const int64_t place : cycle) {
    StrAppend(&text, text.empty() ? "" : " -> ", topology_.Describe(LocationId(place)));
  }
  return InvalidArgument("the cycle ", text, " advances no counter that it keeps, so its times",
                         " would hold back themselves; a feedback of its loop must be part of it");
}

}  // namespace weir
