#include "common/tensor/dim_bounds.h"

#include <random>
#include <string>

#include "common/base/str_cat.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

struct Case {
  std::string text;
  std::optional<int64_t> low;
  std::optional<int64_t> high;
};

TEST(DimBoundsTest, Examples) {
  const std::optional<int64_t> none;
  for (const Case& each : std::vector<Case>{
           {"7", 7, 7},
           {"?", none, none},
           {"n", 0, none},
           {"n+1", 1, none},
           {"3-2*n", none, 3},
           {"n-m", none, none},
           {"n*m+2", 2, none},
           {"n%4", 0, 3},
           {"(n+8)//4", 2, none},
           {"8//(n+1)", 0, 8},
           {"min(n,4)", 0, 4},
           {"max(n,4)", 4, none},
           {"max(n-2,0)", 0, none},
           {"n-min(n,4)", 0, none},
           {"n-max(n-2,0)", 0, 2},
           {"min(n+3,7)-max(n-3,0)", none, 6},
           {"n-n%4", 0, none},
           {"n-4*(n//4)", 0, 3},
           {"n-2*(n//4)", 0, none},
           {"n//2-n//4", 0, none},
           {"-3*min(n,2)", -6, 0},
       }) {
    const Dim dim = Dim::Parse(each.text).value();
    EXPECT_EQ(LowerBound(dim), each.low) << each.text;
    EXPECT_EQ(UpperBound(dim), each.high) << each.text;
  }
}

TEST(DimBoundsTest, SumsGoIntoTheirOnlyExtreme) {
  for (const auto& [text, gathered] : std::vector<std::pair<std::string, std::string>>{
           {"n-min(n,1)", "max(n-1,0)"},
           {"n-max(n-2,0)", "min(n,2)"},
           {"max(n-2,0)+2", "max(n,2)"},
           {"-3*min(n,2)", "max(-3*n,-6)"},
           {"max(n,0)", "n"},
           {"4*n+1-min(4*n+1,1)", "4*n"},
           {"min(n,2)+max(n-2,0)", "max(n-2,0)+min(n,2)"},
           {"n*min(n,2)", "min(n,2)*n"},
           {"n//2", "n//2"},
           {"?", "?"},
       }) {
    EXPECT_EQ(Gathered(Dim::Parse(text).value()).ToString(), gathered) << text;
  }
}

class RandomText {
 public:
  explicit RandomText(uint32_t seed) : random_(seed) {}

  std::string Make(int depth) {
    if (depth == 0 || Pick(0, 6) == 0) {
      return Pick(0, 2) == 0 ? StrCat(Pick(0, 7)) : std::string(1, "abc"[Pick(0, 2)]);
    }
    const std::string x = Make(depth - 1);
    const std::string y = Make(depth - 1);
    constexpr std::string_view kOps[] = {"+", "-", "*", "//", "%"};
    const int64_t op = Pick(0, 6);
    if (op >= 5) return StrCat(op == 5 ? "min(" : "max(", x, ",", y, ")");
    return StrCat("(", x, ")", kOps[op], "(", y, ")");
  }

  int64_t Pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }

 private:
  std::mt19937 random_;
};

TEST(DimBoundsTest, HoldForRandomExpressions) {
  int bounded = 0;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    RandomText random(seed);
    const std::string text = random.Make(4);
    const absl::StatusOr<Dim> dim = Dim::Parse(text);
    if (!dim.ok()) continue;
    const std::optional<int64_t> low = LowerBound(*dim);
    const std::optional<int64_t> high = UpperBound(*dim);
    const Dim gathered = Gathered(*dim);
    bounded += low.has_value() || high.has_value() ? 1 : 0;
    for (int trial = 0; trial < 20; ++trial) {
      const int64_t most = trial < 10 ? 4 : 40;
      const SymbolBindings symbols{
          {"a", random.Pick(0, most)}, {"b", random.Pick(0, most)}, {"c", random.Pick(0, most)}};
      const absl::StatusOr<int64_t> value = dim->Evaluate(symbols);
      if (!value.ok()) continue;
      ASSERT_EQ(gathered.Evaluate(symbols).value(), *value)
          << text << " became " << gathered.ToString();
      if (low) {
        ASSERT_GE(*value, *low) << text << " seed " << seed;
      }
      if (high) {
        ASSERT_LE(*value, *high) << text << " seed " << seed;
      }
    }
  }
  EXPECT_GT(bounded, 1500);
}

}  // namespace
}  // namespace weir
