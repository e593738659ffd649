#include <string>
#include <string_view>

#include "common/ir/test_catalog.h"
#include "common/ir/text.h"
#include "common/ir/text_mutation_testing.h"
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

TEST(TextMutationTest, GivesAnErrorOrASoundProgram) {
  const TestCatalog catalog;
  TextMutator mutator(11, kFragments);
  int parsed = 0;
  constexpr int kRounds = 10'000;
  for (int round = 0; round < kRounds; ++round) {
    const std::string text = mutator.Mutate(kPrograms);
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
