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

struct BoundInputs {
  SymbolBindings symbols;
  std::vector<Tensor> feeds;  // in the order of the program's parameters
};

// `names` and `tensors` belong together, in any order. Returns: INVALID_ARGUMENT that names the
// input and what was wanted.
absl::StatusOr<BoundInputs> BindInputs(const std::vector<ProgramInput>& inputs,
                                       const std::vector<std::string>& names,
                                       std::vector<Tensor> tensors);

}  // namespace weir

#endif  // WEIR_SERVER_JOBS_BIND_INPUTS_H_
