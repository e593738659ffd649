// A sample as a program, which is what everything that tests ops over their samples starts from.
// Stateless; usable from any thread.
#ifndef WEIR_COMMON_OPS_SAMPLE_PROGRAM_H_
#define WEIR_COMMON_OPS_SAMPLE_PROGRAM_H_

#include <cstdint>
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

// Returns: a program whose entry function runs `example` in a pfor over `lanes`, on row i of the
// operands in the bit set `varying` and on the others as they are.
absl::StatusOr<Graph> LoopOver(Graph example, uint32_t varying, const Dim& lanes);
// Operands for it, with `n` rows of those in `varying`.
std::vector<Tensor> RowsOf(const Sample& sample, uint32_t varying, int64_t n);

}  // namespace weir

#endif  // WEIR_COMMON_OPS_SAMPLE_PROGRAM_H_
