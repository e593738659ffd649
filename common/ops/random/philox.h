// Counter-based random bits: Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random
// numbers: as easy as 1, 2, 3" (2011). Pure functions; usable from any thread.
//
// A block is a pure function of its key and counter, so any element of any draw can be computed
// alone, in any order and on any machine.
#ifndef WEIR_COMMON_OPS_RANDOM_PHILOX_H_
#define WEIR_COMMON_OPS_RANDOM_PHILOX_H_

#include <cstdint>

#include "common/tensor/half.h"  // WEIR_ALWAYS_INLINE

namespace weir::random {

struct Block {
  uint32_t word[4];

  WEIR_ALWAYS_INLINE uint64_t pair(int i) const {
    return word[2 * i] | static_cast<uint64_t>(word[2 * i + 1]) << 32;
  }
};

WEIR_ALWAYS_INLINE Block Philox(uint64_t key, uint64_t counter_low, uint64_t counter_high) {
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  uint32_t c0 = static_cast<uint32_t>(counter_low), c1 = static_cast<uint32_t>(counter_low >> 32);
  uint32_t c2 = static_cast<uint32_t>(counter_high), c3 = static_cast<uint32_t>(counter_high >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xd2511f53u} * c0, p1 = uint64_t{0xcd9e8d57u} * c2;
    c0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0;
    c1 = static_cast<uint32_t>(p1);
    c2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c3 = static_cast<uint32_t>(p0);
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
  return {{c0, c1, c2, c3}};
}

// The key of one draw of a program: `draw` tells the draws of one seed apart.
WEIR_ALWAYS_INLINE uint64_t DrawKey(int64_t seed, int64_t draw) {
  return Philox(static_cast<uint64_t>(seed), static_cast<uint64_t>(draw), 0).pair(0);
}

// A key for each value of `data` (an iteration, a trip, an epoch), unlike its parent and its
// siblings.
WEIR_ALWAYS_INLINE uint64_t FoldKey(uint64_t key, uint64_t data) {
  return Philox(key, data, 0x666f6c64u).pair(0);  // the high word sets folds apart from draws
}

}  // namespace weir::random

#endif  // WEIR_COMMON_OPS_RANDOM_PHILOX_H_
