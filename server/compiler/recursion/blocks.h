// Cuts the functions of a recursive set into the blocks of a machine. Lives for one lowering; stays
// on one thread.
//
// A block begins where a function is entered, behind a recursive call, at the head of a loop that
// holds one, or behind an `if` or `case` whose ways meet again. It runs on through branches until
// it calls, returns or jumps; regions without recursive calls stay whole.
#ifndef WEIR_SERVER_COMPILER_RECURSION_BLOCKS_H_
#define WEIR_SERVER_COMPILER_RECURSION_BLOCKS_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "common/ir/clone.h"
#include "server/compiler/recursion/machine.h"
#include "server/compiler/recursion/members.h"

namespace weir {

class Blocks {
 public:
  // `arguments` of the root stand outside of the loop. REQUIRES: all outlive it.
  Blocks(Graph* graph, const Members& members, const std::vector<ValueId>& arguments,
         Machine* machine);

  // Makes all blocks and the loop. Returns: the results of the root.
  absl::StatusOr<std::vector<ValueId>> Lower(const std::string& too_deep);

 private:
  enum class Kind { kEntry, kBehindCall, kBehindBranch, kLoopHead };
  struct Block {
    Kind kind;
    int member = 0;
    NodeId node;
    std::vector<ValueId> registers;  // of the functions: what it takes by register
    std::vector<ValueId> fields;     // and from the frame
  };
  // One way through the code, up to where it is by now.
  struct Path {
    BlockTree* tree;
    ValueMap values;  // of the functions to their images
    ValueMap words;   // images to what the frame has of them
    absl::flat_hash_map<NodeId, NodeId> nodes;
    ValueId return_to;
    ValueId top;
    std::set<NodeId> open;  // branches that began in this block
    int depth = 0;          // of ways inside each other
  };

  // The types of values, which registers and frames must be able to hold.
  std::vector<TensorType> Types(const std::vector<ValueId>& values);
  void Hoist(RegionId region);
  bool MayHoist(NodeId id) const;
  ValueId Image(const Path& path, ValueId value) const;
  // Those that the path has and that blocks do not know by themselves.
  std::vector<ValueId> Held(const Path& path, const std::vector<ValueId>& values) const;

  int Number(Kind kind, int member, NodeId node);
  void Emit(int number);
  // The slots of what a frame holds: where to return to, then the values.
  std::vector<int> Fields(const std::vector<ValueId>& values);
  void ReadFrame(const Block& block, Path* path);
  void WriteFrame(const std::vector<ValueId>& values, Builder& b, Path* path);
  void Bind(const std::vector<ValueId>& values, const std::vector<int>& slots, Path* path) const;
  void Walk(RegionId region, size_t from, Path path);
  void Copy(NodeId id, Path* path);
  void Finish(RegionId region, Path path);
  void FinishBranch(NodeId node, const std::vector<ValueId>& results, Path path);
  void FinishTrip(NodeId loop, const std::vector<ValueId>& results, Path path);

  void Branch(NodeId node, Path path);
  void EnterLoop(NodeId loop, Path path);
  void LoopHead(const Block& block, Path path);
  // The body of the loop where `goes_on` holds, else what is behind it.
  void TestLoop(NodeId loop, ValueId goes_on, Path path);
  void Call(NodeId node, Path path);
  void Return(const std::vector<ValueId>& results, Path path);
  // `values` are those of the block's registers.
  void Jump(int number, const std::vector<ValueId>& values, Path path);
  Path Way(const Path& path);
  Builder At(const Path& path, NodeId node);
  void Leave(Path* path, Machine::Slot slot, ValueId value) const;

  Graph* graph_;
  const Members& members_;
  Machine* machine_;
  ValueMap arguments_;  // of the root, by parameter
  ValueMap outside_;    // what all blocks know
  absl::flat_hash_set<NodeId> hoisted_;
  std::map<std::tuple<Kind, int, NodeId>, int> numbers_;
  std::vector<Block> blocks_;
  std::vector<std::unique_ptr<BlockTree>> trees_;
  std::set<std::string, std::less<>> symbols_;  // of the root's arguments
};

}  // namespace weir

#endif  // WEIR_SERVER_COMPILER_RECURSION_BLOCKS_H_
