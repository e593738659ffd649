#include "common/plan/plan_loops.h"

#include <algorithm>
#include <utility>

#include "common/base/status.h"

namespace weir {

class PlanLoopsFinder {
 public:
  explicit PlanLoopsFinder(const v1::Plan& plan) : plan_(plan), seen_(plan.values_size()) {
    found_.made_at_.assign(plan.values_size(), -1);
  }

  absl::StatusOr<PlanLoops> Find() {
    for (uint32_t input : plan_.inputs()) seen_[input] = true;
    for (index_ = 0; index_ < plan_.steps_size(); ++index_) {
      WEIR_RETURN_IF_ERROR(Annotate(AddStep(), StrCat("plan: step ", index_)));
    }
    if (inner_ >= 0) return InvalidArgument("plan: a loop has no end");
    for (uint32_t result : plan_.outputs()) {
      if (!seen_[result]) return InvalidArgument("plan: ", NameOf(result), " is never made");
    }
    return std::move(found_);
  }

 private:
  using Loop = PlanLoops::Loop;

  const v1::Step& step() const { return plan_.steps(index_); }
  const std::string& NameOf(uint32_t value) const {
    return plan_.values(static_cast<int>(value)).name();
  }

  absl::Status AddStep() {
    for (const v1::StepOperand& operand : step().operands()) {
      if (seen_[operand.value()]) continue;
      return InvalidArgument("uses ", NameOf(operand.value()), ", which is not made there");
    }
    switch (step().control()) {
      case v1::Step::CONTROL_ENTER:
        return Enter();
      case v1::Step::CONTROL_TEST:
        return Test();
      case v1::Step::CONTROL_REPEAT:
        return Repeat();
      case v1::Step::CONTROL_WHOLE:
        WEIR_RETURN_IF_ERROR(CheckWhole());
        break;
      case v1::Step::CONTROL_LEAVE:
        WEIR_RETURN_IF_ERROR(CheckCopies());
        break;
      default:
        break;
    }
    found_.around_.push_back(inner_);
    return Make();
  }

  absl::Status Make() {
    for (uint32_t output : step().outputs()) {
      if (seen_[output] || found_.made_at_[output] >= 0) {
        return InvalidArgument("makes ", NameOf(output), " for the second time");
      }
      seen_[output] = true;
      found_.made_at_[output] = index_;
      made_.push_back(output);
    }
    return absl::OkStatus();
  }

  absl::Status CheckCopies() const {
    if (step().operands_size() == step().outputs_size()) return absl::OkStatus();
    return InvalidArgument("carries ", step().outputs_size(), " values, but finds ",
                           step().operands_size());
  }

  absl::Status Enter() {
    WEIR_RETURN_IF_ERROR(CheckCopies());
    WEIR_RETURN_IF_ERROR(Make());
    found_.loops_.push_back({.enter = index_, .around = inner_});
    inner_ = static_cast<int>(found_.loops_.size()) - 1;
    made_before_.push_back(made_.size());
    found_.around_.push_back(inner_);
    return absl::OkStatus();
  }

  // Each trip takes a function on rank 0, and each other worker a message from there, so that none
  // goes round without end.
  absl::Status Test() {
    if (inner_ < 0 || found_.loops_[inner_].test >= 0) return InvalidArgument("tests no loop");
    Loop& loop = found_.loops_[inner_];
    if (step().operands_size() != 1 || step().outputs_size() != 0) {
      return InvalidArgument("tests ", step().operands_size(), " values");
    }
    const int made_at = found_.made_at_[step().operands(0).value()];
    if (made_at <= loop.enter || found_.around_[made_at] != inner_ ||
        plan_.steps(made_at).control() != v1::Step::CONTROL_NONE) {
      return InvalidArgument("tests a value that its loop does not make by a function");
    }
    loop.test = index_;
    found_.around_.push_back(inner_);
    return absl::OkStatus();
  }

  absl::Status Repeat() {
    if (inner_ < 0 || found_.loops_[inner_].test < 0) return InvalidArgument("ends no loop");
    WEIR_RETURN_IF_ERROR(CheckCopies());
    Loop& loop = found_.loops_[inner_];
    const auto& carried = plan_.steps(loop.enter).outputs();
    if (!std::equal(carried.begin(), carried.end(), step().outputs().begin(),
                    step().outputs().end())) {
      return InvalidArgument("carries other values than the loop begins with");
    }
    loop.repeat = index_;
    found_.around_.push_back(inner_);
    for (uint32_t output : carried) found_.made_at_[output] = index_;
    for (size_t i = made_before_.back(); i < made_.size(); ++i) seen_[made_[i]] = false;
    made_.resize(made_before_.back());
    made_before_.pop_back();
    inner_ = loop.around;
    return absl::OkStatus();
  }

  absl::Status CheckWhole() const {
    const bool is_last = index_ + 1 == plan_.steps_size();
    if (is_last || plan_.steps(index_ + 1).control() != v1::Step::CONTROL_ENTER ||
        plan_.steps(index_ + 1).outputs_size() != step().outputs_size()) {
      return InvalidArgument("is a whole loop, but there is none of as many outputs behind it");
    }
    return absl::OkStatus();
  }

  const v1::Plan& plan_;
  PlanLoops found_;
  int index_ = 0;
  int inner_ = -1;                   // the innermost open loop
  std::vector<bool> seen_;           // values that may be used at `index_`
  std::vector<uint32_t> made_;       // in open loops and in front of them
  std::vector<size_t> made_before_;  // by open loop: how many of `made_` were made in front of it
};

absl::StatusOr<PlanLoops> PlanLoops::Find(const v1::Plan& plan) {
  return PlanLoopsFinder(plan).Find();
}

bool PlanLoops::IsMadeIn(uint32_t value, int loop) const {
  return made_at_[value] > loops_[loop].enter && made_at_[value] <= loops_[loop].repeat;
}

bool PlanLoops::Gathers(const v1::Plan& plan, int test) const {
  const int loop = around_[test];
  for (int index = loops_[loop].enter + 1; index < loops_[loop].repeat; ++index) {
    const v1::Step& step = plan.steps(index);
    const bool on_root = step.control() == v1::Step::CONTROL_NONE && step.extent().empty();
    if (!on_root || around_[index] != loop) continue;
    for (const v1::StepOperand& operand : step.operands()) {
      const v1::PlanValue& value = plan.values(static_cast<int>(operand.value()));
      if (value.placement() == v1::PlanValue::PLACEMENT_SPLIT && IsMadeIn(operand.value(), loop)) {
        return true;
      }
    }
  }
  return false;
}

int PlanLoops::KeptUntil(uint32_t value, int step) const {
  int kept = step;
  // What an ENTER takes comes from outside of its loop.
  int loop = around_[step];
  if (loop >= 0 && loops_[loop].enter == step) loop = loops_[loop].around;
  for (; loop >= 0; loop = loops_[loop].around) {
    if (IsMadeIn(value, loop)) break;
    kept = loops_[loop].repeat;
  }
  return kept;
}

}  // namespace weir
