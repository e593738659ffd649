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

// Whatever is read was fed, or made by a step before.
absl::Status CheckOrder(const v1::Plan& plan) {
  const auto is_fed = [&plan](uint32_t value) {
    return plan.values(static_cast<int>(value)).placement() == v1::PlanValue::PLACEMENT_FEED;
  };
  std::vector<bool> is_here(static_cast<size_t>(plan.values_size()), false);
  for (const uint32_t input : plan.inputs()) {
    if (!is_fed(input)) return InvalidArgument("plan: the input ", input, " is not fed");
    is_here[input] = true;
  }
  for (const v1::Step& step : plan.steps()) {
    for (const v1::StepOperand& operand : step.operands()) {
      if (is_here[operand.value()]) continue;
      return InvalidArgument("plan: ", step.function(), " takes value ", operand.value(),
                             ", which no step before it makes");
    }
    for (const uint32_t output : step.outputs()) {
      if (is_fed(output)) {
        return InvalidArgument("plan: ", step.function(), " makes value ", output,
                               ", which is to be fed");
      }
      is_here[output] = true;
    }
  }
  for (const uint32_t output : plan.outputs()) {
    if (!is_here[output]) return InvalidArgument("plan: nothing makes the output ", output);
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

void Widen(Need* need, v1::StepOperand::Part part) {
  *need = std::max(*need, part == v1::StepOperand::PART_ROWS ? Need::kRows : Need::kWhole);
}

}  // namespace

RowRange RangeOf(int64_t extent, int rank, int world) {
  const auto cut = [&](int64_t r) {
    return static_cast<int64_t>(static_cast<__int128>(extent) * r / world);
  };
  return {cut(rank), cut(rank + 1)};
}

absl::StatusOr<RunShape> RunShape::Make(const v1::Plan& plan, const SymbolBindings& symbols,
                                        int world) {
  WEIR_RETURN_IF_ERROR(CheckIndices(plan));
  WEIR_RETURN_IF_ERROR(CheckOrder(plan));
  RunShape out;
  out.world_ = world;
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
    out.values_.push_back(std::move(shape));
  }
  for (int index = 0; index < plan.steps_size(); ++index) {
    const v1::Step& step = plan.steps(index);
    StepShape shape;
    shape.sharded = !step.extent().empty();
    if (shape.sharded) {
      WEIR_ASSIGN_OR_RETURN(const Dim extent, Dim::Parse(step.extent()));
      WEIR_ASSIGN_OR_RETURN(shape.extent, extent.Evaluate(symbols));
      if (shape.extent < 0) {
        return InvalidArgument("pfor extent ", step.extent(), " is negative: ", shape.extent);
      }
    }
    for (const v1::StepOperand& operand : step.operands()) {
      ValueShape& value = out.values_[operand.value()];
      if (operand.part() == v1::StepOperand::PART_ROWS &&
          (!shape.sharded || value.extents.empty() || value.extents[0] != shape.extent)) {
        return InvalidArgument("plan: ", step.function(), " takes rows of a value of shape ",
                               ExtentsToString(value.extents), " over ", shape.extent,
                               " iterations");
      }
      value.last_use = index;
      Widen(&value.needs[0], operand.part());
      if (shape.sharded) Widen(&value.needs[1], operand.part());
    }
    for (uint32_t output : step.outputs()) {
      WEIR_RETURN_IF_ERROR(CheckOutput(plan.values(static_cast<int>(output)),
                                       out.values_[output].extents, step, shape));
      out.values_[output].last_use = std::max(out.values_[output].last_use, index);
    }
    out.steps_.push_back(shape);
  }
  for (uint32_t result : plan.outputs()) out.values_[result].last_use = plan.steps_size();
  return out;
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
