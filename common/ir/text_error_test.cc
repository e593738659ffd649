#include "common/ir/test_catalog.h"
#include "common/ir/text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

using ::testing::HasSubstr;

std::string ErrorOf(std::string_view text, ParseOptions options = {}) {
  if (options.file == kAnonymousFile) options.file = "t";
  const absl::StatusOr<Graph> graph = Parse(text, TestCatalog(), options);
  if (graph.ok()) return "no error";
  EXPECT_EQ(graph.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(graph.status().message().find('\n'), absl::string_view::npos);
  return std::string(graph.status().message());
}

// The nodes begin at line 2, column 1.
std::string NodeError(std::string_view nodes) {
  return ErrorOf(StrCat("func @main(%x: f32[n], %c: bool[]) -> () {\n", nodes, "\nreturn }"));
}

std::string AttrError(std::string_view value) {
  return NodeError(StrCat("%q = any {v = ", value, "}"));
}

TEST(TextErrorTest, Names) {
  EXPECT_EQ(NodeError("%y = neg(%z)"), "t:2:10: %z is not defined");
  EXPECT_EQ(NodeError("%y = neg(%7)"), "t:2:10: %7 is not defined");
  EXPECT_EQ(NodeError("%y = neg(%x)\n\n  %y = neg(%x)"),
            "t:4:3: value %y is defined twice (first at 2:1)");
  EXPECT_EQ(NodeError("%x = neg(%c)"), "t:2:1: value %x is defined twice (first at 1:12)");
  EXPECT_EQ(NodeError("%y, %y = split(%x)"), "t:2:5: value %y is defined twice (first at 2:1)");
  EXPECT_EQ(NodeError("!0 = sink !0 = sink"), "t:2:11: label !0 is defined twice (first at 2:1)");
  EXPECT_EQ(NodeError("%p = pfor {extent = (n)} (%i: i64[]) { %x = source yield %x }"),
            "t:2:40: value %x is defined twice (first at 1:12)");
  EXPECT_EQ(NodeError("%p = pfor {extent = (n)} { %t = source yield %t }\nsink(%t)"),
            "t:3:6: %t is not defined");
  EXPECT_EQ(NodeError("sink(!0) !0 = sink"),
            "t:2:6: !0 is a label, which stands only in after(...)");
  EXPECT_EQ(NodeError("sink after(%x)"), "t:2:12: after(%x) names no node of the same region");
  EXPECT_EQ(NodeError("%y = neg(%x) %p = if(%c) { sink after(%y) yield } { yield }"),
            "t:2:39: after(%y) names no node of the same region");
  EXPECT_EQ(ErrorOf("func @f() -> () { return }\nfunc @f() -> () { return }"),
            "t:2:6: function @f is defined twice (first at 1:6)");
}

TEST(TextErrorTest, Cycles) {
  EXPECT_EQ(NodeError("%a = neg(%b)\n%b = neg(%a)"),
            "t:2:1: cycle: %a (line 2) -> %b (line 3) -> %a");
  EXPECT_EQ(NodeError("%a = neg(%a)"), "t:2:1: cycle: %a (line 2) -> %a");
  EXPECT_EQ(NodeError("%s = neg(%x)\n%a = neg(%c2)\n%b = neg(%a)\n%c2 = add(%b, %s)"),
            "t:3:1: cycle: %a (line 3) -> %b (line 4) -> %c2 (line 5) -> %a");
  EXPECT_EQ(NodeError("!0 = sink after(%a)\n%a = source after(!0)"),
            "t:2:1: cycle: !0 (line 2) -> %a (line 3) -> !0");
  EXPECT_EQ(NodeError("%p = if(%c) { %t = neg(%p) yield %t } { yield %x }"),
            "t:2:1: cycle: %p (line 2) -> %p");
  EXPECT_EQ(NodeError("%p = if(%c) { yield %y } { yield %x }\n%y = neg(%p)"),
            "t:2:1: cycle: %p (line 2) -> %y (line 3) -> %p");
  std::string ring;
  for (int i = 0; i < 100; ++i) StrAppend(&ring, "%v", i, " = neg(%v", (i + 99) % 100, ")\n");
  EXPECT_THAT(NodeError(ring), HasSubstr("%v15 (line 17) -> ... 84 more ... -> %v0"));
}

TEST(TextErrorTest, Ops) {
  EXPECT_EQ(NodeError("%a = foo(%x)"), "t:2:6: unknown op 'foo'; did you mean 'floor'?");
  EXPECT_EQ(NodeError("%a = convolution(%x)"), "t:2:6: unknown op 'convolution'");
  EXPECT_EQ(NodeError("%a = add(%x, %c)"),
            "t:2:1: add: inputs differ in type (inputs f32[n], bool[])");
  EXPECT_EQ(NodeError("%a = add(%x, %c) name(\"s\") loc(\"m.py\":1:2) : f32[n]"),
            "t:2:1: add \"s\" (m.py:1:2): inputs differ in type (inputs f32[n], bool[])");
  EXPECT_EQ(NodeError("%a = neg(%x) : f32[m]"),
            "t:2:1: neg: output 0 has type f32[m] where the op gives f32[n] (inputs f32[n])");
  EXPECT_EQ(NodeError("%a = split(%x)"), "t:2:1: split: it has 1 outputs where the op gives 2");
  EXPECT_EQ(NodeError("neg(%x)"),
            "t:2:1: neg: it has 0 outputs where the op gives 1 (inputs f32[n])");
  EXPECT_EQ(NodeError("%a = neg(%x) : f32[n], f32[n]"), "t:2:14: neg has 1 outputs but 2 types");
  EXPECT_EQ(NodeError("%a = call(%x) {callee = \"f\"} : f32[n]"),
            "t:2:1: call: no function @f (inputs f32[n])");
}

TEST(TextErrorTest, Results) {
  EXPECT_EQ(ErrorOf("func @f(%x: f32[]) -> (f32[2]) { return %x }"),
            "t:1:41: function @f returns f32[] as result 0 but declares f32[2]");
  EXPECT_EQ(ErrorOf("func @f(%x: f32[]) -> () {\nreturn %x, %x }"),
            "t:2:1: function @f returns 2 values but declares 0");
}

TEST(TextErrorTest, Syntax) {
  EXPECT_EQ(ErrorOf(""), "t:1:1: expected 'func', found the end of the text");
  EXPECT_EQ(ErrorOf("// only a comment"), "t:1:18: expected 'func', found the end of the text");
  EXPECT_EQ(ErrorOf("graph"), "t:1:1: expected 'func', found 'graph'");
  EXPECT_EQ(ErrorOf("func @() -> () { return }"), "t:1:6: expected a name after '@'");
  EXPECT_EQ(ErrorOf("func @\"\"() -> () { return }"), "t:1:6: a function needs a name");
  EXPECT_EQ(ErrorOf("func main() -> () { return }"),
            "t:1:6: expected a function @name, found 'main'");
  EXPECT_EQ(ErrorOf("func @f() -> () { }"), "t:1:19: expected a node or 'return', found '}'");
  EXPECT_EQ(ErrorOf("func @f() -> () { yield }"),
            "t:1:19: expected a node or 'return', found 'yield'");
  EXPECT_EQ(ErrorOf("func @f() -> () { return } x"), "t:1:28: expected 'func', found 'x'");
  EXPECT_EQ(NodeError("%a = neg(%x) after(%x) after(%x)"),
            "t:2:24: expected each clause at most once, found 'after'");
  EXPECT_EQ(NodeError("%a = neg %x"), "t:3:1: expected '=', found 'return'");
  EXPECT_EQ(NodeError("%a = neg(x)"), "t:2:10: expected a value %name, found 'x'");
  EXPECT_EQ(NodeError("$"), "t:2:1: unexpected character \"$\"");
  EXPECT_EQ(NodeError("sink loc(\"f\":x:1)"), "t:2:14: expected an integer, found 'x'");
  EXPECT_EQ(NodeError("sink name(\"f\n\")"), "t:2:11: a string does not end on its line");
  EXPECT_EQ(NodeError("sink name(\"\\q\")"),
            "t:2:11: unknown escape in a string; known are \\\" \\\\ \\n \\t \\xHH");
  EXPECT_THAT(NodeError(std::string(1000, 'y')), HasSubstr("unknown op 'yyy"));
  EXPECT_EQ(
      ErrorOf(StrCat("func @f(%x: ", std::string(100, 'z'))),
      StrCat("t:1:13: expected a type such as f32[n,8], found '", std::string(40, 'z'), "...'"));
}

TEST(TextErrorTest, Types) {
  EXPECT_THAT(ErrorOf("func @f(%x: f32[n) -> () { return }"),
              HasSubstr("t:1:18: expected ']', found ')'"));
  EXPECT_THAT(ErrorOf("func @f(%x: f32[n,"), HasSubstr("expected ']' before the end of the line"));
  EXPECT_THAT(ErrorOf("func @f(%x: f32[-1]) -> () { return }"), HasSubstr("t:1:13: "));
  EXPECT_THAT(ErrorOf("func @f(%x: f32[4611686018427387904,4611686018427387904]) -> () {return}"),
              HasSubstr("more than 2^62 bytes"));
  EXPECT_THAT(ErrorOf("func @f(%x: f32[n n]) -> () { return }"), HasSubstr("dimension 'n n'"));
  EXPECT_THAT(ErrorOf(StrCat("func @f(%x: f32[", std::string(100'000, '('))),
              HasSubstr("brackets are nested too deeply"));
}

TEST(TextErrorTest, Attributes) {
  EXPECT_EQ(NodeError("%q = any {v = 1, v = 2}"), "t:2:18: the attribute is given twice");
  EXPECT_EQ(NodeError("%q = any {v = 1 w = 2}"), "t:2:17: expected '}', found 'w'");
  EXPECT_EQ(AttrError("blue"), "t:2:15: expected an attribute value, found 'blue'");
  EXPECT_THAT(AttrError("99999999999999999999"), HasSubstr("is no i64 or out of its range"));
  EXPECT_THAT(AttrError("1e999"), HasSubstr("is no f64 or out of its range"));
  EXPECT_THAT(AttrError("1x"), HasSubstr("'1x' is no i64"));
  EXPECT_THAT(AttrError("[1, \"a\"]"), HasSubstr("expected an integer"));
  EXPECT_THAT(AttrError("[\"a\", 1]"), HasSubstr("expected a string, found '1'"));
  EXPECT_THAT(AttrError("(n,)"), HasSubstr("t:2:15: dimension ''"));
  EXPECT_THAT(AttrError("bits(0x7ff80000000000000)"), HasSubstr("at most 16 hexadecimal digits"));
}

TEST(TextErrorTest, Tensors) {
  EXPECT_EQ(AttrError("f32[2] {1}"), "t:2:15: a tensor of type f32[2] has 2 elements, found 1");
  EXPECT_EQ(AttrError("f32[2] {1, 2, 3}"),
            "t:2:15: a tensor of type f32[2] has 2 elements, found more");
  EXPECT_EQ(AttrError("f32[1000000000000] {1}"),
            "t:2:15: a tensor of type f32[1000000000000] has 1000000000000 elements, found 1");
  EXPECT_EQ(AttrError("f32[n] {1}"), "t:2:15: a tensor has numbers as extents, found f32[n]");
  EXPECT_EQ(AttrError("f32[1] [1]"), "t:2:22: expected '{', base64 or blob, found '['");
  EXPECT_EQ(AttrError("i8[] {128}"), "t:2:21: '128' is no i8 or out of its range");
  EXPECT_EQ(AttrError("u8[] {-1}"), "t:2:21: '-1' is no u8 or out of its range");
  EXPECT_EQ(AttrError("f16[] {70000}"), "t:2:22: '70000' is no f16 or out of its range");
  EXPECT_EQ(AttrError("bool[] {1}"), "t:2:23: expected true or false, found '1'");
  EXPECT_EQ(AttrError("i32[] {1.5}"), "t:2:22: '1.5' is no i32 or out of its range");
  EXPECT_EQ(AttrError("f32[2] base64 \"AAAA\""),
            "t:2:15: a tensor of type f32[2] has 2 elements, found 3 bytes of base64");
  EXPECT_EQ(AttrError("f32[2] base64 \"!\""), "t:2:15: the string behind base64 is no base64");
  EXPECT_EQ(AttrError("bool[3] base64 \"AAEC\""),
            "t:2:15: a byte of a bool tensor is neither 0 nor 1");
  EXPECT_EQ(AttrError("f32[2] blob \"w\""), "t:2:15: blob \"w\" is not part of this text");
}

TEST(TextErrorTest, Blobs) {
  const std::string text =
      "func @f() -> () { %w = constant {value = f32[2] blob \"w\"} : f32[2] return }";
  ParseOptions options;
  options.find_blob = [](std::string_view) { return absl::NotFoundError("no such file"); };
  EXPECT_EQ(ErrorOf(text, options), "t:1:42: blob \"w\": no such file");
  options.find_blob = [](std::string_view) { return Tensor::Scalar<float>(1); };
  EXPECT_EQ(ErrorOf(text, options), "t:1:42: blob \"w\" is a f32[], not a f32[2]");
}

TEST(TextErrorTest, Limits) {
  std::string nested = "func @f(%c: bool[]) -> () {";
  for (int i = 0; i < 100'000; ++i) nested += "if(%c) { ";
  EXPECT_THAT(ErrorOf(nested), HasSubstr("regions are nested deeper than 64"));
  ParseOptions options;
  options.max_nodes = 2;
  EXPECT_EQ(ErrorOf("func @f() -> () { sink sink\nsink return }", options),
            "t:2:1: the program has more than 2 nodes");
}

}  // namespace
}  // namespace weir
