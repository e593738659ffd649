#include "common/tensor/dim.h"

#include <limits>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

Dim Parsed(std::string_view text) {
  const absl::StatusOr<Dim> dim = Dim::Parse(text);
  EXPECT_TRUE(dim.ok()) << dim.status();
  return dim.ok() ? *dim : Dim::Unknown();
}

std::string ParseError(std::string_view text) {
  const absl::StatusOr<Dim> dim = Dim::Parse(text);
  EXPECT_FALSE(dim.ok()) << text << " gave " << dim->ToString();
  return std::string(dim.status().message());
}

TEST(DimTest, EqualExpressionsHaveOneForm) {
  const Dim n = Dim::Symbol("n");
  const Dim m = Dim::Symbol("m");
  EXPECT_EQ((n * 2 + n).ToString(), "3*n");
  EXPECT_EQ((n + 1) * (n - 1), n * n - 1);
  EXPECT_EQ((n + m) * (n + m), n * n + m * n * 2 + m * m);
  EXPECT_EQ(n - n, Dim(0));
  EXPECT_TRUE((n * 0).is_number());
  EXPECT_EQ((Dim(1) + n * 3).ToString(), "3*n+1");
  EXPECT_EQ((Dim(0) - n).ToString(), "-n");
  EXPECT_EQ((n * m * n - n * 5 - 7).ToString(), "m*n*n-5*n-7");
  EXPECT_FALSE(n == m);
  EXPECT_FALSE(n == Dim(1));
  EXPECT_EQ(Dim::Unknown(), Dim::Unknown());
  EXPECT_FALSE(Dim::Unknown() == Dim(0));
}

TEST(DimTest, LoneSymbol) {
  const Dim n = Dim::Symbol("n");
  EXPECT_TRUE(n.is_symbol());
  EXPECT_EQ(n.symbol(), "n");
  EXPECT_TRUE((n + 1 - 1).is_symbol());
  EXPECT_FALSE((n + 1).is_symbol());
  EXPECT_FALSE((n * 2).is_symbol());
  EXPECT_FALSE((n * n).is_symbol());
  EXPECT_FALSE(FloorDiv(n, 2).is_symbol());
  EXPECT_FALSE(Dim(3).is_symbol());
}

struct TextCase {
  std::string_view text;
  std::string_view normal;
};

TEST(DimTest, SimplifiesText) {
  const TextCase cases[] = {
      {"4", "4"},
      {" ( n ) ", "n"},
      {"?", "?"},
      {"2+?", "?"},
      {"-3", "-3"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"m-9223372036854775807*n-n", "m+-9223372036854775808*n"},
      {"n-9223372036854775807-1", "n+-9223372036854775808"},
      {"2*n+3*n-1", "5*n-1"},
      {"7//2", "3"},
      {"-7//2", "-4"},
      {"7//-2", "-4"},
      {"-7%3", "2"},
      {"7%-3", "-2"},
      {"n//1", "n"},
      {"n//-1", "-n"},
      {"n%1", "0"},
      {"(64*n)//64", "n"},
      {"(4*n+6)//4", "n+1"},
      {"(4*n+2*m)//4", "m//2+n"},
      {"(n+2*1-3)//2+1", "(n+1)//2"},
      {"3*n//2", "n+n//2"},
      {"n//2//3", "n//6"},
      {"(n//2+5)//3", "(n+4)//6+1"},
      {"n//-2", "-n+n//2"},
      {"(n*m)//m", "n"},
      {"(6*n*m+4*m*m)//(2*m)", "2*m+3*n"},
      {"(n+1)//(n+1)", "1"},
      {"0//n", "0//n"},
      {"(n*m+1)//m", "(m*n+1)//m"},
      {"(5*n+7)%5", "2"},
      {"(4*n+2)%6", "2*((2*n+1)%3)"},
      {"(n*m)%m", "0"},
      {"n%6%3", "n%3"},
      {"n%3%6", "n%3"},
      {"2*(n//3)", "2*(n//3)"},
      {"n-n//3", "n-(n//3)"},
      {"min(n,n)", "n"},
      {"min(n,n+1)", "n"},
      {"max(n,n+1)", "n+1"},
      {"min(4,n)", "min(n,4)"},
      {"min(min(n,8),min(4,m))", "min(m,n,4)"},
      {"max(3,7)", "7"},
      {"min*max", "max*min"},
      {"a.b_1+_", "_+a.b_1"},
  };
  for (const TextCase& c : cases) {
    const std::string printed = Parsed(c.text).ToString();
    const std::string again = Parsed(printed).ToString();
    EXPECT_EQ(again, printed) << c.text;
    EXPECT_EQ(Parsed(printed), Parsed(c.text)) << c.text;
    EXPECT_EQ(printed, c.normal) << c.text;
  }
}

TEST(DimTest, RejectsText) {
  EXPECT_THAT(ParseError(""), HasSubstr("expected a dimension at character 1"));
  EXPECT_THAT(ParseError("n+"), HasSubstr("'n+': expected a dimension at character 3"));
  EXPECT_THAT(ParseError("n n"), HasSubstr("expected an operator or the end at character 3"));
  EXPECT_THAT(ParseError("(n"), HasSubstr("expected ')'"));
  EXPECT_THAT(ParseError("min(n)"), HasSubstr("expected ','"));
  EXPECT_THAT(ParseError("n/2"), HasSubstr("expected an operator"));
  EXPECT_THAT(ParseError("9223372036854775808"), HasSubstr("a number of 64 bits"));
  EXPECT_THAT(ParseError("9223372036854775807+1"), HasSubstr("overflows"));
  EXPECT_THAT(ParseError("n//0"), HasSubstr("divides by 0"));
  EXPECT_THAT(ParseError("n%0"), HasSubstr("divides by 0"));
  EXPECT_THAT(ParseError(std::string(100000, '(')), HasSubstr("at most"));
  EXPECT_THAT(ParseError(std::string(5000, '(')), HasSubstr("nested"));
  EXPECT_THAT(ParseError(std::string(200, 'n')), HasSubstr("shorter symbol"));
  std::string many = "n";
  for (int i = 0; i < 2000; ++i) many += "+1";
  EXPECT_THAT(ParseError(many), HasSubstr("fewer operators"));
  EXPECT_THAT(ParseError("--n"), HasSubstr("expected a number"));
  EXPECT_THAT(ParseError("\xff"), HasSubstr("expected a number"));
}

TEST(DimTest, OverflowIsUnknown) {
  const Dim n = Dim::Symbol("n");
  EXPECT_TRUE((Dim(kMax) + 1).is_unknown());
  EXPECT_TRUE((Dim(kMin) - 1).is_unknown());
  EXPECT_TRUE((Dim(kMax) * 2).is_unknown());
  EXPECT_TRUE(FloorDiv(Dim(kMin), Dim(-1)).is_unknown());
  EXPECT_EQ(Mod(Dim(kMin), Dim(-1)), Dim(0));
  EXPECT_TRUE((n * kMax + n).is_unknown());
  EXPECT_TRUE((n * kMin * -1).is_unknown());
  EXPECT_EQ((n * kMin).ToString(), "-9223372036854775808*n");
  EXPECT_TRUE(FloorDiv(n, 0).is_unknown());
  EXPECT_TRUE(Mod(n, 0).is_unknown());
  EXPECT_TRUE((n * Dim::Unknown()).is_unknown());
  EXPECT_TRUE(Min(n, Dim::Unknown()).is_unknown());
}

TEST(DimTest, SizeIsBounded) {
  Dim sum = 0;
  for (int i = 0; i < 16; ++i) sum = sum + Dim::Symbol("s" + std::to_string(i));
  EXPECT_FALSE(sum.is_unknown());
  EXPECT_TRUE((sum * sum).is_unknown());
  Dim power = Dim::Symbol("n");
  for (int i = 0; i < 20; ++i) power = power * power;
  EXPECT_TRUE(power.is_unknown());
  Dim nested = Dim::Symbol("n");
  int depth = 0;
  while (!nested.is_unknown() && depth < 1000) {
    nested = FloorDiv(nested + 1, Dim::Symbol("m"));
    ++depth;
  }
  EXPECT_EQ(depth, Dim::kMaxNesting + 1);
  Dim deepest = Dim::Symbol("n");
  for (int i = 0; i < Dim::kMaxNesting; ++i) deepest = FloorDiv(deepest * 2, Dim::Symbol("m")) * 3;
  EXPECT_EQ(Parsed(deepest.ToString()), deepest);
}

TEST(DimTest, EvaluateNamesWhatIsWrong) {
  const Dim n = Dim::Symbol("n");
  const Dim m = Dim::Symbol("m");
  EXPECT_EQ((n + 1).Evaluate({{"n", 4}}).value(), 5);
  EXPECT_EQ(FloorDiv(n, m).Evaluate({{"n", -7}, {"m", 2}}).value(), -4);
  EXPECT_EQ(Mod(n, m).Evaluate({{"n", 7}, {"m", -3}}).value(), -2);
  EXPECT_EQ(Mod(n, m).Evaluate({{"n", kMin}, {"m", -1}}).value(), 0);
  EXPECT_EQ(Max(Min(n, m), 3).Evaluate({{"n", 7}, {"m", 5}}).value(), 5);
  EXPECT_EQ((n + m).Evaluate({{"n", 1}}).status().message(), "dimension symbol m has no value");
  EXPECT_EQ(Dim::Unknown().Evaluate({}).status().message(), "an unknown dimension has no value");
  EXPECT_EQ(FloorDiv(n, m).Evaluate({{"n", 1}, {"m", 0}}).status().message(),
            "dimension n//m divides by 0");
  EXPECT_EQ((n * n).Evaluate({{"n", kMax}}).status().message(), "dimension n*n overflows 64 bits");
  EXPECT_EQ(FloorDiv(n, m).Evaluate({{"n", kMin}, {"m", -1}}).status().code(),
            absl::StatusCode::kOutOfRange);
}

TEST(DimTest, SubstituteSimplifies) {
  const Dim n = Dim::Symbol("n");
  const Dim m = Dim::Symbol("m");
  const Dim expression = FloorDiv(n * m + 4, m) + Min(n, 8);
  EXPECT_EQ(expression.Substitute({{"n", 3}, {"m", 2}}), Dim(8));
  EXPECT_EQ(expression.Substitute({{"m", 2}}), n + 2 + Min(n, 8));
  EXPECT_EQ((n - m).Substitute({{"n", m}}), Dim(0));
  EXPECT_EQ((n + m).Substitute({{"n", m}, {"m", n}}), n + m);
  EXPECT_TRUE(expression.Substitute({{"n", Dim::Unknown()}}).is_unknown());
  EXPECT_TRUE(expression.Substitute({{"m", 0}}).is_unknown());
}

TEST(DimTest, CollectSymbols) {
  std::set<std::string, std::less<>> symbols;
  Parsed("a+min(b,c//d)*2").CollectSymbols(&symbols);
  EXPECT_THAT(symbols, ElementsAre("a", "b", "c", "d"));
}

TEST(DimTest, SymbolNames) {
  EXPECT_TRUE(Dim::IsSymbolName("batch_size.1"));
  EXPECT_FALSE(Dim::IsSymbolName(""));
  EXPECT_FALSE(Dim::IsSymbolName("1n"));
  EXPECT_FALSE(Dim::IsSymbolName(".n"));
  EXPECT_FALSE(Dim::IsSymbolName("a b"));
  EXPECT_FALSE(Dim::IsSymbolName(std::string(65, 'n')));
}

// A random expression, and what plain arithmetic makes of it.
struct Sample {
  Dim dim;
  std::optional<int64_t> value;  // nothing after a division by 0
};

class SampleMaker {
 public:
  explicit SampleMaker(uint32_t seed) : random_(seed) {
    for (const char* name : {"a", "b", "c"}) bindings_[name] = Pick(-9, 9);
  }

  Sample Make(int depth) {
    if (depth == 0 || Pick(0, 5) == 0) {
      if (Pick(0, 1) == 0) {
        const int64_t number = Pick(-7, 7);
        return {Dim(number), number};
      }
      const std::string name(1, static_cast<char>('a' + Pick(0, 2)));
      return {Dim::Symbol(name), bindings_[name]};
    }
    const Sample a = Make(depth - 1);
    const Sample b = Make(depth - 1);
    return Combine(static_cast<int>(Pick(0, 6)), a, b);
  }

  const SymbolBindings& bindings() const { return bindings_; }

 private:
  int64_t Pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }

  static Sample Combine(int op, const Sample& a, const Sample& b) {
    const bool known = a.value.has_value() && b.value.has_value();
    const int64_t x = a.value.value_or(0);
    const int64_t y = b.value.value_or(0);
    const auto value = [&](int64_t v) { return known ? std::optional<int64_t>(v) : std::nullopt; };
    const bool by_zero = !known || y == 0;
    const int64_t floor = by_zero ? 0 : (x - ((x % y) + y) % y) / y;
    switch (op) {
      case 0:
        return {a.dim + b.dim, value(x + y)};
      case 1:
        return {a.dim - b.dim, value(x - y)};
      case 2:
        return {a.dim * b.dim, value(x * y)};
      case 3:
        return {FloorDiv(a.dim, b.dim), by_zero ? std::nullopt : value(floor)};
      case 4:
        return {Mod(a.dim, b.dim), by_zero ? std::nullopt : value(x - floor * y)};
      case 5:
        return {Min(a.dim, b.dim), value(std::min(x, y))};
      default:
        return {Max(a.dim, b.dim), value(std::max(x, y))};
    }
  }

  std::mt19937 random_;
  SymbolBindings bindings_;
};

TEST(DimTest, RandomExpressionsKeepTheirValue) {
  int compared = 0;
  for (uint32_t seed = 0; seed < 6000; ++seed) {
    SampleMaker maker(seed);
    const Sample sample = maker.Make(4);
    if (sample.dim.is_unknown()) continue;
    const std::string text = sample.dim.ToString();
    ASSERT_EQ(Parsed(text), sample.dim) << text;
    ASSERT_EQ(Parsed(text).ToString(), text);
    if (!sample.value) continue;
    const absl::StatusOr<int64_t> value = sample.dim.Evaluate(maker.bindings());
    ASSERT_TRUE(value.ok()) << text << ": " << value.status();
    ASSERT_EQ(*value, *sample.value) << text << " seed " << seed;
    std::map<std::string, Dim, std::less<>> numbers(maker.bindings().begin(),
                                                    maker.bindings().end());
    const Dim substituted = sample.dim.Substitute(numbers);
    ASSERT_TRUE(substituted == Dim(*sample.value)) << text << " became " << substituted.ToString();
    ++compared;
  }
  EXPECT_GT(compared, 2500);
}

}  // namespace
}  // namespace weir
