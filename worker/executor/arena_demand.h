// How much arena a function may take when it runs, known before it does. Stateless; usable from any
// thread.
#ifndef WEIR_WORKER_EXECUTOR_ARENA_DEMAND_H_
#define WEIR_WORKER_EXECUTOR_ARENA_DEMAND_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/executor/activation.h"

namespace weir {

// Bytes of the arenas of all depths together, if every branch and loop that runs for some rows runs
// for all of them. Calls that recurse count once.
absl::StatusOr<int64_t> ArenaDemand(const RegionPlan& plan, const SymbolBindings& symbols,
                                    std::vector<Layout> inputs);

}  // namespace weir

#endif  // WEIR_WORKER_EXECUTOR_ARENA_DEMAND_H_
