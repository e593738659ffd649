// The loops of a plan: which steps belong to which, and how long values live that their trips use.
// Immutable; usable from any thread.
#ifndef WEIR_COMMON_PLAN_PLAN_LOOPS_H_
#define WEIR_COMMON_PLAN_PLAN_LOOPS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "weir/v1/plan.pb.h"

namespace weir {

class PlanLoops {
 public:
  struct Loop {
    int enter = -1;
    int test = -1;
    int repeat = -1;
    int around = -1;  // index of the loop around it, or -1
  };

  // REQUIRES: the plan names no value that it does not have. Returns: INVALID_ARGUMENT for loops
  // that are not nested, for values that are used where they are not made yet, or not any more, and
  // for loops that could go round without a step of a function.
  static absl::StatusOr<PlanLoops> Find(const v1::Plan& plan);

  // REQUIRES: the step is an ENTER, TEST or REPEAT.
  const Loop& of_control(int step) const { return loops_[around_[step]]; }
  // Whether each trip of the loop of a TEST takes to rank 0 what all workers make in it, so that
  // rank 0 is never ahead of them.
  bool Gathers(const v1::Plan& plan, int test) const;
  // Whether a run may make the value more than once.
  bool IsMadeAgain(uint32_t value) const {
    return made_at_[value] >= 0 && around_[made_at_[value]] >= 0;
  }
  // The last step that makes the value, or -1 for inputs.
  int made_at(uint32_t value) const { return made_at_[value]; }
  // The step until which a value must be kept that `step` uses: trips use it again if they do not
  // make it.
  int KeptUntil(uint32_t value, int step) const;

 private:
  friend class PlanLoopsFinder;

  bool IsMadeIn(uint32_t value, int loop) const;

  std::vector<Loop> loops_;
  std::vector<int> around_;   // by step: the innermost loop, of which it may be a control, or -1
  std::vector<int> made_at_;  // by value: the last step that makes it, or -1 for inputs
};

}  // namespace weir

#endif  // WEIR_COMMON_PLAN_PLAN_LOOPS_H_
