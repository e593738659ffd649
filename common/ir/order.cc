#include "common/ir/order.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>

namespace weir {
namespace {

// Successors (or predecessors) of each number, in one array.
class Adjacency {
 public:
  Adjacency(int count, const std::vector<OrderEdge>& edges, int OrderEdge::*from,
            int OrderEdge::*to)
      : begin_(count + 1, 0), targets_(edges.size()) {
    for (const OrderEdge& edge : edges) ++begin_[edge.*from + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    std::vector<int> next(begin_.begin(), begin_.end() - 1);
    for (const OrderEdge& edge : edges) targets_[next[edge.*from]++] = edge.*to;
  }

  const int* begin(int i) const { return targets_.data() + begin_[i]; }
  const int* end(int i) const { return targets_.data() + begin_[i + 1]; }

 private:
  std::vector<int> begin_;
  std::vector<int> targets_;
};

// Every number that is left has another that is left before it, so walking backwards ends in a
// cycle.
std::vector<int> FindCycle(int count, const std::vector<OrderEdge>& edges,
                           const std::vector<int>& waiting) {
  const Adjacency before(count, edges, &OrderEdge::after, &OrderEdge::before);
  std::vector<int> step(count, -1);
  std::vector<int> path;
  int at = 0;
  while (waiting[at] == 0) ++at;
  while (step[at] < 0) {
    step[at] = static_cast<int>(path.size());
    path.push_back(at);
    at = *std::find_if(before.begin(at), before.end(at), [&](int i) { return waiting[i] > 0; });
  }
  std::vector<int> cycle(path.begin() + step[at], path.end());
  std::reverse(cycle.begin(), cycle.end());
  std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
  return cycle;
}

}  // namespace

Ordering StableOrder(int count, const std::vector<OrderEdge>& edges) {
  Ordering out;
  out.order.resize(count);
  std::iota(out.order.begin(), out.order.end(), 0);
  if (std::all_of(edges.begin(), edges.end(),
                  [](const OrderEdge& edge) { return edge.before < edge.after; })) {
    return out;
  }
  out.order.clear();
  const Adjacency after(count, edges, &OrderEdge::before, &OrderEdge::after);
  std::vector<int> waiting(count, 0);
  for (const OrderEdge& edge : edges) ++waiting[edge.after];
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < count; ++i) {
    if (waiting[i] == 0) ready.push(i);
  }
  while (!ready.empty()) {
    const int next = ready.top();
    ready.pop();
    out.order.push_back(next);
    for (const int* i = after.begin(next); i != after.end(next); ++i) {
      if (--waiting[*i] == 0) ready.push(*i);
    }
  }
  if (static_cast<int>(out.order.size()) == count) return out;
  out.order.clear();
  out.cycle = FindCycle(count, edges, waiting);
  return out;
}

}  // namespace weir
