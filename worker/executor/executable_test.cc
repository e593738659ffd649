// The executor against the interpreter, over the samples of every op and programs with control
// flow.
#include "worker/executor/executable.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>

#include "common/base/status.h"
#include "common/interp/interpreter.h"
#include "common/ir/builder.h"
#include "common/ir/text.h"
#include "common/ops/registry.h"
#include "common/ops/sample_program.h"
#include "common/tensor/compare.h"
#include "worker/executor/allocation_count.h"
#include "worker/executor/region_plan.h"

namespace weir {
namespace {

bool Mentions(const Graph& graph, std::string_view op) {
  for (int i = 0; i < graph.num_nodes(); ++i) {
    if (graph.node(NodeId(i)).op == op) return true;
  }
  return false;
}

absl::StatusOr<std::vector<Tensor>> Execute(const Graph& graph, const std::vector<Tensor>& inputs,
                                            const SymbolBindings& symbols, RunStats* stats) {
  auto program = std::make_shared<const Graph>(graph);
  WEIR_ASSIGN_OR_RETURN(std::unique_ptr<Executable> executable,
                        Executable::Create(program, program->entry().name));
  std::vector<Tensor> outputs(program->region(program->entry().body).results.size());
  Workspace workspace;
  WEIR_RETURN_IF_ERROR(
      executable->Run(symbols, inputs, absl::MakeSpan(outputs), &workspace, stats));
  return outputs;
}

SymbolBindings Symbols(const Graph& graph, const std::vector<Tensor>& inputs) {
  SymbolBindings symbols;
  const std::vector<ValueId>& args = graph.region(graph.entry().body).args;
  for (size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_TRUE(BindShape(graph.type(args[i]).shape, inputs[i].extents(), "input", &symbols).ok());
  }
  return symbols;
}

void CheckText(std::string_view text, const std::vector<Tensor>& inputs) {
  absl::StatusOr<Graph> graph = Parse(text, Ops());
  ASSERT_TRUE(graph.ok()) << graph.status();
  absl::StatusOr<std::vector<Tensor>> want = Interpret(*graph, inputs);
  ASSERT_TRUE(want.ok()) << want.status();
  RunStats stats;
  absl::StatusOr<std::vector<Tensor>> got =
      Execute(*graph, inputs, Symbols(*graph, inputs), &stats);
  ASSERT_TRUE(got.ok()) << got.status();
  for (size_t i = 0; i < want->size(); ++i) {
    EXPECT_EQ(Difference((*got)[i], (*want)[i], {.ulp = 8}), "") << text;
  }
}

TEST(ExecutableTest, EverySampleOfEveryOpAgreesWithTheInterpreter) {
  for (const OpDef& op : AllOps()) {
    const std::vector<Sample> samples = op.samples();
    for (size_t s = 0; s < samples.size(); ++s) {
      const std::string where = StrCat(op.name, " sample ", s, " \"", samples[s].label, "\"");
      absl::StatusOr<Graph> graph = ProgramOf(op, samples[s]);
      ASSERT_TRUE(graph.ok()) << where << ": " << graph.status();
      if (Mentions(*graph, "pfor")) continue;
      const std::vector<Tensor> inputs = OperandsOf(samples[s]);
      absl::StatusOr<std::vector<Tensor>> want = Interpret(*graph, inputs);
      RunStats stats;
      absl::StatusOr<std::vector<Tensor>> got =
          Execute(*graph, inputs, Symbols(*graph, inputs), &stats);
      ASSERT_EQ(got.ok(), want.ok()) << where << ": " << got.status() << " / " << want.status();
      if (!want.ok()) continue;
      for (size_t i = 0; i < want->size(); ++i) {
        EXPECT_EQ(Difference((*got)[i], (*want)[i], {samples[s].ulp, samples[s].absolute}), "")
            << where;
      }
    }
  }
}

TEST(ExecutableTest, LoopsCarryAndCollect) {
  CheckText(R"(
    func @main(%x: f32[4]) -> (f32[4], f32[5,4]) {
      %t = constant {value = i64[] {5}}
      %a, %all = for(%t, %x) {extent = (5)} (%i: i64[], %c: f32[4]) {
        %d = add(%c, %c)
        %e = subtract(%d, %x)
        yield %e, %c
      }
      return %a, %all
    })" + std::string(),
            {Tensor::Of<float>({4}, {1, 2, 3, 4})});
}

Tensor SmallIntegers(const Extents& extents) {
  Tensor tensor(DType::kF32, extents);
  float* data = tensor.mutable_data<float>();
  for (int64_t i = 0; i < tensor.num_elements(); ++i) data[i] = static_cast<float>(i * 37 % 11) - 5;
  return tensor;
}

constexpr char kOwnTrips[] = R"(
    func @main(%trips: i64[n], %x: f32[n]) -> (f32[n]) {
      %zero = constant {value = i64[] {0}}
      %one = constant {value = i64[] {1}}
      %ran, %out = while_rows(%zero, %x, %trips) {carried = 1, extent = (n), local = "k",
          shared = 1} (%i: i64[], %v: f32[k], %t: i64[k]) {
        %is = broadcast_in_dim(%i) {axes = [], shape = (k)}
        %more = less(%is, %t)
        yield %more
      } (%i: i64[], %v: f32[k], %t: i64[k]) {
        %next = add(%i, %one)
        %w = add(%v, %v)
        yield %next, %w
      }
      return %out
    })";

// Rows run exactly as often as their trips say, and each that is done moves one other at most.
TEST(ExecutableTest, RowsThatAreDoneRunNoMore) {
  absl::StatusOr<Graph> graph = Parse(kOwnTrips, Ops());
  ASSERT_TRUE(graph.ok()) << graph.status();
  for (const std::vector<int64_t>& trips :
       {std::vector<int64_t>{4, 0, 2}, {0, 0}, {1, 2, 3, 4, 5, 6, 7}, {7, 6, 5, 4, 3, 2, 1}}) {
    const int64_t n = static_cast<int64_t>(trips.size());
    int64_t all = 0;
    Tensor counts(DType::kI64, {n});
    for (int64_t i = 0; i < n; ++i) all += counts.mutable_data<int64_t>()[i] = trips[i];
    const std::vector<Tensor> inputs = {counts, SmallIntegers({n})};
    RunStats stats;
    absl::StatusOr<std::vector<Tensor>> got = Execute(*graph, inputs, {{"n", n}}, &stats);
    absl::StatusOr<std::vector<Tensor>> want = Interpret(*graph, inputs);
    ASSERT_TRUE(got.ok() && want.ok()) << got.status();
    EXPECT_EQ(Difference((*got)[0], (*want)[0]), "");
    EXPECT_EQ(stats.rows_run, all);
    EXPECT_LE(stats.rows_moved, n);
  }
}

// For each result of a loop's body the argument that it updates where that lies.
std::vector<int> Updates(const std::string& body) {
  const std::string text = StrCat(R"(
    func @main(%n: i64[], %x: i64[8], %y: i64[8], %i: i64[], %v: i64[1]) -> (i64[8], i64[8]) {
      %a, %b = for(%n, %x, %y) (%k: i64[], %p: i64[8], %q: i64[8]) {)",
                                  body, R"(
      } : i64[8], i64[8]
      return %a, %b
    })");
  CheckText(text, {Tensor::Scalar<int64_t>(5), Rand(DType::kI64, {8}, -9, 9).Make(1),
                   Rand(DType::kI64, {8}, -9, 9).Make(2), Tensor::Scalar<int64_t>(3),
                   Tensor::Of<int64_t>({1}, {7})});
  absl::StatusOr<Graph> graph = Parse(text, Ops());
  EXPECT_TRUE(graph.ok()) << graph.status();
  const Graph program = *std::move(graph);
  const RegionId region = program.node(program.region(program.entry().body).nodes[0]).regions[0];
  const auto plan = RegionPlan::Create(program, region, program.Captures(region), Isa::kBaseline);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return {(*plan)->updated_arg(0), (*plan)->updated_arg(1)};
}

using Args = std::vector<int>;

TEST(ExecutableTest, ALoopUpdatesInPlaceWhatNothingReadsBehindTheUpdate) {
  EXPECT_EQ(Updates(R"(
      %old = dynamic_slice(%p, %k) {sizes = (1)}
      %w = add(%old, %v)
      %p2 = dynamic_update_slice(%p, %w, %i)
      %q2 = dynamic_update_slice(%q, %v, %k)
      yield %p2, %q2)"),
            (Args{1, 2}));
  EXPECT_EQ(Updates(R"(
      %p2 = dynamic_update_slice(%p, %v, %k)
      %new = dynamic_slice(%p2, %i) {sizes = (1)}
      %w = add(%new, %v)
      %p3 = dynamic_update_slice(%p2, %w, %i)
      %q2 = dynamic_update_slice(%q, %v, %k)
      %q3 = dynamic_update_slice(%q2, %v, %i)
      %sum = add(%q2, %q3)
      %q4 = dynamic_update_slice(%sum, %v, %i)
      yield %p3, %q4)"),
            (Args{1, -1}))
      << "an update of an update, and one of something new";
  EXPECT_EQ(Updates(R"(
      %p2 = dynamic_update_slice(%p, %v, %k)
      %p3 = dynamic_update_slice(%p2, %v, %i)
      %q2 = add(%p2, %q)
      yield %p3, %q2)"),
            (Args{-1, -1}))
      << "what is between is read later";
}

TEST(ExecutableTest, ALoopCopiesWhatIsReadBehindItsUpdate) {
  EXPECT_EQ(Updates(R"(
      %p2 = dynamic_update_slice(%p, %v, %k)
      %old = dynamic_slice(%p, %k) {sizes = (1)}
      %q2 = dynamic_update_slice(%q, %old, %k)
      yield %p2, %q2)"),
            (Args{-1, 2}))
      << "read behind the update";
  EXPECT_EQ(Updates(R"(
      %p2 = dynamic_update_slice(%p, %v, %k)
      yield %p2, %p)"),
            (Args{-1, -1}))
      << "handed on as it was";
  EXPECT_EQ(Updates(R"(
      %r = reshape(%p) {shape = (8)}
      %p2 = dynamic_update_slice(%p, %v, %k)
      %q2 = add(%r, %q)
      yield %p2, %q2)"),
            (Args{-1, -1}))
      << "read through a view";
  EXPECT_EQ(Updates(R"(
      %half = slice(%p) {start = (0), limit = (4), stride = [1]}
      %p2 = dynamic_update_slice(%p, %half, %k)
      %q2 = dynamic_update_slice(%p, %v, %k)
      yield %p2, %q2)"),
            (Args{-1, -1}))
      << "the update reads it twice, and two results update it";
  EXPECT_EQ(Updates(R"(
      %p2 = dynamic_update_slice(%p, %v, %k)
      %q2 = dynamic_update_slice(%q, %v, %k)
      yield %q2, %p2)"),
            (Args{2, 1}))
      << "each trip exchanges them, so the loop copies";
}

TEST(ExecutableTest, ABranchRunsForItsRowsOnly) {
  constexpr char kText[] = R"(
    func @main(%which: i32[n], %x: f32[n]) -> (f32[n]) {
      %out = case_rows(%which, %x, %x) {local = "k", operands = [1, 1]} (%a: f32[k]) {
        %b = add(%a, %a)
        yield %b
      } (%c: f32[k]) {
        %d = multiply(%c, %c)
        yield %d
      }
      return %out
    })";
  absl::StatusOr<Graph> graph = Parse(kText, Ops());
  ASSERT_TRUE(graph.ok()) << graph.status();
  Tensor which(DType::kI32, {100});
  for (int64_t i = 0; i < 100; ++i) which.mutable_data<int32_t>()[i] = i == 37 ? 1 : 0;
  const std::vector<Tensor> inputs = {which, SmallIntegers({100})};
  RunStats stats;
  absl::StatusOr<std::vector<Tensor>> got = Execute(*graph, inputs, {{"n", 100}}, &stats);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(Difference((*got)[0], (*Interpret(*graph, inputs))[0]), "");
  EXPECT_EQ(stats.rows_run, 100);
  EXPECT_EQ(stats.kernel_launches, 2);
}

constexpr char kLengths[] = R"(
    func @main(%counts: i64[n], %x: f32[n,5]) -> (f32[n,5], i64[n,5]) {
      %out, %which = ragged_rows(%counts) {extent = (5), local = "k"} (%r: i64[k], %j: i64[k]) {
        %rs = reshape(%r) {shape = (k, 1)}
        %js = reshape(%j) {shape = (k, 1)}
        %at = concatenate(%rs, %js) {axis = 1}
        %e = gather(%x, %at) {collapsed_slice_dims = [0, 1], index_vector_dim = 1,
            offset_dims = [], operand_batching_dims = [], slice_sizes = (1, 1),
            start_index_map = [0, 1], start_indices_batching_dims = []}
        %f = multiply(%e, %e)
        yield %f, %j
      }
      return %out, %which
    })";

// Lanes run exactly as often as the counts say, in as many launches for any of them.
TEST(ExecutableTest, RowsHaveAsManyLanesAsTheirCounts) {
  absl::StatusOr<Graph> graph = Parse(kLengths, Ops());
  ASSERT_TRUE(graph.ok()) << graph.status();
  int64_t launches = -1;
  for (const std::vector<int64_t>& counts :
       {std::vector<int64_t>{4, 0, 2}, {5, 5}, {1}, {0, 0, 5, 0, 3, 1, 0}, {0, 0}, {}}) {
    const int64_t n = static_cast<int64_t>(counts.size());
    const std::vector<Tensor> inputs = {Tensor::FromSpan<int64_t>({n}, counts),
                                        SmallIntegers({n, 5})};
    RunStats stats;
    absl::StatusOr<std::vector<Tensor>> got = Execute(*graph, inputs, {{"n", n}}, &stats);
    absl::StatusOr<std::vector<Tensor>> want = Interpret(*graph, inputs);
    ASSERT_TRUE(got.ok() && want.ok()) << got.status() << want.status();
    for (size_t r = 0; r < want->size(); ++r) EXPECT_EQ(Difference((*got)[r], (*want)[r]), "");
    const int64_t lanes = std::accumulate(counts.begin(), counts.end(), int64_t{0});
    EXPECT_EQ(stats.rows_run, lanes);
    if (lanes == 0) {
      EXPECT_EQ(stats.kernel_launches, 0);
      continue;
    }
    if (launches < 0) launches = stats.kernel_launches;
    EXPECT_EQ(stats.kernel_launches, launches);
  }
}

TEST(ExecutableTest, ACountOutsideOfTheExtentFails) {
  absl::StatusOr<Graph> graph = Parse(kLengths, Ops());
  ASSERT_TRUE(graph.ok()) << graph.status();
  for (int64_t count : {-1, 6}) {
    const std::vector<Tensor> inputs = {Tensor::Of<int64_t>({2}, {3, count}),
                                        SmallIntegers({2, 5})};
    RunStats stats;
    const absl::Status got = Execute(*graph, inputs, {{"n", 2}}, &stats).status();
    EXPECT_EQ(got, Interpret(*graph, inputs).status());
    EXPECT_EQ(got.code(), absl::StatusCode::kFailedPrecondition) << got;
  }
}

// Batches whose rows lie innermost between the layers, in lines with and without a rest.
TEST(ExecutableTest, LayersOverBatchesOfAnySize) {
  for (int64_t rows : {1, 17, 64, 65, 80, 333}) {
    CheckText(
        R"(
      func @main(%x: f32[n,2,4,4], %f: f32[5,2,3,3], %w: f32[80,3]) -> (f32[n,3], f32[n,80]) {
        %c = convolution(%x, %f) {lhs_dilation = [1, 1], padding_high = [1, 1],
            padding_low = [1, 1], rhs_dilation = [1, 1], window_strides = [1, 1]}
        %r = relu(%c)
        %s = add(%r, %c)
        %v = reshape(%s) {shape = (n, 80)}
        %d = dot_general(%v, %w) {lhs_batch = [], lhs_contract = [1], rhs_batch = [],
            rhs_contract = [0]}
        return %d, %v
      })",
        {SmallIntegers({rows, 2, 4, 4}), SmallIntegers({5, 2, 3, 3}), SmallIntegers({80, 3})});
  }
}

TEST(ExecutableTest, WhileSwapsItsValues) {
  CheckText(R"(
    func @main(%x: i64[], %y: i64[]) -> (i64[], i64[], i64[]) {
      %zero = constant {value = i64[] {0}}
      %a, %b, %k = while(%x, %y, %zero) (%p: i64[], %q: i64[], %i: i64[]) {
        %five = constant {value = i64[] {5}}
        %more = less(%i, %five)
        yield %more
      } (%p: i64[], %q: i64[], %i: i64[]) {
        %one = constant {value = i64[] {1}}
        %next = add(%i, %one)
        yield %q, %p, %next
      }
      return %a, %b, %k
    })",
            {Tensor::Scalar<int64_t>(10), Tensor::Scalar<int64_t>(20)});
}

TEST(ExecutableTest, BranchesCallsAndRecursion) {
  constexpr char kText[] = R"(
    func @main(%x: i64[]) -> (i64[]) {
      %y = call(%x) {callee = "fib"}
      return %y
    }
    func @fib(%n: i64[]) -> (i64[]) {
      %two = constant {value = i64[] {2}}
      %small = less(%n, %two)
      %y = if(%small) {
        yield %n
      } {
        %one = constant {value = i64[] {1}}
        %a = subtract(%n, %one)
        %b = subtract(%n, %two)
        %fa = call(%a) {callee = "fib"} : i64[]
        %fb = call(%b) {callee = "fib"} : i64[]
        %sum = add(%fa, %fb)
        yield %sum
      } : i64[]
      return %y
    })";
  CheckText(kText, {Tensor::Scalar<int64_t>(12)});
}

TEST(ExecutableTest, ElementwiseGraphsAreOneLaunch) {
  Graph graph;
  Builder b(&graph, graph.AddFunction("main").body, &Ops());
  const TensorType type{DType::kF32, {Dim::Symbol("n"), 33}};
  std::vector<ValueId> values = {b.AddArg(type), b.AddArg(type), b.AddArg(type)};
  const char* ops[] = {"add", "multiply", "subtract", "maximum", "minimum"};
  for (int i = 0; i < 20; ++i) {
    const ValueId x = values[(i * 7 + 3) % values.size()];
    values.push_back(i % 4 == 3 ? b.Apply("tanh", {values.back()})
                                : b.Apply(ops[i % 5], {values.back(), x}));
  }
  b.Yield({values.back()});
  ASSERT_TRUE(b.ok()) << b.status();
  std::vector<Tensor> inputs;
  for (uint64_t i = 0; i < 3; ++i) inputs.push_back(Rand(DType::kF32, {70, 33}).Make(i));
  RunStats stats;
  absl::StatusOr<std::vector<Tensor>> got = Execute(graph, inputs, {{"n", 70}}, &stats);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(stats.kernel_launches, 1);
  absl::StatusOr<std::vector<Tensor>> want = Interpret(graph, inputs);
  ASSERT_TRUE(want.ok());
  EXPECT_EQ(Difference((*got)[0], (*want)[0]), "");
}

// The first runs make the arena and the plans of what they find.
void ExpectWarmRunsToAllocateNothing(const std::string& text, const std::vector<Tensor>& inputs,
                                     std::vector<Tensor> outputs, const SymbolBindings& symbols) {
  absl::StatusOr<Graph> parsed = Parse(text, Ops());
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  auto program = std::make_shared<const Graph>(*std::move(parsed));
  absl::StatusOr<std::unique_ptr<Executable>> executable = Executable::Create(program, "main");
  ASSERT_TRUE(executable.ok()) << executable.status();
  Workspace workspace;
  RunStats stats;
  for (int i = 0; i < 3; ++i) {
    const int64_t before = AllocationsOnThisThread();
    const absl::Status status =
        (*executable)->Run(symbols, inputs, absl::MakeSpan(outputs), &workspace, &stats);
    const int64_t allocations = AllocationsOnThisThread() - before;
    ASSERT_TRUE(status.ok()) << status;
    if (i == 2) {
      EXPECT_EQ(allocations, 0) << text;
    }
  }
}

TEST(ExecutableTest, AWarmRunAllocatesNothing) {
  ExpectWarmRunsToAllocateNothing(
      R"(
    func @main(%x: f32[n,1,8,8], %k: f32[16,1,3,3], %w: f32[1024,10]) -> (f32[n,10]) {
      %c = convolution(%x, %k) {window_strides = [1, 1], padding_low = [1, 1],
        padding_high = [1, 1], lhs_dilation = [1, 1], rhs_dilation = [1, 1]}
      %r = relu(%c)
      %f = reshape(%r) {shape = (n, 1024)}
      %y = dot_general(%f, %w) {lhs_batch = [], rhs_batch = [], lhs_contract = [1],
        rhs_contract = [0]}
      return %y
    })",
      {Rand(DType::kF32, {32, 1, 8, 8}).Make(1), Rand(DType::kF32, {16, 1, 3, 3}).Make(2),
       Rand(DType::kF32, {1024, 10}).Make(3)},
      {Tensor(DType::kF32, {32, 10})}, {{"n", 32}});
}

// In the lanes of vectors, and one by one.
TEST(ExecutableTest, WarmFactorizationsAllocateNothing) {
  for (DType dtype : {DType::kF32, DType::kC128}) {
    for (int64_t side : {5, 70}) {
      const std::string type = StrCat(DTypeName(dtype), "[n,", side, ",", side, "]");
      const Extents extents = {9, side, side};
      ExpectWarmRunsToAllocateNothing(
          StrCat("func @main(%x: ", type, ") -> (", type, ", ", type, ", ", type, ", i32[n,", side,
                 "], i32[n,", side,
                 "]) { %c = cholesky(%x) {lower = true} "
                 "%t = triangular_solve(%x, %x) {left_side = true, lower = true, "
                 "transpose_a = \"TRANSPOSE\", unit_diagonal = false} "
                 "%l, %p, %o = lu(%x) return %c, %t, %l, %p, %o }"),
          {Rand(dtype, extents).Make(1)},
          {Tensor(dtype, extents), Tensor(dtype, extents), Tensor(dtype, extents),
           Tensor(DType::kI32, {9, side}), Tensor(DType::kI32, {9, side})},
          {{"n", 9}});
    }
  }
}

TEST(ExecutableTest, WarmTransformsAllocateNothing) {
  for (int64_t length : {1, 8, 60, 97, 1000}) {
    const std::string type = StrCat("c64[n,", length, "]");
    ExpectWarmRunsToAllocateNothing(
        StrCat("func @main(%x: ", type, ") -> (", type, ") { %y = fft(%x) {fft_type = \"FFT\", ",
               "fft_length = (", length, ")} return %y }"),
        {Rand(DType::kC64, {9, length}).Make(1)}, {Tensor(DType::kC64, {9, length})}, {{"n", 9}});
  }
}

TEST(ExecutableTest, WrongInputsAreErrors) {
  absl::StatusOr<Graph> graph = Parse(R"(
    func @main(%x: f32[n,3]) -> (f32[n,3]) {
      %y = add(%x, %x)
      return %y
    })",
                                      Ops());
  ASSERT_TRUE(graph.ok());
  RunStats stats;
  EXPECT_FALSE(Execute(*graph, {Tensor::Zeros(DType::kF32, {2, 4})}, {{"n", 2}}, &stats).ok());
  EXPECT_FALSE(Execute(*graph, {}, {{"n", 2}}, &stats).ok());
  EXPECT_FALSE(Execute(*graph, {Tensor::Zeros(DType::kF64, {2, 3})}, {{"n", 2}}, &stats).ok());
}

}  // namespace
}  // namespace weir
