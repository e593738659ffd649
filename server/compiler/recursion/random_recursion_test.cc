// Random recursive programs: functions that call each other at random places of branches and loops,
// lowered and vectorized, against the interpreter.
#include <random>

#include "common/base/str_cat.h"
#include "common/interp/test_run.h"
#include "common/ir/verify.h"
#include "gtest/gtest.h"
#include "server/compiler/map.h"
#include "server/compiler/pipeline.h"

namespace weir {
namespace {

// Every function is (%d: i64[], %x: i64[], %v: i64[2]) -> (i64[], i64[2]). A call hands on d - 1,
// and a function whose d is 0 calls nothing.
class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  std::string Program() {
    functions_ = 1 + Below(3);
    std::string out = R"(
  func @main(%d: i64[], %x: i64[]) -> (i64[], i64[2], i64[]) {
    %v = constant {value = i64[2] {1, 2}}
    %a, %b = call(%d, %x, %v) {callee = "f0"} : i64[], i64[2]
    %c, %e = call(%d, %a, %b) {callee = "f0"} : i64[], i64[2]
    return %a, %e, %c
  })";
    for (int f = 0; f < functions_; ++f) StrAppend(&out, Function(f));
    return out;
  }

 private:
  // What may be used at a place.
  struct Pool {
    std::vector<std::string> scalars;
    std::vector<std::string> vectors;
  };
  using Names = std::pair<std::string, std::string>;

  int Below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
  std::string New() { return StrCat("%t", count_++); }
  const std::string& Any(const std::vector<std::string>& names) {
    return names[static_cast<size_t>(Below(static_cast<int>(names.size())))];
  }
  void Line(const std::string& text) { StrAppend(&text_, "    ", text, "\n"); }

  std::string Function(int number) {
    text_.clear();
    count_ = 0;
    Line("%zero = constant {value = i64[] {0}}");
    Line("%one = constant {value = i64[] {1}}");
    Line("%three = constant {value = i64[] {3}}");
    Line("%e = subtract(%d, %one)");
    Line("%end = less_equal(%d, %zero)");
    Pool pool{{"%x", "%one", "%d"}, {"%v"}};
    if (Below(2) == 0) Plain(&pool);
    Line("%r, %s = if(%end) {");
    Line(StrCat("yield ", Any(pool.scalars), ", ", Any(pool.vectors)));
    Line("} {");
    calls_left_ = 4;
    const Names results = Body(pool, 0);
    Line(StrCat("yield ", results.first, ", ", results.second));
    Line("} : i64[], i64[2]");
    Pool behind{{"%x", "%r"}, {"%v", "%s"}};
    if (Below(2) == 0) Plain(&behind);
    return StrCat("\n  func @f", number,
                  "(%d: i64[], %x: i64[], %v: i64[2]) -> (i64[], i64[2]) {\n", text_, "    return ",
                  behind.scalars.back(), ", ", behind.vectors.back(), "\n  }\n");
  }

  // Some statements. Returns: two of the values that are there then.
  Names Body(Pool pool, int depth) {
    const int statements = 1 + Below(3);
    for (int i = 0; i < statements; ++i) Statement(&pool, depth);
    if (Below(3) == 0) return {pool.scalars.back(), pool.vectors.back()};
    return {Any(pool.scalars), Any(pool.vectors)};
  }

  void Statement(Pool* pool, int depth) {
    const int kind = Below(depth < 3 ? 7 : 3);
    if (kind == 0) return Plain(pool);
    if (kind < 3) return Call(pool);
    if (kind < 5) return Branch(pool, depth);
    kind == 5 ? For(pool, depth) : While(pool, depth);
  }

  void Plain(Pool* pool) {
    static constexpr const char* kOps[] = {"add", "subtract", "multiply", "minimum", "xor"};
    const std::string a = New(), b = New(), c = New();
    Line(StrCat(a, " = ", kOps[Below(5)], "(", Any(pool->scalars), ", ", Any(pool->scalars), ")"));
    Line(StrCat(b, " = broadcast_in_dim(", a, ") {shape = (2), axes = []}"));
    Line(StrCat(c, " = ", kOps[Below(5)], "(", b, ", ", Any(pool->vectors), ")"));
    pool->scalars.push_back(a);
    pool->vectors.push_back(c);
  }

  void Call(Pool* pool) {
    if (calls_left_-- <= 0) return Plain(pool);
    const std::string a = New(), b = New();
    // A parameter that is handed on as it is now and then.
    const std::string vector = Below(3) == 0 ? "%v" : Any(pool->vectors);
    Line(StrCat(a, ", ", b, " = call(%e, ", Any(pool->scalars), ", ", vector, ") {callee = \"f",
                Below(functions_), "\"} : i64[], i64[2]"));
    pool->scalars.push_back(a);
    pool->vectors.push_back(b);
  }

  void Ways(const Pool& pool, int depth, int count) {
    for (int i = 0; i < count; ++i) {
      const Names results = Body(pool, depth + 1);
      Line(StrCat("yield ", results.first, ", ", results.second));
      Line(i + 1 < count ? "} {" : "} : i64[], i64[2]");
    }
  }

  void Branch(Pool* pool, int depth) {
    const std::string choice = New(), a = New(), b = New();
    const int ways = 2 + Below(2);
    if (ways == 2) {
      Line(StrCat(choice, " = less(", Any(pool->scalars), ", ", Any(pool->scalars), ")"));
      Line(StrCat(a, ", ", b, " = if(", choice, ") {"));
    } else {
      Line(StrCat(choice, " = remainder(", Any(pool->scalars), ", %three)"));
      Line(StrCat(a, ", ", b, " = case(", choice, ") {"));
    }
    Ways(*pool, depth, ways);
    pool->scalars.push_back(a);
    pool->vectors.push_back(b);
  }

  void For(Pool* pool, int depth) {
    const std::string trips = New(), a = New(), b = New(), all = New();
    const std::string i = New(), p = New(), q = New(), row = New(), some = New();
    Line(StrCat(trips, " = minimum(%d, %one)"));
    const bool collects = Below(2) == 0;
    Line(collects
             ? StrCat(a, ", ", b, ", ", all, " = for(%three, ", Any(pool->scalars), ", ",
                      Any(pool->vectors), ") {extent = (3)} (", i, ": i64[], ", p, ": i64[], ", q,
                      ": i64[2]) {")
             : StrCat(a, ", ", b, " = for(", trips, ", ", Any(pool->scalars), ", ",
                      Any(pool->vectors), ") (", i, ": i64[], ", p, ": i64[], ", q, ": i64[2]) {"));
    Pool inner = *pool;
    inner.scalars.insert(inner.scalars.end(), {i, p});
    inner.vectors.push_back(q);
    const Names results = Body(inner, depth + 1);
    Line(StrCat("yield ", results.first, ", ", results.second,
                collects ? ", " + results.first : ""));
    Line(StrCat("} : i64[], i64[2]", collects ? ", i64[3]" : ""));
    pool->scalars.push_back(a);
    pool->vectors.push_back(b);
    if (!collects) return;
    Line(StrCat(some, " = slice(", all, ") {start = (1), limit = (3), stride = [1]}"));
    pool->vectors.push_back(some);
  }

  // At most two trips; the condition calls now and then.
  void While(Pool* pool, int depth) {
    const std::string n = New(), a = New(), b = New();
    const std::string i = New(), p = New(), q = New(), holds = New(), j = New(), r = New(),
                      s = New(), next = New();
    Line(StrCat(n, ", ", a, ", ", b, " = while(%zero, ", Any(pool->scalars), ", ",
                Any(pool->vectors), ") (", i, ": i64[], ", p, ": i64[], ", q, ": i64[2]) {"));
    Pool tested = *pool;
    tested.scalars.insert(tested.scalars.end(), {i, p});
    tested.vectors.push_back(q);
    std::string limit = "%three";
    if (Below(2) == 0) {
      Call(&tested);
      limit = New();
      const std::string least = New();
      Line(StrCat(least, " = minimum(", tested.scalars.back(), ", %three)"));
      Line(StrCat(limit, " = subtract(", least, ", %one)"));
    }
    Line(StrCat(holds, " = less(", i, ", ", limit, ")"));
    Line(StrCat("yield ", holds));
    Line(StrCat("} (", j, ": i64[], ", r, ": i64[], ", s, ": i64[2]) {"));
    Pool inner = *pool;
    inner.scalars.insert(inner.scalars.end(), {j, r});
    inner.vectors.push_back(s);
    const Names results = Body(inner, depth + 1);
    Line(StrCat(next, " = add(", j, ", %one)"));
    Line(StrCat("yield ", next, ", ", results.first, ", ", results.second));
    Line("} : i64[], i64[], i64[2]");
    pool->scalars.push_back(a);
    pool->vectors.push_back(b);
  }

  std::mt19937_64 random_;
  int functions_ = 1;
  int count_ = 0;
  int calls_left_ = 0;
  std::string text_;
};

Tensor Numbers(const std::vector<int64_t>& values) {
  return Tensor::FromSpan<int64_t>({static_cast<int64_t>(values.size())}, values);
}

void Check(uint64_t seed) {
  const std::string text = Generator(seed).Program();
  const std::string where = StrCat("seed ", seed, text);
  absl::StatusOr<Graph> parsed = Parse(text, Ops());
  ASSERT_TRUE(parsed.ok()) << where << parsed.status();
  absl::StatusOr<Graph> mapped = MapOver(*std::move(parsed), {"d", "x"});
  ASSERT_TRUE(mapped.ok()) << where << mapped.status();
  const std::vector<Tensor> inputs = {Numbers({0, 2, 1, 3, 2}), Numbers({3, -1, 0, 2, 7})};
  const auto want = Interpret(*mapped, inputs, {.max_steps = 300'000});
  if (want.status().code() == absl::StatusCode::kResourceExhausted) return;  // too long
  ASSERT_TRUE(want.ok()) << where << want.status();
  absl::StatusOr<Compiled> compiled =
      Compile(*mapped, {.strict = true}, [&](const Pass& pass, const Graph& graph) {
        if (pass.name != "recursion" && pass.name != "cse") return;
        const absl::Status verified = Verify(graph, Ops());
        ASSERT_TRUE(verified.ok()) << pass.name << ": " << verified << where << Print(graph);
        const auto got = Interpret(graph, inputs);
        ASSERT_TRUE(got.ok()) << pass.name << ": " << got.status() << where;
        EXPECT_EQ(Texts(*got), Texts(*want)) << pass.name << where << Print(graph);
      });
  // Loops that collect for a number of trips of their own have no rule; theirs is the same here.
  ASSERT_TRUE(compiled.ok()) << compiled.status() << where;
  const auto got = Interpret(compiled->graph, inputs);
  ASSERT_TRUE(got.ok()) << got.status() << where;
  EXPECT_EQ(Texts(*got), Texts(*want)) << where;
}

TEST(RandomRecursionTest, LoopsAgreeWithTheFunctions) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Check(seed);
    if (HasFatalFailure() || HasFailure()) return;
  }
}

}  // namespace
}  // namespace weir
