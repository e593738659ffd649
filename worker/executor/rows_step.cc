#include "worker/executor/rows_step.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "common/base/status.h"
#include "common/tensor/copy.h"
#include "worker/executor/op_counts.h"
#include "worker/executor/part_region.h"

namespace weir {

// Kept between runs, so that a warm run allocates nothing.
struct RowsState {
  int64_t rows = 0;  // of the operands
  std::vector<PartRegion> regions;
  int64_t ids = 0;                   // offsets in the scratch, like the following
  int64_t goes_on = 0;               // while_rows: the condition
  std::vector<int64_t> operands;     // packed rows or values, by operand
  std::vector<int64_t> results;      // packed rows, by result; while_rows: the next values
  std::vector<size_t> operand_rows;  // bytes
  std::vector<size_t> result_rows;
};

namespace {

// Bytes of one row of a row-major layout.
size_t RowBytes(const Layout& layout) {
  return static_cast<size_t>(NumElements(absl::MakeConstSpan(layout.extents).subspan(1)) *
                             SizeOf(layout.dtype));
}

int64_t BranchOf(const cpu::View& index, int64_t row, int64_t branches) {
  const int64_t at = row * index.strides[0];
  const int64_t branch =
      index.dtype == DType::kI32 ? index.as<int32_t>()[at] : index.as<int64_t>()[at];
  return branch < 0 || branch >= branches ? branches - 1 : branch;
}

// Writes rows `ids` of an operand one behind the other.
void PackRows(const cpu::View& from, absl::Span<const int64_t> ids, size_t row_bytes,
              std::byte* to) {
  const absl::Span<const int64_t> extents = from.extents.subspan(1),
                                  strides = from.strides.subspan(1);
  const Extents dense = RowMajorStrides(extents);
  bool is_dense = true;
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    is_dense = is_dense && (extents[axis] == 1 || strides[axis] == dense[axis]);
  }
  const int64_t step = from.strides[0] * SizeOf(from.dtype);
  const std::byte* base = static_cast<const std::byte*>(from.data);
  for (int64_t id : ids) {
    if (is_dense) {
      std::memcpy(to, base + id * step, row_bytes);
    } else {
      CopyStrided(from.dtype, extents, base + id * step, strides, to, dense);
    }
    to += row_bytes;
  }
}

void PutRows(const std::byte* rows, absl::Span<const int64_t> ids, size_t row_bytes,
             std::byte* to) {
  for (int64_t id : ids) {
    std::memcpy(to + static_cast<size_t>(id) * row_bytes, rows, row_bytes);
    rows += row_bytes;
  }
}

// Rows that were taken out or put back.
void CountMoved(const ControlRun& r, int64_t rows, size_t row_bytes) {
  OpCounts* ops = r.context->stats->ops;
  if (ops != nullptr) ops->AddGathered(rows * static_cast<int64_t>(row_bytes));
}

absl::Status AddRegion(const ControlPreparation& p, int region, std::vector<Layout> args,
                       int num_shared, RowsState* state) {
  WEIR_ASSIGN_OR_RETURN(
      PartRegion part,
      PartRegion::Create(*p.step.regions[region], p.symbols, p.node.attr("local").AsString(),
                         std::move(args), num_shared, p.captures[region]));
  state->regions.push_back(std::move(part));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int64_t> PrepareCaseRows(const ControlPreparation& p) {
  auto state = std::make_shared<RowsState>();
  state->rows = p.operands[0].extents[0];
  WEIR_RETURN_IF_ERROR(CheckedNumElements({state->rows}, DType::kI64).status());
  ScratchPlan scratch;
  state->ids = scratch.Take(state->rows * static_cast<int64_t>(sizeof(int64_t)));
  const Int64s& counts = p.node.attr("operands").AsInts();
  state->operands.push_back(0);
  state->operand_rows.push_back(0);
  // Branches run one after the other, so their operands share memory.
  int64_t end = scratch.end();
  for (size_t b = 0; b < counts.size(); ++b) {
    ScratchPlan of_branch = scratch;
    std::vector<Layout> args;
    for (int64_t k = 0; k < counts[b]; ++k) {
      const Layout& operand = p.operands[state->operands.size()];
      args.push_back(Dense(operand));
      state->operands.push_back(of_branch.Take(args.back().bytes()));
      state->operand_rows.push_back(RowBytes(operand));
    }
    end = std::max(end, of_branch.end());
    WEIR_RETURN_IF_ERROR(AddRegion(p, static_cast<int>(b), std::move(args), 0, state.get()));
  }
  scratch.Take(end - scratch.end());
  for (ValueId output : p.node.outputs) {
    const TensorType& type = p.step.regions[0]->graph().type(output);
    WEIR_ASSIGN_OR_RETURN(const Extents extents, type.shape.Evaluate(p.symbols));
    const Layout layout = Layout::RowMajor(type.dtype, extents);
    state->results.push_back(scratch.Take(layout.bytes()));
    state->result_rows.push_back(RowBytes(layout));
  }
  p.state->rows = std::move(state);
  return scratch.end();
}

std::vector<FunctionEntry> LargestEntries(const RowsState& state) {
  std::vector<FunctionEntry> entries;
  for (const PartRegion& region : state.regions) entries.push_back(region.EntryFor(state.rows));
  return entries;
}

absl::Status RunCaseRows(const ControlRun& r) {
  RowsState& state = *r.state->rows;
  const int64_t branches = static_cast<int64_t>(state.regions.size());
  int64_t* const ids = reinterpret_cast<int64_t*>(r.scratch() + state.ids);
  size_t operand = 1;
  for (int64_t b = 0; b < branches; ++b) {
    PartRegion& region = state.regions[b];
    int64_t count = 0;
    for (int64_t row = 0; row < state.rows; ++row) {
      if (BranchOf(r.state->operands[0], row, branches) == b) ids[count++] = row;
    }
    const size_t first = std::exchange(operand, operand + region.num_args());
    if (count == 0) continue;
    const absl::Span<const int64_t> taken(ids, static_cast<size_t>(count));
    const bool whole = count == state.rows;  // then results need no packing
    for (int k = 0; k < region.num_args(); ++k) {
      std::byte* packed = r.scratch() + state.operands[first + k];
      PackRows(r.state->operands[first + k], taken, state.operand_rows[first + k], packed);
      CountMoved(r, count, state.operand_rows[first + k]);
      region.set_arg(k, packed);
    }
    for (size_t i = 0; i < state.results.size(); ++i) {
      region.set_result(static_cast<int>(i),
                        whole ? r.result(static_cast<int>(i)) : r.scratch() + state.results[i]);
    }
    r.context->stats->rows_run += count;
    WEIR_RETURN_IF_ERROR(region.Run(count, r, static_cast<int>(b)));
    for (size_t i = 0; !whole && i < state.results.size(); ++i) {
      PutRows(r.scratch() + state.results[i], taken, state.result_rows[i],
              r.result(static_cast<int>(i)));
      CountMoved(r, count, state.result_rows[i]);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> PrepareWhileRows(const ControlPreparation& p) {
  auto state = std::make_shared<RowsState>();
  WEIR_ASSIGN_OR_RETURN(state->rows, p.node.attr("extent").AsDims()[0].Evaluate(p.symbols));
  WEIR_RETURN_IF_ERROR(CheckedNumElements({state->rows}, DType::kI64).status());
  const int shared = static_cast<int>(p.node.attr("shared").AsInt());
  ScratchPlan scratch;
  state->ids = scratch.Take(state->rows * static_cast<int64_t>(sizeof(int64_t)));
  state->goes_on = scratch.Take(state->rows);
  std::vector<Layout> args;
  for (size_t i = 0; i < p.operands.size(); ++i) {
    args.push_back(Dense(p.operands[i]));
    const size_t bytes = static_cast<size_t>(args.back().bytes());
    state->operands.push_back(scratch.Take(args.back().bytes()));
    state->operand_rows.push_back(i < static_cast<size_t>(shared) ? bytes
                                                                  : RowBytes(p.operands[i]));
    if (i >= p.node.outputs.size()) continue;
    // What each trip only updates stays in its place.
    const bool stays = p.step.regions[1]->updated_arg(static_cast<int>(i)) == static_cast<int>(i);
    state->results.push_back(stays ? state->operands[i] : scratch.Take(args.back().bytes()));
  }
  for (int region : {0, 1}) {
    WEIR_RETURN_IF_ERROR(AddRegion(p, region, args, shared, state.get()));
  }
  p.state->rows = std::move(state);
  return scratch.end();
}

namespace {

// The rows of a while_rows that still run, packed in front.
class ActiveRows {
 public:
  explicit ActiveRows(const ControlRun& r)
      : r_(r),
        state_(*r.state->rows),
        shared_(static_cast<size_t>(r.node().attr("shared").AsInt())),
        count_(state_.rows),
        ids_(reinterpret_cast<int64_t*>(r.scratch() + state_.ids)) {}

  void Load() {
    std::iota(ids_, ids_ + count_, 0);
    for (size_t i = 0; i < state_.operands.size(); ++i) {
      r_.CopyOperand(static_cast<int>(i), r_.scratch() + state_.operands[i]);
      if (i >= shared_) CountMoved(r_, count_, state_.operand_rows[i]);
    }
  }

  int64_t count() const { return count_; }

  absl::Status RunCondition() {
    PartRegion& condition = state_.regions[0];
    SetArgs(&condition);
    condition.set_result(0, r_.scratch() + state_.goes_on);
    return condition.Run(count_, r_, 0);
  }

  // Lets the rows go whose condition does not hold. From the end, so that the last row is always
  // one that stays.
  void RemoveDone() {
    const bool* goes_on = reinterpret_cast<const bool*>(r_.scratch() + state_.goes_on);
    for (int64_t row = count_ - 1; row >= 0; --row) {
      if (goes_on[row]) continue;
      Emit(row);
      --count_;
      if (row == count_) continue;
      Move(count_, row);
      ++r_.context->stats->rows_moved;
    }
  }

  absl::Status RunBody() {
    PartRegion& body = state_.regions[1];
    SetArgs(&body);
    for (size_t i = 0; i < state_.results.size(); ++i) {
      body.set_result(static_cast<int>(i), r_.scratch() + state_.results[i]);
    }
    r_.context->stats->rows_run += count_;
    WEIR_RETURN_IF_ERROR(body.Run(count_, r_, 1));
    for (size_t i = 0; i < state_.results.size(); ++i) {
      std::swap(state_.operands[i], state_.results[i]);
    }
    return absl::OkStatus();
  }

 private:
  void SetArgs(PartRegion* region) const {
    for (size_t i = 0; i < state_.operands.size(); ++i) {
      region->set_arg(static_cast<int>(i), r_.scratch() + state_.operands[i]);
    }
  }

  std::byte* RowOf(size_t operand, int64_t row) const {
    const size_t step = operand < shared_ ? 0 : state_.operand_rows[operand];
    return r_.scratch() + state_.operands[operand] + static_cast<size_t>(row) * step;
  }

  void Emit(int64_t row) const {
    for (size_t i = 0; i < state_.results.size(); ++i) {
      const size_t bytes = state_.operand_rows[i];
      std::byte* to = r_.result(static_cast<int>(i)) + static_cast<size_t>(ids_[row]) * bytes;
      std::memcpy(to, RowOf(i, row), bytes);
      CountMoved(r_, 1, bytes);
    }
  }

  void Move(int64_t from, int64_t to) const {
    ids_[to] = ids_[from];
    for (size_t i = shared_; i < state_.operands.size(); ++i) {
      std::memcpy(RowOf(i, to), RowOf(i, from), state_.operand_rows[i]);
      CountMoved(r_, 1, state_.operand_rows[i]);
    }
  }

  const ControlRun& r_;
  RowsState& state_;
  const size_t shared_;
  int64_t count_;
  int64_t* const ids_;
};

}  // namespace

absl::Status RunWhileRows(const ControlRun& r) {
  ActiveRows rows(r);
  rows.Load();
  while (rows.count() > 0) {
    WEIR_RETURN_IF_ERROR(rows.RunCondition());
    rows.RemoveDone();
    if (rows.count() == 0) break;
    WEIR_RETURN_IF_ERROR(rows.RunBody());
    WEIR_RETURN_IF_ERROR(r.context->MayGoOn());
  }
  return absl::OkStatus();
}

}  // namespace weir
