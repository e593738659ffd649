// Loops whose length only the run knows: compiled, vectorized and as a loop, against the program as
// it is.
#include <gtest/gtest.h>

#include "common/base/status.h"
#include "common/interp/interpreter.h"
#include "common/ir/text.h"
#include "common/ir/verify.h"
#include "common/ops/registry.h"
#include "common/ops/sample.h"
#include "common/tensor/compare.h"
#include "server/compiler/pipeline.h"

namespace weir {
namespace {

using Results = absl::StatusOr<std::vector<Tensor>>;

absl::StatusOr<Graph> Compiled(std::string_view text, CompileOptions options) {
  WEIR_ASSIGN_OR_RETURN(Graph graph, Parse(text, Ops()));
  WEIR_ASSIGN_OR_RETURN(struct Compiled compiled, Compile(std::move(graph), options));
  WEIR_RETURN_IF_ERROR(Verify(compiled.graph, Ops()));
  return std::move(compiled.graph);
}

void ExpectEqual(const Results& got, const Results& want, const std::string& where) {
  ASSERT_TRUE(want.ok()) << where << want.status();
  ASSERT_TRUE(got.ok()) << where << got.status();
  for (size_t r = 0; r < want->size(); ++r) {
    EXPECT_EQ(Difference((*got)[r], (*want)[r]), "") << where << "result " << r;
  }
}

// A program of %x: f32[n,4] and %counts: i64[n].
void ExpectConverts(const std::string& text) {
  const absl::StatusOr<Graph> program = Parse(text, Ops());
  ASSERT_TRUE(program.ok()) << program.status();
  const absl::StatusOr<Graph> rows = Compiled(text, {.strict = true});
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_EQ(Print(*rows).find("pfor"), std::string::npos) << Print(*rows);
  const absl::StatusOr<Graph> loop = Compiled(text, {.loops = CompileOptions::Loops::kSequential});
  ASSERT_TRUE(loop.ok()) << loop.status();
  for (int64_t n : {0, 1, 2, 5}) {
    const std::vector<Tensor> inputs = {Rand(DType::kF32, {n, 4}).Make(7),
                                        Rand(DType::kI64, {n}, 0, 4).Make(8)};
    InterpretOptions options;
    const Results want = Interpret(*program, inputs, options);
    ExpectEqual(Interpret(*loop, inputs, options), want, StrCat("loop, n = ", n, ": "));
    for (int64_t ranges : {1, 2, 3}) {
      options.shard_ranges = ranges;
      ExpectEqual(Interpret(*rows, inputs, options), want,
                  StrCat("n = ", n, ", ", ranges, " ranges: ", Print(*rows)));
    }
  }
}

// Values of the iteration: row i of %x, and its count.
constexpr char kRow[] = R"(
      %row = gather(%x, %i) {collapsed_slice_dims = [0], index_vector_dim = 0,
          offset_dims = [0], operand_batching_dims = [], slice_sizes = (1, 4),
          start_index_map = [0], start_indices_batching_dims = []}
      %count = gather(%counts, %i) {collapsed_slice_dims = [0], index_vector_dim = 0,
          offset_dims = [], operand_batching_dims = [], slice_sizes = (1),
          start_index_map = [0], start_indices_batching_dims = []})";
constexpr char kElement[] = R"(gather(%row, %j) {collapsed_slice_dims = [0],
          index_vector_dim = 0, offset_dims = [], operand_batching_dims = [], slice_sizes = (1),
          start_index_map = [0], start_indices_batching_dims = []})";

std::string Outer(std::string_view results, std::string_view body) {
  return StrCat("func @main(%x: f32[n,4], %counts: i64[n]) -> (", results, R"() {
    %out = pfor {extent = (n)} (%i: i64[]) {)",
                kRow, body, R"(
      yield %inner
    }
    return %out
  })");
}

TEST(RaggedTest, EachIterationHasItsOwnLength) {
  ExpectConverts(Outer("f32[n,4]", StrCat(R"(
      %inner = pfor(%count) {extent = (4)} (%j: i64[]) {
        %y = )",
                                          kElement, R"(
        %z = add(%y, %y)
        yield %z
      })")));
}

TEST(RaggedTest, ResultsThatDoNotVaryHaveZerosBehindToo) {
  ExpectConverts(Outer("f32[n,4]", R"(
      %inner = pfor(%count) {extent = (4)} (%j: i64[]) {
        %one = constant {value = f32[] {1}}
        yield %one
      })"));
}

TEST(RaggedTest, AllIterationsMayHaveOneLength) {
  ExpectConverts(Outer("f32[n,4]", StrCat(R"(
      %two = constant {value = i64[] {2}}
      %inner = pfor(%two) {extent = (4)} (%j: i64[]) {
        %y = )",
                                          kElement, R"(
        yield %y
      })")));
}

TEST(RaggedTest, ALoopThatSeesNothingOfTheOuterRunsOnce) {
  ExpectConverts(Outer("i64[n,4]", R"(
      %two = constant {value = i64[] {2}}
      %inner = pfor(%two) {extent = (4)} (%j: i64[]) {
        %k = add(%j, %two)
        yield %k
      })"));
}

TEST(RaggedTest, TheOutermostLoopMayHaveACount) {
  ExpectConverts(R"(
  func @main(%x: f32[n,4], %counts: i64[n]) -> (f32[4,4]) {
    %all = reduce_max(%counts) {axes = [0]}
    %zero = constant {value = i64[] {0}}
    %count = maximum(%all, %zero)
    %out = pfor(%count) {extent = (4)} (%i: i64[]) {
      %f = convert(%i) {dtype = f32}
      %inner = pfor(%i) {extent = (4)} (%j: i64[]) {
        %g = convert(%j) {dtype = f32}
        %y = multiply(%f, %g)
        yield %y
      }
      yield %inner
    }
    return %out
  })");
}

// Nothing is copied of what is read by iteration, also in a branch.
TEST(RaggedTest, RowsOfTheOutermostLoopAreASlice) {
  const std::string text = R"(
  func @main(%x: f32[n,4], %counts: i64[n]) -> (f32[n,4]) {
    %all = reduce_sum(%counts) {axes = [0]}
    %most = dimension_size() {size = (n)}
    %count = minimum(%all, %most)
    %out = pfor(%count) {extent = (n)} (%i: i64[]) {
      %row = gather(%x, %i) {collapsed_slice_dims = [0], index_vector_dim = 0,
          offset_dims = [0], operand_batching_dims = [], slice_sizes = (1, 4),
          start_index_map = [0], start_indices_batching_dims = []}
      %one = constant {value = i64[] {1}}
      %first = less(%i, %one)
      %y = if(%first) {
        %twice = add(%row, %row)
        yield %twice
      } {
        yield %row
      }
      yield %y
    }
    return %out
  })";
  ExpectConverts(text);
  const absl::StatusOr<Graph> rows = Compiled(text, {.strict = true});
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_EQ(Print(*rows).find("gather"), std::string::npos) << Print(*rows);
}

TEST(RaggedTest, TheBoundMayBeASymbol) {
  ExpectConverts(Outer("i64[n,n]", R"(
      %most = dimension_size() {size = (n)}
      %few = minimum(%count, %most)
      %inner = pfor(%few) {extent = (n)} (%j: i64[]) {
        %all = iteration_reduce(%j) {extent = (n), kind = "max"}
        yield %all
      })"));
}

TEST(RaggedTest, ReductionsLeaveOutWhatDoesNotRun) {
  for (std::string_view kind : {"sum", "prod", "max", "min", "mean"}) {
    ExpectConverts(Outer("f32[n,4]", StrCat(R"(
      %inner = pfor(%count) {extent = (4)} (%j: i64[]) {
        %y = )",
                                            kElement, R"(
        %all = iteration_reduce(%y) {extent = (4), kind = ")",
                                            kind, R"("}
        %z = subtract(%y, %all)
        yield %z
      })")));
  }
}

TEST(RaggedTest, LanesTakeBranchesAndLeaveLoopsAlone) {
  ExpectConverts(Outer("f32[n,4]", StrCat(R"(
      %inner = pfor(%count) {extent = (4)} (%j: i64[]) {
        %y = )",
                                          kElement, R"(
        %zero = constant {value = f32[] {0}}
        %up = less(%zero, %y)
        %z = if(%up) {
          %again = )",
                                          kElement, R"(
          %a = add(%again, %y)
          yield %a
        } {
          %sum = reduce_sum(%row) {axes = [0]}
          yield %sum
        }
        %w = for(%j, %z) (%t: i64[], %v: f32[]) {
          %e = gather(%row, %t) {collapsed_slice_dims = [0], index_vector_dim = 0,
              offset_dims = [], operand_batching_dims = [], slice_sizes = (1),
              start_index_map = [0], start_indices_batching_dims = []}
          %next = add(%v, %e)
          yield %next
        }
        yield %w
      })")));
}

TEST(RaggedTest, LoopsOfManyLevelsNest) {
  ExpectConverts(Outer("i64[n,4,4,2]", R"(
      %inner = pfor(%count) {extent = (4)} (%j: i64[]) {
        %b = pfor(%j) {extent = (4)} (%k: i64[]) {
          %c = pfor {extent = (2)} (%l: i64[]) {
            %s = add(%k, %l)
            %t = add(%s, %i)
            %ran = for(%k, %t) (%trip: i64[], %v: i64[]) {
              %next = add(%v, %trip)
              yield %next
            }
            yield %ran
          }
          yield %c
        }
        yield %b
      })"));
}

TEST(RaggedTest, BranchesAndLoopsHoldThem) {
  ExpectConverts(Outer("f32[n,4]", StrCat(R"(
      %two = constant {value = i64[] {2}}
      %few = less(%count, %two)
      %chosen = if(%few) {
        %a = pfor(%count) {extent = (4)} (%j: i64[]) {
          %y = )",
                                          kElement, R"(
          yield %y
        }
        yield %a
      } {
        %b = pfor(%two) {extent = (4)} (%j: i64[]) {
          %y = )",
                                          kElement, R"(
          %z = add(%y, %y)
          yield %z
        }
        yield %b
      }
      %inner = for(%count, %chosen) (%t: i64[], %v: f32[4]) {
        %c = pfor(%t) {extent = (4)} (%j: i64[]) {
          %y = )",
                                          kElement, R"(
          yield %y
        }
        %next = add(%v, %c)
        yield %next
      })")));
}

// A loop that collects a value in each of a varying number of trips has no rule.
TEST(RaggedTest, AFallbackInsideIsReportedAndRuns) {
  const std::string text = Outer("i64[n,4,2]", R"(
      %inner = pfor(%count) {extent = (4)} (%j: i64[]) {
        %one = constant {value = i64[] {1}}
        %zero = constant {value = i64[] {0}}
        %same = subtract(%j, %j)
        %trips = add(%same, %one)
        %two = add(%trips, %one)
        %rows = for(%two) {extent = (2)} (%t: i64[]) {
          %s = add(%t, %j)
          yield %s
        }
        yield %rows
      })");
  absl::StatusOr<Graph> program = Parse(text, Ops());
  ASSERT_TRUE(program.ok()) << program.status();
  absl::StatusOr<struct Compiled> compiled = Compile(*program, {});
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  ASSERT_EQ(compiled->report.fallbacks.size(), 1u);
  EXPECT_EQ(compiled->report.fallbacks[0].op, "for");
  const std::vector<Tensor> inputs = {Rand(DType::kF32, {3, 4}).Make(7),
                                      Tensor::Of<int64_t>({3}, {2, 0, 4})};
  ExpectEqual(Interpret(compiled->graph, inputs), Interpret(*program, inputs), "");
}

TEST(RaggedTest, ACountOutsideOfTheExtentFailsTheRun) {
  const std::string text = Outer("i64[n,4]", R"(
      %inner = pfor(%count) {extent = (4)} (%j: i64[]) {
        yield %j
      })");
  absl::StatusOr<Graph> program = Parse(text, Ops());
  ASSERT_TRUE(program.ok()) << program.status();
  const absl::StatusOr<Graph> rows = Compiled(text, {});
  const absl::StatusOr<Graph> loop = Compiled(text, {.loops = CompileOptions::Loops::kSequential});
  ASSERT_TRUE(rows.ok() && loop.ok());
  for (int64_t count : {-1, 5}) {
    const std::vector<Tensor> inputs = {Rand(DType::kF32, {3, 4}).Make(7),
                                        Tensor::Of<int64_t>({3}, {2, count, 4})};
    for (const Graph& graph : {*program, *rows, *loop}) {
      const absl::Status status = Interpret(graph, inputs).status();
      EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
      EXPECT_NE(status.message().find("of a pfor is not in 0..4"), absl::string_view::npos)
          << status;
    }
    const std::string message(Interpret(*rows, inputs).status().message());
    EXPECT_NE(message.find(StrCat("the count ", count)), std::string::npos) << message;
    EXPECT_NE(message.find("<text>:9:7"), std::string::npos) << message;
  }
}

// What explain prints parses, and gives the same.
TEST(RaggedTest, EveryStageRuns) {
  const std::string text = Outer("f32[n,4]", StrCat(R"(
      %inner = pfor(%count) {extent = (4)} (%j: i64[]) {
        %y = )",
                                                    kElement, R"(
        %most = iteration_reduce(%y) {extent = (4), kind = "max"}
        %z = subtract(%y, %most)
        yield %z
      })"));
  absl::StatusOr<Graph> program = Parse(text, Ops());
  ASSERT_TRUE(program.ok()) << program.status();
  const std::vector<Tensor> inputs = {Rand(DType::kF32, {3, 4}).Make(7),
                                      Tensor::Of<int64_t>({3}, {2, 0, 4})};
  const Results want = Interpret(*program, inputs);
  const auto check = [&](const Pass& pass, const Graph& stage) {
    const absl::StatusOr<Graph> parsed = Parse(Print(stage), Ops());
    ASSERT_TRUE(parsed.ok()) << pass.name << ": " << parsed.status();
    ExpectEqual(Interpret(*parsed, inputs), want, StrCat(pass.name, ": "));
  };
  const absl::Status status = Compile(*program, {.strict = true}, check).status();
  EXPECT_TRUE(status.ok()) << status;
}

// What the lanes of an iteration share is computed once for it, and no lane copies its row.
TEST(RaggedTest, LanesShareWhatDoesNotVaryAmongThem) {
  const absl::StatusOr<Graph> rows = Compiled(Outer("f32[n,4]", StrCat(R"(
      %inner = pfor(%count) {extent = (4)} (%j: i64[]) {
        %y = )",
                                                                       kElement, R"(
        %exp = exp(%row)
        %sum = reduce_sum(%exp) {axes = [0]}
        %z = divide(%y, %sum)
        yield %z
      })")),
                                              {.strict = true});
  ASSERT_TRUE(rows.ok()) << rows.status();
  const std::string text = Print(*rows);
  EXPECT_EQ(text.find("f32[k,4]"), std::string::npos) << text;
  EXPECT_LT(text.find("exp("), text.find("ragged_rows")) << text;
}

}  // namespace
}  // namespace weir
