#include "common/ops/promote.h"

#include <array>
#include <cstdint>

namespace weir {
namespace {

// Nodes of the lattice: the element types by number, then the weak types.
constexpr int kWeakInt = 16;
constexpr int kWeakFloat = 17;
constexpr int kWeakComplex = 18;
constexpr int kNodes = 19;
using Set = uint32_t;

constexpr int NodeOf(DType dtype) { return static_cast<int>(dtype); }
constexpr Set Bit(int node) { return Set{1} << node; }

struct Edge {
  int from;
  int to;
};
constexpr int kBool = NodeOf(DType::kBool), kI8 = NodeOf(DType::kI8), kI16 = NodeOf(DType::kI16),
              kI32 = NodeOf(DType::kI32), kI64 = NodeOf(DType::kI64), kU8 = NodeOf(DType::kU8),
              kU16 = NodeOf(DType::kU16), kU32 = NodeOf(DType::kU32), kU64 = NodeOf(DType::kU64),
              kF16 = NodeOf(DType::kF16), kBF16 = NodeOf(DType::kBF16), kF32 = NodeOf(DType::kF32),
              kF64 = NodeOf(DType::kF64), kC64 = NodeOf(DType::kC64), kC128 = NodeOf(DType::kC128);

// What directly contains what.
constexpr Edge kEdges[] = {
    {kBool, kWeakInt},
    {kWeakInt, kU8},
    {kWeakInt, kI8},
    {kU8, kU16},
    {kU8, kI16},
    {kU16, kU32},
    {kU16, kI32},
    {kU32, kU64},
    {kU32, kI64},
    {kI8, kI16},
    {kI16, kI32},
    {kI32, kI64},
    {kU64, kWeakFloat},
    {kI64, kWeakFloat},
    {kWeakFloat, kBF16},
    {kWeakFloat, kF16},
    {kWeakFloat, kWeakComplex},
    {kBF16, kF32},
    {kF16, kF32},
    {kF32, kF64},
    {kF32, kC64},
    {kF64, kC128},
    {kWeakComplex, kC64},
    {kC64, kC128},
};

// For each node the set of nodes that it fits into, itself included.
constexpr std::array<Set, kNodes> MakeUpperBounds() {
  std::array<Set, kNodes> above = {};
  for (int node = 0; node < kNodes; ++node) above[node] = Bit(node);
  for (int round = 0; round < kNodes; ++round) {
    for (const Edge& edge : kEdges) above[edge.from] |= above[edge.to];
  }
  return above;
}
constexpr std::array<Set, kNodes> kUpperBounds = MakeUpperBounds();

// The common upper bound that fits into every other, or 0 (which is no node) if there is none.
constexpr int Join(int a, int b) {
  const Set common = kUpperBounds[a] & kUpperBounds[b];
  for (int node = 1; node < kNodes; ++node) {
    if ((common & Bit(node)) != 0 && (common & ~kUpperBounds[node]) == 0) return node;
  }
  return 0;
}

using Table = std::array<std::array<uint8_t, kNodes>, kNodes>;
constexpr Table MakeTable() {
  Table table = {};
  for (int a = 1; a < kNodes; ++a) {
    for (int b = 1; b < kNodes; ++b) table[a][b] = static_cast<uint8_t>(Join(a, b));
  }
  return table;
}
constexpr Table kTable = MakeTable();

constexpr bool IsLattice() {
  for (int a = 1; a < kNodes; ++a) {
    for (int b = 1; b < kNodes; ++b) {
      if (kTable[a][b] == 0) return false;
    }
  }
  return true;
}
static_assert(IsLattice(), "every two types have a least upper bound");

DType ToDType(int node) {
  switch (node) {
    case kWeakInt:
      return DType::kI64;
    case kWeakFloat:
      return DType::kF64;
    case kWeakComplex:
      return DType::kC128;
    default:
      return static_cast<DType>(node);
  }
}

}  // namespace

DType Promote(DType a, DType b) { return ToDType(kTable[NodeOf(a)][NodeOf(b)]); }

DType Promote(DType tensor, ScalarKind literal) {
  return ToDType(kTable[NodeOf(tensor)][kWeakInt + static_cast<int>(literal)]);
}

}  // namespace weir
