#include "worker/device/cpu/contraction/product.h"

#include <algorithm>
#include <cstring>

namespace weir::cpu {
namespace {

// Blocks that stay in the inner caches: a block of A in L2, a panel of B in L1.
constexpr int64_t kDepthBlock = 256;
constexpr int64_t kRowBlock = 96;
// From this many rows on, packing the columns pays off: with lines that spread over the cache and
// with others.
constexpr int64_t kPackRowsSpread = 97;
constexpr int64_t kPackRows = 16;

template <class T>
bool ReadsInPlace(const ProductArgs<T>& args) {
  const int64_t least = SpreadsOverCache<T>(args.b.row) ? kPackRowsSpread : kPackRows;
  return args.b.column == 1 && args.rows < least;
}

// Where the vectors of side B are.
template <class T>
struct Columns {
  const T* data;
  int64_t vector;
  int64_t depth;
};

// Computes rows [row, end) of `vectors` vectors at `column` over depth [begin, begin + depth).
template <class T>
struct Panel {
  const TileLoops<T>& loops;
  const ProductArgs<T>& args;
  Columns<T> b;
  int64_t column;  // first column in C
  int64_t vectors;

  TileLoop<T> Loop(int64_t rows) const {
    return args.a.row == 1 ? loops.AtDenseRows(rows, vectors) : loops.At(rows, vectors);
  }

  TileArgs<T> Args(int64_t row, int64_t begin, int64_t depth) const {
    TileArgs<T> tile;
    tile.depth = depth;
    tile.a = args.a.data + row * args.a.row + begin * args.a.column;
    tile.a_row = args.a.row;
    tile.a_depth = args.a.column;
    tile.b = b.data + begin * b.depth;
    tile.b_vector = b.vector;
    tile.b_depth = b.depth;
    tile.continues = begin > 0;
    if (begin + depth == args.depth) {
      tile.row_bias = args.row_bias == nullptr ? nullptr : args.row_bias + row;
      tile.column_bias = args.column_bias == nullptr ? nullptr : args.column_bias + column;
      tile.activation = args.activation;
    }
    return tile;
  }

  void Direct(int64_t row, int64_t end, int64_t begin, int64_t depth) const {
    const int64_t step = EvenPart(end - row, loops.rows);
    for (; row < end; row += step) {
      TileArgs<T> tile = Args(row, begin, depth);
      tile.c = args.c.data + row * args.c.row + column;
      tile.c_row = args.c.row;
      Loop(std::min(step, end - row))(tile);
    }
  }

  // Through a tile on the stack, of which `columns` columns count.
  void Staged(int64_t columns) const {
    constexpr int64_t kTile = TileLoops<T>::kMaxRows * TileLoops<T>::kMaxVectors * 64 / sizeof(T);
    alignas(64) T stage[kTile];
    const int64_t step = EvenPart(args.rows, loops.rows);
    for (int64_t row = 0; row < args.rows; row += step) {
      const int64_t rows = std::min(step, args.rows - row);
      TileArgs<T> tile = Args(row, 0, args.depth);
      tile.c = stage;
      tile.c_row = vectors * loops.lanes;
      Loop(rows)(tile);
      for (int64_t i = 0; i < rows; ++i) {
        const T* from = stage + i * tile.c_row;
        T* to = args.c.data + (row + i) * args.c.row + column * args.c.column;
        for (int64_t j = 0; j < columns; ++j) to[j * args.c.column] = from[j];
      }
    }
  }
};

template <class T>
void WholeVectors(const TileLoops<T>& loops, const ProductArgs<T>& args, const Columns<T>& b,
                  int64_t vectors) {
  const int64_t step = EvenPart(vectors, loops.VectorsFor(args.rows));
  int64_t begin = 0;
  do {
    const int64_t depth = std::min(kDepthBlock, args.depth - begin);
    for (int64_t row = 0; row < args.rows; row += kRowBlock) {
      const int64_t end = std::min(row + kRowBlock, args.rows);
      for (int64_t v = 0; v < vectors; v += step) {
        const Panel<T> panel{loops,
                             args,
                             {b.data + v * b.vector, b.vector, b.depth},
                             v * loops.lanes,
                             std::min(step, vectors - v)};
        panel.Direct(row, end, begin, depth);
      }
    }
    begin += depth;
  } while (begin < args.depth);
}

// `b` is at vector `first`.
template <class T>
void StagedVectors(const TileLoops<T>& loops, const ProductArgs<T>& args, const Columns<T>& b,
                   int64_t first, int64_t vectors) {
  const int64_t step = EvenPart(vectors - first, loops.VectorsFor(args.rows));
  for (int64_t v = first; v < vectors; v += step) {
    const int64_t count = std::min(step, vectors - v);
    const Panel<T> panel{
        loops, args, {b.data + (v - first) * b.vector, b.vector, b.depth}, v * loops.lanes, count};
    panel.Staged(std::min(count * loops.lanes, args.columns - v * loops.lanes));
  }
}

}  // namespace

int64_t PackedElements(int64_t depth, int64_t columns, int lanes) {
  return (columns + lanes - 1) / lanes * lanes * depth;
}

template <class T>
void PackColumns(const TileLoops<T>& loops, int64_t depth, int64_t columns,
                 const Matrix<const T>& b, T* out) {
  const int64_t lanes = loops.lanes;
  for (int64_t j = 0; j < columns; j += lanes) {
    const int64_t valid = std::min(lanes, columns - j);
    const T* from = b.data + j * b.column;
    if (valid < lanes) std::memset(out, 0, depth * lanes * sizeof(T));
    if (b.column == 1 && valid == lanes) {
      loops.copy(from, b.row, out, lanes, depth, 1);
    } else if (b.column == 1) {
      for (int64_t k = 0; k < depth; ++k) {
        std::memcpy(out + k * lanes, from + k * b.row, valid * sizeof(T));
      }
    } else {
      for (int64_t lane = 0; lane < valid; ++lane) {
        const T* column = from + lane * b.column;
        for (int64_t k = 0; k < depth; ++k) out[k * lanes + lane] = column[k * b.row];
      }
    }
    out += depth * lanes;
  }
}

template <class T>
int64_t ProductScratch(const TileLoops<T>& loops, const ProductArgs<T>& args) {
  if (args.packed_b != nullptr) return 0;
  if (!ReadsInPlace(args)) return PackedElements(args.depth, args.columns, loops.lanes);
  return args.columns % loops.lanes == 0 ? 0 : args.depth * loops.lanes;
}

template <class T>
void Product(const TileLoops<T>& loops, const ProductArgs<T>& args, T* scratch) {
  if (args.rows == 0 || args.columns == 0) return;
  const int64_t lanes = loops.lanes;
  const int64_t whole = args.columns / lanes;
  const int64_t all = (args.columns + lanes - 1) / lanes;
  if (args.packed_b == nullptr && ReadsInPlace(args)) {
    const Columns<T> b{args.b.data, lanes, args.b.row};
    if (args.c.column == 1) {
      if (whole > 0) WholeVectors(loops, args, b, whole);
    } else {
      StagedVectors(loops, args, b, 0, whole);
    }
    if (whole == all) return;
    const Matrix<const T> rest{args.b.data + whole * lanes, args.b.row, 1};
    PackColumns(loops, args.depth, args.columns - whole * lanes, rest, scratch);
    StagedVectors(loops, args, {scratch, args.depth * lanes, lanes}, whole, all);
    return;
  }
  const T* packed = args.packed_b;
  if (packed == nullptr) {
    PackColumns(loops, args.depth, args.columns, args.b, scratch);
    packed = scratch;
  }
  const Columns<T> b{packed, args.depth * lanes, lanes};
  const bool direct = args.c.column == 1;
  if (direct && whole > 0) WholeVectors(loops, args, b, whole);
  const int64_t first = direct ? whole : 0;
  StagedVectors(loops, args, {packed + first * b.vector, b.vector, b.depth}, first, all);
}

#define WEIR_INSTANTIATE(T)                                                                        \
  template void PackColumns<T>(const TileLoops<T>&, int64_t, int64_t, const Matrix<const T>&, T*); \
  template int64_t ProductScratch<T>(const TileLoops<T>& loops, const ProductArgs<T>&);            \
  template void Product<T>(const TileLoops<T>& loops, const ProductArgs<T>& args, T* scratch);
WEIR_INSTANTIATE(float)
WEIR_INSTANTIATE(double)
WEIR_INSTANTIATE(uint32_t)
WEIR_INSTANTIATE(uint64_t)
#undef WEIR_INSTANTIATE

}  // namespace weir::cpu
