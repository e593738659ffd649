#include "worker/device/cpu/contraction/convolve.h"

#include <algorithm>
#include <cstring>

#include "common/tensor/copy.h"
#include "worker/device/cpu/contraction/product.h"

namespace weir::cpu {
namespace {

// A block of rows in lanes, input and output, must stay in the L2 cache.
constexpr int64_t kRowBlockBytes = 1 << 20;

int64_t VectorsOf(int64_t count, int lanes) { return (count + lanes - 1) / lanes; }

int64_t InElements(const ConvolveSizes& s) { return s.groups * s.in_channels * s.in_pixels(); }
int64_t OutElements(const ConvolveSizes& s) { return s.groups * s.out_channels * s.out_pixels(); }

size_t TapBytes(const ConvolveSizes& s) {
  return (s.window_elements() * sizeof(Tap) + 63) / 64 * 64;
}

bool FitsRowBlock(const ConvolveSizes& s, int64_t block_rows, int64_t element_bytes) {
  return (InElements(s) + OutElements(s)) * block_rows * element_bytes <= kRowBlockBytes;
}

// Appends the window elements that output position (d, h, w) sees, as (offset in the packed
// filters, offset from the first input), to `taps`. `element_size`: of the filters, `strides`: of
// the input. `whole_lines`: only the first of each line along the last axis. Returns: the end of
// the list.
Tap* ListTaps(const ConvolveSizes& s, const WindowTable (&axes)[3], int64_t element_size,
              const int64_t (&strides)[3], const int64_t (&at)[3], bool whole_lines, Tap* taps) {
  const Seen& sd = axes[0].at(at[0]);
  const Seen& sh = axes[1].at(at[1]);
  const Seen& sw = axes[2].at(at[2]);
  const int64_t across = whole_lines ? std::min<int64_t>(sw.count, 1) : sw.count;
  for (int64_t i = 0; i < sd.count; ++i) {
    const int64_t kd = sd.first_element + i * axes[0].element_step();
    const int64_t id = (sd.first_input + i * axes[0].input_step()) * strides[0];
    for (int64_t j = 0; j < sh.count; ++j) {
      const int64_t kh = sh.first_element + j * axes[1].element_step();
      const int64_t ih = id + (sh.first_input + j * axes[1].input_step()) * strides[1];
      int64_t filter = (kd * s.axes[1].window + kh) * s.axes[2].window + sw.first_element;
      int64_t input = ih + sw.first_input * strides[2];
      for (int64_t k = 0; k < across; ++k) {
        *taps++ = {filter * element_size, input};
        filter += axes[2].element_step();
        input += axes[2].input_step() * strides[2];
      }
    }
  }
  return taps;
}

// What is common to both ways to convolve.
template <class T>
struct Work {
  const TileLoops<T>& loops;
  const ConvolveArgs<T>& args;
  int64_t group_filters;  // elements

  const T* GroupFilters(int64_t g) const { return args.filters + g * group_filters; }
  bool pools() const { return args.pool[0] * args.pool[1] * args.pool[2] > 1; }
  // Extent of the pooled image.
  int64_t Pooled(int axis) const { return args.sizes.axes[axis].out / args.pool[axis]; }
};

// How pixels of a pooling window are joined. A bias may come after the join, as rounding keeps the
// order; an infinite one may not, as it makes a NaN of the opposite infinity alone.
template <class T>
Store JoinFor(const ConvolveArgs<T>& args) {
  if (args.activation != Activation::kRelu) return Store::kMaximum;
  if (args.bias == nullptr) return Store::kMaximumOfRelu;
  const int64_t channels = args.sizes.groups * args.sizes.out_channels;
  const bool finite = std::all_of(args.bias, args.bias + channels, [](T b) { return b - b == 0; });
  return finite ? Store::kMaximumOfRelu : Store::kMaximum;
}

// Elements from one line of rows to the next if the input is lines in the order of a block,
// [space..., channel], which are worth reading in place; else 0.
template <class T>
int64_t LineStep(const ConvolveArgs<T>& args) {
  if (args.in.batch != 1) return 0;
  const WindowSpan* axes = args.sizes.axes;
  const int64_t extents[] = {args.sizes.in_channels, axes[2].in, axes[1].in, axes[0].in};
  const int64_t* space = args.in.spatial;
  const int64_t strides[] = {args.in.channel, space[2], space[1], space[0]};
  int64_t step = 0, lines = 1;
  for (int i = 0; i < 4; ++i) {
    if (extents[i] == 1) continue;
    if (step == 0) step = strides[i];
    if (strides[i] != lines * step) return 0;
    lines *= extents[i];
  }
  return SpreadsOverCache<T>(step) ? step : 0;
}

// A block of batch rows at a time, one vector for one pixel of many rows.
template <class T>
class LaneRows {
 public:
  LaneRows(const Work<T>& work, T* block)
      : work_(work),
        args_(work.args),
        tables_(*work.args.tables),
        s_(work.args.sizes),
        lanes_(work.loops.lanes),
        width_(BlockRows(work.loops)),
        channel_step_(EvenPart(std::min(s_.out_channels, lanes_), work.loops.rows)),
        join_(JoinFor(work.args)),
        line_step_(LineStep(work.args)),
        block_(block) {}

  void Block(int64_t row, int64_t rows) {
    vectors_ = VectorsOf(rows, work_.loops.lanes);
    const bool whole = rows == vectors_ * lanes_;
    if (whole && line_step_ != 0) {
      in_ = {args_.in.data + row, line_step_, args_.in.group};
    } else {
      LoadBlock(row, rows);
      in_ = {block_, width_, s_.in_channels * s_.in_pixels() * width_};
    }
    const bool in_place = args_.out.batch == 1 && whole;
    Images<T> out = args_.out;
    if (in_place) {
      out.data += row;
    } else {
      const int64_t line = work_.Pooled(2) * width_, plane = work_.Pooled(1) * line;
      const int64_t channel = work_.Pooled(0) * plane;
      T* block = block_ + InElements(s_) * width_;
      out = {block, 1, s_.out_channels * channel, channel, {plane, line, width_}};
    }
    for (int64_t g = 0; g < s_.groups; ++g) {
      for (int64_t first = 0; first < s_.out_channels; first += lanes_) {
        const int64_t end = std::min<int64_t>(s_.out_channels, first + lanes_);
        for (int64_t o = first; o < end; o += channel_step_) {
          Channels(out, g, o, std::min(channel_step_, end - o));
        }
      }
    }
    if (!in_place) StoreBlock(out, row, rows);
  }

 private:
  void LoadBlock(int64_t row, int64_t rows) {
    const Images<const T>& in = args_.in;
    const WindowSpan* axes = s_.axes;
    if (rows % lanes_ != 0) std::memset(block_, 0, InElements(s_) * width_ * sizeof(T));
    const int64_t pixel = s_.in_channels * width_, line = axes[2].in * pixel;
    if (in.batch == 1 && rows == width_) return LoadWholeBlock(in.data + row);
    const int64_t extents[] = {s_.groups, axes[0].in, axes[1].in, axes[2].in, s_.in_channels, rows};
    const int64_t from[] = {in.group,      in.spatial[0], in.spatial[1],
                            in.spatial[2], in.channel,    in.batch};
    const int64_t to[] = {s_.in_pixels() * pixel, axes[1].in * line, line, pixel, width_, 1};
    CopyStrided(kDTypeOf<T>, extents, in.data + row * in.batch, from, block_, to);
  }

  // The rows lie side by side already, and fill the vectors.
  void LoadWholeBlock(const T* from) {
    const Images<const T>& in = args_.in;
    T* to = block_;
    for (int64_t g = 0; g < s_.groups; ++g) {
      for (int64_t d = 0; d < s_.axes[0].in; ++d) {
        for (int64_t h = 0; h < s_.axes[1].in; ++h) {
          for (int64_t w = 0; w < s_.axes[2].in; ++w) {
            const int64_t at =
                g * in.group + d * in.spatial[0] + h * in.spatial[1] + w * in.spatial[2];
            work_.loops.copy(from + at, in.channel, to, width_, s_.in_channels, vectors_);
            to += s_.in_channels * width_;
          }
        }
      }
    }
  }

  void StoreBlock(const Images<T>& block, int64_t row, int64_t rows) {
    const Images<T>& out = args_.out;
    const int64_t extents[] = {
        rows, s_.groups, s_.out_channels, work_.Pooled(0), work_.Pooled(1), work_.Pooled(2)};
    const int64_t from[] = {
        1, block.group, block.channel, block.spatial[0], block.spatial[1], block.spatial[2]};
    const int64_t to[] = {out.batch,      out.group,      out.channel,
                          out.spatial[0], out.spatial[1], out.spatial[2]};
    CopyStrided(kDTypeOf<T>, extents, block.data, from, out.data + row * out.batch, to);
  }

  // All pixels of output channels [o, o + count), whose filters so stay in the L1 cache.
  void Channels(const Images<T>& out, int64_t g, int64_t o, int64_t count) {
    TileArgs<T> tile;
    tile.a = work_.GroupFilters(g) + o / lanes_ * lanes_ * s_.depth() + o % lanes_;
    tile.a_row = 1;
    tile.a_depth = lanes_;
    tile.b = in_.data + g * in_.group;
    tile.b_vector = lanes_;
    tile.b_depth = in_.line;
    tile.c_row = out.channel;
    if (args_.bias != nullptr) tile.row_bias = args_.bias + g * s_.out_channels + o;
    const TileLoop<T> loop = work_.loops.AtDenseRows(count, vectors_);
    T* plane = out.data + g * out.group + o * out.channel;
    for (int64_t d = 0; d < work_.Pooled(0); ++d) {
      for (int64_t h = 0; h < work_.Pooled(1); ++h) {
        tile.c = plane + d * out.spatial[0] + h * out.spatial[1];
        for (int64_t w = 0; w < work_.Pooled(2); ++w) {
          Pool({d, h, w}, loop, &tile);
          tile.c += out.spatial[2];
        }
      }
    }
  }

  // One tile for each pixel of the pooling window; the activation after the last.
  void Pool(const int64_t (&at)[3], TileLoop<T> loop, TileArgs<T>* tile) {
    const int64_t(&pool)[3] = args_.pool;
    int64_t left = pool[0] * pool[1] * pool[2];
    const T* bias = tile->row_bias;
    if (join_ == Store::kMaximumOfRelu) tile->row_bias = nullptr;
    tile->store = Store::kReplace;
    tile->activation = Activation::kNone;
    for (int64_t d = at[0] * pool[0]; d < (at[0] + 1) * pool[0]; ++d) {
      for (int64_t h = at[1] * pool[1]; h < (at[1] + 1) * pool[1]; ++h) {
        const ConvolveTables::Pixel* pixel =
            tables_.pixels.data() + (d * s_.axes[1].out + h) * s_.axes[2].out + at[2] * pool[2];
        for (int64_t w = 0; w < pool[2]; ++w, ++pixel) {
          tile->taps = tables_.taps.data() + pixel->first_tap;
          tile->num_taps = pixel->num_taps;
          tile->depth = pixel->depth;
          if (--left == 0) {
            tile->row_bias = bias;
            tile->activation = args_.activation;
          }
          loop(*tile);
          tile->store = join_;
        }
      }
    }
  }

  const Work<T>& work_;
  const ConvolveArgs<T>& args_;
  const ConvolveTables& tables_;
  const ConvolveSizes& s_;
  const int64_t lanes_;
  const int64_t width_;
  const int64_t channel_step_;
  const Store join_;         // of the pixels of a pooling window
  const int64_t line_step_;  // of the input, if whole vectors of rows are read where they lie
  T* const block_;
  // The rows of this block, one line for each pixel and channel.
  struct {
    const T* data;
    int64_t line;
    int64_t group;
  } in_ = {};
  int64_t vectors_ = 0;
};

// One batch row at a time, one vector for one pixel of many output channels.
template <class T>
class LaneChannels {
 public:
  LaneChannels(const Work<T>& work, std::byte* scratch)
      : work_(work),
        args_(work.args),
        s_(work.args.sizes),
        lanes_(work.loops.lanes),
        taps_(reinterpret_cast<Tap*>(scratch)),
        lines_(reinterpret_cast<T*>(scratch + TapBytes(s_))) {
    const WindowTable& last = args_.tables->axes[2];
    const int64_t step = last.input_step() * args_.in.spatial[2];
    if (last.element_step() != 1) return;
    if (s_.in_channels == 1) {
      line_depth_ = step;
    } else if (step == s_.in_channels * args_.in.channel) {
      line_depth_ = args_.in.channel;
    }
  }

  void Row(int64_t row) const {
    const int64_t vectors = VectorsOf(s_.out_channels, work_.loops.lanes);
    const int64_t step = EvenPart(vectors, work_.loops.vectors);
    for (int64_t g = 0; g < s_.groups; ++g) {
      for (int64_t v = 0; v < vectors; v += step) {
        const Part part{row, g, v, std::min(step, vectors - v)};
        for (int64_t d = 0; d < work_.Pooled(0); ++d) {
          for (int64_t h = 0; h < work_.Pooled(1); ++h) {
            T* out = args_.out.data + row * args_.out.batch + g * args_.out.group +
                     v * lanes_ * args_.out.channel + d * args_.out.spatial[0] +
                     h * args_.out.spatial[1];
            if (work_.pools()) {
              PooledLine(part, d, h, out);
            } else {
              Line(part, d, h, {out, args_.out.spatial[2], args_.out.channel, ChannelsOf(part)});
            }
          }
        }
      }
    }
  }

 private:
  // Some vectors of channels of one row.
  struct Part {
    int64_t row, group, first, vectors;
  };
  // Where the pixels of a line go.
  struct Target {
    T* data;
    int64_t pixel;
    int64_t channel;
    int64_t room;  // channels that may be written
  };

  int64_t ChannelsOf(const Part& part) const {
    return std::min(part.vectors * lanes_, s_.out_channels - part.first * lanes_);
  }

  // Lines above each other join in `lines_`, then neighbours in the line.
  void PooledLine(const Part& part, int64_t d, int64_t h, T* out) const {
    const int64_t(&pool)[3] = args_.pool;
    const int64_t width = part.vectors * lanes_, line = s_.axes[2].out * width;
    T* target = lines_;
    for (int64_t kd = d * pool[0]; kd < (d + 1) * pool[0]; ++kd) {
      for (int64_t kh = h * pool[1]; kh < (h + 1) * pool[1]; ++kh) {
        Line(part, kd, kh, {target, width, 1, width});
        if (target != lines_) work_.loops.maximum(target, lines_, line / lanes_);
        target = lines_ + line;
      }
    }
    const int64_t channels = ChannelsOf(part);
    for (int64_t w = 0; w < work_.Pooled(2); ++w) {
      T* first = lines_ + w * pool[2] * width;
      for (int64_t k = 1; k < pool[2]; ++k) {
        work_.loops.maximum(first + k * width, first, part.vectors);
      }
      T* to = out + w * args_.out.spatial[2];
      for (int64_t o = 0; o < channels; ++o) to[o * args_.out.channel] = first[o];
    }
  }

  // One line of the image that is not pooled yet, in segments whose pixels see the same elements.
  void Line(const Part& part, int64_t d, int64_t h, const Target& target) const {
    const bool whole_lines = line_depth_ != 0;
    TileArgs<T> tile;
    tile.taps = taps_;
    tile.a_row = args_.tables->axes[2].segment_step() * args_.in.spatial[2];
    tile.a_depth = whole_lines ? line_depth_ : args_.in.channel;
    tile.b = work_.GroupFilters(part.group) + part.first * s_.depth() * lanes_;
    tile.b_vector = s_.depth() * lanes_;
    tile.b_depth = lanes_;
    tile.activation = args_.activation;
    if (args_.bias != nullptr) {
      tile.column_bias = args_.bias + part.group * s_.out_channels + part.first * lanes_;
    }
    for (const Segment& segment : args_.tables->axes[2].segments()) {
      const Tap* end = ListTaps(s_, args_.tables->axes, s_.in_channels, args_.in.spatial,
                                {d, h, segment.begin}, whole_lines, taps_);
      for (Tap* tap = taps_; tap != end; ++tap) std::swap(tap->a, tap->b);
      tile.num_taps = end - taps_;
      tile.depth = s_.in_channels;
      if (whole_lines) tile.depth *= args_.tables->axes[2].at(segment.begin).count;
      tile.a = args_.in.data + part.row * args_.in.batch + part.group * args_.in.group;
      Target at = target;
      at.data += segment.begin * target.pixel;
      Write(tile, at, segment.end - segment.begin, ChannelsOf(part), part.vectors);
    }
  }

  void Write(TileArgs<T>& tile, Target target, int64_t pixels, int64_t channels,
             int64_t vectors) const {
    constexpr int64_t kTile = TileLoops<T>::kMaxRows * TileLoops<T>::kMaxVectors * 64 / sizeof(T);
    alignas(64) T stage[kTile];
    const int64_t width = vectors * lanes_;
    const bool in_place = target.channel == 1 && target.room == width;
    const int64_t step = EvenPart(pixels, work_.loops.rows);
    for (int64_t first = 0; first < pixels; first += step) {
      const int64_t count = std::min(step, pixels - first);
      tile.c = in_place ? target.data : stage;
      tile.c_row = in_place ? target.pixel : width;
      work_.loops.At(count, vectors)(tile);
      for (int64_t i = 0; !in_place && i < count; ++i) {
        for (int64_t o = 0; o < channels; ++o) {
          target.data[i * target.pixel + o * target.channel] = stage[i * width + o];
        }
      }
      tile.a += count * tile.a_row;
      target.data += count * target.pixel;
    }
  }

  const Work<T>& work_;
  const ConvolveArgs<T>& args_;
  const ConvolveSizes& s_;
  const int64_t lanes_;
  Tap* taps_;
  T* lines_;  // two, for pooling
  // Stride of the input over (last window axis, channel) where they run as one, else 0.
  int64_t line_depth_ = 0;
};

}  // namespace

ConvolveTables::ConvolveTables(const ConvolveSizes& s, int lanes, int64_t block_rows) {
  for (int i = 0; i < 3; ++i) axes[i] = WindowTable(s.axes[i]);
  // Nothing here depends on the number of groups or the type; so what some may use is made.
  ConvolveSizes least = s;
  least.groups = 1;
  if (!FitsRowBlock(least, block_rows, 1)) return;
  // Neighbours in a line follow each other in the packed filters, and in the block too if the
  // window has no holes; then the line is one tap.
  const bool whole_lines = axes[2].element_step() == 1 && axes[2].input_step() == 1;
  const int64_t pixel = s.in_channels;
  const int64_t strides[] = {s.axes[1].in * s.axes[2].in * pixel, s.axes[2].in * pixel, pixel};
  std::vector<Tap> seen(s.window_elements());
  for (int64_t d = 0; d < s.axes[0].out; ++d) {
    for (int64_t h = 0; h < s.axes[1].out; ++h) {
      for (int64_t w = 0; w < s.axes[2].out; ++w) {
        const Tap* end =
            ListTaps(s, axes, pixel * lanes, strides, {d, h, w}, whole_lines, seen.data());
        pixels.push_back({static_cast<int64_t>(taps.size()), end - seen.data(),
                          s.in_channels * (whole_lines ? axes[2].at(w).count : 1)});
        taps.insert(taps.end(), static_cast<const Tap*>(seen.data()), end);
      }
    }
  }
}

int64_t PackedFilterElements(const ConvolveSizes& sizes, int lanes) {
  return sizes.groups * PackedElements(sizes.depth(), sizes.out_channels, lanes);
}

template <class T>
void PackFilters(const ConvolveSizes& s, const Filters<T>& filters, int lanes, T* out) {
  std::memset(out, 0, PackedFilterElements(s, lanes) * sizeof(T));
  const int64_t height = s.axes[1].window, width = s.axes[2].window;
  for (int64_t g = 0; g < s.groups; ++g) {
    for (int64_t o = 0; o < s.out_channels; ++o) {
      const T* filter = filters.data + (g * s.out_channels + o) * filters.out_channel;
      T* to = out + o / lanes * lanes * s.depth() + o % lanes;
      for (int64_t e = 0; e < s.window_elements(); ++e) {
        const T* element = filter + e / (height * width) * filters.spatial[0] +
                           e / width % height * filters.spatial[1] + e % width * filters.spatial[2];
        for (int64_t i = 0; i < s.in_channels; ++i, to += lanes) {
          *to = element[i * filters.in_channel];
        }
      }
    }
    out += PackedElements(s.depth(), s.out_channels, lanes);
  }
}

template <class T>
bool RowsInLanes(const TileLoops<T>& loops, const ConvolveSizes& sizes) {
  return sizes.batch >= loops.lanes && FitsRowBlock(sizes, BlockRows(loops), sizeof(T));
}

template <class T>
size_t ConvolveScratch(const TileLoops<T>& loops, const ConvolveSizes& sizes) {
  const int64_t lines = 2 * sizes.axes[2].out * loops.vectors * loops.lanes;
  const size_t by_row = TapBytes(sizes) + lines * sizeof(T);
  if (!RowsInLanes(loops, sizes)) return by_row;
  const int64_t elements = (InElements(sizes) + OutElements(sizes)) * BlockRows(loops);
  return std::max(by_row, elements * sizeof(T));
}

template <class T>
void Convolve(const TileLoops<T>& loops, const ConvolveArgs<T>& args, std::byte* scratch) {
  const Work<T> work{loops, args,
                     PackedElements(args.sizes.depth(), args.sizes.out_channels, loops.lanes)};
  const int64_t batch = args.sizes.batch;
  int64_t row = 0;
  if (RowsInLanes(loops, args.sizes)) {
    LaneRows<T> lane_rows(work, reinterpret_cast<T*>(scratch));
    // A rest of a row or two is cheaper row by row, unless their elements lie far apart.
    const int64_t least = args.in.batch == 1 ? 1 : 3;
    while (batch - row >= least) {
      const int64_t rows = std::min(BlockRows(loops), batch - row);
      lane_rows.Block(row, rows);
      row += rows;
    }
  }
  LaneChannels<T> lane_channels(work, scratch);
  for (; row < batch; ++row) lane_channels.Row(row);
}

#define WEIR_INSTANTIATE(T)                                                       \
  template void PackFilters<T>(const ConvolveSizes&, const Filters<T>&, int, T*); \
  template bool RowsInLanes<T>(const TileLoops<T>&, const ConvolveSizes&);        \
  template size_t ConvolveScratch<T>(const TileLoops<T>&, const ConvolveSizes&);  \
  template void Convolve<T>(const TileLoops<T>&, const ConvolveArgs<T>&, std::byte*);
WEIR_INSTANTIATE(float)
WEIR_INSTANTIATE(double)
WEIR_INSTANTIATE(uint32_t)
WEIR_INSTANTIATE(uint64_t)
#undef WEIR_INSTANTIATE

}  // namespace weir::cpu
