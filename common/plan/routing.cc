#include "common/plan/routing.h"

#include <algorithm>
#include <vector>

#include "common/base/status.h"

namespace weir {
namespace {

absl::Status CheckIndices(const v1::Plan& plan) {
  const uint32_t count = static_cast<uint32_t>(plan.values_size());
  auto bad = [count](uint32_t value) { return value >= count; };
  auto out_of_range = [](std::string_view where) {
    return InvalidArgument("plan: ", where, " names a value that is not in the plan");
  };
  if (std::any_of(plan.inputs().begin(), plan.inputs().end(), bad)) return out_of_range("an input");
  if (std::any_of(plan.outputs().begin(), plan.outputs().end(), bad)) {
    return out_of_range("an output");
  }
  for (const v1::Step& step : plan.steps()) {
    if (std::any_of(step.outputs().begin(), step.outputs().end(), bad)) {
      return out_of_range(step.function());
    }
    for (const v1::StepOperand& operand : step.operands()) {
      if (bad(operand.value())) return out_of_range(step.function());
    }
  }
  return absl::OkStatus();
}

// Inputs are fed, and nothing makes what is to be fed.
absl::Status CheckFeeds(const v1::Plan& plan) {
  for (const uint32_t input : plan.inputs()) {
    if (!IsFeed(plan, input)) return InvalidArgument("plan: the input ", input, " is not fed");
  }
  for (const v1::Step& step : plan.steps()) {
    for (const uint32_t output : step.outputs()) {
      if (!IsFeed(plan, output)) continue;
      return InvalidArgument("plan: ", step.function(), " makes value ", output,
                             ", which is to be fed");
    }
  }
  return absl::OkStatus();
}

// A sharded step makes rows of split values, any other step whole values.
absl::Status CheckOutput(const v1::PlanValue& value, const Extents& extents, const v1::Step& step,
                         const RunShape::StepShape& shape) {
  const bool split = value.placement() == v1::PlanValue::PLACEMENT_SPLIT;
  if (split == shape.sharded && (!split || extents[0] == shape.extent)) return absl::OkStatus();
  return InvalidArgument("plan: ", step.function(), " makes ", value.name(), " of shape ",
                         ExtentsToString(extents), split ? ", by rows, over " : ", whole, over ",
                         shape.extent, " iterations");
}

std::vector<uint32_t> ValuesOf(const google::protobuf::RepeatedPtrField<v1::StepOperand>& of) {
  std::vector<uint32_t> values;
  for (const v1::StepOperand& operand : of) values.push_back(operand.value());
  return values;
}

// Of operations on elements: a trip with less is over sooner on one worker than several have told
// one another of it, or one has begun its steps.
int64_t LeastWork(int world) { return world == 1 ? 50'000 : 1'000'000; }

void Widen(Need* need, v1::StepOperand::Part part) {
  *need = std::max(*need, part == v1::StepOperand::PART_ROWS ? Need::kRows : Need::kWhole);
}

}  // namespace

bool IsCopy(v1::Step::Control control) {
  return control == v1::Step::CONTROL_ENTER || control == v1::Step::CONTROL_REPEAT ||
         control == v1::Step::CONTROL_LEAVE;
}

bool IsFeed(const v1::Plan& plan, uint32_t value) {
  return plan.values(static_cast<int>(value)).placement() == v1::PlanValue::PLACEMENT_FEED;
}

RowRange RangeOf(int64_t extent, int rank, int world) {
  const auto cut = [&](int64_t r) {
    return static_cast<int64_t>(static_cast<__int128>(extent) * r / world);
  };
  return {cut(rank), cut(rank + 1)};
}

absl::StatusOr<RunShape> RunShape::Make(const v1::Plan& plan, const SymbolBindings& symbols,
                                        int world) {
  WEIR_RETURN_IF_ERROR(CheckIndices(plan));
  WEIR_RETURN_IF_ERROR(CheckFeeds(plan));
  WEIR_ASSIGN_OR_RETURN(const PlanLoops loops, PlanLoops::Find(plan));
  RunShape out(world);
  WEIR_RETURN_IF_ERROR(out.AddValues(plan, loops, symbols));
  for (int index = 0; index < plan.steps_size(); ++index) {
    WEIR_RETURN_IF_ERROR(out.AddStep(plan, loops, symbols));
  }
  for (int index = 0; index < plan.steps_size(); ++index) {
    out.AddUses(plan, loops, index);
    out.is_shared_ = out.is_shared_ || out.steps_[index].sharded;
    // What no run comes to uses nothing.
    if (out.steps_[index].whole) index = std::max(index, out.steps_[index].jump - 1);
  }
  for (uint32_t result : plan.outputs()) out.values_[result].last_use = plan.steps_size();
  return out;
}

absl::Status RunShape::AddValues(const v1::Plan& plan, const PlanLoops& loops,
                                 const SymbolBindings& symbols) {
  for (const v1::PlanValue& value : plan.values()) {
    WEIR_ASSIGN_OR_RETURN(const TensorType type, TensorType::Parse(value.type()));
    ValueShape shape;
    shape.dtype = type.dtype;
    absl::StatusOr<Extents> extents = type.shape.Evaluate(symbols);
    WEIR_RETURN_IF_ERROR(Annotate(extents.status(), StrCat("value ", value.name())));
    WEIR_RETURN_IF_ERROR(CheckedNumElements(*extents, type.dtype).status());
    shape.extents = *std::move(extents);
    if (value.placement() == v1::PlanValue::PLACEMENT_SPLIT && shape.extents.empty()) {
      return InvalidArgument("plan: value ", value.name(), " is split by rows, but has none");
    }
    const uint32_t index = static_cast<uint32_t>(values_.size());
    shape.made_at = loops.made_at(index);
    shape.made_again = loops.IsMadeAgain(index);
    values_.push_back(std::move(shape));
  }
  return absl::OkStatus();
}

absl::Status RunShape::AddStep(const v1::Plan& plan, const PlanLoops& loops,
                               const SymbolBindings& symbols) {
  const int index = num_steps();
  const v1::Step& step = plan.steps(index);
  StepShape shape;
  shape.control = step.control();
  shape.jump = index + 1;
  if (shape.control != v1::Step::CONTROL_NONE) {
    WEIR_RETURN_IF_ERROR(AddControl(plan, loops, symbols, &shape));
    steps_.push_back(shape);
    return absl::OkStatus();
  }
  shape.sharded = !step.extent().empty();
  if (shape.sharded) {
    WEIR_ASSIGN_OR_RETURN(const Dim extent, Dim::Parse(step.extent()));
    WEIR_ASSIGN_OR_RETURN(shape.extent, extent.Evaluate(symbols));
    if (shape.extent < 0) {
      return InvalidArgument("pfor extent ", step.extent(), " is negative: ", shape.extent);
    }
  }
  for (const v1::StepOperand& operand : step.operands()) {
    const ValueShape& value = values_[operand.value()];
    if (operand.part() == v1::StepOperand::PART_ROWS &&
        (!shape.sharded || value.extents.empty() || value.extents[0] != shape.extent)) {
      return InvalidArgument("plan: ", step.function(), " takes rows of a value of shape ",
                             ExtentsToString(value.extents), " over ", shape.extent, " iterations");
    }
  }
  for (uint32_t output : step.outputs()) {
    WEIR_RETURN_IF_ERROR(
        CheckOutput(plan.values(static_cast<int>(output)), values_[output].extents, step, shape));
  }
  steps_.push_back(shape);
  return absl::OkStatus();
}

absl::Status RunShape::AddControl(const v1::Plan& plan, const PlanLoops& loops,
                                  const SymbolBindings& symbols, StepShape* shape) {
  const int index = num_steps();
  const v1::Step& step = plan.steps(index);
  const bool takes_rows =
      std::any_of(step.operands().begin(), step.operands().end(),
                  [](const auto& operand) { return operand.part() == v1::StepOperand::PART_ROWS; });
  if (!step.extent().empty() || (takes_rows && !IsCopy(shape->control))) {
    return InvalidArgument("plan: step ", index, " is no pfor, but takes rows");
  }
  switch (shape->control) {
    case v1::Step::CONTROL_WHOLE: {
      for (uint32_t output : step.outputs()) {
        WEIR_RETURN_IF_ERROR(CheckOutput(plan.values(static_cast<int>(output)),
                                         values_[output].extents, step, *shape));
      }
      WEIR_ASSIGN_OR_RETURN(const Dim work, Dim::Parse(step.work()));
      const absl::StatusOr<int64_t> operations = work.Evaluate(symbols);
      // More than a number can say is much.
      shape->whole = operations.ok() && *operations < LeastWork(world_);
      return CheckCopies(plan, step.outputs(), plan.steps(index + 1));
    }
    case v1::Step::CONTROL_ENTER:
      shape->whole = index > 0 && steps_[index - 1].whole &&
                     steps_[index - 1].control == v1::Step::CONTROL_WHOLE;
      if (shape->whole) shape->jump = loops.of_control(index).repeat + 1;
      break;
    case v1::Step::CONTROL_REPEAT:
      shape->jump = loops.of_control(index).enter + 1;
      break;
    case v1::Step::CONTROL_TEST: {
      shape->jump = loops.of_control(index).repeat + 1;
      ValueShape& goes_on = values_[step.operands(0).value()];
      shape->answered = world_ > 1 && !loops.Gathers(plan, index);
      goes_on.answered = goes_on.answered || shape->answered;
      if (goes_on.dtype == DType::kBool && goes_on.extents.empty()) return absl::OkStatus();
      return InvalidArgument("plan: step ", index, " tests what is no bool");
    }
    case v1::Step::CONTROL_LEAVE:
      break;
    default:
      return InvalidArgument("plan: step ", index, " does something unknown");
  }
  return CheckCopies(plan, ValuesOf(step.operands()), step);
}

// `step` may make its outputs of these values: split ones of their rows, others of the whole.
absl::Status RunShape::CheckCopies(const v1::Plan& plan, absl::Span<const uint32_t> from,
                                   const v1::Step& step) const {
  for (int i = 0; i < step.outputs_size(); ++i) {
    const v1::PlanValue& value = plan.values(static_cast<int>(step.outputs(i)));
    const ValueShape& source = values_[from[i]];
    const ValueShape& target = values_[step.outputs(i)];
    const bool rows = step.operands(i).part() == v1::StepOperand::PART_ROWS;
    const auto placement = rows ? v1::PlanValue::PLACEMENT_SPLIT : v1::PlanValue::PLACEMENT_ROOT;
    if (source.dtype == target.dtype && source.extents == target.extents &&
        value.placement() == placement) {
      continue;
    }
    return InvalidArgument("plan: ", value.name(), " of shape ", ExtentsToString(target.extents),
                           " is carried on as something else");
  }
  return absl::OkStatus();
}

void RunShape::AddUses(const v1::Plan& plan, const PlanLoops& loops, int index) {
  const v1::Step& step = plan.steps(index);
  const StepShape& shape = steps_[index];
  for (uint32_t output : step.outputs()) {
    values_[output].last_use = std::max(values_[output].last_use, index);
  }
  if (shape.control == v1::Step::CONTROL_WHOLE && !shape.whole) return;
  const bool enters_none = shape.control == v1::Step::CONTROL_ENTER && shape.whole;
  const bool copies = IsCopy(shape.control);
  for (int i = 0; i < step.operands_size(); ++i) {
    const v1::StepOperand& operand = step.operands(i);
    const bool rows = operand.part() == v1::StepOperand::PART_ROWS;
    const uint32_t used = enters_none ? plan.steps(index - 1).outputs(i) : operand.value();
    ValueShape& value = values_[used];
    value.last_use = std::max(value.last_use, loops.KeptUntil(used, index));
    Widen(&value.needs[0], operand.part());
    const bool on_others = copies ? rows : RunsOn(index, 1);
    if (on_others) Widen(&value.needs[1], operand.part());
  }
}

bool RunShape::IsLastUse(uint32_t value, int step) const {
  if (values_[value].last_use != step) return false;
  // The next trip uses again what was made in front of the loop.
  return steps_[step].control != v1::Step::CONTROL_REPEAT ||
         values_[value].made_at >= steps_[step].jump;
}

bool RunShape::RunsOn(int step, int rank) const {
  const StepShape& shape = steps_[step];
  switch (shape.control) {
    case v1::Step::CONTROL_NONE:
      return shape.sharded || rank == 0;
    case v1::Step::CONTROL_WHOLE:
      return shape.whole && rank == 0;
    default:
      return true;
  }
}

absl::StatusOr<std::shared_ptr<const RunShape>> LastRunShape::For(const v1::Plan& plan,
                                                                  const SymbolBindings& symbols,
                                                                  int world) {
  if (shape_ == nullptr || shape_->world() != world || symbols_ != symbols) {
    WEIR_ASSIGN_OR_RETURN(RunShape shape, RunShape::Make(plan, symbols, world));
    shape_ = std::make_shared<const RunShape>(std::move(shape));
    symbols_ = symbols;
  }
  return shape_;
}

RowRange RunShape::RowsOf(uint32_t value, int rank) const {
  return RangeOf(values_[value].extents[0], rank, world_);
}

}  // namespace weir
