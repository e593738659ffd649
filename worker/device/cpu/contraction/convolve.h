// Convolutions over the tile loops. Each result is one chain over the window in row-major order and
// the input channels within it; positions outside the input are skipped. As in product.h every way
// to cut the work gives the same bits. Stateless; usable from any thread; memory comes from the
// caller.
//
// Two ways, chosen by sizes:
//   * rows in lanes: a block of batch rows is transposed so that one vector holds one pixel of many
//     rows. No lane is wasted on narrow layers and small images, the usual case under pfor;
//   * channels in lanes: one row at a time, a vector holds output channels (channels-last results
//   are
//     written in place).
#ifndef WEIR_WORKER_DEVICE_CPU_CONTRACTION_CONVOLVE_H_
#define WEIR_WORKER_DEVICE_CPU_CONTRACTION_CONVOLVE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "worker/device/cpu/contraction/tile_loops.h"
#include "worker/device/cpu/contraction/window_tables.h"

namespace weir::cpu {

// Sizes; channels count within one group, spatial axes are three (leading ones of extent 1).
struct ConvolveSizes {
  int64_t batch = 1;
  int64_t groups = 1;
  int64_t in_channels = 1;
  int64_t out_channels = 1;
  WindowSpan axes[3];

  int64_t window_elements() const { return axes[0].window * axes[1].window * axes[2].window; }
  int64_t in_pixels() const { return axes[0].in * axes[1].in * axes[2].in; }
  int64_t out_pixels() const { return axes[0].out * axes[1].out * axes[2].out; }
  int64_t depth() const { return window_elements() * in_channels; }  // of one chain
};

// Rows of a block: what the widest tile takes.
template <class T>
int64_t BlockRows(const TileLoops<T>& loops) {
  return static_cast<int64_t>(loops.vectors) * loops.lanes;
}

// What follows from the sizes, whatever batch and groups: computed once for many calls.
struct ConvolveTables {
  ConvolveTables() = default;
  ConvolveTables(const ConvolveSizes& sizes, int lanes, int64_t block_rows);

  WindowTable axes[3];
  // Rows in lanes: what each output pixel sees of a block [group, space..., channel, row], as
  // (offset in the packed filters, lines of rows in the block) of runs that are `depth` deep in
  // both.
  struct Pixel {
    int64_t first_tap = 0;
    int64_t num_taps = 0;
    int64_t depth = 0;
  };
  std::vector<Pixel> pixels;
  std::vector<Tap> taps;
};

// Images in memory.
template <class T>
struct Images {
  T* data = nullptr;
  int64_t batch = 0;  // strides
  int64_t group = 0;
  int64_t channel = 0;
  int64_t spatial[3] = {0, 0, 0};
};

template <class T>
struct Filters {
  const T* data = nullptr;
  int64_t out_channel = 0;  // strides
  int64_t in_channel = 0;
  int64_t spatial[3] = {0, 0, 0};
};

template <class T>
struct ConvolveArgs {
  ConvolveSizes sizes;
  const ConvolveTables* tables = nullptr;
  Images<const T> in;
  Images<T> out;
  const T* filters = nullptr;  // PackFilters
  const T* bias = nullptr;     // one for each output channel of all groups, padded to whole vectors
  Activation activation = Activation::kNone;
  // Max pooling at the end: windows of this extent side by side; `out` is the pooled image.
  int64_t pool[3] = {1, 1, 1};
};

int64_t PackedFilterElements(const ConvolveSizes& sizes, int lanes);
template <class T>
void PackFilters(const ConvolveSizes& sizes, const Filters<T>& filters, int lanes, T* out);

// True if the rows go into the lanes, in which case batch-innermost images suit best; else
// channels-last ones do.
template <class T>
bool RowsInLanes(const TileLoops<T>& loops, const ConvolveSizes& sizes);

// Bytes of scratch for Convolve, to be aligned to 64.
template <class T>
size_t ConvolveScratch(const TileLoops<T>& loops, const ConvolveSizes& sizes);
template <class T>
void Convolve(const TileLoops<T>& loops, const ConvolveArgs<T>& args, std::byte* scratch);

}  // namespace weir::cpu

#endif  // WEIR_WORKER_DEVICE_CPU_CONTRACTION_CONVOLVE_H_
