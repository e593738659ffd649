#include "worker/device/cpu/contraction/window_tables.h"

#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace weir::cpu {
namespace {

using Pairs = std::vector<std::pair<int64_t, int64_t>>;

Pairs ByDefinition(const WindowSpan& span, int64_t out) {
  Pairs pairs;
  for (int64_t k = 0; k < span.window; ++k) {
    const int64_t at = out * span.stride - span.pad + k * span.window_dilation;
    if (at < 0 || at % span.in_dilation != 0 || at / span.in_dilation >= span.in) continue;
    pairs.push_back({k, at / span.in_dilation});
  }
  return pairs;
}

Pairs ByTable(const WindowTable& table, int64_t out) {
  Pairs pairs;
  const Seen& seen = table.at(out);
  for (int64_t i = 0; i < seen.count; ++i) {
    pairs.push_back(
        {seen.first_element + i * table.element_step(), seen.first_input + i * table.input_step()});
  }
  return pairs;
}

TEST(WindowTable, AgreesWithTheDefinition) {
  for (int64_t in : {0, 1, 2, 5}) {
    for (int64_t window : {1, 2, 3, 7}) {
      for (int64_t stride : {1, 2, 3}) {
        for (int64_t pad : {-2, 0, 1, 9}) {
          for (int64_t in_dilation : {1, 2, 3, 4}) {
            for (int64_t window_dilation : {1, 2, 3, 6}) {
              const WindowSpan span{in, 12, window, stride, pad, in_dilation, window_dilation};
              const WindowTable table(span);
              for (int64_t out = 0; out < span.out; ++out) {
                ASSERT_EQ(ByTable(table, out), ByDefinition(span, out))
                    << "in " << in << ", window " << window << ", stride " << stride << ", pad "
                    << pad << ", dilations " << in_dilation << " and " << window_dilation
                    << ", position " << out;
              }
            }
          }
        }
      }
    }
  }
}

TEST(WindowTable, SegmentsCoverAllPositionsAndStepEvenly) {
  const WindowTable table(WindowSpan{8, 8, 3, 1, 1});
  ASSERT_EQ(table.segments().size(), 3u);
  EXPECT_EQ(table.segments()[1].begin, 1);
  EXPECT_EQ(table.segments()[1].end, 7);
  EXPECT_EQ(table.at(2).first_input, table.at(1).first_input + table.segment_step());
  EXPECT_EQ(table.segments()[2].end, 8);
}

}  // namespace
}  // namespace weir::cpu
