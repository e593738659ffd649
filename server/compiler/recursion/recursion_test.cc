// Recursive programs as loops, and those vectorized, against the interpreter.
#include "server/compiler/recursion/recursion.h"

#include <algorithm>

#include "common/base/str_cat.h"
#include "common/interp/test_run.h"
#include "common/ir/verify.h"
#include "common/ops/control/recursion.h"
#include "common/tensor/compare.h"
#include "gmock/gmock.h"
#include "server/compiler/map.h"
#include "server/compiler/pipeline.h"

namespace weir {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Tensor I(int64_t value) { return Tensor::Scalar<int64_t>(value); }

bool Calls(const Graph& graph) {
  for (int i = 0; i < graph.num_nodes(); ++i) {
    if (graph.node(NodeId(i)).op == "call") return true;
  }
  return false;
}

// Runs every stage of the compiler on the program as it is, and compares with the interpreter.
void CheckAlone(const std::string& text, const std::vector<Tensor>& inputs) {
  const Graph program = MustParse(text);
  const auto want = Interpret(program, inputs);
  ASSERT_TRUE(want.ok()) << want.status() << text;
  int lowered = 0;
  absl::StatusOr<Compiled> compiled =
      Compile(program, {}, [&](const Pass& pass, const Graph& graph) {
        const absl::Status verified = Verify(graph, Ops());
        ASSERT_TRUE(verified.ok()) << pass.name << ": " << verified << "\n" << Print(graph);
        const auto got = Interpret(graph, inputs);
        ASSERT_TRUE(got.ok()) << pass.name << ": " << got.status() << "\n" << Print(graph);
        EXPECT_EQ(Texts(*got), Texts(*want)) << pass.name << "\n" << Print(graph);
        if (pass.name == "recursion") lowered = static_cast<int>(Recursion(graph).sets().size());
      });
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  EXPECT_EQ(lowered, 0);
  EXPECT_FALSE(Calls(compiled->graph));
}

// The same for the program mapped over the rows of its inputs, strictly, for some numbers of them.
void CheckMapped(const std::string& text, const std::vector<std::vector<Tensor>>& rows) {
  const Graph program = MustParse(text);
  std::vector<std::string> names;
  for (ValueId arg : program.region(program.entry().body).args) {
    names.push_back(program.value(arg).name);
  }
  absl::StatusOr<Graph> mapped = MapOver(program, names);
  ASSERT_TRUE(mapped.ok()) << mapped.status();
  absl::StatusOr<Compiled> compiled = Compile(*mapped, {.strict = true});
  ASSERT_TRUE(compiled.ok()) << compiled.status() << text;
  absl::StatusOr<Compiled> looped = Compile(*mapped, {.loops = CompileOptions::Loops::kSequential});
  ASSERT_TRUE(looped.ok()) << looped.status() << text;
  for (size_t n : {size_t{0}, size_t{1}, rows.size()}) {
    std::vector<Tensor> inputs;
    for (size_t k = 0; k < names.size(); ++k) {
      std::vector<Tensor> column;
      for (size_t i = 0; i < n; ++i) column.push_back(rows[i][k]);
      inputs.push_back(Stack(rows[0][k].dtype(), rows[0][k].extents(), column));
    }
    for (int64_t ranges : {1, 3}) {
      const auto want = Interpret(*mapped, inputs);
      const auto got = Interpret(compiled->graph, inputs, {.shard_ranges = ranges});
      ASSERT_TRUE(want.ok()) << want.status();
      ASSERT_TRUE(got.ok()) << got.status() << "\n" << Print(compiled->graph);
      EXPECT_EQ(Texts(*got), Texts(*want)) << n << " lanes\n" << Print(compiled->graph);
      EXPECT_EQ(Texts(*Interpret(looped->graph, inputs)), Texts(*want));
    }
  }
}

void CheckFor(const std::string& text, const std::vector<int64_t>& values) {
  std::vector<std::vector<Tensor>> rows;
  for (int64_t value : values) rows.push_back({I(value)});
  for (const std::vector<Tensor>& row : rows) CheckAlone(text, row);
  CheckMapped(text, rows);
}

constexpr char kFactorial[] = R"(
  func @main(%n: i64[]) -> (i64[]) {
    %out = call(%n) {callee = "f"}
    return %out
  }
  func @f(%n: i64[]) -> (i64[]) {
    %one = constant {value = i64[] {1}}
    %small = less_equal(%n, %one)
    %out = if(%small) {
      yield %one
    } {
      %m = subtract(%n, %one)
      %rest = call(%m) {callee = "f"} : i64[]
      %product = multiply(%n, %rest)
      yield %product
    } : i64[]
    return %out
  })";

TEST(RecursionTest, Factorial) { CheckFor(kFactorial, {0, 1, 5, 12, 3}); }

constexpr char kFibonacci[] = R"(
  func @main(%n: i64[]) -> (i64[]) {
    %one = constant {value = i64[] {1}}
    %two = constant {value = i64[] {2}}
    %small = less(%n, %two)
    %out = if(%small) {
      yield %n
    } {
      %n1 = subtract(%n, %one)
      %n2 = subtract(%n, %two)
      %a = call(%n1) {callee = "main"} : i64[]
      %b = call(%n2) {callee = "main"} : i64[]
      %sum = add(%a, %b)
      yield %sum
    } : i64[]
    return %out
  })";

TEST(RecursionTest, TheEntryMayCallItself) { CheckFor(kFibonacci, {0, 1, 7, 2, 9}); }

TEST(RecursionTest, FunctionsThatCallEachOther) {
  CheckFor(R"(
    func @main(%n: i64[]) -> (bool[], bool[]) {
      %a = call(%n) {callee = "even"}
      %b = call(%n) {callee = "odd"}
      return %a, %b
    }
    func @even(%n: i64[]) -> (bool[]) {
      %zero = constant {value = i64[] {0}}
      %one = constant {value = i64[] {1}}
      %done = equal(%n, %zero)
      %out = if(%done) {
        yield %done
      } {
        %m = subtract(%n, %one)
        %odd = call(%m) {callee = "odd"} : bool[]
        yield %odd
      } : bool[]
      return %out
    }
    func @odd(%n: i64[]) -> (bool[]) {
      %zero = constant {value = i64[] {0}}
      %one = constant {value = i64[] {1}}
      %done = equal(%n, %zero)
      %m = subtract(%n, %one)
      %out = if(%done) {
        %no = not(%done)
        yield %no
      } {
        %even = call(%m) {callee = "even"} : bool[]
        %same = and(%even, %even)
        yield %same
      } : bool[]
      return %out
    })",
           {0, 1, 7, 10});
}

TEST(RecursionTest, AckermannCallsItselfInAnArgumentOfItself) {
  CheckFor(R"(
    func @main(%n: i64[]) -> (i64[]) {
      %two = constant {value = i64[] {2}}
      %out = call(%two, %n) {callee = "a"}
      return %out
    }
    func @a(%m: i64[], %n: i64[]) -> (i64[]) {
      %zero = constant {value = i64[] {0}}
      %one = constant {value = i64[] {1}}
      %m0 = equal(%m, %zero)
      %n0 = equal(%n, %zero)
      %out = if(%m0) {
        %next = add(%n, %one)
        yield %next
      } {
        %less = subtract(%m, %one)
        %inner = if(%n0) {
          yield %one
        } {
          %n1 = subtract(%n, %one)
          %deep = call(%m, %n1) {callee = "a", max_depth = 90} : i64[]
          yield %deep
        } : i64[]
        %last = call(%less, %inner) {callee = "a"} : i64[]
        yield %last
      } : i64[]
      return %out
    })",
           {0, 3, 1, 2});
}

// Two trees of calls: the loop's trips call, one of them in its condition, and rows are collected.
constexpr char kLoops[] = R"(
  func @main(%n: i64[]) -> (i64[], i64[3], i64[2]) {
    %x = constant {value = i64[2] {3, 4}}
    %a, %b, %c = call(%n, %x) {callee = "f"} : i64[], i64[3], i64[2]
    return %a, %b, %c
  }
  func @f(%n: i64[], %x: i64[2]) -> (i64[], i64[3], i64[2]) {
    %zero = constant {value = i64[] {0}}
    %one = constant {value = i64[] {1}}
    %three = constant {value = i64[] {3}}
    %zeros = broadcast_in_dim(%zero) {shape = (3), axes = []}
    %wide = broadcast_in_dim(%n) {shape = (2), axes = []}
    %y = add(%x, %wide)
    %more = less(%zero, %n)
    %a, %b, %c = if(%more) {
      %m = subtract(%n, %one)
      %sum, %row, %all = for(%three, %n, %x) {extent = (3)} (%i: i64[], %s: i64[], %r: i64[2]) {
        %k = minimum(%i, %m)
        %p, %q, %t = call(%k, %r) {callee = "f"} : i64[], i64[3], i64[2]
        %s2 = add(%s, %p)
        %r2 = add(%t, %x)
        %ip = add(%i, %p)
        yield %s2, %r2, %ip
      } : i64[], i64[2], i64[3]
      %last, %work = while(%m, %zero) (%j: i64[], %w: i64[]) {
        %half = minimum(%j, %one)
        %less = subtract(%half, %one)
        %p, %q, %t = call(%less, %row) {callee = "f"} : i64[], i64[3], i64[2]
        %limit = subtract(%p, %p)
        %go = less(%limit, %j)
        yield %go
      } (%j: i64[], %w: i64[]) {
        %j2 = subtract(%j, %one)
        %w2 = add(%w, %sum)
        yield %j2, %w2
      } : i64[], i64[]
      %total = add(%sum, %work)
      %final = add(%row, %y)
      yield %total, %all, %final
    } {
      yield %n, %zeros, %y
    } : i64[], i64[3], i64[2]
    return %a, %b, %c
  })";

TEST(RecursionTest, CallsInLoopsAndInTheirConditions) { CheckFor(kLoops, {0, 1, 3, 2}); }

TEST(RecursionTest, CallsInBranchesThatMeetAgain) {
  CheckFor(R"(
    func @main(%n: i64[]) -> (i64[]) {
      %out = call(%n) {callee = "f"}
      return %out
    }
    func @f(%n: i64[]) -> (i64[]) {
      %zero = constant {value = i64[] {0}}
      %one = constant {value = i64[] {1}}
      %two = constant {value = i64[] {2}}
      %three = constant {value = i64[] {3}}
      %m = subtract(%n, %one)
      %kind = remainder(%n, %three)
      %small = less(%n, %one)
      %a = case(%kind) {
        yield %m
      } {
        %twice = add(%n, %n)
        yield %twice
      } {
        %deep = if(%small) {
          yield %n
        } {
          %c = call(%m) {callee = "f"} : i64[]
          yield %c
        } : i64[]
        %deeper = add(%deep, %kind)
        yield %deeper
      } : i64[]
      %odd = remainder(%n, %two)
      %is_odd = equal(%odd, %one)
      %big = less(%one, %n)
      %calls = and(%is_odd, %big)
      %b = if(%calls) {
        %h = divide(%n, %two)
        %c = call(%h) {callee = "f"} : i64[]
        %d = call(%c) {callee = "g"} : i64[]
        yield %d
      } {
        yield %a
      } : i64[]
      %s = add(%a, %b)
      %t = add(%s, %m)
      return %t
    }
    func @g(%n: i64[]) -> (i64[]) {
      %two = constant {value = i64[] {2}}
      %r = remainder(%n, %two)
      %out = call(%r) {callee = "f"} : i64[]
      return %out
    })",
           {0, 1, 2, 3, 5, 11, 17, 29});
}

TEST(RecursionTest, NestedMachinesAndCallsFromLoopsOutside) {
  CheckFor(R"(
    func @main(%n: i64[]) -> (i64[], i64[4]) {
      %four = constant {value = i64[] {4}}
      %sum, %all = for(%four, %n) {extent = (4)} (%i: i64[], %s: i64[]) {
        %k = minimum(%i, %n)
        %a = call(%k) {callee = "outer"} : i64[]
        %t = add(%s, %a)
        yield %t, %a
      } : i64[], i64[4]
      %last = call(%n) {callee = "inner"} : i64[]
      %out = add(%last, %sum)
      return %out, %all
    }
    func @outer(%n: i64[]) -> (i64[]) {
      %zero = constant {value = i64[] {0}}
      %one = constant {value = i64[] {1}}
      %end = less_equal(%n, %zero)
      %out = if(%end) {
        yield %one
      } {
        %m = subtract(%n, %one)
        %a = call(%n) {callee = "inner"} : i64[]
        %b = call(%m) {callee = "outer"} : i64[]
        %c = add(%a, %b)
        yield %c
      } : i64[]
      return %out
    }
    func @inner(%n: i64[]) -> (i64[]) {
      %zero = constant {value = i64[] {0}}
      %one = constant {value = i64[] {1}}
      %end = less_equal(%n, %zero)
      %out = if(%end) {
        yield %n
      } {
        %m = subtract(%n, %one)
        %b = call(%m) {callee = "inner"} : i64[]
        %c = add(%n, %b)
        yield %c
      } : i64[]
      return %out
    })",
           {0, 3, 6});
}

TEST(RecursionTest, SizesAreThoseOfTheCaller) {
  constexpr char kText[] = R"(
    func @main(%n: i64[], %x: f32[3], %y: f32[2,3]) -> (f32[3], f32[3], f32[2]) {
      %a, %b = call(%n, %x) {callee = "f"} : f32[3], f32[3]
      %r = slice(%y) {start = (0, 0), limit = (2, 1), stride = [1, 1]}
      %s = reshape(%r) {shape = (2)}
      %c, %d = call(%n, %s) {callee = "f"} : f32[2], f32[2]
      return %a, %b, %c
    }
    func @f(%n: i64[], %x: f32[k]) -> (f32[k], f32[k]) {
      %zero = constant {value = i64[] {0}}
      %one = constant {value = i64[] {1}}
      %end = less_equal(%n, %zero)
      %a, %b = if(%end) {
        yield %x, %x
      } {
        %m = subtract(%n, %one)
        %y = exp(%x)
        %p, %q = call(%m, %x) {callee = "g"} : f32[k], f32[k]
        %s = add(%p, %y)
        yield %s, %q
      } : f32[k], f32[k]
      return %a, %b
    }
    func @g(%n: i64[], %z: f32[j]) -> (f32[j], f32[j]) {
      %two = add(%z, %z)
      %a, %b = call(%n, %two) {callee = "f"} : f32[j], f32[j]
      return %b, %a
    })";
  std::vector<std::vector<Tensor>> rows;
  for (int64_t n : {0, 1, 4, 3}) {
    rows.push_back({I(n), Rand(DType::kF32, {3}, -1, 0).Make(n + 1),
                    Rand(DType::kF32, {2, 3}, -1, 0).Make(n + 9)});
    CheckAlone(kText, rows.back());
  }
  CheckMapped(kText, rows);
}

TEST(RecursionTest, DrawsAreThoseOfTheirKeys) {
  constexpr char kText[] = R"(
    func @main(%n: i64[], %key: u64[]) -> (f32[2]) {
      %out = call(%n, %key) {callee = "f"} : f32[2]
      return %out
    }
    func @f(%n: i64[], %key: u64[]) -> (f32[2]) {
      %one = constant {value = i64[] {1}}
      %two = constant {value = i64[] {2}}
      %here = rng_uniform(%key) {seed = 1, draw = 0, shape = (2), dtype = f32}
      %end = less(%n, %one)
      %out = if(%end) {
        yield %here
      } {
        %m = subtract(%n, %one)
        %left = rng_fold(%key, %one)
        %right = rng_fold(%key, %two)
        %a = call(%m, %left) {callee = "f"} : f32[2]
        %b = call(%m, %right) {callee = "f"} : f32[2]
        %c = add(%a, %b)
        %d = add(%c, %here)
        yield %d
      } : f32[2]
      return %out
    })";
  std::vector<std::vector<Tensor>> rows;
  for (int64_t n : {0, 3, 1, 5}) {
    rows.push_back({I(n), Tensor::Scalar<uint64_t>(static_cast<uint64_t>(7 * n + 1))});
    CheckAlone(kText, rows.back());
  }
  CheckMapped(kText, rows);
}

// The last call is no call: the depth stays.
TEST(RecursionTest, TailCallsNeedNoFrame) {
  CheckFor(R"(
    func @main(%n: i64[]) -> (i64[]) {
      %one = constant {value = i64[] {1}}
      %out = call(%n, %one) {callee = "f"}
      return %out
    }
    func @f(%n: i64[], %sum: i64[]) -> (i64[]) {
      %zero = constant {value = i64[] {0}}
      %one = constant {value = i64[] {1}}
      %end = less_equal(%n, %zero)
      %out = if(%end) {
        yield %sum
      } {
        %m = subtract(%n, %one)
        %next = add(%n, %sum)
        %b = call(%m, %next) {callee = "f", max_depth = 1} : i64[]
        yield %b
      } : i64[]
      return %out
    })",
           {0, 100, 50});
}

absl::Status RunFailure(const std::string& text, const std::vector<Tensor>& inputs, bool lowered) {
  Graph graph = MustParse(text);
  if (!lowered) return Interpret(graph, inputs).status();
  const auto compiled = Compile(graph, {});
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  return compiled.ok() ? Interpret(compiled->graph, inputs).status() : absl::OkStatus();
}

TEST(RecursionTest, WhatNeverEndsMeetsTheLimit) {
  constexpr char kText[] = R"(
    func @main(%n: i64[]) -> (i64[]) {
      %out = call(%n) {callee = "f"}
      return %out
    }
    func @f(%n: i64[]) -> (i64[]) {
      %a = call(%n) {callee = "f", max_depth = 9} : i64[]
      %b = add(%a, %n)
      return %b
    })";
  for (bool lowered : {false, true}) {
    const absl::Status status = RunFailure(kText, {I(1)}, lowered);
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    EXPECT_THAT(Message(status), HasSubstr("check failed: recursion of @f is more than 9 calls "
                                           "deep: raise max_depth"));
  }
}

TEST(RecursionTest, TheLimitIsTheSameWithAndWithoutLoop) {
  std::string text = kFactorial;
  text.replace(text.find("\"f\"} : "), 7, "\"f\", max_depth = 3} : ");
  for (bool lowered : {false, true}) {
    EXPECT_EQ(RunFailure(text, {I(4)}, lowered), absl::OkStatus());
    EXPECT_THAT(Message(RunFailure(text, {I(5)}, lowered)), HasSubstr("more than 3 calls deep"));
  }
}

TEST(RecursionTest, ChecksInsideFailTheRun) {
  const std::string text = R"(
    func @main(%n: i64[]) -> () {
      call(%n) {callee = "f"}
      return
    }
    func @f(%n: i64[]) -> () {
      %zero = constant {value = i64[] {0}}
      %one = constant {value = i64[] {1}}
      %m = subtract(%n, %one)
      %end = equal(%n, %zero)
      if(%end) {
        yield
      } {
        %good = less(%zero, %m)
        call(%m) {callee = "f"}
        check(%good) {message = "must be above"}
        yield
      }
      return
    })";
  for (bool lowered : {false, true}) {
    EXPECT_EQ(RunFailure(text, {I(0)}, lowered), absl::OkStatus());
    EXPECT_THAT(Message(RunFailure(text, {I(3)}, lowered)), HasSubstr("must be above"));
  }
}

TEST(RecursionTest, FunctionsThatNobodyCallsGo) {
  const Graph program = MustParse(R"(
    func @main(%n: i64[]) -> (i64[]) { return %n }
    func @f(%x: f32[n]) -> () {
      %y = concatenate(%x, %x) {axis = 0}
      call(%y) {callee = "f"}
      return
    })");
  const auto compiled = Compile(program, {});
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  EXPECT_EQ(compiled->graph.functions().size(), 1u);
}

TEST(RecursionTest, VariablesAreUpdatedAtEveryDepth) {
  const Graph program = MustParse(R"(
    func @main(%x: i64[n]) -> (i64[n]) {
      %out = pfor {extent = (n)} (%i: i64[]) {
        %row = dynamic_slice(%x, %i) {sizes = (1)}
        %k = reshape(%row) {shape = ()}
        %y = call(%k) {callee = "f"} : i64[]
        yield %y
      } : i64[n]
      return %out
    }
    func @f(%n: i64[]) -> (i64[]) {
      %zero = constant {value = i64[] {0}}
      %one = constant {value = i64[] {1}}
      %end = less_equal(%n, %zero)
      update_variable(%one) {name = "calls", kind = "sum"}
      %out = if(%end) {
        yield %one
      } {
        %m = subtract(%n, %one)
        %a = call(%m) {callee = "f"} : i64[]
        %b = add(%a, %n)
        yield %b
      } : i64[]
      return %out
    })");
  const auto compiled = Compile(program, {.strict = true});
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const auto out = Interpret(compiled->graph, {Tensor::Of<int64_t>({3}, {0, 2, 3}), I(100)});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(Texts(*out), (std::vector<std::string>{"i64[3] {1, 4, 7}", "i64[] {108}"}));
}

std::string CompileError(const std::string& text) {
  return Message(Compile(MustParse(text), {}).status());
}

TEST(RecursionTest, SaysWhatHasNoLoopForm) {
  EXPECT_THAT(CompileError(R"(
    func @main(%x: f32[n]) -> (f32[n]) {
      %y = pfor {extent = (n)} (%i: i64[]) {
        %a = call(%x) {callee = "main"} : f32[n]
        %s = reduce_sum(%a) {axes = [0]}
        yield %s
      } : f32[n]
      return %y
    })"),
              AllOf(HasSubstr("recursion of @main"), HasSubstr("<text>:4:9"),
                    HasSubstr("inside of a pfor")));
  EXPECT_THAT(CompileError(R"(
    func @main(%x: f32[n]) -> (f32[]) {
      %zero = constant {value = i64[] {0}}
      %y = concatenate(%x, %x) {axis = 0}
      %a = call(%y) {callee = "main"} : f32[]
      return %a
    })"),
              AllOf(HasSubstr("argument 0 of a recursive call of @main is f32[2*n], but f32[n]"),
                    HasSubstr("<text>:5:7")));
}

}  // namespace
}  // namespace weir
