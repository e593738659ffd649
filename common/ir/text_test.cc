#include "common/ir/text.h"

#include <bit>
#include <complex>
#include <limits>

#include "common/ir/builder.h"
#include "common/ir/test_catalog.h"
#include "common/ir/verify.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

using ::testing::HasSubstr;

Graph MustParse(std::string_view text, const ParseOptions& options = {}) {
  absl::StatusOr<Graph> graph = Parse(text, TestCatalog(), options);
  EXPECT_TRUE(graph.ok()) << graph.status() << "\n" << text;
  if (!graph.ok()) return Graph();
  EXPECT_EQ(Verify(*graph, TestCatalog()), absl::OkStatus());
  return *std::move(graph);
}

// Returns: the text after one round, which further rounds must not change.
std::string RoundTrip(std::string_view text) {
  const std::string once = Print(MustParse(text));
  EXPECT_EQ(Print(MustParse(once)), once);
  return once;
}

// Wraps nodes into a function of one f32[n] argument and no result.
std::string InMain(std::string_view nodes) {
  return StrCat("func @main(%x: f32[n]) -> () {\n", nodes, "  return\n}\n");
}

void ExpectUnchanged(std::string_view text) { EXPECT_EQ(RoundTrip(text), text); }

TEST(TextTest, KeepsWholeProgram) {
  ExpectUnchanged(R"(func @main(%image: f32[n,8], %c: bool[]) -> (f32[n,8] "logits", f32[n,8]) {
  %w = constant {value = f32[2] {1, 2.5}} : f32[2]
  %a, %b = split(%image) name("conv1") loc("model.py":3:1) : f32[n,8], f32[n,8]
  sink(%a, %b)
  !0 = sink(%w)
  !1 = sink
  %0 = if(%c) {
    %s = add(%a, %b) : f32[n,8]
    yield %s
  } {
    yield %b
  } after(%a, !0, !1) name("branch") : f32[n,8]
  %1 = pfor {extent = (n)} (%i: i64[]) {
    %row = any : f32[]
    yield %row
  } : f32[n]
  %2 = loop(%0) (%carry: f32[n,8]) {
    %3 = neg(%carry) : f32[n,8]
    yield %3
  } : f32[n,8]
  return %0, %2
}
)");
}

TEST(TextTest, KeepsEveryAttribute) {
  for (std::string_view value : {"true",
                                 "false",
                                 "0",
                                 "-7",
                                 "9223372036854775807",
                                 "-9223372036854775808",
                                 "0.5",
                                 "1.0",
                                 "-0.0",
                                 "1e+30",
                                 "1e-300",
                                 "nan",
                                 "inf",
                                 "-inf",
                                 "bits(0x7ff8000000000001)",
                                 "bits(0xfff8000000000000)",
                                 "\"\"",
                                 "\"max\"",
                                 R"("a\"b\\c\n\t\x00\xff")",
                                 "[]",
                                 "[1]",
                                 "[1, -2, 3]",
                                 "strings []",
                                 "[\"\"]",
                                 "[\"a\", \"b,]\"]",
                                 "f32",
                                 "bool",
                                 "c128",
                                 "()",
                                 "(n)",
                                 "(3*n+1, 4, ?)",
                                 "(n//2, min(n,4), n%2)",
                                 "bool[2] {true, false}",
                                 "i8[2] {-128, 127}",
                                 "u8[1] {255}",
                                 "i64[] {-9223372036854775808}",
                                 "u64[] {18446744073709551615}",
                                 "f32[0] {}",
                                 "f32[2,0,3] {}",
                                 "f32[2,2] {1, 2, 3, 4}",
                                 "f32[5] {0.1, -0, inf, -inf, nan}",
                                 "f32[3] {1e-45, 3.4028235e+38, 16777216}",
                                 "f32[2] {bits(0x7fc00001), bits(0xffc00000)}",
                                 "f16[4] {0.1, 65504, 6e-08, nan}",
                                 "f16[1] {bits(0x7c01)}",
                                 "bf16[3] {0.1, 3.39e+38, bits(0xffff)}",
                                 "f64[2] {0.1, 5e-324}",
                                 "c64[2] {(1,-2.5), (nan,inf)}",
                                 "c128[] {(0.1,-0)}"}) {
    ExpectUnchanged(InMain(StrCat("  %0 = any {a.b = ", value, "} : f32[]\n")));
  }
}

TEST(TextTest, ReadsElementsBitForBit) {
  const Graph graph = MustParse(
      InMain("  %a = any {v = f32[4] {0.1, -0, bits(0x7fc00001), 1e-45}} : f32[]\n"
             "  %b = any {v = f64[] {-inf}, w = c64[] {(1,2)}, h = f16[] {1.5}} : f32[]\n"));
  const Tensor floats = graph.node(NodeId(0)).attr("v").AsTensor();
  const uint32_t bits[] = {0x3dcccccd, 0x80000000, 0x7fc00001, 1};
  for (int i = 0; i < 4; ++i) EXPECT_EQ(std::bit_cast<uint32_t>(floats.At<float>({i})), bits[i]);
  const Node& second = graph.node(NodeId(1));
  EXPECT_EQ(second.attr("v").AsTensor().At<double>({}), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(second.attr("w").AsTensor().At<std::complex<float>>({}), std::complex<float>(1, 2));
  EXPECT_EQ(second.attr("h").AsTensor().At<Half>({}).bits, 0x3e00);
}

TEST(TextTest, PrintsBigTensorsAsBase64OrBlob) {
  Tensor big(DType::kI32, {100});
  for (int i = 0; i < 100; ++i) big.mutable_data<int32_t>()[i] = i * i - 7;
  Graph graph;
  const RegionId body = graph.AddFunction("main").body;
  const TestCatalog catalog;
  Builder builder(&graph, body, &catalog);
  builder.Constant(big.Reverse({0}));
  ASSERT_EQ(builder.status(), absl::OkStatus());

  const std::string inline_text = Print(graph);
  EXPECT_THAT(inline_text, HasSubstr("i32[100] base64 \""));
  ExpectUnchanged(inline_text);
  const Graph read = MustParse(inline_text);
  EXPECT_TRUE(read.node(NodeId(0)).attr("value").AsTensor().BitEquals(big.Reverse({0})));

  const std::string blob_text = Print(graph, {.blob_name = [](const Tensor&) { return "w\"0"; }});
  EXPECT_THAT(blob_text, HasSubstr(R"(value = i32[100] blob "w\"0"})"));
  const Graph from_blob = MustParse(blob_text, {.find_blob = [&](std::string_view name) {
                                      EXPECT_EQ(name, "w\"0");
                                      return absl::StatusOr<Tensor>(big);
                                    }});
  EXPECT_TRUE(from_blob.node(NodeId(0)).attr("value").AsTensor().BitEquals(big));
}

TEST(TextTest, PrintTensorShowsEveryElement) {
  EXPECT_EQ(PrintTensor(Tensor::Of<float>({2}, {1, 0.5f})), "f32[2] {1, 0.5}");
  EXPECT_EQ(PrintTensor(Tensor::Of<int64_t>({2, 2}, {1, 2, 3, 4}).Transpose({1, 0})),
            "i64[2,2] {1, 3, 2, 4}");
  EXPECT_EQ(PrintTensor(Tensor::Scalar(true)), "bool[] {true}");
  EXPECT_THAT(PrintTensor(Tensor::Zeros(DType::kU8, {100})), HasSubstr("0, 0, 0}"));
}

TEST(TextTest, SortsNodesAndKeepsValidOrder) {
  EXPECT_EQ(RoundTrip(InMain(R"(
    %late = add(%b, %p0)
    %free = neg(%x)
    %p = pfor {extent = (2)} () {
      %q = add(%r, %b)
      %r = neg(%free2)
      yield %q
    }
    %p0 = neg(%x)
    !0 = sink after(%late)
    %b = source
    %free2 = neg(%x) after(!0)
  )")),
            InMain(R"(  %free = neg(%x) : f32[n]
  %p0 = neg(%x) : f32[n]
  %b = source : f32[n]
  %late = add(%b, %p0) : f32[n]
  !0 = sink after(%late)
  %free2 = neg(%x) after(!0) : f32[n]
  %p = pfor {extent = (2)} {
    %r = neg(%free2) : f32[n]
    %q = add(%r, %b) : f32[n]
    yield %q
  } : f32[2,n]
)"));
  ExpectUnchanged(InMain("  %b = neg(%x) : f32[n]\n  %a = neg(%x) : f32[n]\n"));
}

TEST(TextTest, InfersTypesThatAreLeftOut) {
  const std::string text = RoundTrip(R"(
// Nodes in any order; the callee comes later.
func @main(%x: f32[n], %c: bool[]) -> (f32[m,n]) {
  %p = pfor {extent = (m)} (%i: i64[]) { %t = add(%y, %z) yield %t }
  %y, %z = split(%w)
  %w = call(%x, %c) {callee = "f"}
  return %p
}
func @f(%x: f32[n], %c: bool[]) -> (f32[n]) {
  %r = if(%c) { %again = call(%x, %c) {callee = "f"} yield %again } { yield %x }
  return %r
}
)");
  EXPECT_EQ(text, R"(func @main(%x: f32[n], %c: bool[]) -> (f32[m,n]) {
  %w = call(%x, %c) {callee = "f"} : f32[n]
  %y, %z = split(%w) : f32[n], f32[n]
  %p = pfor {extent = (m)} (%i: i64[]) {
    %t = add(%y, %z) : f32[n]
    yield %t
  } : f32[m,n]
  return %p
}

func @f(%x: f32[n], %c: bool[]) -> (f32[n]) {
  %r = if(%c) {
    %again = call(%x, %c) {callee = "f"} : f32[n]
    yield %again
  } {
    yield %x
  } : f32[n]
  return %r
}
)");
}

TEST(TextTest, LeavesNoRestsOfInferenceBehind) {
  const Graph graph = MustParse("func @main() -> (f32[n]) { %a = source return %a }");
  EXPECT_EQ(graph.num_values(), 1);
  EXPECT_EQ(graph.num_regions(), 1);
}

TEST(TextTest, MakesNamesUnique) {
  Graph graph;
  const RegionId body = graph.AddFunction("my main").body;
  const TensorType f32 = {DType::kF32, Shape()};
  std::vector<ValueId> values = {graph.AddArg(body, f32, "in:0"), graph.AddArg(body, f32, "in:0"),
                                 graph.AddArg(body, f32, "7"), graph.AddArg(body, f32)};
  for (const char* name : {"a", "a", "a_1", "a", "conv/out", "7", "", "3d", "\xc3\xa4"}) {
    const NodeId node = graph.AddNode(body, "neg", {values.back()}, {}, {f32});
    values.push_back(graph.node(node).outputs[0]);
    graph.value(values.back()).name = name;
  }
  graph.region(body).results = {values.back()};
  graph.functions()[0].result_names = {"out \"1\""};
  const std::string text = Print(graph);
  EXPECT_EQ(text, R"(func @"my main"(%"in:0": f32[], %"in:0_1": f32[], %"7": f32[], %0: f32[]) -> )"
                  R"((f32[] "out \"1\"") {
  %a = neg(%0) : f32[]
  %a_1 = neg(%a) : f32[]
  %a_1_1 = neg(%a_1) : f32[]
  %a_2 = neg(%a_1_1) : f32[]
  %conv_out = neg(%a_2) : f32[]
  %1 = neg(%conv_out) : f32[]
  %2 = neg(%1) : f32[]
  %3d = neg(%2) : f32[]
  %__ = neg(%3d) : f32[]
  return %__
}
)");
  ExpectUnchanged(text);
  const Graph read = MustParse(text);
  EXPECT_EQ(read.value(read.region(body).args[0]).name, "in:0");
  EXPECT_EQ(read.value(read.region(body).args[2]).name, "7");
  EXPECT_EQ(read.value(read.region(body).args[3]).name, "");
  EXPECT_EQ(read.functions()[0].result_names[0], "out \"1\"");
}

TEST(TextTest, SiblingRegionsMayShareNames) {
  const std::string text = RoundTrip(R"(func @main(%x: f32[], %c: bool[]) -> (f32[]) {
  %r = if(%c) { %t = neg(%x) yield %t } { %t = floor(%x) yield %t }
  return %r
})");
  EXPECT_THAT(text, HasSubstr("%t = neg"));
  EXPECT_THAT(text, HasSubstr("%t_1 = floor"));
}

TEST(TextTest, LocatesNodesInTheText) {
  const std::string text =
      "func @main(%x: f32[]) -> () {\n  sink(%x)\n  sink(%x) "
      "loc(\"m.py\":7:8)\n  return }";
  const Graph named = MustParse(text, {.file = "a.weir"});
  EXPECT_EQ(named.node(NodeId(0)).location, (Location{"a.weir", 2, 3}));
  EXPECT_EQ(named.node(NodeId(1)).location, (Location{"m.py", 7, 8}));
  const std::string printed = Print(named);
  EXPECT_THAT(printed, HasSubstr("sink(%x) loc(\"a.weir\":2:3)\n"));
  ExpectUnchanged(printed);

  const Graph anonymous = MustParse(text);
  EXPECT_EQ(anonymous.node(NodeId(0)).location, (Location{"<text>", 2, 3}));
  EXPECT_THAT(Print(anonymous), HasSubstr("sink(%x)\n"));
}

TEST(TextTest, AcceptsLooseLayout) {
  EXPECT_EQ(RoundTrip("func@main(%x:f32[ n , 2 ])->(){!a=sink(){}%y=neg(%x)loc(\"f\":1:2)"
                      "name(\"q\")after(!a)// comment\n sink(%y)return}"),
            R"(func @main(%x: f32[n,2]) -> () {
  !0 = sink
  %y = neg(%x) after(!0) name("q") loc("f":1:2) : f32[n,2]
  sink(%y)
  return
}
)");
}

}  // namespace
}  // namespace weir
