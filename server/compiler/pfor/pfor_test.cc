// The pfor pass against the loop, made from the samples of all ops: every subset of varying
// operands, n in {0, 1, 2, 5}, one and several ranges.
#include "server/compiler/pfor/pfor.h"

#include <gtest/gtest.h>

#include "common/base/status.h"
#include "common/interp/interpreter.h"
#include "common/ir/text.h"
#include "common/ir/verify.h"
#include "common/ops/control/phases.h"
#include "common/ops/registry.h"
#include "common/ops/sample_program.h"
#include "common/tensor/compare.h"

namespace weir {
namespace {

void CheckSample(const OpDef& op, const Sample& sample, uint32_t varying, const Dim& lanes,
                 const std::string& where) {
  absl::StatusOr<Graph> example = ProgramOf(op, sample);
  ASSERT_TRUE(example.ok()) << where << ": " << example.status();
  absl::StatusOr<Graph> loop = LoopOver(*std::move(example), varying, lanes);
  ASSERT_TRUE(loop.ok()) << where << ": " << loop.status();
  Graph converted = *loop;
  CompileReport report;
  absl::Status status = SplitPhases(&converted);
  ASSERT_TRUE(status.ok()) << where << ": " << status;
  status = RemovePfor(&converted, {}, &report);
  ASSERT_TRUE(status.ok()) << where << ": " << status;
  const absl::Status verified = Verify(converted, Ops());
  ASSERT_TRUE(verified.ok()) << where << ": " << verified << "\n" << Print(converted);
  const std::vector<int64_t> sizes =
      lanes.is_number() ? std::vector<int64_t>{lanes.number()} : std::vector<int64_t>{0, 1, 2, 5};
  for (int64_t n : sizes) {
    const std::vector<Tensor> inputs = RowsOf(sample, varying, n);
    InterpretOptions options;
    options.symbols = {{"lanes", n}};
    absl::StatusOr<std::vector<Tensor>> want = Interpret(*loop, inputs, options);
    ASSERT_TRUE(want.ok()) << where << " n=" << n << ": " << want.status();
    for (int64_t ranges : {1, 2}) {
      options.shard_ranges = ranges;
      absl::StatusOr<std::vector<Tensor>> got = Interpret(converted, inputs, options);
      ASSERT_TRUE(got.ok()) << where << " n=" << n << ": " << got.status();
      for (size_t r = 0; r < want->size(); ++r) {
        EXPECT_EQ(Difference((*got)[r], (*want)[r], {sample.ulp, sample.absolute}), "")
            << where << " n=" << n << " ranges=" << ranges << " result " << r << "\n"
            << Print(converted);
      }
    }
  }
}

TEST(PforTest, EveryOpAgreesWithTheLoop) {
  constexpr size_t kAllSubsets = 4;  // operands; more of them vary one by one and all together
  for (const OpDef& op : AllOps()) {
    const std::vector<Sample> samples = op.samples();
    for (size_t s = 0; s < samples.size(); ++s) {
      const size_t count = samples[s].operands.size();
      for (uint32_t varying = 0; varying < (1u << std::min<size_t>(count, 16)); ++varying) {
        if (count > kAllSubsets && __builtin_popcount(varying) != 1 &&
            __builtin_popcount(varying) != static_cast<int>(count)) {
          continue;
        }
        bool allowed = true;
        for (size_t k = 0; k < count; ++k) {
          allowed = allowed && (((varying >> k) & 1) == 0 || samples[s].operands[k].may_vary);
        }
        if (!allowed) continue;
        for (const Dim& lanes : {Dim::Symbol("lanes"), Dim(0), Dim(1)}) {
          CheckSample(op, samples[s], varying, lanes,
                      StrCat(op.name, " sample ", s, " \"", samples[s].label, "\" varying ",
                             varying, " of ", lanes.ToString(), " lanes"));
          if (HasFailure()) return;
        }
      }
    }
  }
}

absl::StatusOr<Graph> Convert(std::string_view text, CompileReport* report,
                              const CompileOptions& options = {}) {
  WEIR_ASSIGN_OR_RETURN(Graph graph, Parse(text, Ops()));
  WEIR_RETURN_IF_ERROR(SplitPhases(&graph));
  WEIR_RETURN_IF_ERROR(RemovePfor(&graph, options, report));
  WEIR_RETURN_IF_ERROR(Verify(graph, Ops()));
  return graph;
}

TEST(PforTest, NestedLoopsConvertTogether) {
  constexpr char kText[] = R"(
    func @main(%x: f32[n]) -> (f32[n,3]) {
      %out = pfor {extent = (n)} (%i: i64[]) {
        %row = pfor {extent = (3)} (%j: i64[]) {
          %k = add(%i, %j)
          %f = convert(%k) {dtype = f32}
          yield %f
        }
        yield %row
      }
      return %out
    })";
  absl::StatusOr<Graph> loop = Parse(kText, Ops());
  ASSERT_TRUE(loop.ok()) << loop.status();
  CompileReport report;
  absl::StatusOr<Graph> converted = Convert(kText, &report);
  ASSERT_TRUE(converted.ok()) << converted.status();
  EXPECT_TRUE(report.fallbacks.empty());
  const std::vector<Tensor> inputs = {Tensor::Zeros(DType::kF32, {4})};
  absl::StatusOr<std::vector<Tensor>> want = Interpret(*loop, inputs);
  absl::StatusOr<std::vector<Tensor>> got = Interpret(*converted, inputs);
  ASSERT_TRUE(want.ok()) << want.status();
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(Difference((*got)[0], (*want)[0]), "");
}

// Converts `text` without a fallback and compares with the loop for several n.
void ExpectConverts(std::string_view text) {
  CompileReport report;
  absl::StatusOr<Graph> loop = Parse(text, Ops());
  ASSERT_TRUE(loop.ok()) << loop.status();
  absl::StatusOr<Graph> converted = Convert(text, &report, {.strict = true});
  ASSERT_TRUE(converted.ok()) << converted.status();
  EXPECT_EQ(Print(*converted).find("pfor"), std::string::npos) << Print(*converted);
  for (int64_t n : {0, 1, 2, 5, 9}) {
    const std::vector<Tensor> inputs = {Rand(DType::kF32, {n}).Make(7)};
    absl::StatusOr<std::vector<Tensor>> want = Interpret(*loop, inputs);
    ASSERT_TRUE(want.ok()) << want.status();
    for (int64_t ranges : {1, 2}) {
      InterpretOptions options;
      options.shard_ranges = ranges;
      absl::StatusOr<std::vector<Tensor>> got = Interpret(*converted, inputs, options);
      ASSERT_TRUE(got.ok()) << got.status() << "\n" << Print(*converted);
      for (size_t r = 0; r < want->size(); ++r) {
        EXPECT_EQ(Difference((*got)[r], (*want)[r]), "") << "n=" << n << " ranges=" << ranges;
      }
    }
  }
}

constexpr char kRow[] = R"(gather(%x, %i) {collapsed_slice_dims = [0], index_vector_dim = 0,
          offset_dims = [], operand_batching_dims = [], slice_sizes = (1),
          start_index_map = [0], start_indices_batching_dims = []})";

TEST(PforTest, BranchesRunForTheIterationsThatTakeThem) {
  ExpectConverts(StrCat(R"(
  func @main(%x: f32[n]) -> (f32[n], f32[n]) {
    %out, %same = pfor {extent = (n)} (%i: i64[]) {
      %row = )",
                        kRow, R"(
      %two = constant {value = i64[] {2}}
      %half = constant {value = f32[] {0.5}}
      %small = less(%i, %two)
      %y, %z = if(%small) {
        %f = convert(%i) {dtype = f32}
        yield %f, %half
      } {
        %large = less(%half, %row)
        %g = add(%row, %half)
        %inner = if(%large) {
          %h = multiply(%g, %row)
          yield %h
        } {
          yield %half
        }
        yield %inner, %g
      }
      yield %y, %z
    }
    return %out, %same
  })"));
}

TEST(PforTest, CasesWithVaryingIndicesSplitTheIterations) {
  ExpectConverts(StrCat(R"(
  func @main(%x: f32[n]) -> (f32[n]) {
    %out = pfor {extent = (n)} (%i: i64[]) {
      %row = )",
                        kRow, R"(
      %three = constant {value = i64[] {3}}
      %which = remainder(%i, %three)
      %y = case(%which) {
        yield %row
      } {
        %f = convert(%i) {dtype = f32}
        yield %f
      } {
        %g = add(%row, %row)
        yield %g
      }
      yield %y
    }
    return %out
  })"));
}

TEST(PforTest, LoopsEndForEachIterationAtItsOwnTrip) {
  ExpectConverts(StrCat(R"(
  func @main(%x: f32[n]) -> (i64[n], f32[n], f32[n]) {
    %trips, %out, %sum = pfor {extent = (n)} (%i: i64[]) {
      %row = )",
                        kRow, R"(
      %zero = constant {value = i64[] {0}}
      %one = constant {value = i64[] {1}}
      %ran, %y = while(%zero, %row) (%t: i64[], %v: f32[]) {
        %more = less(%t, %i)
        yield %more
      } (%t: i64[], %v: f32[]) {
        %next = add(%t, %one)
        %w = add(%v, %row)
        yield %next, %w
      }
      %total = for(%i, %row) (%t: i64[], %v: f32[]) {
        %f = convert(%t) {dtype = f32}
        %odd = remainder(%t, %i)
        %is = equal(%odd, %zero)
        %w = if(%is) {
          %a = add(%v, %f)
          yield %a
        } {
          %b = subtract(%v, %row)
          yield %b
        }
        yield %w
      }
      yield %ran, %y, %total
    }
    return %trips, %out, %sum
  })"));
}

TEST(PforTest, LanesOfNestedLoopsPartWays) {
  ExpectConverts(StrCat(R"(
  func @main(%x: f32[n]) -> (f32[n,4], f32[n,4], i64[n,4]) {
    %out, %same, %count = pfor {extent = (n)} (%i: i64[]) {
      %row = )",
                        kRow, R"(
      %a, %b, %c = pfor {extent = (4)} (%j: i64[]) {
        %below = less(%j, %i)
        %y = if(%below) {
          %f = convert(%j) {dtype = f32}
          %g = add(%f, %row)
          yield %g
        } {
          yield %row
        }
        %zero = constant {value = i64[] {0}}
        %one = constant {value = i64[] {1}}
        %k = multiply(%i, %j)
        %ran = while(%zero) (%t: i64[]) {
          %more = less(%t, %k)
          yield %more
        } (%t: i64[]) {
          %next = add(%t, %one)
          yield %next
        }
        yield %y, %row, %ran
      }
      yield %a, %b, %c
    }
    return %out, %same, %count
  })"));
}

TEST(PforTest, AnInnerLoopThatSeesNothingOfTheOuterIsConvertedToo) {
  ExpectConverts(R"(
  func @main(%x: f32[n]) -> (i64[n,3], i64[n]) {
    %out, %i2 = pfor {extent = (n)} (%i: i64[]) {
      %a = pfor {extent = (3)} (%j: i64[]) {
        %ran = for(%j, %j) (%t: i64[], %v: i64[]) {
          %w = add(%v, %t)
          yield %w
        }
        yield %ran
      }
      yield %a, %i
    }
    return %out, %i2
  })");
}

TEST(PforTest, RowsOfWhatALoopInsideMakesAreGathered) {
  ExpectConverts(R"(
  func @main(%unused: f32[n]) -> (f32[5,2]) {
    %out = pfor {extent = (5)} (%i: i64[]) {
      %two = constant {value = i64[] {2}}
      %rows = for(%two) {extent = (2)} (%j: i64[]) {
        %x = constant {value = f32[5] {1, 2, 3, 4, 5}}
        %r = gather(%x, %i) {collapsed_slice_dims = [0], index_vector_dim = 0,
          offset_dims = [], operand_batching_dims = [], slice_sizes = (1),
          start_index_map = [0], start_indices_batching_dims = []}
        yield %r
      }
      yield %rows
    }
    return %out
  })");
}

// Twice, the second time of what the first made, with branches on both sides.
TEST(PforTest, ReductionsOverIterationsCutTheLoop) {
  constexpr char kText[] = R"(
  func @main(%x: f32[n]) -> (i64[n], i64[n], i64[n,4]) {
    %out, %largest, %everybody = pfor {extent = (n)} (%i: i64[]) {
      %two = constant {value = i64[] {2}}
      %odd = floor_mod(%i, %two)
      %sum = iteration_reduce(%i) {extent = (n), kind = "sum"}
      %is = equal(%odd, %two)
      %y = if(%is) {
        yield %odd
      } {
        %z = subtract(%sum, %i)
        yield %z
      }
      %max = iteration_reduce(%y) {extent = (n), kind = "max"}
      %four = constant {value = i64[] {4}}
      %all = pfor {extent = (4)} (%j: i64[]) {
        %k = multiply(%j, %odd)
        %own = iteration_reduce(%k) {extent = (4), kind = "sum"}
        yield %own
      }
      yield %y, %max, %all
    }
    return %out, %largest, %everybody
  })";
  CompileReport report;
  const absl::StatusOr<Graph> converted = Convert(kText, &report, {.strict = true});
  ASSERT_TRUE(converted.ok()) << converted.status();
  const std::vector<Tensor> inputs = {Tensor::Zeros(DType::kF32, {3})};
  for (const absl::StatusOr<Graph>& graph : {Parse(kText, Ops()), converted}) {
    const absl::StatusOr<std::vector<Tensor>> got = Interpret(*graph, inputs);
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(Difference((*got)[0], Tensor::Of<int64_t>({3}, {3, 2, 1})), "");
    EXPECT_EQ(Difference((*got)[1], Tensor::Of<int64_t>({3}, {3, 3, 3})), "");
    EXPECT_EQ(
        Difference((*got)[2], Tensor::Of<int64_t>({3, 4}, {0, 0, 0, 0, 6, 6, 6, 6, 0, 0, 0, 0})),
        "");
  }
}

TEST(PforTest, AReductionOverIterationsHasTheExtentOfItsLoop) {
  absl::StatusOr<Graph> graph = Parse(R"(
  func @main(%p: bool[]) -> (i64[3,4]) {
    %out = pfor {extent = (3)} (%i: i64[]) {
      %all = iteration_reduce(%i) {extent = (4), kind = "gather"}
      yield %all
    }
    return %out
  })",
                                      Ops());
  ASSERT_TRUE(graph.ok()) << graph.status();
  const absl::Status status = SplitPhases(&*graph);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(status.message()).find("has the extent 4, but the loop around it 3"),
            std::string::npos)
      << status;
}

TEST(PforTest, AReductionOverIterationsStandsInAPfor) {
  absl::StatusOr<Graph> graph = Parse(R"(
  func @main(%p: bool[]) -> (i64[3]) {
    %trips = constant {value = i64[] {3}}
    %out = for(%trips) {extent = (3)} (%i: i64[]) {
      %sum = iteration_reduce(%i) {extent = (3), kind = "sum"}
      yield %sum
    }
    return %out
  })",
                                      Ops());
  ASSERT_TRUE(graph.ok()) << graph.status();
  const absl::Status status = SplitPhases(&*graph);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(status.message()).find("must stand in the body of a pfor"),
            std::string::npos)
      << status;
}

TEST(PforTest, ReductionsThatNeedNothingOfOneAnotherShareACut) {
  absl::StatusOr<Graph> graph = Parse(R"(
  func @main(%x: f32[n]) -> (i64[n]) {
    %out = pfor {extent = (n)} (%i: i64[]) {
      %sum = iteration_reduce(%i) {extent = (n), kind = "sum"}
      %square = multiply(%i, %i)
      %max = iteration_reduce(%square) {extent = (n), kind = "max"}
      %both = add(%sum, %max)
      %own = add(%both, %i)
      %last = iteration_reduce(%own) {extent = (n), kind = "min"}
      yield %last
    }
    return %out
  })",
                                      Ops());
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_TRUE(SplitPhases(&*graph).ok());
  ASSERT_TRUE(Verify(*graph, Ops()).ok()) << Verify(*graph, Ops());
  int loops = 0;
  for (NodeId id : graph->region(graph->entry().body).nodes) {
    loops += graph->node(id).op == "pfor" ? 1 : 0;
  }
  EXPECT_EQ(loops, 3) << Print(*graph);
}

// Rows are cut where iterations meet in loops and branches, of which none may be left to itself.
TEST(PforTest, IterationsMeetInLoopsThatTheyLeave) {
  constexpr char kText[] = R"(
  func @main(%x: f32[n]) -> (i64[n], i64[n,2]) {
    %zero = constant {value = i64[] {0}}
    %one = constant {value = i64[] {1}}
    %two = constant {value = i64[] {2}}
    %sums, %rows = pfor {extent = (n)} (%i: i64[]) {
      %odd = remainder(%i, %two)
      %k, %sum = while(%zero, %zero) (%a: i64[], %b: i64[]) {
        %more = less(%a, %i)
        yield %more
      } (%a2: i64[], %b2: i64[]) {
        %step = case(%odd) {
          %all = iteration_reduce(%i) {extent = (n), kind = "max"}
          yield %all
        } {
          yield %one
        }
        %next = add(%b2, %step)
        %a3 = add(%a2, %one)
        yield %a3, %next
      }
      %r = for(%two) {extent = (2)} (%t: i64[]) {
        %p = add(%t, %sum)
        %least = iteration_reduce(%p) {extent = (n), kind = "min"}
        yield %least
      }
      yield %sum, %r
    }
    return %sums, %rows
  })";
  CompileReport report;
  const absl::StatusOr<Graph> converted = Convert(kText, &report, {.strict = true});
  ASSERT_TRUE(converted.ok()) << converted.status();
  for (int64_t n : {0, 1, 2, 5}) {
    const std::vector<Tensor> inputs = {Tensor::Zeros(DType::kF32, {n})};
    const absl::StatusOr<std::vector<Tensor>> want = Interpret(*Parse(kText, Ops()), inputs);
    ASSERT_TRUE(want.ok()) << want.status();
    for (int64_t ranges : {1, 3}) {
      InterpretOptions options;
      options.shard_ranges = ranges;
      const absl::StatusOr<std::vector<Tensor>> got = Interpret(*converted, inputs, options);
      ASSERT_TRUE(got.ok()) << got.status();
      EXPECT_EQ(Difference((*got)[0], (*want)[0]), "") << n;
      EXPECT_EQ(Difference((*got)[1], (*want)[1]), "") << n;
    }
  }
}

absl::Status StatusOf(const absl::StatusOr<Graph>& graph, const std::vector<Tensor>& inputs) {
  if (!graph.ok()) return graph.status();
  return Interpret(*graph, inputs).status();
}

TEST(PforTest, ChecksNameTheIterationsThatFail) {
  constexpr char kText[] = R"(
  func @main(%x: f32[n]) -> (i64[n]) {
    %out = pfor {extent = (n)} (%i: i64[]) {
      %limit = constant {value = i64[] {3}}
      %few = less(%i, %limit)
      check(%few, %i) {message = "too many"}
      yield %i
    }
    return %out
  })";
  CompileReport report;
  const absl::StatusOr<Graph> converted = Convert(kText, &report, {.strict = true});
  EXPECT_TRUE(StatusOf(converted, {Tensor::Zeros(DType::kF32, {3})}).ok());
  for (const absl::StatusOr<Graph>& graph : {Parse(kText, Ops()), converted}) {
    const absl::Status status = StatusOf(graph, {Tensor::Zeros(DType::kF32, {5})});
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    EXPECT_NE(std::string(status.message()).find("check failed in iteration 3: too many"),
              std::string::npos)
        << status;
  }
}

// The body of iteration i may run i times and no more, and the branch for i = 2 never.
TEST(PforTest, NothingIsCheckedForIterationsThatAreDoneOrElsewhere) {
  ExpectConverts(R"(
  func @main(%x: f32[n]) -> (i64[n], i64[n]) {
    %out, %same = pfor {extent = (n)} (%i: i64[]) {
      %two = constant {value = i64[] {2}}
      %ran = for(%i, %i) (%t: i64[], %v: i64[]) {
        %below = less(%t, %i)
        check(%below, %i) {message = "a trip too many"}
        yield %t
      }
      %is = equal(%i, %two)
      %y = if(%is) {
        yield %two
      } {
        %other = not_equal(%i, %two)
        check(%other, %i) {message = "the other branch"}
        yield %i
      }
      yield %ran, %y
    }
    return %out, %same
  })");
}

// Its trips are always three, which the compiler cannot know.
constexpr char kCollectingLoop[] = R"(
  func @main(%x: f32[n]) -> (i64[n,3]) {
    %out = pfor {extent = (n)} (%i: i64[]) {
      %three = constant {value = i64[] {3}}
      %nothing = subtract(%i, %i)
      %trips = add(%nothing, %three)
      %y = for(%trips) {extent = (3)} (%t: i64[]) {
        %z = add(%t, %i)
        yield %z
      }
      yield %y
    }
    return %out
  })";

TEST(PforTest, AFallbackRunsAndIsReported) {
  CompileReport report;
  absl::StatusOr<Graph> converted = Convert(kCollectingLoop, &report);
  ASSERT_TRUE(converted.ok()) << converted.status();
  ASSERT_EQ(report.fallbacks.size(), 1u);
  EXPECT_EQ(report.fallbacks[0].op, "for");
  EXPECT_FALSE(report.fallbacks[0].reason.empty());
  for (int64_t n : {0, 1, 4}) {
    const std::vector<Tensor> inputs = {Tensor::Zeros(DType::kF32, {n})};
    absl::StatusOr<std::vector<Tensor>> want = Interpret(*Parse(kCollectingLoop, Ops()), inputs);
    absl::StatusOr<std::vector<Tensor>> got = Interpret(*converted, inputs);
    ASSERT_TRUE(want.ok() && got.ok()) << got.status();
    EXPECT_EQ(Difference((*got)[0], (*want)[0]), "") << n;
  }
}

TEST(PforTest, StrictTurnsFallbacksIntoErrors) {
  CompileReport report;
  absl::StatusOr<Graph> converted = Convert(kCollectingLoop, &report, {.strict = true});
  EXPECT_EQ(converted.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(converted.status().message()).find("for"), std::string::npos);
}

TEST(PforTest, WhatDoesNotVaryIsNotStacked) {
  CompileReport report;
  absl::StatusOr<Graph> converted = Convert(R"(
    func @main(%x: f32[n,4], %w: f32[4,5]) -> (f32[n,5]) {
      %out = pfor {extent = (n)} (%i: i64[]) {
        %row = gather(%x, %i) {collapsed_slice_dims = [0], index_vector_dim = 0,
          offset_dims = [0], operand_batching_dims = [], slice_sizes = (1, 4),
          start_index_map = [0], start_indices_batching_dims = []}
        %w2 = add(%w, %w)
        %y = dot_general(%row, %w2) {lhs_batch = [], rhs_batch = [], lhs_contract = [0],
          rhs_contract = [0]}
        yield %y
      }
      return %out
    })",
                                            &report);
  ASSERT_TRUE(converted.ok()) << converted.status();
  const std::string text = Print(*converted);
  EXPECT_EQ(text.find("gather"), std::string::npos) << text;
  EXPECT_EQ(text.find("[m,4,5]"), std::string::npos) << text;
}

TEST(PforTest, TheSequentialFormRunsInALoop) {
  CompileReport report;
  absl::StatusOr<Graph> converted =
      Convert(kCollectingLoop, &report, {.loops = CompileOptions::Loops::kSequential});
  ASSERT_TRUE(converted.ok()) << converted.status();
  EXPECT_NE(Print(*converted).find("for("), std::string::npos);
  const std::vector<Tensor> inputs = {Tensor::Zeros(DType::kF32, {3})};
  absl::StatusOr<std::vector<Tensor>> got = Interpret(*converted, inputs);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(Difference((*got)[0], Tensor::Of<int64_t>({3, 3}, {0, 1, 2, 1, 2, 3, 2, 3, 4})), "");
}

TEST(PforTest, TheSequentialFormOfALoopWithoutResultsChecksAsWell) {
  CompileReport report;
  absl::StatusOr<Graph> converted = Convert(R"(
    func @main(%x: f32[3]) -> (f32[3] "x") {
      pfor {extent = (3)} (%i: i64[]) {
        %two = constant {value = i64[] {2}} : i64[]
        %below = less(%i, %two) : bool[]
        check(%below) {message = "below two"}
        yield
      }
      return %x
    })",
                                            &report, {.loops = CompileOptions::Loops::kSequential});
  ASSERT_TRUE(converted.ok()) << converted.status();
  const absl::Status failed = Interpret(*converted, {Tensor::Zeros(DType::kF32, {3})}).status();
  EXPECT_NE(failed.message().find("below two"), std::string::npos) << failed;
}

}  // namespace
}  // namespace weir
