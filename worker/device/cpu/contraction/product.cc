#include "worker/device/cpu/contraction/product.h"

#include <algorithm>
#include <cstring>

namespace weir::cpu {
namespace {

// Blocks that stay in the inner caches: a block of A in L2, a panel of B in L1.
constexpr int64_t kDepthBlock = 256;
constexpr int64_t kRowBlock = 96;
// Where panels of B are packed as they are needed, each is used for this many rows, and so many
// vectors are packed at a time: lines of memory that lie side by side are read together.
constexpr int64_t kPanelRows = 384;
constexpr int64_t kPanelVectors = 8;
// From this many rows on, packing the columns pays off: with lines that spread over the cache and
// with others.
constexpr int64_t kPackRowsSpread = 97;
constexpr int64_t kPackRows = 16;

template <class T>
bool ReadsInPlace(const ProductArgs<T>& args) {
  const int64_t least = SpreadsOverCache<T>(args.b.row) ? kPackRowsSpread : kPackRows;
  return args.b.column == 1 && args.rows < least;
}

// Where the vectors of side B are, from the block of depth on that is computed.
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
    tile.b = b.data;
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
                             {b.data + v * b.vector + begin * b.depth, b.vector, b.depth},
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

// The most vectors of a panel of this depth that is packed as it is needed; `step` are computed
// together.
int64_t PanelVectors(int64_t all, int64_t step, int64_t depth) {
  const int64_t fit = kPanelVectors * kDepthBlock / std::max<int64_t>(1, depth);
  return std::min(all, step * std::max<int64_t>(1, fit / step));
}

template <class T>
int64_t PanelVectors(const TileLoops<T>& loops, const ProductArgs<T>& args, int64_t depth) {
  const int64_t all = (args.columns + loops.lanes - 1) / loops.lanes;
  return PanelVectors(all, loops.VectorsFor(args.rows), depth);
}

// Packs `vectors` vectors from `column` on over depth [begin, begin + depth).
template <class T>
Columns<T> PackPanel(const TileLoops<T>& loops, const ProductArgs<T>& args, int64_t column,
                     int64_t vectors, int64_t begin, int64_t depth, T* panel) {
  const T* from = args.b.data + begin * args.b.row + column * args.b.column;
  const int64_t lanes = loops.lanes;
  const int64_t columns = std::min(vectors * lanes, args.columns - column);
  if (args.b.column == 1 && columns == vectors * lanes) {
    loops.copy(from, args.b.row, panel, vectors * lanes, depth, vectors);
    return {panel, lanes, vectors * lanes};
  }
  PackColumns(loops, depth, columns, {from, args.b.row, args.b.column}, panel);
  return {panel, depth * lanes, lanes};
}

// Packs each panel of whole vectors for a block of rows and computes what needs it.
template <class T>
void WholeVectorsByPanels(const TileLoops<T>& loops, const ProductArgs<T>& args, int64_t vectors,
                          T* scratch) {
  const int64_t rows = EvenPart(args.rows, kPanelRows);
  for (int64_t row = 0; row < args.rows; row += rows) {
    int64_t begin = 0;
    do {
      const int64_t depth = std::min(kDepthBlock, args.depth - begin);
      const int64_t most = PanelVectors(loops, args, depth);
      for (int64_t first = 0; first < vectors; first += most) {
        const int64_t count = std::min(most, vectors - first);
        const Columns<T> b =
            PackPanel(loops, args, first * loops.lanes, count, begin, depth, scratch);
        const int64_t step = EvenPart(count, loops.VectorsFor(args.rows));
        for (int64_t v = 0; v < count; v += step) {
          const Panel<T> panel{loops,
                               args,
                               {b.data + v * b.vector, b.vector, b.depth},
                               (first + v) * loops.lanes,
                               std::min(step, count - v)};
          panel.Direct(row, std::min(row + rows, args.rows), begin, depth);
        }
      }
      begin += depth;
    } while (begin < args.depth);
  }
}

// The same over the whole depth for vectors from `first` on that are staged.
template <class T>
void StagedVectorsByPanels(const TileLoops<T>& loops, const ProductArgs<T>& args, int64_t first,
                           int64_t vectors, T* scratch) {
  const int64_t most = PanelVectors(loops, args, args.depth);
  for (; first < vectors; first += most) {
    const int64_t end = std::min(first + most, vectors);
    const Columns<T> b =
        PackPanel(loops, args, first * loops.lanes, end - first, 0, args.depth, scratch);
    StagedVectors(loops, args, b, first, end);
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
int64_t ProductScratch(const TileLoops<T>& loops, int64_t depth, int64_t columns) {
  const int64_t all = (columns + loops.lanes - 1) / loops.lanes;
  const int64_t step = std::max(loops.vectors, loops.row_vectors);
  // By depth blocks where results are written directly, over the whole depth where they are staged.
  const int64_t vectors = std::max(kPanelVectors * kDepthBlock, depth * step);
  return std::min(depth * all, vectors) * loops.lanes;
}

template <class T>
void Product(const TileLoops<T>& loops, const ProductArgs<T>& args, T* scratch) {
  if (args.rows == 0 || args.columns == 0) return;
  const int64_t lanes = loops.lanes;
  const int64_t whole = args.columns / lanes;
  const int64_t all = (args.columns + lanes - 1) / lanes;
  const bool direct = args.c.column == 1;
  const int64_t staged = direct ? whole : 0;  // the first vector that is
  if (args.packed_b != nullptr) {
    const Columns<T> b{args.packed_b, args.depth * lanes, lanes};
    if (direct && whole > 0) WholeVectors(loops, args, b, whole);
    StagedVectors(loops, args, {b.data + staged * b.vector, b.vector, b.depth}, staged, all);
    return;
  }
  if (!ReadsInPlace(args)) {
    if (direct && whole > 0) WholeVectorsByPanels(loops, args, whole, scratch);
    StagedVectorsByPanels(loops, args, staged, all, scratch);
    return;
  }
  const Columns<T> b{args.b.data, lanes, args.b.row};
  if (direct && whole > 0) WholeVectors(loops, args, b, whole);
  StagedVectors(loops, args, {b.data + staged * lanes, b.vector, b.depth}, staged, whole);
  StagedVectorsByPanels(loops, args, whole, all, scratch);
}

#define WEIR_INSTANTIATE(T)                                                                        \
  template void PackColumns<T>(const TileLoops<T>&, int64_t, int64_t, const Matrix<const T>&, T*); \
  template int64_t ProductScratch<T>(const TileLoops<T>& loops, int64_t depth, int64_t columns);   \
  template void Product<T>(const TileLoops<T>& loops, const ProductArgs<T>& args, T* scratch);
WEIR_INSTANTIATE(float)
WEIR_INSTANTIATE(double)
WEIR_INSTANTIATE(uint32_t)
WEIR_INSTANTIATE(uint64_t)
#undef WEIR_INSTANTIATE

}  // namespace weir::cpu
