// How the pfor rules of `for` and `while` make a `while_rows` of a loop whose iterations end at
// different trips. Only op files include this; lives for one rule call.
#ifndef WEIR_COMMON_OPS_CONTROL_ROW_LOOP_H_
#define WEIR_COMMON_OPS_CONTROL_ROW_LOOP_H_

#include <string>
#include <vector>

#include "common/ops/control/region.h"
#include "common/ops/control/rows.h"
#include "common/ops/op_def.h"

namespace weir::control {

class RowLoop {
 public:
  // `loop` says what the source loop carries. Whatever its regions capture and varies becomes a
  // constant operand.
  RowLoop(PforRewrite& rewrite, const Carried& loop);

  // A value that all rows share in front of the others, such as a trip counter, and one more
  // constant. REQUIRES: before the first region.
  void AddShared(ValueId start) { extra_shared_.push_back(start); }
  void AddConstant(ValueId source) { constants_.Add(source); }

  // A fresh region with the arguments of `while_rows`.
  struct Part {
    RegionId region;
    Builder into;
    std::vector<ValueId> extra_shared;
    std::vector<ValueId> carried;  // in the order of the source loop
    std::vector<PforRewrite::PartRows> constants;
  };
  Part NewPart();
  // Converts a region of the source loop whose carried arguments begin at `first_arg`. Returns: its
  // results; stacked where they or what they are carried by vary.
  absl::StatusOr<std::vector<ValueId>> Convert(const Part& part, RegionId source, int first_arg);
  // Ends the body: `extra_shared` and the carried results in the order of the source loop.
  void Yield(Part& part, std::vector<ValueId> extra_shared, const std::vector<ValueId>& carried);
  // Makes the node. Returns: the carried values at the end, in the order of the source loop.
  std::vector<ValueId> Finish(RegionId condition, RegionId body);

  const Dim& part() const { return part_; }

 private:
  PforRewrite& rewrite_;
  const Carried loop_;
  const std::string local_;
  const Dim part_;
  std::vector<bool> vary_;  // of the carried values
  std::vector<int> order_;  // in which while_rows takes the carried values: shared ones first
  std::vector<ValueId> extra_shared_;
  PartCaptures constants_;
};

}  // namespace weir::control

#endif  // WEIR_COMMON_OPS_CONTROL_ROW_LOOP_H_
