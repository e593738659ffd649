#include <random>

#include "common/ir/test_catalog.h"
#include "common/ir/text.h"
#include "common/ir/verify.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

constexpr std::string_view kPrograms[] = {
    R"(func @main(%"in:0": f32[n,8], %c: bool[]) -> (f32[n,8] "logits", f32[n,8]) {
  %w = constant {value = f32[2] {1, bits(0x7fc00001)}} : f32[2]
  %a, %b = split(%"in:0") name("conv1") loc("model.py":3:1) : f32[n,8], f32[n,8]
  !0 = sink(%a, %b)
  %0 = if(%c) {
    %s = add(%a, %b) : f32[n,8]
    yield %s
  } {
    yield %b
  } after(%a, !0) name("branch") : f32[n,8]
  %p = pfor {extent = (n//2, min(n,4)+3*m)} (%i: i64[]) {
    %row = any {x = [1, 2], y = ["a", "\x00"], z = f16, t = c64[1] {(1,-inf)}} : f32[]
    yield %row
  } : f32[n//2,min(n,4)+3*m]
  return %0, %0
}
)",
    R"(func @main(%x: f32[n]) -> (f32[n]) { // comment
  %z = call(%y) {callee = "f"}
  %y = neg(%x)
  %k = any {a = strings [], b = -0.5, c = 1e-3, d = bool[3] base64 "AAEB", e = true, f = i8[] {-3}}
  return %z
}
func @f(%x: f32[n]) -> (f32[n]) {
  %r = loop(%x) (%q: f32[n]) { %r2 = call(%q) {callee = "f"} yield %r2 }
  return %r
}
)"};

constexpr std::string_view kFragments[] = {"%x",     "%",
                                           "!0",     "(",
                                           ")",      "{",
                                           "}",      "[",
                                           "]",      ",",
                                           "=",      ":",
                                           "->",     "\"",
                                           "\\",     "//",
                                           "\n",     "-",
                                           "1e9",    "9999999999",
                                           "?",      "@f",
                                           "if",     "add",
                                           "neg",    "yield",
                                           "func",   "return",
                                           "after(", "loc(",
                                           "name(",  "()",
                                           "{}",     "f32",
                                           "f32[",   "bits(0x",
                                           "base64", "blob",
                                           "nan",    "inf",
                                           "%\"",    std::string_view("\0", 1),
                                           "\xff",   "f32[1000000000,1000000000]",
                                           "min(",   "*",
                                           "+"};

class Mutator {
 public:
  explicit Mutator(uint32_t seed) : random_(seed) {}

  std::string Mutate(std::string text) {
    for (size_t changes = 1 + Pick(4); changes > 0; --changes) Change(&text);
    return text;
  }

  size_t Pick(size_t limit) { return random_() % limit; }

 private:
  void Change(std::string* text) {
    const size_t at = Pick(text->size() + 1);
    const size_t length = Pick(Pick(8) == 0 ? 200 : 8);
    switch (Pick(6)) {
      case 0:
        text->erase(at, length);
        break;
      case 1:
        text->insert(at, kFragments[Pick(std::size(kFragments))]);
        break;
      case 2:
        text->insert(at, text->substr(Pick(text->size() + 1), length));
        break;
      case 3:
        if (at < text->size()) (*text)[at] = static_cast<char>(random_());
        break;
      case 4:
        text->replace(at, std::min(length, text->size() - at),
                      kFragments[Pick(std::size(kFragments))]);
        break;
      default:
        if (Pick(4) == 0) text->resize(at);
    }
  }

  std::mt19937 random_;
};

TEST(TextMutationTest, GivesAnErrorOrASoundProgram) {
  const TestCatalog catalog;
  Mutator mutator(11);
  int parsed = 0;
  constexpr int kRounds = 10'000;
  for (int round = 0; round < kRounds; ++round) {
    const std::string text =
        mutator.Mutate(std::string(kPrograms[mutator.Pick(std::size(kPrograms))]));
    const absl::StatusOr<Graph> graph = Parse(text, catalog);
    if (!graph.ok()) {
      ASSERT_EQ(graph.status().code(), absl::StatusCode::kInvalidArgument) << text;
      ASSERT_EQ(graph.status().message().substr(0, 7), "<text>:") << graph.status();
      ASSERT_EQ(graph.status().message().find('\n'), absl::string_view::npos) << graph.status();
      continue;
    }
    ++parsed;
    ASSERT_EQ(Verify(*graph, catalog), absl::OkStatus()) << text;
    const std::string printed = Print(*graph);
    const absl::StatusOr<Graph> again = Parse(printed, catalog);
    ASSERT_TRUE(again.ok()) << again.status() << "\n" << printed;
    ASSERT_EQ(Print(*again), printed) << text;
  }
  EXPECT_GT(parsed, kRounds / 20);
  EXPECT_LT(parsed, kRounds);
}

}  // namespace
}  // namespace weir
