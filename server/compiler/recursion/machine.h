// The loop that a recursive function becomes. It carries a program counter, a number of waiting
// calls, registers and stacks; each trip runs the block that the counter names. Owned by the pass;
// thread-compatible.
//
// Registers hold what one block hands to the next: arguments, results, what a jump needs. A call
// writes what its caller needs later into a frame, one row of each stack. Blocks neither read nor
// write stacks: a trip reads the top frame in front of the block and writes at most one behind it,
// so that branches never move whole stacks.
#ifndef WEIR_SERVER_COMPILER_RECURSION_MACHINE_H_
#define WEIR_SERVER_COMPILER_RECURSION_MACHINE_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/ir/builder.h"
#include "common/ir/clone.h"
#include "common/ir/graph.h"
#include "server/compiler/recursion/ways.h"

namespace weir {

class Machine {
 public:
  // Slots that every block sets.
  enum Slot {
    kRunning,  // bool
    kCounter,  // i64: the next block
    kReturn,   // i64: the block that the running function returns to; -1: it is the root
    kTop,      // i64: the top frame; -1: there is none
    kWrite,    // i64: where to write a frame; -1: nowhere
    kFirstFree,
  };

  // Builds at the end of `outside`, whose symbols are `symbols`. REQUIRES: graph outlives it.
  Machine(Graph* graph, RegionId outside, int64_t max_depth);

  Builder& outside() { return outside_; }
  int64_t max_depth() const { return max_depth_; }
  // A fresh region for a block.
  Builder NewBlock() { return outside_.In(outside_.NewRegion()); }
  // i64[] or bool[], made once in front of the loop.
  ValueId Constant(int64_t value);
  ValueId True();
  ValueId Zeros(const TensorType& type);

  // One slot for each type; equal types get different ones, always the same in this order.
  std::vector<int> Registers(const std::vector<TensorType>& types);
  std::vector<int> Fields(const std::vector<TensorType>& types);
  // What a block reads: a register, or a field of the top frame.
  ValueId Read(int slot) const { return slots_[slot].value; }

  // Makes the loop. `start`: (register, value) at the start; the first block is number 0. `text`:
  // what a run says that goes too deep. Returns: the registers in `results` at the end.
  std::vector<ValueId> Finish(std::vector<std::unique_ptr<BlockTree>> blocks,
                              const std::vector<std::pair<int, ValueId>>& start,
                              const std::vector<int>& results, const std::string& text);

 private:
  struct SlotInfo {
    TensorType type;
    ValueId value;
    bool is_field = false;
    int carried = -1;  // among what the loop carries
  };
  // Fields that lie in one stack side by side.
  struct Stack {
    TensorType row;
    std::vector<int> fields;
    ValueId arg;
  };

  int AddSlot(TensorType type, const std::string& name);
  int AddRegister(TensorType type) { return AddSlot(std::move(type), "register"); }
  int AddField(TensorType type);
  // Slots of these types among the `known` ones by type, to which `add` adds.
  std::vector<int> Take(const std::vector<TensorType>& types,
                        std::map<std::string, std::vector<int>>* known,
                        int (Machine::*add)(TensorType));
  void PlanStacks();
  // Returns: what the placeholders become.
  ValueMap ReadFrame(Builder& b);
  ValueId WriteFrame(Builder& b, const Stack& stack, const std::vector<ValueId>& outputs) const;
  void Close(const BlockTree& tree);

  Graph* graph_;
  Builder outside_;
  Builder body_;
  RegionId placeholders_;
  const int64_t max_depth_;
  std::vector<SlotInfo> slots_;
  std::map<std::string, std::vector<int>> registers_;  // by type
  std::map<std::string, std::vector<int>> fields_;
  std::map<int64_t, ValueId> constants_;
  std::map<std::string, ValueId> zeros_;
  ValueId true_;
  std::vector<Stack> stacks_;
  int num_carried_ = 0;
};

}  // namespace weir

#endif  // WEIR_SERVER_COMPILER_RECURSION_MACHINE_H_
