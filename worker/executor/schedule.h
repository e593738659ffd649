// The order in which the launches of a region run, chosen for a low peak of live bytes. Stateless;
// usable from any thread.
//
// Any topological order is correct. A beam search over sets of finished tasks (exact while no more
// than `beam` sets of one size exist, as for most graphs of up to 30 tasks) is tried beside the
// given order, and the lower peak wins. Source of the exact form: Ahn et al., Ordering Chaos:
// Memory-Aware Scheduling of Irregularly Wired Neural Networks (MLSys 2020).
#ifndef WEIR_WORKER_EXECUTOR_SCHEDULE_H_
#define WEIR_WORKER_EXECUTOR_SCHEDULE_H_

#include <cstdint>
#include <vector>

namespace weir {

// Tasks are numbered in a topological order. Buffer sizes are in bytes.
struct ScheduleProblem {
  struct Task {
    std::vector<int> reads;   // buffers
    std::vector<int> writes;  // buffers that this task makes
    std::vector<int> after;   // tasks that must come first besides the makers of what it reads
    int64_t scratch = 0;      // bytes live during the task only
  };
  std::vector<Task> tasks;
  std::vector<int64_t> buffer_bytes;
  std::vector<bool> kept;  // buffers that live to the end
};

struct Schedule {
  std::vector<int> order;
  int64_t peak_bytes = 0;
};

Schedule OrderTasks(const ScheduleProblem& problem, int beam = 1024);
// Peak of live bytes when the tasks run in this order.
int64_t PeakBytes(const ScheduleProblem& problem, const std::vector<int>& order);

}  // namespace weir

#endif  // WEIR_WORKER_EXECUTOR_SCHEDULE_H_
