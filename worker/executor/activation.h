// One region made ready for certain extents: every value's layout, arena offsets, and the arguments
// of every kernel call. Owned by a workspace and used again for equal extents; used by one thread
// at a time.
#ifndef WEIR_WORKER_EXECUTOR_ACTIVATION_H_
#define WEIR_WORKER_EXECUTOR_ACTIVATION_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/tensor/tensor.h"
#include "worker/device/cpu/kernel.h"
#include "worker/executor/op_counts.h"
#include "worker/executor/region_plan.h"

namespace weir {

// Element type, extents and strides of something whose address comes later.
struct Layout {
  DType dtype = DType::kF32;
  Extents extents;
  Extents strides;

  static Layout RowMajor(DType dtype, absl::Span<const int64_t> extents);
  static Layout Of(const Tensor& tensor);
  // From the first element to the last, with the room that strides leave between.
  int64_t bytes() const;
  bool is_row_major() const;
};

class Activation {
 public:
  // `externals` are the layouts of the region's arguments and captures.
  static absl::StatusOr<std::unique_ptr<Activation>> Create(const RegionPlan& plan,
                                                            const SymbolBindings& symbols,
                                                            std::vector<Layout> externals);

  const RegionPlan& plan() const { return plan_; }
  const SymbolBindings& symbols() const { return symbols_; }
  int64_t arena_bytes() const { return arena_bytes_; }
  const std::vector<Layout>& externals() const { return externals_; }
  // Layouts in which the region's results are written: row-major.
  const Layout& result_layout(int result) const { return result_layouts_[result]; }

  // Addresses of one run.
  struct Memory {
    std::byte* arena = nullptr;  // arena_bytes(), aligned
    absl::Span<std::byte* const> externals;
    absl::Span<std::byte* const> results;
  };

  // Where a value is, once memory is known.
  std::byte* AddressOf(int value, const Memory& memory) const;
  const Layout& layout(int value) const { return places_[value].layout; }

  struct StepState {
    std::vector<cpu::View> operands;  // addresses are set for each run
    std::vector<cpu::View> results;
    int64_t scratch_offset = 0;
    int64_t scratch_bytes = 0;
    bool copies = false;  // a view op whose operand's strides allow no view
    // Control ops.
    std::vector<std::unique_ptr<Activation>> regions;
    std::vector<int64_t> region_offsets;   // of the regions' arenas, from the step's scratch
    std::vector<int64_t> carried_offsets;  // of the spare memory of carried values, likewise
    // Addresses handed to regions, kept here so that a run allocates nothing.
    std::vector<std::byte*> externals;
    std::vector<std::byte*> region_results;
    std::shared_ptr<struct RowsState> rows;    // of ops that run a region for some rows
    std::shared_ptr<struct LanesState> lanes;  // of ragged_rows
  };
  StepState& step(int index) { return steps_[index]; }
  const StepState& step(int index) const { return steps_[index]; }
  // Results that are copied at the end: (result, value).
  const std::vector<std::pair<int, int>>& copied_results() const { return copied_results_; }
  // Arena ranges (offset, bytes) that are free again after a step.
  const std::vector<std::pair<int64_t, int64_t>>& freed_after(int step) const {
    return freed_after_[step];
  }

  // What one run counts by op; computed when it is first asked for.
  absl::StatusOr<const ActivationCounts*> Counts();

  std::string Describe() const;

 private:
  enum class Base { kArena, kExternal, kResult, kConstant };
  struct Place {
    Layout layout;
    Base base = Base::kArena;
    int index = 0;       // of the external or result
    int64_t offset = 0;  // bytes from the base
    int buffer = -1;     // of the arena
    const std::byte* constant = nullptr;
    bool known = false;
  };
  struct BufferUse {
    int64_t bytes = 0;
    int first = 0;
    int last = 0;
  };

  Activation(const RegionPlan& plan, const SymbolBindings& symbols, std::vector<Layout> externals);
  absl::Status PlaceExternals();
  absl::Status PlaceStep(int index);
  absl::Status PlaceKernel(int index);
  absl::Status PlaceView(int index);
  absl::Status PlaceControl(int index);
  absl::Status PlaceResult(int step, int value, Extents strides);
  absl::StatusOr<Extents> ExtentsOf(int value) const;
  bool TakeOverOperand(int step, int value);
  void AddScratch(int step, int64_t bytes);
  int LastUse(int value) const { return last_use_[value]; }
  void FindLastUses();
  void PlaceBuffersInArena();
  void FillViews();

  const RegionPlan& plan_;
  const SymbolBindings symbols_;
  const std::vector<Layout> externals_;
  std::vector<Layout> result_layouts_;
  std::vector<Place> places_;  // by value
  std::vector<int> last_use_;  // step, views included; steps().size() for results copied at the end
  std::vector<BufferUse> buffers_;
  std::vector<int> scratch_buffers_;  // by step, or -1
  std::vector<StepState> steps_;
  std::vector<std::pair<int, int>> copied_results_;
  std::vector<std::vector<std::pair<int64_t, int64_t>>> freed_after_;
  int64_t arena_bytes_ = 0;
  std::optional<ActivationCounts> counts_;
};

}  // namespace weir

#endif  // WEIR_WORKER_EXECUTOR_ACTIVATION_H_
