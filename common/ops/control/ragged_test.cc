#include "common/ops/control/ragged.h"

#include <gtest/gtest.h>

#include "common/base/status.h"
#include "common/ops/lang_testing.h"
#include "common/ops/sample.h"

namespace weir {
namespace {

TEST(CheckCountTest, NamesCountAndBound) {
  EXPECT_TRUE(control::CheckCount(0, 0).ok());
  EXPECT_TRUE(control::CheckCount(3, 3).ok());
  EXPECT_EQ(control::CheckCount(4, 3).message(),
            "the count 4 of a pfor is not in 0..3, its extent");
  EXPECT_EQ(control::CheckCount(-1, 3).message(),
            "the count -1 of a pfor is not in 0..3, its extent");
}

// The bits are those of a reduction over as many rows as count, whatever lies behind.
TEST(ReduceIterationsTest, RowsBehindTheCountLeaveNoTrace) {
  for (DType dtype : {DType::kF32, DType::kF16, DType::kI32, DType::kU8, DType::kC64}) {
    const Tensor rows = Rand(dtype, {600, 3}, 0, 3).Make(5);
    for (std::string_view kind : {"sum", "prod", "max", "min", "mean"}) {
      if (IsComplex(dtype) && (kind == "max" || kind == "min")) continue;
      if (kind == "mean" && IsInteger(dtype)) continue;
      for (int64_t count : {0, 1, 255, 256, 257, 513, 600}) {
        if (count == 0 && kind == "mean") continue;
        const auto reduce = [&](Builder& b, const std::vector<ValueId>& args) {
          return control::ReduceIterations(b, std::string(kind), args[0],
                                           args.size() > 1 ? args[1] : ValueId());
        };
        const Tensor got = Result({rows, Tensor::Scalar<int64_t>(count)}, reduce);
        const Tensor want = Result({rows.Rows(0, count)}, reduce);
        EXPECT_TRUE(got.BitEquals(want)) << DTypeName(dtype) << " " << kind << " of " << count
                                         << ": " << got.ToString() << " / " << want.ToString();
      }
    }
  }
}

}  // namespace
}  // namespace weir
