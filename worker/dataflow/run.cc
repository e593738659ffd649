#include "worker/dataflow/run.h"

#include <algorithm>
#include <utility>

#include "common/base/status.h"
#include "common/ops/registry.h"
#include "common/plan/run_counters.h"

namespace weir {
namespace {

void CopyRows(const Tensor& rows, int64_t first_row, Tensor* whole) {
  if (rows.num_elements() == 0) return;
  const int64_t row_bytes = rows.num_bytes() / rows.extent(0);
  rows.CopyTo(whole->raw_mutable_data() + first_row * row_bytes);
}

}  // namespace

Run::Run(RunSpec spec, std::shared_ptr<Program> program, std::shared_ptr<const RunShape> shape)
    : spec_(std::move(spec)),
      program_(std::move(program)),
      shape_(std::move(shape)),
      slots_(program_->plan.values_size()),
      cancelled_(spec_.cancelled != nullptr ? spec_.cancelled
                                            : std::make_shared<std::atomic<bool>>(false)) {}

bool Run::IsSplit(uint32_t value) const {
  return program_->plan.values(value).placement() == v1::PlanValue::PLACEMENT_SPLIT;
}

absl::Status Run::AddRows(uint32_t value, int64_t first_row, Tensor rows) {
  if (value >= slots_.size()) return InvalidArgument("rows for value ", value, " of no plan");
  const Extents& extents = shape_->extents(value);
  auto wrong = [&](std::string_view what) {
    return InvalidArgument("rows for value ", program_->plan.values(value).name(), " ",
                           ExtentsToString(extents), " from row ", first_row, ", ",
                           rows.type().ToString(), ": ", what);
  };
  if (rows.dtype() != shape_->dtype(value)) return wrong("another element type");
  Slot& slot = slots_[value];
  const Need need = shape_->NeedAt(rank(), value);
  if (need == Need::kNothing) return wrong("not needed here");
  if (slot.complete) return wrong("came before");
  const bool by_rows = need == Need::kRows || IsSplit(value);
  if (!by_rows) {
    if (first_row != 0 || rows.extents() != extents) return wrong("not the whole value");
    slot.received = std::move(rows);
    slot.complete = true;
    return absl::OkStatus();
  }
  Extents wanted = extents;
  if (rows.rank() == 0) return wrong("no rows");
  wanted[0] = rows.extent(0);
  if (rows.extents() != wanted) return wrong("another shape");
  if (!IsSplit(value)) {
    const RowRange range = shape_->RowsOf(value, rank());
    if (first_row != range.begin || rows.extent(0) != range.size()) return wrong("another range");
    slot.received = std::move(rows);
    slot.complete = true;
    return absl::OkStatus();
  }
  if (first_row < 0 || rows.extent(0) > extents[0] - first_row ||
      rows.extent(0) > extents[0] - slot.arrived) {
    return wrong("out of range");
  }
  if (slot.received.buffer() == nullptr) {
    WEIR_ASSIGN_OR_RETURN(slot.received, Tensor::TryCreate(rows.dtype(), extents));
  }
  CopyRows(rows, first_row, &slot.received);
  slot.arrived += rows.extent(0);
  slot.complete = slot.arrived == extents[0];
  return absl::OkStatus();
}

bool Run::IsHere(const v1::StepOperand& operand) const {
  const Slot& slot = slots_[operand.value()];
  if (!IsSplit(operand.value())) return slot.has_own || slot.complete;
  if (operand.part() == v1::StepOperand::PART_ROWS || shape_->world() == 1) return slot.has_own;
  return slot.has_own && slot.complete;
}

Tensor Run::OperandOf(const v1::StepOperand& operand, RowRange range) const {
  const Slot& slot = slots_[operand.value()];
  const bool rows = operand.part() == v1::StepOperand::PART_ROWS;
  if (IsSplit(operand.value())) {
    return rows || shape_->world() == 1 ? slot.own : slot.received;
  }
  const Tensor& whole = Whole(operand.value());
  if (!rows) return whole;
  const bool cut_already = !slot.has_own && shape_->NeedAt(rank(), operand.value()) == Need::kRows;
  return cut_already ? whole : whole.Rows(range.begin, range.end);
}

std::optional<StepTask> Run::NextStep() {
  const v1::Plan& plan = program_->plan;
  if (executing_) return std::nullopt;
  while (next_step_ < plan.steps_size() && !shape_->RunsOn(next_step_, rank())) ++next_step_;
  DropUnused();
  if (next_step_ == plan.steps_size()) return std::nullopt;
  const v1::Step& step = plan.steps(next_step_);
  for (const v1::StepOperand& operand : step.operands()) {
    if (!IsHere(operand)) return std::nullopt;
  }
  std::optional<StepTask> task(std::in_place);
  task->run_id = id();
  task->step = next_step_;
  task->program = program_;
  task->symbols = spec_.symbols;
  task->cancelled = cancelled_;
  task->memory_budget = spec_.memory_budget;
  task->profile = spec_.profile;
  task->deadline = spec_.deadline;
  if (shape_->step(next_step_).sharded) {
    task->range = RangeOf(shape_->step(next_step_).extent, rank(), shape_->world());
  }
  task->operands.reserve(step.operands_size());
  for (const v1::StepOperand& operand : step.operands()) {
    task->operands.push_back(OperandOf(operand, task->range));
  }
  executing_ = true;
  return task;
}

absl::Status Run::CheckOutputs(absl::Span<const uint32_t> values,
                               absl::Span<const Tensor> outputs) const {
  for (size_t i = 0; i < values.size(); ++i) {
    Extents wanted = shape_->extents(values[i]);
    if (IsSplit(values[i])) wanted[0] = shape_->RowsOf(values[i], rank()).size();
    if (i < outputs.size() && outputs[i].dtype() == shape_->dtype(values[i]) &&
        outputs[i].extents() == wanted) {
      continue;
    }
    return InvalidArgument("plan: value ", program_->plan.values(values[i]).name(), " is ",
                           ExtentsToString(wanted), ", but its step made something else");
  }
  return absl::OkStatus();
}

absl::Status Run::FinishStep(int step, std::vector<Tensor> outputs, const StepStats& stats) {
  const v1::Step& made = program_->plan.steps(step);
  executing_ = false;
  next_step_ = step + 1;
  counters_.set_kernel_launches(counters_.kernel_launches() + stats.kernel_launches);
  counters_.set_arena_bytes(std::max(counters_.arena_bytes(), stats.arena_bytes));
  counters_.set_chunks(counters_.chunks() + stats.chunks);
  counters_.set_run_ns(counters_.run_ns() + stats.run_ns);
  counters_.set_rows_run(counters_.rows_run() + stats.rows_run);
  counters_.set_rows_moved(counters_.rows_moved() + stats.rows_moved);
  if (stats.ops != nullptr) AddProfile(made.function(), stats);
  const absl::Span<const uint32_t> values = OutputsOf(step);
  WEIR_RETURN_IF_ERROR(CheckOutputs(values, outputs));
  for (size_t i = 0; i < values.size(); ++i) {
    Slot& slot = slots_[values[i]];
    slot.own = std::move(outputs[i]);
    slot.has_own = true;
    if (IsSplit(values[i]) && shape_->world() > 1 &&
        shape_->NeedAt(rank(), values[i]) == Need::kWhole) {
      if (shape_->extents(values[i])[0] == 0) {
        slot.received = slot.own;
        slot.complete = true;
        continue;
      }
      // A worker without rows adds none: those of the others may be complete already.
      if (slot.own.extent(0) == 0) continue;
      WEIR_RETURN_IF_ERROR(AddRows(values[i], shape_->RowsOf(values[i], rank()).begin, slot.own));
    }
  }
  return absl::OkStatus();
}

void Run::AddProfile(const std::string& function, const StepStats& stats) {
  google::protobuf::RepeatedPtrField<v1::OpCount> ops;
  for (size_t i = 0; i < AllOps().size(); ++i) {
    const OpCounts::Count& count = stats.ops->counts()[i];
    if (count.launches == 0 && count.ns == 0) continue;
    v1::OpCount* op = ops.Add();
    op->set_op(std::string(AllOps()[i].name));
    op->set_launches(count.launches);
    op->set_elements(count.elements);
    op->set_ns(count.ns);
  }
  AddOpCounts(ops, counters_.mutable_ops());
  counters_.set_bytes_gathered(counters_.bytes_gathered() + stats.ops->bytes_gathered());
  v1::StepCount* step = counters_.add_steps();
  step->set_function(function);
  step->set_iterations(stats.iterations);
  step->set_chunk(stats.chunking.chunk);
  step->set_threads(stats.chunking.threads);
  step->set_bytes_per_iteration(stats.chunking.bytes_per_iteration);
  step->set_predicted_bytes(stats.chunking.predicted_bytes);
  step->set_arena_bytes(stats.arena_bytes);
}

std::vector<Run::Part> Run::PartsFor(uint32_t value, int to) const {
  const Slot& slot = slots_[value];
  const Need need = shape_->NeedAt(to, value);
  if (to == rank() || !slot.has_own || need == Need::kNothing) return {};
  if (IsSplit(value)) {
    if (need == Need::kRows || slot.own.extent(0) == 0) return {};
    return {{slot.own, shape_->RowsOf(value, rank()).begin}};
  }
  if (need == Need::kWhole) return {{slot.own, 0}};
  const RowRange range = shape_->RowsOf(value, to);
  return {{slot.own.Rows(range.begin, range.end), range.begin}};
}

std::vector<Run::Result> Run::Results() const {
  std::vector<Result> results;
  for (int output = 0; output < program_->plan.outputs_size(); ++output) {
    const uint32_t value = program_->plan.outputs(output);
    const Slot& slot = slots_[value];
    if (!slot.has_own) continue;
    const int64_t first_row = IsSplit(value) ? shape_->RowsOf(value, rank()).begin : 0;
    results.push_back({static_cast<uint32_t>(output), value, {slot.own, first_row}});
  }
  return results;
}

const Tensor& Run::Whole(uint32_t value) const {
  const Slot& slot = slots_[value];
  return slot.complete ? slot.received : slot.own;
}

void Run::DropUnused() {
  for (size_t value = 0; value < slots_.size(); ++value) {
    if (shape_->last_use(static_cast<uint32_t>(value)) >= next_step_) continue;
    slots_[value].own = Tensor();
    slots_[value].received = Tensor();
  }
}

}  // namespace weir
