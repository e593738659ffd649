// The innermost loops of products and convolutions. One call computes a small tile of results, each
// as ONE chain of multiply-adds in a fixed order, starting from 0:
//
//   for tap in taps: for d in 0..depth: acc[i][j] = fma(a[i, tap, d], b[tap, d, j], acc[i][j])
//
// So a result has the same bits in whatever tile, row or vector lane it is computed, which is what
// makes the kernels above batch invariant. Floating-point chains use fused multiply-add on AVX2 and
// AVX-512 (same bits on both) and multiply, then add on the baseline. Immutable tables of
// functions; usable from any thread.
#ifndef WEIR_WORKER_DEVICE_CPU_CONTRACTION_TILE_LOOPS_H_
#define WEIR_WORKER_DEVICE_CPU_CONTRACTION_TILE_LOOPS_H_

#include <cstdint>

#include "common/ops/op_def.h"

namespace weir::cpu {

// Where one tap begins: elements from `a`, and steps of b_depth from `b`.
struct Tap {
  int64_t a = 0;
  int64_t b = 0;
};

enum class Activation { kNone, kRelu };

// What happens to what is in memory where the tile is written.
enum class Store {
  kReplace,
  // The larger of both stays: max pooling, one tile for each place of the window.
  kMaximum,
  // The same without bias before relu, so that the sign of a zero may be left open.
  kMaximumOfRelu,
};

// Side a is read element by element (rows i of the tile), side b in whole vectors (columns).
template <class T>
struct TileArgs {
  const Tap* taps = nullptr;
  int64_t num_taps = 1;
  int64_t depth = 0;

  const T* a = nullptr;
  int64_t a_row = 0;
  int64_t a_depth = 0;

  const T* b = nullptr;  // vector v is at b + v * b_vector, whole vectors may be read
  int64_t b_vector = 0;
  int64_t b_depth = 0;

  T* c = nullptr;  // vector v of row i is at c + i * c_row + v * lanes, whole vectors are written
  int64_t c_row = 0;
  bool continues = false;  // the chain goes on from what c holds

  // After the chain, in this order: adds row_bias[i] or column_bias[vector * lanes + lane], joins
  // the result with what c holds (kMaximumOfRelu: joins, then adds the bias), applies the
  // activation. REQUIRES for integers: none of these.
  const T* row_bias = nullptr;
  const T* column_bias = nullptr;
  Activation activation = Activation::kNone;
  Store store = Store::kReplace;
};

template <class T>
using TileLoop = void (*)(const TileArgs<T>& args);

// to[i] = the larger of from[i] and to[i] for `vectors` whole vectors; NaN if either is, -0 < +0.
template <class T>
using MaximumLoop = void (*)(const T* from, T* to, int64_t vectors);

// Copies `lines` lines of `vectors` whole vectors, which lie `step` apart, to one behind the other,
// `to_step` apart.
template <class T>
using CopyLoop = void (*)(const T* from, int64_t step, T* to, int64_t to_step, int64_t lines,
                          int64_t vectors);

template <class T>
struct TileLoops {
  static constexpr int kMaxRows = 8;
  static constexpr int kMaxVectors = 8;

  int lanes = 1;
  // Largest tile for products of many rows.
  int rows = 1;
  int vectors = 1;
  // Largest number of vectors for tiles of one row.
  int row_vectors = 1;
  // loops[r - 1][v - 1]; null where no such tile exists.
  TileLoop<T> loops[kMaxRows][kMaxVectors] = {};
  TileLoop<T> dense_loops[kMaxRows][kMaxVectors] = {};  // for a_row of 1
  MaximumLoop<T> maximum = nullptr;
  CopyLoop<T> copy = nullptr;

  TileLoop<T> At(int64_t r, int64_t v) const { return loops[r - 1][v - 1]; }
  TileLoop<T> AtDenseRows(int64_t r, int64_t v) const { return dense_loops[r - 1][v - 1]; }
  // Largest number of vectors for a tile of `r` rows.
  int VectorsFor(int64_t r) const { return r == 1 ? row_vectors : vectors; }
};

// Whether side b may well be read where it lies, `step` elements apart, instead of copying it
// together: steps of an odd number of cache lines cut no vector and use all sets of a cache.
template <class T>
bool SpreadsOverCache(int64_t step) {
  constexpr int64_t kLineBytes = 64;
  return step * static_cast<int64_t>(sizeof(T)) % (2 * kLineBytes) == kLineBytes;
}

// T: float, double, uint32_t, uint64_t (integers wrap around).
template <class T>
const TileLoops<T>& TileLoopsFor(Isa isa);

// One table for each instruction set, in a file of its own.
namespace baseline {
template <class T>
const TileLoops<T>& Loops();
}
namespace avx2 {
template <class T>
const TileLoops<T>& Loops();
}
namespace avx512 {
template <class T>
const TileLoops<T>& Loops();
}

}  // namespace weir::cpu

#endif  // WEIR_WORKER_DEVICE_CPU_CONTRACTION_TILE_LOOPS_H_
