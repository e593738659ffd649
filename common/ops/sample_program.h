// A sample as a program, which is what everything that tests ops over their samples starts from.
// Stateless; usable from any thread.
#ifndef WEIR_COMMON_OPS_SAMPLE_PROGRAM_H_
#define WEIR_COMMON_OPS_SAMPLE_PROGRAM_H_

#include <vector>

#include "absl/status/statusor.h"
#include "common/ir/graph.h"
#include "common/ops/op_def.h"
#include "common/ops/sample.h"

namespace weir {

// Returns: a verified program whose entry function takes the sample's operands and returns what the
// op makes of them.
absl::StatusOr<Graph> ProgramOf(const OpDef& op, const Sample& sample);
// The operands' values; operand i is made with seed i + 1.
std::vector<Tensor> OperandsOf(const Sample& sample);

}  // namespace weir

#endif  // WEIR_COMMON_OPS_SAMPLE_PROGRAM_H_
