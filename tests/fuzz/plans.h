// Plans of real programs, as seeds. Stateless.
#ifndef WEIR_TESTS_FUZZ_PLANS_H_
#define WEIR_TESTS_FUZZ_PLANS_H_

#include <vector>

#include "server/compiler/partition/partition.h"

namespace weir {

// The programs of tests/fuzz/corpus, compiled.
std::vector<PartitionedPlan> CorpusPlans();

}  // namespace weir

#endif  // WEIR_TESTS_FUZZ_PLANS_H_
