#include "worker/executor/control_step.h"

#include "common/tensor/copy.h"

namespace weir {

absl::Status ControlRun::RunRegion(int i, size_t num_args) const {
  const std::vector<int>& captures = step.captures[i];
  for (size_t c = 0; c < captures.size(); ++c) {
    state->externals[num_args + c] = activation.AddressOf(captures[c], memory);
  }
  return RunActivation(
      state->regions[i].get(),
      {scratch() + state->region_offsets[i], state->externals, state->region_results}, context);
}

void ControlRun::CopyOperand(int operand, std::byte* target) const {
  const cpu::View& view = state->operands[operand];
  CopyStrided(view.dtype, view.extents, view.data, view.strides, target,
              RowMajorStrides(view.extents));
}

bool ControlRun::IsDense(int operand) const {
  const cpu::View& view = state->operands[operand];
  return Layout{view.dtype, Extents(view.extents.begin(), view.extents.end()),
                Extents(view.strides.begin(), view.strides.end())}
      .is_row_major();
}

}  // namespace weir
