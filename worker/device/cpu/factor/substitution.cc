#include "worker/device/cpu/factor/substitution.h"

#include <algorithm>

#include "worker/device/cpu/contraction/product.h"
#include "worker/device/cpu/contraction/tile_loops.h"
#include "worker/device/cpu/factor/lane_loops.h"

namespace weir::cpu {
namespace {

constexpr int64_t kLine = 64 / sizeof(double);

// Adds to rows [row, row + rows) of the sides the products of the factor with rows [first, first +
// depth).
void AddProducts(const TileLoops<double>& loops, const Substitution& system, int64_t row,
                 int64_t rows, int64_t first, int64_t depth) {
  const int64_t vectors = (system.columns + loops.lanes - 1) / loops.lanes;
  const int64_t step = EvenPart(vectors, loops.VectorsFor(rows));
  TileArgs<double> tile;
  tile.depth = depth;
  tile.a = system.factor + row * system.rows + first;
  tile.a_row = system.rows;
  tile.a_depth = 1;
  tile.b_vector = loops.lanes;
  tile.b_depth = system.sides_stride;
  tile.c_row = system.sides_stride;
  tile.continues = true;
  for (int64_t v = 0; v < vectors; v += step) {
    tile.b = system.sides + first * system.sides_stride + v * loops.lanes;
    tile.c = system.sides + row * system.sides_stride + v * loops.lanes;
    loops.At(rows, std::min(step, vectors - v))(tile);
  }
}

}  // namespace

int64_t SidesStride(int64_t columns) { return ((columns + kLine - 1) / kLine | 1) * kLine; }

void Substitute(Isa isa, const Substitution& system) {
  const TileLoops<double>& loops = TileLoopsFor<double>(isa);
  const LaneLoops& lanes = LaneLoopsFor(isa, 1);
  for (int64_t begin = 0; begin < system.rows; begin += loops.rows) {
    const int64_t end = std::min<int64_t>(begin + loops.rows, system.rows);
    if (begin > 0) AddProducts(loops, system, begin, end - begin, 0, begin);
    for (int64_t row = begin; row < end; ++row) {
      if (row > begin) AddProducts(loops, system, row, 1, begin, row - begin);
      if (system.diagonal == Diagonal::kOnes) continue;
      lanes.divide(system.columns, system.factor[row * (system.rows + 1)],
                   system.sides + row * system.sides_stride);
    }
  }
}

}  // namespace weir::cpu
