#include "worker/executor/arena.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

namespace weir {
namespace {

// Orders near the best one that are tried when it misses the lower bound.
constexpr int kSearchSteps = 200;
constexpr size_t kSearchLimit = 200;  // buffers

int64_t Aligned(int64_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

bool Overlap(const ArenaBuffer& a, const ArenaBuffer& b) {
  return a.first <= b.last && b.first <= a.last;
}

class Placer {
 public:
  explicit Placer(const std::vector<ArenaBuffer>& buffers) : buffers_(buffers) {}

  ArenaPlan Place(const std::vector<int>& order) {
    ArenaPlan plan;
    plan.offsets.assign(buffers_.size(), 0);
    placed_.clear();
    for (int buffer : order) {
      const int64_t bytes = Aligned(buffers_[buffer].bytes);
      if (bytes == 0) continue;
      const int64_t offset = BestGap(plan, buffer, bytes);
      plan.offsets[buffer] = offset;
      plan.bytes = std::max(plan.bytes, offset + bytes);
      auto at = std::lower_bound(placed_.begin(), placed_.end(), offset,
                                 [&](int p, int64_t o) { return plan.offsets[p] < o; });
      placed_.insert(at, buffer);
    }
    return plan;
  }

 private:
  int64_t BestGap(const ArenaPlan& plan, int buffer, int64_t bytes) const {
    int64_t end = 0;
    int64_t best = -1;
    int64_t best_gap = std::numeric_limits<int64_t>::max();
    for (int other : placed_) {
      if (!Overlap(buffers_[buffer], buffers_[other])) continue;
      const int64_t gap = plan.offsets[other] - end;
      if (gap >= bytes && gap < best_gap) {
        best_gap = gap;
        best = end;
      }
      end = std::max(end, plan.offsets[other] + Aligned(buffers_[other].bytes));
    }
    return best >= 0 ? best : end;
  }

  const std::vector<ArenaBuffer>& buffers_;
  std::vector<int> placed_;  // by offset
};

}  // namespace

int64_t LowerBound(const std::vector<ArenaBuffer>& buffers) {
  std::vector<std::pair<int, int64_t>> events;
  for (const ArenaBuffer& buffer : buffers) {
    events.push_back({buffer.first, Aligned(buffer.bytes)});
    events.push_back({buffer.last + 1, -Aligned(buffer.bytes)});
  }
  std::sort(events.begin(), events.end());
  int64_t live = 0;
  int64_t peak = 0;
  for (const auto& [step, bytes] : events) {
    live += bytes;
    peak = std::max(peak, live);
  }
  return peak;
}

ArenaPlan PlaceBuffers(const std::vector<ArenaBuffer>& buffers) {
  Placer placer(buffers);
  const int64_t bound = LowerBound(buffers);
  std::vector<int> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  auto length = [&](int b) { return buffers[b].last - buffers[b].first + 1; };
  auto by = [&](auto key) {
    std::vector<int> sorted = order;
    std::stable_sort(sorted.begin(), sorted.end(), [&](int a, int b) { return key(a) > key(b); });
    return sorted;
  };
  const std::vector<int> candidates[] = {
      by([&](int b) { return buffers[b].bytes; }),
      by([&](int b) { return static_cast<int64_t>(length(b)); }),
      by([&](int b) { return buffers[b].bytes * length(b); }),
      by([&](int b) { return static_cast<int64_t>(-buffers[b].first); }),
  };
  ArenaPlan best;
  std::vector<int> best_order;
  for (const std::vector<int>& candidate : candidates) {
    ArenaPlan plan = placer.Place(candidate);
    if (!best_order.empty() && plan.bytes >= best.bytes) continue;
    best = std::move(plan);
    best_order = candidate;
    if (best.bytes == bound) return best;
  }
  if (buffers.size() < 2 || buffers.size() > kSearchLimit) return best;
  std::mt19937 random(1);
  for (int i = 0; i < kSearchSteps && best.bytes > bound; ++i) {
    std::vector<int> neighbour = best_order;
    std::swap(neighbour[random() % neighbour.size()], neighbour[random() % neighbour.size()]);
    ArenaPlan plan = placer.Place(neighbour);
    if (plan.bytes > best.bytes) continue;
    best = std::move(plan);
    best_order = std::move(neighbour);
  }
  return best;
}

}  // namespace weir
