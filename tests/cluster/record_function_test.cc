// Functions of flows, compiled by the coordinator and called on a worker, against the interpreter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "common/base/status.h"
#include "common/ir/text.h"
#include "common/ops/registry.h"
#include "server/jobs/compiled_program.h"
#include "worker/flow/program_function.h"

namespace weir {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// With vectors, a loop, a branch, a parameter and a column that have no part in it, and a constant.
constexpr char kMixed[] = R"(
  func @main(%x: f32[3], %count: i64[], %unused: f64[2], %flag: bool[])
      -> (f32[], i64[], f32[3], i64[], f32[2]) {
    %s = dot_general(%x, %x) {lhs_batch = [], rhs_batch = [],
                              lhs_contract = [0], rhs_contract = [0]}
    %zero = constant {value = i64[] {0}}
    %one = constant {value = i64[] {1}}
    %n = while(%zero) (%i: i64[]) { %go = less(%i, %count) yield %go }
      (%j: i64[]) { %next = add(%j, %one) yield %next }
    %chosen = if(%flag) { %y = add(%x, %x) yield %y } { %z = sqrt(%x) yield %z }
    %pair = constant {value = f32[2] {1, 2}}
    return %s, %n, %chosen, %count, %pair
  })";

constexpr char kSame[] = "func @main(%x: f32[3], %n: i64[]) -> (i64[], f32[3]) { return %n, %x }";

constexpr char kNothingToTake[] = R"(
  func @main() -> (f32[2], i64[], f32[2]) {
    %pair = constant {value = f32[2] {1, 2}}
    %sum = add(%pair, %pair)
    %one = constant {value = i64[] {1}}
    return %pair, %one, %sum
  })";

constexpr char kChecked[] = R"(
  func @main(%x: i64[]) -> (i64[]) {
    %limit = constant {value = i64[] {100}}
    %is = less(%x, %limit)
    check(%is) {message = "must be small"}
    return %x
  })";

constexpr char kEndless[] = R"(
  func @main(%x: i64[]) -> (i64[]) {
    %y = while(%x) (%i: i64[]) { %go = equal(%i, %i) yield %go }
      (%j: i64[]) { %next = add(%j, %x) yield %next }
    return %y
  })";

std::shared_ptr<const Graph> GraphFrom(const std::string& text) {
  auto graph = Parse(text, Ops());
  EXPECT_TRUE(graph.ok()) << graph.status();
  return std::make_shared<const Graph>(*std::move(graph));
}

enum class Mapped { kAll, kNothing };

std::shared_ptr<Program> Loaded(const std::string& text, Mapped mapped = Mapped::kAll) {
  const std::shared_ptr<const Graph> graph = GraphFrom(text);
  v1::Program source;
  source.set_format(v1::Program::FORMAT_TEXT);
  source.set_source(text);
  for (const ValueId arg : graph->region(graph->entry().body).args) {
    if (mapped == Mapped::kAll) source.add_map(graph->value(arg).name);
  }
  auto compiled = CompileProgram(source);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  auto program = std::make_shared<Program>();
  program->plan = (*compiled)->plan.plan;
  program->blobs = (*compiled)->plan.blobs;
  EXPECT_EQ(PrepareProgram(program.get()), absl::OkStatus());
  return program;
}

std::unique_ptr<RecordFunction> Compiled(const std::string& text,
                                         std::shared_ptr<std::atomic<bool>> cancelled = nullptr) {
  auto function = MakeProgramFunction(Loaded(text), RecordSignature::Of(*GraphFrom(text), "main"),
                                      std::move(cancelled));
  EXPECT_TRUE(function.ok()) << function.status();
  return *std::move(function);
}

// Records of the types that the function takes.
std::vector<Tensor> Columns(const RecordType& types, int64_t records, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Tensor> columns;
  for (const TensorType& type : types) {
    Extents extents = {records};
    for (const int64_t extent : type.shape.extents()) extents.push_back(extent);
    Tensor column(type.dtype, extents);
    VisitDType(type.dtype, [&]<class T>(TypeTag<T>) {
      T* values = column.mutable_data<T>();
      for (int64_t i = 0; i < column.num_elements(); ++i) {
        const auto number = static_cast<double>(random() % 8);
        values[i] = type.dtype == DType::kBool ? T(random() % 2) : T(static_cast<float>(number));
      }
    });
    columns.push_back(std::move(column));
  }
  return columns;
}

TEST(ProgramFunction, HasTheBitsOfTheInterpreterForAnyNumberOfRecords) {
  for (const std::string text : {kMixed, kSame, kChecked, kNothingToTake}) {
    const std::unique_ptr<RecordFunction> compiled = Compiled(text);
    const std::shared_ptr<const Graph> graph = GraphFrom(text);
    const std::unique_ptr<RecordFunction> reference = MakeReferenceFunction(graph, "main");
    const RecordType parameters = RecordSignature::Of(*graph, "main").parameters;
    // More numbers than are remembered, and the first ones again.
    for (const int64_t records : {0,  1,  2,  7,  300, 0,  1,  3,  4,  5,  6,  8,  9, 10,
                                  11, 12, 13, 14, 15,  16, 17, 18, 19, 20, 21, 22, 7}) {
      const std::vector<Tensor> columns = Columns(parameters, records, 7 + records);
      const auto want = reference->Call(columns, records);
      const auto got = compiled->Call(columns, records);
      ASSERT_TRUE(want.ok()) << want.status();
      ASSERT_TRUE(got.ok()) << got.status();
      ASSERT_EQ(got->size(), want->size());
      for (size_t i = 0; i < want->size(); ++i) {
        EXPECT_TRUE((*got)[i].BitEquals((*want)[i]))
            << records << " records, result " << i << ": " << (*got)[i].ToString() << " instead of "
            << (*want)[i].ToString();
      }
    }
  }
}

TEST(ProgramFunction, AFailingCheckNamesTheRecord) {
  const std::unique_ptr<RecordFunction> function = Compiled(kChecked);
  for (const int64_t at : {0, 2, 6}) {
    Tensor numbers = Tensor::Zeros(DType::kI64, {7});
    numbers.mutable_data<int64_t>()[at] = 100;
    numbers.mutable_data<int64_t>()[6] = 100;
    const auto failed = function->Call({numbers}, 7);
    EXPECT_TRUE(absl::IsFailedPrecondition(failed.status())) << failed.status();
    EXPECT_THAT(std::string(failed.status().message()), StartsWith("record " + StrCat(at) + ": "));
    EXPECT_THAT(std::string(failed.status().message()), HasSubstr("must be small"));
  }
}

TEST(ProgramFunction, ACallThatDoesNotEndCanBeCancelled) {
  const auto cancelled = std::make_shared<std::atomic<bool>>(false);
  const std::unique_ptr<RecordFunction> function = Compiled(kEndless, cancelled);
  std::thread canceller([&] { *cancelled = true; });
  const auto ended = function->Call({Tensor::Of<int64_t>({2}, {1, 2})}, 2);
  canceller.join();
  EXPECT_TRUE(absl::IsCancelled(ended.status())) << ended.status();
}

// Such a call may take any time, whatever the ones before took.
TEST(ProgramFunction, KnowsWhetherItHasALoop) {
  EXPECT_TRUE(Compiled(kMixed)->has_loop());
  EXPECT_TRUE(Compiled(kEndless)->has_loop());
  EXPECT_FALSE(Compiled(kSame)->has_loop());
  EXPECT_FALSE(Compiled(kChecked)->has_loop());
}

TEST(ProgramFunction, AProgramOfAnotherFunctionIsRefused) {
  const std::shared_ptr<Program> program = Loaded(kSame);
  const auto error = [&](RecordSignature signature) {
    return std::string(MakeProgramFunction(program, signature, nullptr).status().message());
  };
  const RecordSignature right = RecordSignature::Of(*GraphFrom(kSame), "main");
  EXPECT_EQ(error(right), "");
  RecordSignature wrong = right;
  wrong.parameters.pop_back();
  EXPECT_THAT(error(wrong), HasSubstr("2 inputs, the function (f32[3])"));
  wrong = right;
  wrong.parameters[0].shape = Shape({Dim(4)});
  EXPECT_THAT(error(wrong), HasSubstr("input x is f32["));
  EXPECT_THAT(error(wrong), HasSubstr(",3], not f32[4] for each of"));
  wrong = right;
  wrong.results[0].dtype = DType::kI32;
  EXPECT_THAT(error(wrong), HasSubstr("not i32[] for each of"));
}

TEST(ProgramFunction, AFunctionOfABatchIsCalledAsItIs) {
  constexpr char kBatch[] = R"(
    func @main(%x: i64[n], %y: f32[n,2]) -> (f32[n,2], f32[2], i64[n]) {
      %s = reduce_sum(%y) {axes = [0]}
      %r = reverse(%y) {axes = [0]}
      return %r, %s, %x
    })";
  const std::shared_ptr<const Graph> graph = GraphFrom(kBatch);
  const RecordSignature signature = RecordSignature::OfBatch(*graph, "main");
  const auto program = Loaded(kBatch, Mapped::kNothing);
  const auto function = MakeProgramBatchFunction(program, signature, nullptr);
  ASSERT_TRUE(function.ok()) << function.status();
  EXPECT_FALSE(MakeProgramFunction(program, signature, nullptr).ok()) << "f32[2] has no records";
  const auto reference = MakeReferenceBatchFunction(graph, "main");
  for (const int64_t records : {1, 2, 300, 2}) {
    const std::vector<Tensor> columns = Columns(signature.parameters, records, records);
    const auto want = reference->Call(columns, records);
    const auto got = (*function)->Call(columns, records);
    ASSERT_TRUE(want.ok()) << want.status();
    ASSERT_TRUE(got.ok()) << got.status();
    for (size_t i = 0; i < want->size(); ++i) EXPECT_TRUE((*got)[i].BitEquals((*want)[i])) << i;
  }
}

TEST(ProgramFunction, ThreadsCallItAtTheSameTime) {
  const std::unique_ptr<RecordFunction> function = Compiled(kMixed);
  const RecordType parameters = RecordSignature::Of(*GraphFrom(kMixed), "main").parameters;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&, thread] {
      for (int64_t records = 0; records < 40; ++records) {
        const std::vector<Tensor> columns = Columns(parameters, records, 1);
        const auto results = function->Call(columns, records);
        ASSERT_TRUE(results.ok()) << thread << ": " << results.status();
        EXPECT_TRUE((*results)[1].BitEquals(columns[1]));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace weir
