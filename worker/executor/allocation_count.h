// Counts calls of operator new and of aligned allocation, for the test that a warm run makes none.
// Only tests link it.
#ifndef WEIR_WORKER_EXECUTOR_ALLOCATION_COUNT_H_
#define WEIR_WORKER_EXECUTOR_ALLOCATION_COUNT_H_

#include <cstdint>

namespace weir {

// Allocations that this thread has made so far.
int64_t AllocationsOnThisThread();

}  // namespace weir

#endif  // WEIR_WORKER_EXECUTOR_ALLOCATION_COUNT_H_
