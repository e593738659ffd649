// Sums of what runs and workers counted. Stateless; usable from any thread.
#ifndef WEIR_COMMON_PLAN_RUN_COUNTERS_H_
#define WEIR_COMMON_PLAN_RUN_COUNTERS_H_

#include "weir/v1/worker.pb.h"

namespace weir {

// Adds what one more worker counted in the same run. Sums stop at the largest number.
void AddCounters(const v1::RunCounters& counters, v1::RunCounters* sum);

// Adds the counts of ops; those of `sum` are in the order of their names afterwards.
void AddOpCounts(const google::protobuf::RepeatedPtrField<v1::OpCount>& counts,
                 google::protobuf::RepeatedPtrField<v1::OpCount>* sum);

}  // namespace weir

#endif  // WEIR_COMMON_PLAN_RUN_COUNTERS_H_
