// The ways through the blocks of a machine: what a row runs in one trip, from the head of its block
// to one of its ends. Stateless.
//
// Scalar arithmetic moves out of the blocks, in front of the choice between them: there it is one
// launch for all rows and not one in each block. A block that is nothing but a choice is then no
// branch around others: the number of the way says at once where a row goes, and its operands are
// packed once.
#ifndef WEIR_SERVER_COMPILER_RECURSION_WAYS_H_
#define WEIR_SERVER_COMPILER_RECURSION_WAYS_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/ir/builder.h"
#include "common/ir/graph.h"

namespace weir {

// Code that ends in one of several places: a straight piece, then either what it leaves behind, or
// a choice of how to go on.
struct BlockTree {
  RegionId region;
  std::vector<std::pair<int, ValueId>> leaves;  // (slot, value); slots left out become zero
  std::string choice;                           // "if", "case", or empty
  ValueId selector;
  Location location;
  std::vector<std::unique_ptr<BlockTree>> ways;
};

struct Ways {
  std::vector<const BlockTree*> trees;  // of the blocks, which own them
  ValueId number;                       // i64[]: among `trees`
};

// `block`: i64[], the number of a block. Appends to `front`, which the blocks see, the cheap
// element-wise nodes of scalars that need nothing made inside of their block.
Ways FindWays(const std::vector<std::unique_ptr<BlockTree>>& blocks, ValueId block, Builder& front);

}  // namespace weir

#endif  // WEIR_SERVER_COMPILER_RECURSION_WAYS_H_
