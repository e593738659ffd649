// Matrix products over the tile loops: C[i,j] = sum over k of A[i,k] B[k,j], each element one chain
// over k in ascending order whatever the sizes, so every blocking gives the same bits. Stateless;
// usable from any thread; memory comes from the caller.
//
// Side A is read element by element (any strides). Side B, the columns, is read in vectors: packed
// before or panel by panel, or in place where its column stride is 1. Exchanging the sides changes
// no bit, so callers put that side in the columns which is contiguous in C.
#ifndef WEIR_WORKER_DEVICE_CPU_CONTRACTION_PRODUCT_H_
#define WEIR_WORKER_DEVICE_CPU_CONTRACTION_PRODUCT_H_

#include <cstddef>
#include <cstdint>

#include "worker/device/cpu/contraction/tile_loops.h"

namespace weir::cpu {

// A matrix in memory: element (i, j) is at data + i * row + j * column.
template <class T>
struct Matrix {
  T* data = nullptr;
  int64_t row = 0;
  int64_t column = 0;
};

template <class T>
struct ProductArgs {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t depth = 0;
  Matrix<const T> a;            // rows x depth
  Matrix<const T> b;            // depth x columns
  Matrix<T> c;                  // rows x columns
  const T* packed_b = nullptr;  // PackColumns(b), used in place of b
  // Added to each element of a row, or of a column.
  const T* row_bias = nullptr;
  const T* column_bias = nullptr;  // padded to whole vectors
  Activation activation = Activation::kNone;
};

// Columns in vectors of loops.lanes: element (k, j) is at (j / lanes * depth + k) * lanes + j %
// lanes, columns beyond the last are 0.
int64_t PackedElements(int64_t depth, int64_t columns, int lanes);
template <class T>
void PackColumns(const TileLoops<T>& loops, int64_t depth, int64_t columns,
                 const Matrix<const T>& b, T* out);

// Elements of scratch for a Product with these sizes of side B, whatever the rest: less than all of
// B where that is large.
template <class T>
int64_t ProductScratch(const TileLoops<T>& loops, int64_t depth, int64_t columns);
template <class T>
void Product(const TileLoops<T>& loops, const ProductArgs<T>& args, T* scratch);

// Cuts `count` into equal parts of at most `most`. Returns: the size of a part.
inline int64_t EvenPart(int64_t count, int64_t most) {
  const int64_t parts = (count + most - 1) / most;
  return parts == 0 ? 1 : (count + parts - 1) / parts;
}

}  // namespace weir::cpu

#endif  // WEIR_WORKER_DEVICE_CPU_CONTRACTION_PRODUCT_H_
