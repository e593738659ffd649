#include "server/compiler/factored/factored.h"

#include <gtest/gtest.h>

#include "absl/strings/str_replace.h"
#include "common/base/status.h"
#include "common/interp/interpreter.h"
#include "common/ir/text.h"
#include "common/ops/registry.h"
#include "common/ops/sample.h"
#include "common/tensor/compare.h"
#include "server/compiler/pipeline.h"

namespace weir {
namespace {

constexpr char kClip[] = R"(
      %square = multiply(%g, %g)
      %norm2 = reduce_sum(%square) {axes = [0, 1]}
      %norm = sqrt(%norm2)
      %most = constant {value = f32[] {2}}
      %over = divide(%most, %norm)
      %one = constant {value = f32[] {1}}
      %c = minimum(%one, %over)
      %cs = broadcast_in_dim(%c) {axes = [], shape = (24, 20)}
      %clipped = multiply(%cs, %g))";

constexpr char kOuter[] = R"(
      %x = ROW(%xs, 24)
      %y = ROW(%ys, 20)
      %xb = broadcast_in_dim(%x) {axes = [0], shape = (24, 20)}
      %yb = broadcast_in_dim(%y) {axes = [1], shape = (24, 20)}
      %g = multiply(%xb, %yb))";

constexpr char kOverTime[] = R"(
      %x = ROWS(%xs, 3, 24)
      %y = ROWS(%ys, 3, 20)
      %xt = transpose(%x) {permutation = [1, 0]}
      %g = dot_general(%xt, %y) {lhs_batch = [], lhs_contract = [1], rhs_batch = [],
          rhs_contract = [0]})";

// %G: what `body` yields for each iteration, of the rows of the parameters. ROW, ROWS and IMAGE
// stand for gathers by the iteration.
std::string Program(std::string_view parameters, std::string_view body, std::string_view yields,
                    std::string_view rest, std::string_view result = "f32[24,20]") {
  const std::string gather =
      R"(offset_dims = OFFSETS, collapsed_slice_dims = [0], index_vector_dim = 0,
         operand_batching_dims = [], start_index_map = [0], start_indices_batching_dims = [],
         slice_sizes = )";
  std::string text = StrCat("func @main(", parameters, ") -> (", result, ") {\n",
                            "  %G = pfor {extent = (n)} (%i: i64[]) {", body, "\n    yield ",
                            yields, "\n  }", rest, "\n}");
  auto replace = [&](std::string_view name, const std::string& offsets) {
    const std::string attrs = absl::StrReplaceAll(gather, {{"OFFSETS", offsets}});
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name)) {
      const size_t open = text.find('(', at), comma = text.find(',', at);
      const size_t close = text.find(')', at);
      const std::string value = text.substr(open + 1, comma - open - 1);
      const std::string sizes = text.substr(comma + 1, close - comma - 1);
      text.replace(at, close + 1 - at,
                   StrCat("gather(", value, ", %i) {", attrs, "(1,", sizes, ")}"));
    }
  };
  replace("IMAGE", "[0, 1, 2, 3]");
  replace("ROWS", "[0, 1]");
  replace("ROW", "[0]");
  return text;
}

constexpr char kVectors[] = "%xs: f32[n,24], %ys: f32[n,20]";
constexpr char kSequences[] = "%xs: f32[n,3,24], %ys: f32[n,3,20]";
constexpr char kSum[] = R"(
  %sum = reduce_sum(%G) {axes = [0]}
  return %sum)";

bool MakesProducts(const Graph& graph) {
  for (int i = 0; i < graph.num_values(); ++i) {
    const Shape& shape = graph.type(ValueId(i)).shape;
    const int rank = shape.rank();
    // Blocks of iterations are no iterations.
    const bool rows = rank == 3 && shape[0].is_symbol();
    if (rows && shape[1] == Dim(24) && shape[2] == Dim(20)) return true;
  }
  return false;
}

std::vector<Tensor> InputsOf(const Graph& graph, int64_t n) {
  std::vector<Tensor> inputs;
  for (ValueId arg : graph.region(graph.entry().body).args) {
    const TensorType& type = graph.type(arg);
    const Extents extents = *type.shape.Evaluate({{"n", n}});
    const bool index = type.dtype == DType::kI64;
    const SampleOperand operand =
        index ? Rand(type.dtype, extents, -3, 27) : Rand(type.dtype, extents);
    inputs.push_back(operand.Make(inputs.size() + 1));
  }
  return inputs;
}

// Compiles and compares every stage with the program, for several n; ranges must give equal bits.
// Returns: the program after the last pass.
Graph Compiled(const std::string& text) {
  absl::StatusOr<Graph> program = Parse(text, Ops());
  EXPECT_TRUE(program.ok()) << program.status() << "\n" << text;
  if (!program.ok()) return Graph();
  absl::StatusOr<weir::Compiled> compiled =
      Compile(*program, {}, [&](const Pass& pass, const Graph& stage) {
        absl::StatusOr<Graph> parsed = Parse(Print(stage), Ops());
        ASSERT_TRUE(parsed.ok()) << pass.name << ": " << parsed.status();
        std::vector<int64_t> sizes = {0, 1, 2, 7};
        if (&pass == &Passes().back()) sizes.push_back(300);
        for (int64_t n : sizes) {
          const std::vector<Tensor> inputs = InputsOf(*program, n);
          absl::StatusOr<std::vector<Tensor>> want = Interpret(*program, inputs);
          ASSERT_TRUE(want.ok()) << want.status();
          std::vector<Tensor> first;
          for (int64_t ranges : {1, 2, 3}) {
            InterpretOptions options;
            options.shard_ranges = ranges;
            absl::StatusOr<std::vector<Tensor>> got = Interpret(*parsed, inputs, options);
            ASSERT_TRUE(got.ok()) << pass.name << ": " << got.status() << "\n" << Print(stage);
            EXPECT_EQ(Difference((*got)[0], (*want)[0], {.ulp = 64, .absolute = 2e-5}), "")
                << pass.name << " n=" << n << "\n"
                << Print(stage);
            if (ranges == 1) first = *got;
            EXPECT_EQ(Difference((*got)[0], first[0]), "") << pass.name << " ranges=" << ranges;
          }
        }
      });
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  return compiled.ok() ? std::move(compiled->graph) : Graph();
}

struct Case {
  std::string name;
  std::string program;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class FactoredTest : public testing::TestWithParam<Case> {};

TEST_P(FactoredTest, NoIterationsProductIsMade) {
  const Graph graph = Compiled(GetParam().program);
  EXPECT_FALSE(MakesProducts(graph)) << Print(graph);
}

std::string Clipped(std::string_view parameters, std::string_view product) {
  return Program(parameters, StrCat(product, kClip), "%clipped", kSum);
}

std::string WithoutNorm(std::string_view body, std::string_view rest = kSum) {
  return Program(kVectors, StrCat(kOuter, body), "%h", rest);
}

const char kScatter[] = R"(
      %ids = ROW(%is, 3)
      %rows = ROWS(%ys, 3, 20)
      %none = constant {value = f32[] {0}}
      %zeros = broadcast_in_dim(%none) {axes = [], shape = (24, 20)}
      %g0 = scatter(%zeros, %ids, %rows) {combiner = "add", index_vector_dim = 1,
          input_batching_dims = [], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
          scatter_indices_batching_dims = [], update_window_dims = [1]})";

INSTANTIATE_TEST_SUITE_P(
    Programs, FactoredTest,
    testing::ValuesIn(std::vector<Case>{
        {"clipped", Clipped(kVectors, kOuter)},
        {"clipped_over_time", Clipped(kSequences, kOverTime)},
        {"plain", Program(kVectors, kOuter, "%g", kSum)},
        {"negated", WithoutNorm("\n      %h = negate(%g)")},
        {"divided", WithoutNorm(R"(
      %d = reduce_sum(%x) {axes = [0]}
      %ds = broadcast_in_dim(%d) {axes = [], shape = (24, 20)}
      %h = divide(%g, %ds))")},
        {"scaled_by_rows", WithoutNorm(R"(
      %e = exp(%x)
      %es = broadcast_in_dim(%e) {axes = [0], shape = (24, 20)}
      %h = multiply(%es, %g))")},
        {"transposed", Program(kVectors, StrCat(kOuter, R"(
      %h = transpose(%g) {permutation = [1, 0]})"),
                               "%h", kSum, "f32[20,24]")},
        {"reshaped", Program(kVectors, StrCat(kOuter, R"(
      %h = reshape(%g) {shape = (2, 3, 4, 20)})"),
                             "%h", kSum, "f32[2,3,4,20]")},
        {"tied", Clipped("%xs: f32[n,3,24], %ys: f32[n,3,20], %us: f32[n,24], %vs: f32[n,20]",
                         R"(
      %x = ROWS(%xs, 3, 24)
      %y = ROWS(%ys, 3, 20)
      %g1 = dot_general(%x, %y) {lhs_batch = [], lhs_contract = [0], rhs_batch = [],
          rhs_contract = [0]}
      %u = ROW(%us, 24)
      %v = ROW(%vs, 20)
      %g2 = dot_general(%u, %v) {lhs_batch = [], lhs_contract = [], rhs_batch = [],
          rhs_contract = []}
      %g = subtract(%g1, %g2))")},
        {"embedding", Clipped("%is: i64[n,3], %ys: f32[n,3,20]", StrCat(kScatter, R"(
      %g = negate(%g0))"))},
        {"tied_embedding",
         Clipped("%is: i64[n,3], %ys: f32[n,3,20], %us: f32[n,24], %vs: f32[n,20]",
                 StrCat(kScatter, R"(
      %u = ROW(%us, 24)
      %v = ROW(%vs, 20)
      %g2 = dot_general(%u, %v) {lhs_batch = [], lhs_contract = [], rhs_batch = [],
          rhs_contract = []}
      %g = add(%g0, %g2))"))},
        {"behind_the_loop", Program(kSequences, kOverTime, "%g", R"(
  %square = multiply(%G, %G)
  %norm2 = reduce_sum(%square) {axes = [1, 2]}
  %norm = sqrt(%norm2)
  %scale = broadcast_in_dim(%norm) {axes = [0], shape = (n, 24, 20)}
  %scaled = divide(%G, %scale)
  %sum = reduce_sum(%scaled) {axes = [0]}
  return %sum)")},
        {"dot_products", Program(kSequences, StrCat(kOverTime, R"(
      %y1 = negate(%y)
      %h = dot_general(%x, %y1) {lhs_batch = [], lhs_contract = [0], rhs_batch = [],
          rhs_contract = [0]}
      %gh = multiply(%g, %h)
      %dot = reduce_sum(%gh) {axes = [0, 1]})"),
                                 "%dot", "\n  return %G", "f32[n]")},
        {"norm_alone",
         Program(kVectors, StrCat(kOuter, kClip), "%norm", "\n  return %G", "f32[n]")},
    }),
    [](const auto& test) { return test.param.name; });

// The gradient of a filter, [3,20,2,4]: of an input with 3 features, an output with 20 features and
// the extents of space that `output` says, of as many rows.
struct FilterCase {
  std::string name;
  std::string input;   // extents of rows and space
  std::string output;  // likewise
  std::string attrs;
  bool by_gram = false;
  std::string after = "";  // from %g0 to %g
};

std::string FilterProgram(const FilterCase& c) {
  const std::string body =
      StrCat("\n      %x = IMAGE(%xs, 3, ", c.input, ")\n      %y = IMAGE(%ys, 20, ", c.output,
             ")\n      %g", c.after.empty() ? "" : "0", " = convolution(%x, %y) {", c.attrs, "}",
             c.after, kClip);
  const std::string parameters =
      StrCat("%xs: f32[n,3,", c.input, "], %ys: f32[n,20,", c.output, "]");
  return absl::StrReplaceAll(Program(parameters, body, "%clipped", kSum, "f32[3,20,2,4]"),
                             {{"(24, 20)", "(3, 20, 2, 4)"}, {"[0, 1]}", "[0, 1, 2, 3]}"}});
}

void PrintTo(const FilterCase& c, std::ostream* out) { *out << c.name; }

class FilterTest : public testing::TestWithParam<FilterCase> {};

TEST_P(FilterTest, NoIterationsGradientIsKept) {
  const Graph graph = Compiled(FilterProgram(GetParam()));
  int made = 0;
  for (int i = 0; i < graph.num_values(); ++i) {
    const std::string type = graph.type(ValueId(i)).ToString();
    const Node* producer = graph.producer(ValueId(i));
    if (producer != nullptr && producer->op == "shard") {
      EXPECT_NE(type, "f32[n,3,20,2,4]") << Print(graph);
    }
    // As groups of features or as products; blocks of iterations are no iterations.
    made += type == "f32[3,20*m,2,4]" ? 1 : 0;
  }
  EXPECT_EQ(made == 0, GetParam().by_gram) << Print(graph);
}

constexpr char kPlain[] =
    "window_strides = [1, 1], padding_low = [0, 0], padding_high = [0, 0], "
    "lhs_dilation = [1, 1], rhs_dilation = [1, 1]";

INSTANTIATE_TEST_SUITE_P(
    Programs, FilterTest,
    testing::ValuesIn(std::vector<FilterCase>{
        {"short", "1, 3, 4", "1, 2, 1", kPlain, /*by_gram=*/true},
        {"two_rows", "2, 2, 4", "2, 1, 1", kPlain, /*by_gram=*/true},
        {"long_enough_to_be_made", "1, 5, 6", "1, 4, 3", kPlain},
        {"padded", "1, 3, 4", "1, 2, 1",
         "window_strides = [1, 1], padding_low = [1, -1], padding_high = [-1, 1], "
         "lhs_dilation = [1, 1], rhs_dilation = [1, 1]",
         /*by_gram=*/true},
        {"strides", "1, 5, 8", "1, 2, 1",
         "window_strides = [2, 2], padding_low = [0, 0], padding_high = [0, 0], "
         "lhs_dilation = [1, 1], rhs_dilation = [2, 3]",
         /*by_gram=*/true},
        {"holes_in_the_input", "1, 2, 2", "1, 2, 1",
         "window_strides = [1, 1], padding_low = [0, 1], padding_high = [0, 0], "
         "lhs_dilation = [2, 2], rhs_dilation = [1, 1]",
         /*by_gram=*/true},
        {"transposed", "1, 3, 4", "1, 2, 1", kPlain, /*by_gram=*/true, R"(
      %g1 = transpose(%g0) {permutation = [3, 1, 2, 0]}
      %g2 = negate(%g1)
      %g = transpose(%g2) {permutation = [3, 1, 2, 0]})"},
        {"scaled_by_input_feature", "1, 3, 4", "1, 2, 1", kPlain, /*by_gram=*/true, R"(
      %means = reduce_sum(%x) {axes = [1, 2, 3]}
      %scale = broadcast_in_dim(%means) {axes = [0], shape = (24, 20)}
      %g = multiply(%g0, %scale))"},
        {"scaled_by_output_feature", "1, 3, 4", "1, 2, 1", kPlain, /*by_gram=*/true, R"(
      %sums = reduce_sum(%y) {axes = [1, 2, 3]}
      %scale = broadcast_in_dim(%sums) {axes = [1], shape = (24, 20)}
      %g = multiply(%g0, %scale))"},
    }),
    [](const auto& test) { return test.param.name; });

// No operand has the axes of space of a filter.
TEST(KeepFactoredTest, AFilterScaledByPlaceIsMade) {
  const Graph graph = Compiled(FilterProgram({"", "1, 3, 4", "1, 2, 1", kPlain, false, R"(
      %place = iota() {shape = (4), dtype = f32, axis = 0}
      %scale = broadcast_in_dim(%place) {axes = [3], shape = (24, 20)}
      %g = multiply(%g0, %scale))"}));
  EXPECT_NE(Print(graph).find("f32[3,20*m,2,4]"), std::string::npos) << Print(graph);
}

TEST(KeepFactoredTest, TwoPhasesShareOperands) {
  const Graph graph = Compiled(Program(kVectors, StrCat(kOuter, R"(
      %square = multiply(%g, %g)
      %norm2 = reduce_sum(%square) {axes = [0, 1]}
      %mean = iteration_reduce(%norm2) {extent = (n), kind = "mean"}
      %over = divide(%mean, %norm2)
      %overs = broadcast_in_dim(%over) {axes = [], shape = (24, 20)}
      %clipped = multiply(%overs, %g)
      %sum = iteration_reduce(%clipped) {extent = (n), kind = "sum"}
      %some = reduce_sum(%sum) {axes = [0, 1]})"),
                                       "%some", "\n  return %G", "f32[n]"));
  EXPECT_FALSE(MakesProducts(graph)) << Print(graph);
}

int CountOf(const Graph& graph, std::string_view op) {
  int count = 0;
  for (int i = 0; i < graph.num_nodes(); ++i) count += graph.node(NodeId(i)).op == op ? 1 : 0;
  return count;
}

TEST(KeepFactoredTest, WhatIsWantedAnywayStays) {
  const Graph graph = Compiled(Program(kVectors, kOuter, "%g", R"(
  %sum = reduce_sum(%G) {axes = [0]}
  %sums = broadcast_in_dim(%sum) {axes = [1, 2], shape = (n, 24, 20)}
  %centred = subtract(%G, %sums)
  return %centred)",
                                       "f32[n,24,20]"));
  EXPECT_EQ(CountOf(graph, "reduce_sum"), 1) << Print(graph);
  EXPECT_EQ(CountOf(graph, "dot_general"), 0) << Print(graph);
}

TEST(KeepFactoredTest, LongContractionsAreMadeForTheNormButNotKept) {
  const Graph graph = Compiled(absl::StrReplaceAll(Clipped(kSequences, kOverTime),
                                                   {{"[n,3,", "[n,15,"}, {"(1, 3,", "(1, 15,"}}));
  for (NodeId id : graph.region(graph.entry().body).nodes) {
    for (ValueId output : graph.node(id).outputs) {
      EXPECT_NE(graph.type(output).ToString(), "f32[n,24,20]") << Print(graph);
    }
  }
  EXPECT_TRUE(MakesProducts(graph)) << Print(graph);
}

TEST(KeepFactoredTest, IntegersAndSmallProductsStay) {
  const std::string program = Program(kVectors, kOuter, "%g", kSum);
  EXPECT_TRUE(MakesProducts(Compiled(absl::StrReplaceAll(program, {{"f32", "i32"}}))));
  const Graph small = Compiled(
      absl::StrReplaceAll(program, {{"24", "3"}, {"20", "2"}, {"[n,", "[8,"}, {"(n)", "(8)"}}));
  EXPECT_EQ(CountOf(small, "dot_general"), 0) << Print(small);
}

TEST(KeepFactoredTest, ALinearLayerIsNoContractionOfTwoThatVary) {
  const Graph graph = Compiled(Program("%xs: f32[n,3,24], %w: f32[24,200]", R"(
      %x = ROWS(%xs, 3, 24)
      %g = dot_general(%x, %w) {lhs_batch = [], lhs_contract = [1], rhs_batch = [],
          rhs_contract = [0]})",
                                       "%g", kSum, "f32[3,200]"));
  EXPECT_EQ(CountOf(graph, "reduce_sum"), 1) << Print(graph);
}

TEST(KeepFactoredTest, CancellingTermsHaveNoNegativeNorm) {
  const std::string body = absl::StrReplaceAll(
      StrCat(kOuter, "\n      %g2 = negate(%g1)\n      %g = add(%g1, %g2)", kClip),
      {{"%g = multiply(%xb", "%g1 = multiply(%xb"}});
  absl::StatusOr<Graph> program =
      Parse(Program(kVectors, body, "%norm", "\n  return %G", "f32[n]"), Ops());
  ASSERT_TRUE(program.ok()) << program.status();
  absl::StatusOr<weir::Compiled> compiled = Compile(*program, {});
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const std::vector<Tensor> got = *Interpret(compiled->graph, InputsOf(*program, 50));
  for (int64_t i = 0; i < 50; ++i) EXPECT_LT(got[0].At<float>({i}), 1e-2) << i;
}

TEST(KeepFactoredTest, NotesSayWhatIsNotMade) {
  absl::StatusOr<Graph> program = Parse(Clipped(kVectors, kOuter), Ops());
  ASSERT_TRUE(program.ok()) << program.status();
  absl::StatusOr<weir::Compiled> compiled = Compile(*program, {});
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  ASSERT_EQ(compiled->report.notes.size(), 2u);
  EXPECT_NE(
      compiled->report.notes[1].find("contracts the operands of f32[n,24,20], which is not made"),
      std::string::npos)
      << compiled->report.notes[1];
}

TEST(KeepFactoredTest, SumsAsWrittenHaveTheBitsOfTheProgram) {
  const std::string text = Program(kSequences, kOverTime, "%g", kSum);
  absl::StatusOr<Graph> program = Parse(text, Ops());
  ASSERT_TRUE(program.ok()) << program.status();
  for (const auto loops : {CompileOptions::Loops::kVectorize, CompileOptions::Loops::kSequential}) {
    absl::StatusOr<weir::Compiled> compiled =
        Compile(*program, {.loops = loops, .sums = CompileOptions::Sums::kAsWritten});
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    EXPECT_TRUE(compiled->report.notes.empty()) << compiled->report.notes[0];
    for (int64_t n : {0, 1, 2, 300}) {
      const std::vector<Tensor> inputs = InputsOf(*program, n);
      EXPECT_EQ(
          Difference((*Interpret(compiled->graph, inputs))[0], (*Interpret(*program, inputs))[0]),
          "")
          << n;
    }
  }
  absl::StatusOr<weir::Compiled> contracted = Compile(*program, {});
  ASSERT_TRUE(contracted.ok()) << contracted.status();
  const std::vector<Tensor> inputs = InputsOf(*program, 300);
  EXPECT_NE(
      Difference((*Interpret(contracted->graph, inputs))[0], (*Interpret(*program, inputs))[0]),
      "");
}

}  // namespace
}  // namespace weir
