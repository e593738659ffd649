#include "worker/dataflow/run.h"

#include <algorithm>
#include <atomic>
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
      ran_(program_->plan.steps_size()),
      cancelled_(spec_.cancelled != nullptr ? spec_.cancelled
                                            : std::make_shared<std::atomic<bool>>(false)) {
  for (uint32_t input : program_->plan.inputs()) slots_[input].made = 1;
}

bool Run::IsSplit(uint32_t value) const {
  return program_->plan.values(value).placement() == v1::PlanValue::PLACEMENT_SPLIT;
}

absl::Status Run::AddRows(uint32_t value, uint64_t version, int64_t first_row, Tensor rows) {
  if (value >= slots_.size()) return InvalidArgument("rows for value ", value, " of no plan");
  auto wrong = [&](std::string_view what) {
    return InvalidArgument("rows for value ", program_->plan.values(value).name(), " ",
                           ExtentsToString(shape_->extents(value)), " from row ", first_row, ", ",
                           rows.type().ToString(), ": ", what);
  };
  if (rows.dtype() != shape_->dtype(value)) return wrong("another element type");
  const Need need = shape_->NeedAt(rank(), value);
  if (need == Need::kNothing) return wrong("not needed here");
  if (version > 0 && !shape_->IsMadeAgain(value)) return wrong("made once only");
  if (rank() == 0 && shape_->IsAnswered(value)) {
    ++answers_[{value, version}];
    return absl::OkStatus();
  }
  Slot& slot = slots_[value];
  // The loop has gone on without them.
  if (version + 1 < slot.made) return absl::OkStatus();
  auto it = std::find_if(slot.arrivals.begin(), slot.arrivals.end(),
                         [&](const Arrival& arrival) { return arrival.version == version; });
  if (it == slot.arrivals.end()) {
    it = slot.arrivals.insert(it, Arrival{.version = version});
  }
  if (it->complete) return wrong("came before");
  if (IsSplit(value)) return AddSplitRows(value, first_row, std::move(rows), &*it);
  if (need == Need::kWhole) {
    if (first_row != 0 || rows.extents() != shape_->extents(value)) {
      return wrong("not the whole value");
    }
  } else {
    const RowRange range = shape_->RowsOf(value, rank());
    Extents wanted = shape_->extents(value);
    wanted[0] = range.size();
    if (first_row != range.begin || rows.extents() != wanted) return wrong("another range");
  }
  it->rows = std::move(rows);
  it->complete = true;
  return absl::OkStatus();
}

absl::Status Run::AddSplitRows(uint32_t value, int64_t first_row, Tensor rows,
                               Arrival* arrival) const {
  const Extents& extents = shape_->extents(value);
  Extents wanted = extents;
  if (rows.rank() > 0) wanted[0] = rows.extent(0);
  if (rows.extents() != wanted || first_row < 0 || rows.extent(0) > extents[0] - first_row ||
      rows.extent(0) > extents[0] - arrival->arrived) {
    return InvalidArgument("rows for value ", program_->plan.values(value).name(), " ",
                           ExtentsToString(extents), " from row ", first_row, ", ",
                           rows.type().ToString(), ": out of range");
  }
  if (arrival->rows.buffer() == nullptr) {
    WEIR_ASSIGN_OR_RETURN(arrival->rows, Tensor::TryCreate(rows.dtype(), extents));
  }
  CopyRows(rows, first_row, &arrival->rows);
  arrival->arrived += rows.extent(0);
  arrival->complete = arrival->arrived == extents[0];
  return absl::OkStatus();
}

const Run::Arrival* Run::Received(uint32_t value) const {
  const Slot& slot = slots_[value];
  for (const Arrival& arrival : slot.arrivals) {
    if (arrival.complete && arrival.version + 1 == slot.made) return &arrival;
  }
  return nullptr;
}

bool Run::IsHere(const v1::StepOperand& operand) const {
  const Slot& slot = slots_[operand.value()];
  if (!IsSplit(operand.value())) return slot.has_own || Received(operand.value()) != nullptr;
  if (operand.part() == v1::StepOperand::PART_ROWS || shape_->world() == 1) return slot.has_own;
  return slot.has_own && Received(operand.value()) != nullptr;
}

Tensor Run::OperandOf(const v1::StepOperand& operand, RowRange range) const {
  const Slot& slot = slots_[operand.value()];
  const bool rows = operand.part() == v1::StepOperand::PART_ROWS;
  if (IsSplit(operand.value()) && (rows || shape_->world() == 1)) return slot.own;
  const Tensor& whole = Whole(operand.value());
  if (!rows) return whole;
  const bool cut_already = !slot.has_own && shape_->NeedAt(rank(), operand.value()) == Need::kRows;
  return cut_already ? whole : whole.Rows(range.begin, range.end);
}

absl::StatusOr<std::optional<StepTask>> Run::NextStep() {
  const v1::Plan& plan = program_->plan;
  if (executing_) return std::nullopt;
  while (next_step_ < plan.steps_size()) {
    if (!shape_->RunsOn(next_step_, rank())) {
      PassBy(next_step_++);
      continue;
    }
    DropUnused();
    if (!OperandsAreHere(next_step_)) return std::nullopt;
    const v1::Step::Control control = shape_->step(next_step_).control;
    if (control == v1::Step::CONTROL_NONE || control == v1::Step::CONTROL_WHOLE) {
      executing_ = true;
      return TaskOf(next_step_);
    }
    WEIR_RETURN_IF_ERROR(RunControl());
  }
  DropUnused();
  for (size_t step = 0; step < ran_.size(); ++step) program_->paces[step]->RanTimes(ran_[step]);
  return std::nullopt;
}

StepTask Run::TaskOf(int index) {
  const v1::Step& step = program_->plan.steps(index);
  StepTask task;
  task.run_id = id();
  task.step = index;
  task.program = program_;
  task.symbols = spec_.symbols;
  task.cancelled = cancelled_;
  task.memory_budget = spec_.memory_budget;
  task.profile = spec_.profile;
  task.deadline = spec_.deadline;
  if (shape_->step(index).sharded) {
    task.range = RangeOf(shape_->step(index).extent, rank(), shape_->world());
  }
  task.operands.reserve(step.operands_size());
  for (const v1::StepOperand& operand : step.operands()) {
    task.operands.push_back(OperandOf(operand, task.range));
  }
  for (const v1::StepOperand& operand : step.operands()) {
    task.given.push_back(GiveUp(operand.value(), index));
  }
  for (size_t i = 0; i < task.given.size(); ++i) {
    task.given[i] = task.given[i] && task.operands[i].buffer().use_count() == 1;
  }
  // What others read of it they have read.
  std::atomic_thread_fence(std::memory_order_acquire);
  return task;
}

bool Run::GiveUp(uint32_t value, int step) {
  Slot& slot = slots_[value];
  if (!slot.has_own || !shape_->IsLastUse(value, step)) return false;
  slot.own = Tensor();
  return slot.is_fresh;
}

bool Run::Carries(const v1::StepOperand& operand) const {
  return rank() == 0 || operand.part() == v1::StepOperand::PART_ROWS;
}

std::vector<v1::StepOperand> Run::CarriedBy(int index) const {
  const v1::Plan& plan = program_->plan;
  std::vector<v1::StepOperand> operands(plan.steps(index).operands().begin(),
                                        plan.steps(index).operands().end());
  if (!shape_->step(index).whole) return operands;
  for (size_t i = 0; i < operands.size(); ++i) {
    operands[i].set_value(plan.steps(index - 1).outputs(static_cast<int>(i)));
  }
  return operands;
}

bool Run::OperandsAreHere(int index) const {
  const v1::Step& step = program_->plan.steps(index);
  if (shape_->step(index).answered && !IsAnswered(step.operands(0).value())) return false;
  const auto is_here = [&](const v1::StepOperand& operand) { return IsHere(operand); };
  if (!IsCopy(shape_->step(index).control)) {
    return std::all_of(step.operands().begin(), step.operands().end(), is_here);
  }
  const std::vector<v1::StepOperand> operands = CarriedBy(index);
  return std::all_of(operands.begin(), operands.end(), [&](const v1::StepOperand& operand) {
    return !Carries(operand) || IsHere(operand);
  });
}

absl::Status Run::RunControl() {
  const RunShape::StepShape& shape = shape_->step(next_step_);
  if (shape.control == v1::Step::CONTROL_TEST) {
    const uint32_t goes_on = program_->plan.steps(next_step_).operands(0).value();
    if (shape.answered) Answer(goes_on);
    next_step_ = Whole(goes_on).At<bool>({}) ? next_step_ + 1 : shape.jump;
    return absl::OkStatus();
  }
  WEIR_RETURN_IF_ERROR(Carry());
  next_step_ = shape.jump;
  return absl::OkStatus();
}

bool Run::IsAnswered(uint32_t value) const {
  const uint64_t version = slots_[value].made - 1;
  if (rank() != 0 || version == 0) return true;
  const auto answers = answers_.find({value, version - 1});
  return answers != answers_.end() && answers->second == shape_->world() - 1;
}

void Run::Answer(uint32_t value) {
  const uint64_t version = slots_[value].made - 1;
  if (rank() == 0) {
    if (version > 0) answers_.erase({value, version - 1});
    return;
  }
  outgoing_.push_back({0, value, version, {Whole(value), 0}});
}

absl::Status Run::Carry() {
  const std::vector<v1::StepOperand> operands = CarriedBy(next_step_);
  std::vector<Tensor> carried(operands.size());
  std::vector<bool> fresh(operands.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!Carries(operands[i])) continue;
    const bool rows = operands[i].part() == v1::StepOperand::PART_ROWS;
    const RowRange range = rows ? shape_->RowsOf(operands[i].value(), rank()) : RowRange();
    carried[i] = OperandOf(operands[i], range);
    const Slot& slot = slots_[operands[i].value()];
    fresh[i] = slot.is_fresh && carried[i].buffer() == slot.own.buffer();
  }
  for (const v1::StepOperand& operand : operands) GiveUp(operand.value(), next_step_);
  PassBy(next_step_);
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!Carries(operands[i])) continue;
    const uint32_t output = program_->plan.steps(next_step_).outputs(static_cast<int>(i));
    WEIR_RETURN_IF_ERROR(Store(output, std::move(carried[i]), fresh[i]));
  }
  return absl::OkStatus();
}

void Run::PassBy(int step) {
  for (uint32_t output : program_->plan.steps(step).outputs()) {
    Slot& slot = slots_[output];
    ++slot.made;
    std::erase_if(slot.arrivals,
                  [&](const Arrival& arrival) { return arrival.version + 1 < slot.made; });
  }
}

absl::Status Run::Store(uint32_t value, Tensor made, bool is_fresh) {
  Slot& slot = slots_[value];
  slot.is_fresh = is_fresh;
  slot.own = std::move(made);
  slot.has_own = true;
  for (int to = 0; to < shape_->world(); ++to) SendTo(to, value);
  if (!IsSplit(value) || shape_->world() == 1 || shape_->NeedAt(rank(), value) != Need::kWhole) {
    return absl::OkStatus();
  }
  const uint64_t version = slot.made - 1;
  if (shape_->extents(value)[0] == 0) {
    slot.arrivals.push_back({.version = version, .rows = slot.own, .complete = true});
    return absl::OkStatus();
  }
  // A worker without rows adds none: those of the others may be complete already.
  if (slot.own.extent(0) == 0) return absl::OkStatus();
  return AddRows(value, version, shape_->RowsOf(value, rank()).begin, slot.own);
}

void Run::SendTo(int to, uint32_t value) {
  const Slot& slot = slots_[value];
  const Need need = shape_->NeedAt(to, value);
  if (to == rank() || need == Need::kNothing) return;
  Part part{slot.own, 0};
  if (IsSplit(value)) {
    if (need == Need::kRows || slot.own.extent(0) == 0) return;
    part.first_row = shape_->RowsOf(value, rank()).begin;
  } else if (need == Need::kRows) {
    const RowRange range = shape_->RowsOf(value, to);
    part = {slot.own.Rows(range.begin, range.end), range.begin};
  }
  outgoing_.push_back({to, value, slot.made - 1, std::move(part)});
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
  ++ran_[step];
  PassBy(step);
  counters_.set_kernel_launches(counters_.kernel_launches() + stats.kernel_launches);
  counters_.set_arena_bytes(std::max(counters_.arena_bytes(), stats.arena_bytes));
  counters_.set_chunks(counters_.chunks() + stats.chunks);
  counters_.set_run_ns(counters_.run_ns() + stats.run_ns);
  counters_.set_rows_run(counters_.rows_run() + stats.rows_run);
  counters_.set_rows_moved(counters_.rows_moved() + stats.rows_moved);
  if (stats.ops != nullptr) AddProfile(made.function(), stats);
  WEIR_RETURN_IF_ERROR(CheckOutputs(made.outputs(), outputs));
  for (int i = 0; i < made.outputs_size(); ++i) {
    WEIR_RETURN_IF_ERROR(Store(made.outputs(i), std::move(outputs[i]), true));
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
  v1::StepCount* step = nullptr;
  // Steps of a loop run again and again.
  for (v1::StepCount& ran : *counters_.mutable_steps()) {
    if (ran.function() == function) step = &ran;
  }
  if (step == nullptr) step = counters_.add_steps();
  step->set_function(function);
  step->set_iterations(step->iterations() + stats.iterations);
  step->set_chunk(stats.chunking.chunk);
  step->set_threads(stats.chunking.threads);
  step->set_bytes_per_iteration(stats.chunking.bytes_per_iteration);
  step->set_predicted_bytes(stats.chunking.predicted_bytes);
  step->set_arena_bytes(std::max(step->arena_bytes(), stats.arena_bytes));
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
  const Arrival* received = Received(value);
  return received != nullptr ? received->rows : slots_[value].own;
}

void Run::DropUnused() {
  for (size_t value = 0; value < slots_.size(); ++value) {
    if (shape_->last_use(static_cast<uint32_t>(value)) >= next_step_) continue;
    Slot& slot = slots_[value];
    slot.own = Tensor();
    std::erase_if(slot.arrivals,
                  [&](const Arrival& arrival) { return arrival.version < slot.made; });
  }
}

}  // namespace weir
