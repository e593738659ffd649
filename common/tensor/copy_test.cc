#include "common/tensor/copy.h"

#include <cstring>
#include <random>
#include <vector>

#include "common/tensor/shape.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

constexpr DType kOfEachSize[] = {DType::kU8, DType::kF16, DType::kF32, DType::kF64, DType::kC128};

// Memory in which every byte differs from its neighbours in a way that depends on the position.
std::vector<std::byte> Pattern(size_t bytes, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> out(bytes);
  for (std::byte& b : out) b = static_cast<std::byte>(random());
  return out;
}

// A layout of `extents` inside memory of `elements` elements, starting at `offset`.
struct Layout {
  Extents strides;
  int64_t offset = 0;
  int64_t elements = 0;
};

// Places the axes in a random order with random gaps, turns some round.
Layout RandomLayout(const Extents& extents, std::mt19937* random) {
  Layout out;
  out.strides.resize(extents.size());
  std::vector<size_t> order(extents.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  if ((*random)() % 3 != 0) std::shuffle(order.begin(), order.end(), *random);
  int64_t stride = (*random)() % 4 == 0 ? 2 : 1;
  out.elements = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const int64_t extent = extents[order[i]];
    out.strides[order[i]] = stride;
    out.elements += std::max<int64_t>(extent - 1, 0) * stride;
    if (extent > 0 && (*random)() % 4 == 0) {
      out.offset += (extent - 1) * stride;
      out.strides[order[i]] = -stride;
    }
    stride *= std::max<int64_t>(extent, 1) + ((*random)() % 4 == 0 ? 3 : 0);
  }
  return out;
}

void CopyOneByOne(int size, const Extents& extents, const std::byte* src, const Extents& from,
                  std::byte* dst, const Extents& to) {
  if (NumElements(extents) == 0) return;
  Extents index(extents.size(), 0);
  while (true) {
    int64_t source = 0;
    int64_t target = 0;
    for (size_t i = 0; i < extents.size(); ++i) {
      source += index[i] * from[i];
      target += index[i] * to[i];
    }
    std::memcpy(dst + target * size, src + source * size, static_cast<size_t>(size));
    size_t axis = extents.size();
    while (axis-- > 0 && ++index[axis] == extents[axis]) index[axis] = 0;
    if (axis == static_cast<size_t>(-1)) return;
  }
}

void ExpectCopied(DType dtype, const Extents& extents, const Layout& from, const Layout& to) {
  const int size = SizeOf(dtype);
  const std::vector<std::byte> source = Pattern(static_cast<size_t>(from.elements * size), 7);
  std::vector<std::byte> expected = Pattern(static_cast<size_t>(to.elements * size), 8);
  std::vector<std::byte> actual = expected;
  CopyOneByOne(size, extents, source.data() + from.offset * size, from.strides,
               expected.data() + to.offset * size, to.strides);
  CopyStrided(dtype, extents, source.data() + from.offset * size, from.strides,
              actual.data() + to.offset * size, to.strides);
  ASSERT_TRUE(actual == expected) << DTypeName(dtype) << ExtentsToString(extents) << " from "
                                  << ExtentsToString(from.strides) << " to "
                                  << ExtentsToString(to.strides);
}

TEST(CopyStridedTest, RandomLayouts) {
  std::mt19937 random(3);
  for (int round = 0; round < 3000; ++round) {
    Extents extents(random() % 6);
    for (int64_t& extent : extents) {
      extent = random() % 8 == 0 ? random() % 2 : 1 + random() % 9;
    }
    Layout from = RandomLayout(extents, &random);
    for (int64_t& stride : from.strides) {
      if (from.offset == 0 && random() % 6 == 0) stride = 0;
    }
    const Layout to = RandomLayout(extents, &random);
    ExpectCopied(kOfEachSize[round % 5], extents, from, to);
  }
}

TEST(CopyStridedTest, TransposesOfAllTileEdges) {
  for (DType dtype : kOfEachSize) {
    for (int64_t rows : {4, 15, 16, 17, 63, 64, 65, 130}) {
      for (int64_t columns : {4, 16, 33, 64, 100}) {
        ExpectCopied(dtype, {rows, columns}, {{1, rows}, 0, rows * columns},
                     {{columns, 1}, 0, rows * columns});
      }
    }
    ExpectCopied(dtype, {3, 20, 5, 18}, {{1800, 1, 20, 100}, 0, 5400},
                 {{1800, 90, 18, 1}, 0, 5400});
  }
}

TEST(CopyStridedTest, LongRunsAndFills) {
  for (DType dtype : kOfEachSize) {
    ExpectCopied(dtype, {3, 1000}, {{2000, 1}, 0, 6000}, {{1000, 1}, 0, 3000});
    ExpectCopied(dtype, {3, 1000}, {{1, 0}, 0, 3}, {{1000, 1}, 0, 3000});
    ExpectCopied(dtype, {1000, 3}, {{0, 1}, 0, 3}, {{3, 1}, 0, 3000});
    ExpectCopied(dtype, {2, 2, 2, 2, 2, 2, 2, 2}, {{1, 2, 4, 8, 16, 32, 64, 128}, 0, 256},
                 {{128, 64, 32, 16, 8, 4, 2, 1}, 0, 256});
  }
}

TEST(CopyStridedTest, AddressesNeedNoAlignment) {
  std::vector<std::byte> source = Pattern(1000, 9);
  std::vector<std::byte> target(1000);
  CopyStrided(DType::kC128, {4, 5}, source.data() + 3, {1, 4}, target.data() + 5, {5, 1});
  EXPECT_EQ(std::memcmp(target.data() + 5 + 16, source.data() + 3 + 64, 16), 0);
}

}  // namespace
}  // namespace weir
