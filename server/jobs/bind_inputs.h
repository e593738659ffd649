// Fits the tensors of a job to the parameters of its program. Stateless; usable from any thread.
#ifndef WEIR_SERVER_JOBS_BIND_INPUTS_H_
#define WEIR_SERVER_JOBS_BIND_INPUTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/tensor/shape.h"
#include "common/tensor/tensor.h"

namespace weir {

struct ProgramInput {
  std::string name;
  TensorType type;
  // Axis 0 counts examples; the program for one example does not know it.
  bool mapped = false;
  // The first node that reads it, for messages; may be empty.
  std::string used_by;
};

struct VariableEntry;

struct BoundInputs {
  SymbolBindings symbols;
  // In the order of the program's parameters; of one that a variable gives, its type without
  // memory.
  std::vector<Tensor> feeds;
  std::vector<VariableEntry*> variables;  // in the same order; null for what a client gives
};

// `names` and `tensors` belong together, in any order. Returns: INVALID_ARGUMENT that names the
// input and what was wanted. Does not fill in variables.
absl::StatusOr<BoundInputs> BindInputs(const std::vector<ProgramInput>& inputs,
                                       const std::vector<std::string>& names,
                                       std::vector<Tensor> tensors);

}  // namespace weir

#endif  // WEIR_SERVER_JOBS_BIND_INPUTS_H_
