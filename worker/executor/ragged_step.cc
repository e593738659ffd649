#include "worker/executor/ragged_step.h"

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/ops/control/ragged.h"
#include "worker/executor/part_region.h"

namespace weir {

// Kept between runs, so that a warm run allocates nothing.
struct LanesState {
  int64_t rows = 0;
  int64_t extent = 0;  // lanes of a row at most
  PartRegion region;
  int64_t owners = 0;              // offsets in the scratch: the row of each lane,
  int64_t indices = 0;             // and its number there
  std::vector<size_t> lane_bytes;  // by result
};

namespace {

constexpr int kOwners = 0;
constexpr int kIndices = 1;

// Bytes of one lane in a result [rows, extent, s...].
size_t LaneBytes(const Layout& layout) {
  return static_cast<size_t>(NumElements(absl::MakeConstSpan(layout.extents).subspan(2)) *
                             SizeOf(layout.dtype));
}

class Lanes {
 public:
  explicit Lanes(const ControlRun& r) : r_(r), state_(*r.state->lanes) {}

  // Numbers the lanes. Returns: an error for a count that cannot be.
  absl::Status Count() {
    int64_t* const owners = reinterpret_cast<int64_t*>(r_.scratch() + state_.owners);
    int64_t* const indices = reinterpret_cast<int64_t*>(r_.scratch() + state_.indices);
    for (int64_t row = 0; row < state_.rows; ++row) {
      const int64_t count = CountOf(row);
      WEIR_RETURN_IF_ERROR(control::CheckCount(count, state_.extent));
      for (int64_t index = 0; index < count; ++index, ++count_) {
        owners[count_] = row;
        indices[count_] = index;
      }
    }
    return absl::OkStatus();
  }

  // Leaves the results of the lanes one behind the other where their rows will be.
  absl::Status RunRegion() {
    if (count_ == 0) return absl::OkStatus();
    state_.region.set_arg(kOwners, r_.scratch() + state_.owners);
    state_.region.set_arg(kIndices, r_.scratch() + state_.indices);
    for (size_t i = 0; i < state_.lane_bytes.size(); ++i) {
      state_.region.set_result(static_cast<int>(i), r_.result(static_cast<int>(i)));
    }
    r_.context->stats->rows_run += count_;
    return state_.region.Run(count_, r_, 0);
  }

  // Moves the lanes of each row to its place, from the last one on, as none moves to the front.
  void Spread() {
    for (size_t i = 0; i < state_.lane_bytes.size(); ++i) {
      const size_t bytes = state_.lane_bytes[i];
      std::byte* const base = r_.result(static_cast<int>(i));
      if (bytes == 0 || base == nullptr) continue;
      int64_t from = count_;
      for (int64_t row = state_.rows - 1; row >= 0; --row) {
        const int64_t count = CountOf(row);
        from -= count;
        std::byte* const to = base + static_cast<size_t>(row * state_.extent) * bytes;
        const size_t live = static_cast<size_t>(count) * bytes;
        const std::byte* const packed = base + static_cast<size_t>(from) * bytes;
        if (to != packed) std::memmove(to, packed, live);
        std::memset(to + live, 0, static_cast<size_t>(state_.extent - count) * bytes);
      }
    }
  }

 private:
  int64_t CountOf(int64_t row) const {
    const cpu::View& counts = r_.state->operands[0];
    return counts.as<int64_t>()[row * counts.strides[0]];
  }

  const ControlRun& r_;
  LanesState& state_;
  int64_t count_ = 0;
};

}  // namespace

absl::StatusOr<int64_t> PrepareRaggedRows(const ControlPreparation& p) {
  auto state = std::make_shared<LanesState>();
  state->rows = p.operands[0].extents[0];
  WEIR_ASSIGN_OR_RETURN(state->extent, p.node.attr("extent").AsDims()[0].Evaluate(p.symbols));
  if (state->extent < 0) return InvalidArgument("extent ", state->extent, " is negative");
  WEIR_ASSIGN_OR_RETURN(const int64_t most,
                        CheckedNumElements({state->rows, state->extent}, DType::kI64));
  const Layout ids = Layout::RowMajor(DType::kI64, {most});
  ScratchPlan scratch;
  state->owners = scratch.Take(ids.bytes());
  state->indices = scratch.Take(ids.bytes());
  WEIR_ASSIGN_OR_RETURN(
      state->region,
      PartRegion::Create(*p.step.regions[0], p.symbols, p.node.attr("local").AsString(), {ids, ids},
                         /*num_shared=*/0, p.captures[0]));
  for (ValueId output : p.node.outputs) {
    const TensorType& type = p.step.regions[0]->graph().type(output);
    WEIR_ASSIGN_OR_RETURN(const Extents extents, type.shape.Evaluate(p.symbols));
    state->lane_bytes.push_back(LaneBytes(Layout::RowMajor(type.dtype, extents)));
  }
  p.state->lanes = std::move(state);
  return scratch.end();
}

absl::Status RunRaggedRows(const ControlRun& r) {
  Lanes lanes(r);
  WEIR_RETURN_IF_ERROR(lanes.Count());
  WEIR_RETURN_IF_ERROR(lanes.RunRegion());
  lanes.Spread();
  return absl::OkStatus();
}

}  // namespace weir
