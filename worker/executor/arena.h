// Places buffers with known lifetimes in one arena. Stateless; usable from any thread.
//
// Buffers go one by one into the smallest gap between those that live at the same time; several
// orders are tried and the lowest end wins, then orders near the best one are searched for a
// bounded number of steps. Source: the greedy-by-size planner of Pisarchyk and Lee, Efficient
// Memory Management for Deep Neural Net Inference (2020).
#ifndef WEIR_WORKER_EXECUTOR_ARENA_H_
#define WEIR_WORKER_EXECUTOR_ARENA_H_

#include <cstdint>
#include <vector>

namespace weir {

// Live from step `first` to step `last`, both included.
struct ArenaBuffer {
  int64_t bytes = 0;
  int first = 0;
  int last = 0;
};

struct ArenaPlan {
  std::vector<int64_t> offsets;  // multiples of kArenaAlignment
  int64_t bytes = 0;
};

inline constexpr int64_t kArenaAlignment = 64;

ArenaPlan PlaceBuffers(const std::vector<ArenaBuffer>& buffers);
// Most bytes live at one step: no placement is smaller.
int64_t LowerBound(const std::vector<ArenaBuffer>& buffers);

}  // namespace weir

#endif  // WEIR_WORKER_EXECUTOR_ARENA_H_
