// A topological order that changes as little as possible. Stateless; usable from any thread.
#ifndef WEIR_COMMON_IR_ORDER_H_
#define WEIR_COMMON_IR_ORDER_H_

#include <vector>

namespace weir {

struct OrderEdge {
  int before = 0;
  int after = 0;
};

struct Ordering {
  std::vector<int> order;  // empty if there is a cycle
  std::vector<int> cycle;  // each before the next, the last before the first; starts at the least
};

// Returns: the least order of 0 .. count-1 in which every edge points forward, so the given order
// if that is one. Takes time linear in edges plus count * log(count).
Ordering StableOrder(int count, const std::vector<OrderEdge>& edges);

}  // namespace weir

#endif  // WEIR_COMMON_IR_ORDER_H_
