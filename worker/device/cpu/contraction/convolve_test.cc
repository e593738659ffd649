#include "worker/device/cpu/contraction/convolve.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "worker/device/cpu/kernel.h"

namespace weir::cpu {
namespace {

template <class T>
T MultiplyAdd(Isa isa, T a, T b, T c) {
  if constexpr (std::is_floating_point_v<T>) {
    if (isa != Isa::kBaseline) return std::fma(a, b, c);
  }
  return a * b + c;
}

template <class T>
struct Aligned {
  explicit Aligned(size_t count)
      : data(static_cast<T*>(std::aligned_alloc(64, (count * sizeof(T) + 127) / 64 * 64)),
             &std::free) {}
  std::unique_ptr<T, void (*)(void*)> data;
};

// How images lie in memory.
enum class Lie { kChannelsFirst, kChannelsLast, kBatchLast, kChannelsThenBatchLast };

template <class T>
Images<T> Place(T* data, Lie lie, int64_t n, int64_t g, int64_t c, const int64_t (&p)[3]) {
  const int64_t area = p[0] * p[1] * p[2];
  switch (lie) {
    case Lie::kChannelsFirst:
      return {data, g * c * area, c * area, area, {p[1] * p[2], p[2], 1}};
    case Lie::kChannelsLast:
      return {data, g * c * area, c, 1, {p[1] * p[2] * g * c, p[2] * g * c, g * c}};
    case Lie::kBatchLast:
      return {data, 1, c * area * n, area * n, {p[1] * p[2] * n, p[2] * n, n}};
    case Lie::kChannelsThenBatchLast:
      return {data, 1, c * area * n, n, {p[1] * p[2] * c * n, p[2] * c * n, c * n}};
  }
  return {};
}

template <class T>
class ConvolveTest : public testing::Test {
 public:
  static T Expected(Isa isa, const ConvolveArgs<T>& args, const Filters<T>& filters, int64_t n,
                    int64_t g, int64_t o, const int64_t (&at)[3]) {
    const ConvolveSizes& s = args.sizes;
    T sum = 0;
    for (int64_t e = 0; e < s.window_elements(); ++e) {
      const int64_t k[] = {e / s.axes[2].window / s.axes[1].window,
                           e / s.axes[2].window % s.axes[1].window, e % s.axes[2].window};
      int64_t in = n * args.in.batch + g * args.in.group;
      int64_t filter = (g * s.out_channels + o) * filters.out_channel;
      bool seen = true;
      for (int i = 0; i < 3; ++i) {
        const WindowSpan& a = s.axes[i];
        const int64_t place = at[i] * a.stride - a.pad + k[i] * a.window_dilation;
        seen &= place >= 0 && place % a.in_dilation == 0 && place / a.in_dilation < a.in;
        in += place / a.in_dilation * args.in.spatial[i];
        filter += k[i] * filters.spatial[i];
      }
      if (!seen) continue;
      for (int64_t c = 0; c < s.in_channels; ++c) {
        sum = MultiplyAdd(isa, filters.data[filter + c * filters.in_channel],
                          args.in.data[in + c * args.in.channel], sum);
      }
    }
    return sum;
  }

  static void Check(Isa isa, const ConvolveSizes& s, Lie in_lie, Lie out_lie) {
    const TileLoops<T>& loops = TileLoopsFor<T>(isa);
    std::mt19937 random(7);
    auto fill = [&](std::vector<T>* values) {
      for (T& value : *values) value = static_cast<T>(random() % 2001) / 16 - 60;
    };
    std::vector<T> in(s.batch * s.groups * s.in_channels * s.in_pixels());
    std::vector<T> weights(s.groups * s.out_channels * s.depth());
    fill(&in);
    fill(&weights);
    std::vector<T> out(s.batch * s.groups * s.out_channels * s.out_pixels(), T{99});
    const WindowSpan* x = s.axes;
    const int64_t window = s.window_elements();
    const Filters<T> filters{weights.data(),
                             window * s.in_channels,
                             window,
                             {x[1].window * x[2].window, x[2].window, 1}};
    Aligned<T> packed(PackedFilterElements(s, loops.lanes));
    PackFilters(s, filters, loops.lanes, packed.data.get());
    const ConvolveTables tables(s, loops.lanes, BlockRows(loops));
    ConvolveArgs<T> args;
    args.sizes = s;
    args.tables = &tables;
    args.in = Place<const T>(in.data(), in_lie, s.batch, s.groups, s.in_channels,
                             {x[0].in, x[1].in, x[2].in});
    args.out = Place<T>(out.data(), out_lie, s.batch, s.groups, s.out_channels,
                        {x[0].out, x[1].out, x[2].out});
    args.filters = packed.data.get();
    Aligned<std::byte> scratch(ConvolveScratch(loops, s));
    Convolve(loops, args, scratch.data.get());
    for (int64_t n = 0; n < s.batch; ++n) {
      for (int64_t g = 0; g < s.groups; ++g) {
        for (int64_t o = 0; o < s.out_channels; ++o) {
          for (int64_t p = 0; p < s.out_pixels(); ++p) {
            const int64_t at[] = {p / x[2].out / x[1].out, p / x[2].out % x[1].out, p % x[2].out};
            const T want = Expected(isa, args, filters, n, g, o, at);
            const T got = args.out.data[n * args.out.batch + g * args.out.group +
                                        o * args.out.channel + at[0] * args.out.spatial[0] +
                                        at[1] * args.out.spatial[1] + at[2] * args.out.spatial[2]];
            ASSERT_EQ(std::memcmp(&got, &want, sizeof(T)), 0)
                << IsaName(isa) << " row " << n << " of " << s.batch << ", channel " << o
                << ", pixel " << p << ": got " << got << ", want " << want;
          }
        }
      }
    }
  }
};

using ElementTypes = testing::Types<float, double, uint32_t>;
TYPED_TEST_SUITE(ConvolveTest, ElementTypes);

std::vector<ConvolveSizes> Cases() {
  std::vector<ConvolveSizes> cases;
  auto add = [&](int64_t g, int64_t ic, int64_t oc, WindowSpan h, WindowSpan w, WindowSpan d = {}) {
    cases.push_back({1, g, ic, oc, {d, h, w}});
  };
  const WindowSpan same8{8, 8, 3, 1, 1}, same4{4, 4, 3, 1, 1};
  add(1, 1, 16, same8, same8);
  add(1, 5, 20, same4, same4);
  add(1, 3, 1, {1, 1, 1}, {9, 7, 3});
  add(2, 2, 3, {7, 3, 3, 2, 0}, {8, 4, 2, 3, 1});
  add(1, 2, 3, {7, 7, 3, 1, 2, 1, 2}, {8, 5, 2, 1, 0, 1, 3});
  add(1, 2, 3, {4, 6, 3, 1, 1, 2}, {3, 6, 2, 1, 0, 3});
  add(2, 1, 2, {6, 11, 3, 1, 3, 3, 2}, {6, 5, 3, 2, -1});
  add(1, 2, 3, {5, 4, 2}, {3, 2, 2}, {4, 2, 3});
  add(1, 0, 3, same4, same4);
  return cases;
}

TYPED_TEST(ConvolveTest, EveryElementIsOneChainWhateverTheSizes) {
  for (Isa isa : SupportedIsas()) {
    for (ConvolveSizes sizes : Cases()) {
      for (int64_t batch : {0, 1, 2, 3, 7, 16, 37, 80, 120}) {
        sizes.batch = batch;
        for (Lie lie : {Lie::kChannelsFirst, Lie::kChannelsLast, Lie::kBatchLast,
                        Lie::kChannelsThenBatchLast}) {
          this->Check(isa, sizes, lie, Lie::kChannelsFirst);
          this->Check(isa, sizes, Lie::kChannelsFirst, lie);
        }
      }
    }
  }
}

TEST(ConvolveEpilogue, BiasThenActivationInBothWays) {
  ConvolveSizes sizes;
  sizes.out_channels = 3;
  sizes.axes[2] = {2, 2, 1};
  const float weights[] = {1, -1, 2}, bias[16] = {0.5f, 0, -3};
  for (Isa isa : SupportedIsas()) {
    const TileLoops<float>& loops = TileLoopsFor<float>(isa);
    Aligned<float> packed(PackedFilterElements(sizes, loops.lanes));
    PackFilters(sizes, {weights, 1, 1, {1, 1, 1}}, loops.lanes, packed.data.get());
    const ConvolveTables tables(sizes, loops.lanes, BlockRows(loops));
    for (int64_t batch : {1, 64}) {
      sizes.batch = batch;
      const std::vector<float> in(2 * batch, 1.0f);
      std::vector<float> out(6 * batch);
      ConvolveArgs<float> args;
      args.sizes = sizes;
      args.tables = &tables;
      args.in = {in.data(), 2, 0, 2, {0, 0, 1}};
      args.out = {out.data(), 6, 0, 2, {0, 0, 1}};
      args.filters = packed.data.get();
      args.bias = bias;
      args.activation = Activation::kRelu;
      Aligned<std::byte> scratch(ConvolveScratch(loops, sizes));
      Convolve(loops, args, scratch.data.get());
      for (int64_t i = 0; i < batch; ++i) {
        EXPECT_EQ(out[6 * i], 1.5f);
        EXPECT_EQ(out[6 * i + 3], 0.0f);
        EXPECT_EQ(out[6 * i + 5], 0.0f);
      }
    }
  }
}

// The larger of both as reduce_window has it.
float Larger(float x, float y) {
  if (std::isnan(x) || std::isnan(y)) return std::nanf("");
  return x > y || (x == y && !std::signbit(x)) ? x : y;
}

// Pools two by two what a convolution without epilogue left in `from`.
float PooledOf(const std::vector<float>& from, int64_t first, int64_t width, float bias,
               Activation activation) {
  float largest = -INFINITY;
  for (int64_t at : {first, first + 1, first + width, first + width + 1}) {
    largest = Larger(largest, from[at] + bias);
  }
  if (activation == Activation::kRelu) return largest <= 0 ? 0.0f : largest;
  return largest;
}

TEST(ConvolveEpilogue, PoolingAgreesWithOneOpAfterTheOther) {
  ConvolveSizes sizes;
  sizes.batch = 101;
  sizes.in_channels = 2;
  sizes.out_channels = 11;
  sizes.axes[1] = sizes.axes[2] = {4, 4, 3, 1, 1};
  std::mt19937 random(11);
  std::vector<float> in(sizes.batch * 32), weights(11 * 18);
  const float special[] = {NAN, INFINITY, -INFINITY, -0.0f, 0.0f, 3e38f};
  for (float& x : in) x = random() % 40 == 0 ? special[random() % 6] : (random() % 200) / 9.f - 11;
  for (float& x : weights) x = (random() % 200) / 99.f - 1;
  for (int64_t channel : {3, 7}) weights[channel * 18 + 5] = -0.0f;
  float bias[64] = {1, -2, 0, -0.0f, 40, -40};
  const Filters<float> filters{weights.data(), 18, 9, {9, 3, 1}};
  for (Isa isa : SupportedIsas()) {
    const TileLoops<float>& loops = TileLoopsFor<float>(isa);
    Aligned<float> packed(PackedFilterElements(sizes, loops.lanes));
    PackFilters(sizes, filters, loops.lanes, packed.data.get());
    const ConvolveTables tables(sizes, loops.lanes, BlockRows(loops));
    Aligned<std::byte> scratch(ConvolveScratch(loops, sizes));
    std::vector<float> whole(sizes.batch * 11 * 16), pooled(sizes.batch * 11 * 4);
    ConvolveArgs<float> args;
    args.sizes = sizes;
    args.tables = &tables;
    args.in = Place<const float>(in.data(), Lie::kChannelsFirst, sizes.batch, 1, 2, {1, 4, 4});
    args.out = Place<float>(whole.data(), Lie::kChannelsFirst, sizes.batch, 1, 11, {1, 4, 4});
    args.filters = packed.data.get();
    Convolve(loops, args, scratch.data.get());
    args.out = Place<float>(pooled.data(), Lie::kBatchLast, sizes.batch, 1, 11, {1, 2, 2});
    args.bias = bias;
    args.pool[1] = args.pool[2] = 2;
    for (float last_bias : {0.5f, INFINITY, -INFINITY}) {
      bias[10] = last_bias;
      for (Activation activation : {Activation::kNone, Activation::kRelu}) {
        args.activation = activation;
        Convolve(loops, args, scratch.data.get());
        for (int64_t i = 0; i < sizes.batch * 44; ++i) {
          const int64_t n = i / 44, o = i / 4 % 11, h = i / 2 % 2, w = i % 2;
          const float want =
              PooledOf(whole, (n * 11 + o) * 16 + h * 8 + w * 2, 4, bias[o], activation);
          const float got = pooled[((o * 2 + h) * 2 + w) * sizes.batch + n];
          if (std::isnan(want) && std::isnan(got)) continue;
          ASSERT_EQ(std::memcmp(&got, &want, sizeof got), 0)
              << IsaName(isa) << " row " << n << " channel " << o << " at " << h << ", " << w
              << ", last bias " << last_bias << ": got " << got << ", want " << want;
        }
      }
    }
  }
}

}  // namespace
}  // namespace weir::cpu
