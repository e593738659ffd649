#include "common/flow/flow_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace weir {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kWordCount = R"(// Counts words.
func @pair(%word: i64[]) -> (i64[], i64[]) {
  %one = constant {value = i64[] {1}}
  return %word, %one
}
flow @word_count {
  %out = output(%counts)
  %words = input() {types = ["i64[]"]}
  %pairs = map(%words) {function = "pair"}
  %counts = reduce_by_key(%pairs) {keys = 1, combine = "sum"} loc("count.py":3:1)
}
)";

constexpr std::string_view kLoops = R"(
flow @"all loops" {
  %"the input" = input() {types = ["i64[]", "f32[3]"]}
  loop @outer
  loop @"in ner" in @outer
  %a = enter(%"the input") {loop = "outer"}
  %b = enter(%7) {loop = "in ner", trip = 2}
  %7 = concat(%a, %next)
  %odd, %even = switch(%b) {function = "first"}
  %c = leave(%odd)
  %next = feedback(%c) {bound = 3}
  %d = leave(%c)
  %e = leave(%even)
  %f = leave(%e)
  %all = concat(%d, %f, %f)
  %o = output(%all)
  %p = probe(%all)
}
// A function may stand behind the flow.
func @first(%x: i64[], %y: f32[3]) -> (bool[]) {
  %z = constant {value = i64[] {0}}
  %is = less(%x, %z)
  return %is
}
)";

Flow Parsed(std::string_view text) {
  auto flow = ParseFlow(text);
  EXPECT_TRUE(flow.ok()) << flow.status();
  return flow.ok() ? *std::move(flow) : Flow();
}

std::string ErrorOf(std::string_view text, const FlowParseOptions& options = {}) {
  const auto flow = ParseFlow(text, options);
  EXPECT_FALSE(flow.ok());
  if (flow.ok()) return "";
  EXPECT_EQ(flow.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(flow.status().message());
}

TEST(FlowText, VerticesStandInAnyOrder) {
  const Flow flow = Parsed(kWordCount);
  EXPECT_EQ(flow.name, "word_count");
  ASSERT_EQ(flow.vertices.size(), 4u);
  EXPECT_EQ(flow.vertices[0].name, "out");
  EXPECT_EQ(flow.vertices[0].inputs[0].vertex, VertexId(3));
  EXPECT_EQ(flow.vertices[3].attr("combine").AsString(), "sum");
  EXPECT_EQ(ToString(flow.vertices[3].output_types[0]), "(i64[], i64[])");
  EXPECT_NE(flow.functions->FindFunction("pair"), nullptr);
}

TEST(FlowText, LoopsScopesAndSeveralOutputs) {
  const Flow flow = Parsed(kLoops);
  ASSERT_EQ(flow.loops.size(), 2u);
  EXPECT_EQ(flow.loops[1].name, "in ner");
  EXPECT_EQ(flow.loops[1].parent, ScopeId(1));
  const FlowVertex& leave = flow.vertex(flow.FindVertex("e"));
  EXPECT_EQ(leave.inputs[0], (FlowPort{flow.FindVertex("odd"), 1}));
  EXPECT_EQ(leave.scope, ScopeId(2));
  EXPECT_EQ(flow.vertex(flow.FindVertex("odd")).other_outputs, std::vector<std::string>{"even"});
}

TEST(FlowText, PrintParsePrintIsAFixedPoint) {
  for (const std::string_view text : {kWordCount, kLoops}) {
    const Flow flow = Parsed(text);
    const std::string printed = PrintFlow(flow);
    const Flow again = Parsed(printed);
    EXPECT_EQ(PrintFlow(again), printed);
    ASSERT_EQ(again.vertices.size(), flow.vertices.size());
    for (size_t i = 0; i < flow.vertices.size(); ++i) {
      EXPECT_EQ(again.vertices[i].name, flow.vertices[i].name);
      EXPECT_EQ(again.vertices[i].inputs, flow.vertices[i].inputs);
      EXPECT_EQ(again.vertices[i].attrs, flow.vertices[i].attrs);
      EXPECT_EQ(again.vertices[i].scope, flow.vertices[i].scope);
    }
  }
}

TEST(FlowText, PrintsAsOneWouldWriteIt) {
  EXPECT_THAT(PrintFlow(Parsed(kLoops)), HasSubstr(R"(
flow @"all loops" {
  loop @outer
  loop @"in ner" in @outer
  %"the input" = input() {types = ["i64[]", "f32[3]"]}
  %a = enter(%"the input") {loop = "outer"}
  %b = enter(%"7") {loop = "in ner", trip = 2}
  %"7" = concat(%a, %next)
  %odd, %even = switch(%b) {function = "first"}
)"));
}

TEST(FlowText, LocationsAreKept) {
  EXPECT_THAT(PrintFlow(Parsed(kWordCount)), HasSubstr("combine = \"sum\", keys = 1} loc("
                                                       "\"count.py\":3:1)\n"));
  FlowParseOptions options;
  options.functions.file = "count.txt";
  const Flow flow = *ParseFlow(kWordCount, options);
  EXPECT_EQ(flow.vertices[1].location.ToString(), "count.txt:8:3");
  EXPECT_EQ(flow.vertices[3].location.ToString(), "count.py:3:1");
  const std::string printed = PrintFlow(flow);
  const Flow again = Parsed(printed);
  EXPECT_EQ(again.vertices[1].location.ToString(), "count.txt:8:3");
  EXPECT_EQ(PrintFlow(again), printed);
}

TEST(FlowText, OutputsOfFlowsMadeByHandGetNames) {
  Flow flow = Parsed(R"(
    func @is(%x: bool[]) -> (bool[]) { return %x }
    flow @f {
      %in = input() {types = ["bool[]"]}
      %yes, %no = switch(%in) {function = "is"}
      %yes.1 = output(%yes)
      %b = output(%no)
    })");
  flow.vertices[1].other_outputs.clear();
  EXPECT_THAT(PrintFlow(flow), HasSubstr("%yes, %yes.1_ = switch"));
  flow.vertices[1].other_outputs = {"yes"};
  EXPECT_THAT(PrintFlow(flow), HasSubstr("%yes, %yes_ = switch"));
  EXPECT_THAT(PrintFlow(flow), HasSubstr("%b = output(%yes_)"));
}

TEST(FlowText, TellsFlowsFromPrograms) {
  EXPECT_TRUE(LooksLikeFlow(kWordCount));
  EXPECT_TRUE(LooksLikeFlow("flow @f { nonsense"));
  EXPECT_FALSE(LooksLikeFlow("func @flow(%x: f32[]) -> (f32[]) { return %x } // flow @f"));
  EXPECT_FALSE(LooksLikeFlow("func @f() -> () { print() {text = \"flow @f\"} return }"));
  EXPECT_FALSE(LooksLikeFlow(""));
}

struct Case {
  std::string_view text;
  std::string_view error;
};

// Each starts with the place and names what was found there.
constexpr Case kErrors[] = {
    {"", "<text>:1:1: expected 'flow', found the end of the text"},
    {"func @f() -> () { return }", "<text>:1:27: expected 'flow', found the end of the text"},
    {"flaw @f {}", "<text>:1:1: expected 'func' or 'flow', found 'flaw'"},
    {"flow f {}", "<text>:1:6: expected a flow @name, found 'f'"},
    {"flow @\"\" {}", "<text>:1:6: a name has a character at least"},
    {"flow @f", "<text>:1:8: expected '{', found the end of the text"},
    {"flow @f {",
     "<text>:1:10: expected a vertex '%name = kind(...)', 'loop' or '}', found the end"},
    {"flow @f {}\nflow @g {}", "<text>:2:1: expected 'func' (a text has one flow), found 'flow'"},
    {"flow @f { output(%x) }",
     "<text>:1:11: expected a vertex '%name = kind(...)', 'loop' or '}', "
     "found 'output'"},
    {"flow @f { %a input() }", "<text>:1:14: expected '=', found 'input'"},
    {"flow @f { %a = 7() }", "<text>:1:16: expected the kind of a vertex, found '7'"},
    {"flow @f { %a = inputs() }",
     "<text>:1:16: there is no kind of vertex 'inputs'; did you mean 'input'?"},
    {"flow @f { %a, %b = input() }",
     "<text>:1:20: input has 1 outputs, but 2 names stand before it"},
    {"flow @f { %a = switch() }", "<text>:1:16: switch has 2 outputs, but 1 names stand before it"},
    {"flow @f { %\"\" = input() }", "<text>:1:11: a name has a character at least"},
    {"flow @f { %a = input {} }", "<text>:1:22: expected '(', found '{'"},
    {"flow @f { %a = concat(7) }", "<text>:1:23: expected a value %name, found '7'"},
    {"flow @f { %a = concat(%a %b) }", "<text>:1:26: expected ')', found '%b'"},
    {"flow @f {\n  %a = input() {types = [\"i64[]\"]}\n  %a = input() {types = [\"i64[]\"]}\n}",
     "<text>:3:3: %a is defined twice (first at 2:3)"},
    {"flow @f {\n  %wrds = input() {types = [\"i64[]\"]}\n  %o = output(%words)\n}",
     "<text>:3:15: no vertex gives %words; did you mean %wrds?"},
    {"flow @f { %i = input() {types = [\"i64[]\"]} %o = output(%i) %p = output(%o) }",
     "<text>:1:72: %o is of kind output, which gives no records"},
    {"flow @f { loop x }", "<text>:1:16: expected a loop @name, found 'x'"},
    {"flow @f { loop @x in @y }", "<text>:1:22: there is no loop @y above this line"},
    {"flow @f { loop @x loop @x }", "<text>:1:24: there is a loop @x already"},
    {"flow @f { %a = input() {types = 7, types = 8} }",
     "<text>:1:36: the attribute is given twice"},
    {"flow @f { %a = input() loc(\"\":1:1) }", "<text>:1:28: a location needs a file"},
    {"flow @f { %a = input() loc(\"a\":b:1) }", "<text>:1:32: expected an integer, found 'b'"},
    {"flow @f { %a = input() }", "<text>:1:11: 'a' (input): it needs the attribute 'types'"},
    {"flow @f { %a = input() loc(\"a.py\":3:1) }",
     "a.py:3:1: 'a' (input): it needs the attribute 'types'"},
    {"flow @f { %a = map(%a) {function = \"g\"} }",
     "<text>:1:11: 'a' (map): no data can come to it"},
    {"flow @f { %i = input() {types = [\"i64[]\"]} %a = concat(%i, %b) %b = concat(%b) }",
     "<text>:1:64: 'b' (concat): no data can come to it"},
    {"func @g() -> () { return %x } flow @f {}", "<text>:1:26: "},
    {"flow @f {}\nfunc @g() -> () { retrn }", "<text>:2:19: unknown op 'retrn'"},
};

TEST(FlowText, ErrorsNameThePlaceAndWhatWasFound) {
  for (const Case& one : kErrors) {
    EXPECT_THAT(ErrorOf(one.text), StartsWith(std::string(one.error))) << one.text;
  }
}

TEST(FlowText, WhatATextMayAskForIsLimited) {
  FlowParseOptions options;
  options.max_vertices = 3;
  EXPECT_THAT(ErrorOf(kWordCount, options),
              HasSubstr("<text>:10:3: the flow has more than 3 vertices"));
  options = {.max_streams = 2};
  EXPECT_THAT(ErrorOf(kWordCount, options), HasSubstr("<text>:10:27: the vertices of the flow have "
                                                      "more than 2 inputs"));
  options = {.max_loops = 1};
  EXPECT_THAT(ErrorOf(kLoops, options), HasSubstr("<text>:5:8: the flow has more than 1 loops"));
  options = {.max_loop_depth = 1};
  EXPECT_THAT(ErrorOf(kLoops, options), HasSubstr("<text>:5:8: loops are nested deeper than 1"));
  options = {.functions = {.max_nodes = 1}};
  EXPECT_THAT(ErrorOf(kLoops, options), HasSubstr("the program has more than 1 nodes"));
}

TEST(FlowText, FunctionsKnowOneRecordAndNothingElse) {
  EXPECT_THAT(ErrorOf(R"(func @f(%x: f32[]) -> (f32[]) {
  %w = read_variable {name = "w", dtype = f32, shape = ()}
  return %w
}
flow @f {})"),
              HasSubstr("<text>:2:3: read_variable: functions of a flow have no variables"));
  EXPECT_THAT(ErrorOf(R"(func @f(%x: f32[]) -> (f32[]) {
  %s = iteration_reduce(%x) {kind = "sum", extent = (n)}
  return %s
}
flow @f {})"),
              HasSubstr("<text>:2:3: iteration_reduce: functions of a flow are for one record"));
  EXPECT_THAT(
      ErrorOf(R"(func @f(%x: f32[]) -> (f32[]) {
  print(%x) {message = "{}", place = [0], rows = 0}
  return %x
}
flow @f {})"),
      HasSubstr("<text>:2:3: print: functions of a flow print nothing; the vertex inspect"));
}

}  // namespace
}  // namespace weir
