// Random sums of products, scaled, moved and summed in random ways, against the program as it is.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "common/base/status.h"
#include "common/interp/interpreter.h"
#include "common/ir/text.h"
#include "common/ir/verify.h"
#include "common/ops/lang.h"
#include "common/ops/registry.h"
#include "common/ops/sample.h"
#include "server/compiler/pipeline.h"

namespace weir {
namespace {

constexpr int kPrograms = 300;
constexpr int64_t kRows = 6, kTime = 3;

class RandomProgram {
 public:
  explicit RandomProgram(uint32_t seed)
      : random_(seed),
        main_(&graph_, graph_.AddFunction("main").body, &Ops()),
        body_(main_.In(main_.NewRegion())),
        i_(body_.AddArg({DType::kI64, Shape()}, "i")) {}

  Graph Make() {
    std::vector<ValueId> values;
    for (int k = 0; k < 2; ++k) values.push_back(Source());
    for (int64_t steps = 2 + Below(5); steps > 0; --steps) {
      values.push_back(Changed(values[Below(static_cast<int64_t>(values.size()))], values));
    }
    std::vector<ValueId> yields;
    for (int64_t count = 1 + Below(3); count > 0; --count) {
      const ValueId value = values[values.size() - 1 - Below(2)];
      yields.push_back(Below(2) == 0 ? value : NormOf(value, values));
    }
    body_.Yield(yields);
    const std::vector<ValueId> stacked =
        main_.ApplyAll("pfor", {}, {{"extent", std::vector<Dim>{Dim(kRows)}}}, {body_.region()});
    std::vector<ValueId> results;
    for (ValueId value : stacked) results.push_back(Behind(value));
    main_.Yield(results);
    EXPECT_TRUE(main_.ok()) << main_.status();
    return std::move(graph_);
  }

 private:
  int64_t Below(int64_t count) { return static_cast<int64_t>(random_() % count); }

  ValueId Row(std::vector<Dim> shape, DType dtype = DType::kF64) {
    shape.insert(shape.begin(), kRows);
    return TakeRow(body_, main_.AddArg({dtype, Shape(std::move(shape))}), i_);
  }

  ValueId Dot(ValueId x, ValueId y, Int64s contract) {
    return body_.Apply("dot_general", {x, y},
                       {{"lhs_batch", Int64s{}},
                        {"rhs_batch", Int64s{}},
                        {"lhs_contract", contract},
                        {"rhs_contract", contract}});
  }

  ValueId Convolution(std::vector<Dim> input, std::vector<Dim> kernel, int64_t stride = 1,
                      int64_t low = 0, int64_t high = 0) {
    return body_.Apply("convolution", {Row(std::move(input)), Row(std::move(kernel))},
                       {{"window_strides", Int64s{stride}},
                        {"padding_low", Int64s{low}},
                        {"padding_high", Int64s{high}},
                        {"lhs_dilation", Int64s{1}},
                        {"rhs_dilation", Int64s{1}}});
  }

  // T[18,20], a product of two rows, or a filter's gradient of another shape.
  ValueId Source() {
    switch (Below(6)) {
      case 0:
        return Dot(Row({18}), Row({20}), {});
      case 1:
        return Dot(Row({kTime, 18}), Row({kTime, 20}), {0});
      case 2: {
        const ValueId x = Reshape(body_, Row({18}), {18, 1});
        return Binary(body_, "multiply", x, Row({20}));
      }
      case 3:
        return Transpose(
            body_, Convolution({9, 2, 7}, {20, 2, 1 + Below(3)}, 1 + Below(2), Below(3), -Below(2)),
            {0, 2, 1});
      case 4:
        return Reshape(body_, Convolution({18, 2, 2}, {20, 2, 2}), {18, 20});
      default:
        return body_.Apply(
            "scatter",
            {Full(body_, DType::kF64, {18, 20}, 0), Row({kTime}, DType::kI64), Row({kTime, 20})},
            {{"update_window_dims", Int64s{1}},
             {"inserted_window_dims", Int64s{0}},
             {"input_batching_dims", Int64s{}},
             {"scatter_indices_batching_dims", Int64s{}},
             {"scatter_dims_to_operand_dims", Int64s{0}},
             {"index_vector_dim", 1},
             {"combiner", "add"}});
    }
  }

  ValueId Changed(ValueId x, const std::vector<ValueId>& others) {
    const Shape shape = body_.type(x).shape;
    switch (Below(7)) {
      case 0:
        return body_.Apply("negate", {x});
      case 1:
        return Binary(body_, "multiply", Row({}), x);
      case 2:
        return Binary(body_, "divide", x, Row({}));
      case 3:  // by rows of the last axis
        return Binary(body_, "multiply", x, Row({shape[shape.rank() - 1]}));
      case 4: {
        Int64s order(shape.rank());
        for (size_t k = 0; k < order.size(); ++k) order[k] = static_cast<int64_t>(k);
        std::shuffle(order.begin(), order.end(), random_);
        return Transpose(body_, x, order);
      }
      case 5:
        return shape == Shape({18, 20})     ? Reshape(body_, x, {3, 6, 20})
               : shape == Shape({3, 6, 20}) ? Reshape(body_, x, {18, 1, 20})
                                            : body_.Apply("negate", {x});
      default:
        return Binary(body_, Below(2) == 0 ? "add" : "subtract", x, Like(x, others));
    }
  }

  ValueId Like(ValueId x, const std::vector<ValueId>& others) {
    std::vector<ValueId> fitting = {x};
    for (ValueId other : others) {
      if (body_.type(other) == body_.type(x)) fitting.push_back(other);
    }
    return fitting[Below(static_cast<int64_t>(fitting.size()))];
  }

  ValueId NormOf(ValueId x, const std::vector<ValueId>& others) {
    const ValueId product = body_.Apply("multiply", {x, Like(x, others)});
    return Reduce(body_, "reduce_sum", product, Axes(body_, product, 0));
  }

  Int64s Axes(Builder& b, ValueId x, int64_t first) {
    Int64s axes;
    for (int64_t axis = first; axis < b.type(x).rank(); ++axis) {
      if (axis == first || Below(4) > 0) axes.push_back(axis);
    }
    return axes;
  }

  ValueId Behind(ValueId x) {
    if (main_.type(x).rank() < 3) return x;
    switch (Below(4)) {
      case 0:
        return Reduce(main_, "reduce_sum", main_.Apply("multiply", {x, x}), Axes(main_, x, 1));
      case 1:
        return Reduce(main_, "reduce_sum", x, Axes(main_, x, 0));
      default:
        return Reduce(main_, "reduce_sum", x, {0});
    }
  }

  std::mt19937 random_;
  Graph graph_;
  Builder main_;
  Builder body_;
  ValueId i_;
};

std::string Disagreement(const Tensor& got, const Tensor& want) {
  if (got.extents() != want.extents()) return "other extents";
  const Tensor x = got.Contiguous(), y = want.Contiguous();
  double largest = 1;
  for (int64_t i = 0; i < y.num_elements(); ++i) {
    largest = std::max(largest, std::abs(y.data<double>()[i]));
  }
  for (int64_t i = 0; i < y.num_elements(); ++i) {
    const double a = x.data<double>()[i], b = y.data<double>()[i];
    if (std::abs(a - b) > 1e-10 * largest) return StrCat("element ", i, ": ", a, ", want ", b);
  }
  return "";
}

TEST(RandomFactoredTest, CompiledProgramsAgree) {
  size_t contracted = 0;
  for (uint32_t seed = 1; seed <= kPrograms && !testing::Test::HasFailure(); ++seed) {
    const Graph program = RandomProgram(seed).Make();
    ASSERT_TRUE(Verify(program, Ops()).ok()) << "seed " << seed;
    std::vector<Tensor> inputs;
    for (ValueId arg : program.region(program.entry().body).args) {
      const TensorType& type = program.type(arg);
      const bool index = type.dtype == DType::kI64;
      inputs.push_back(Rand(type.dtype, type.shape.extents(), index ? -2 : 0.5, index ? 21 : 2)
                           .Make(seed + inputs.size()));
    }
    absl::StatusOr<Compiled> compiled = Compile(program, {});
    ASSERT_TRUE(compiled.ok()) << "seed " << seed << ": " << compiled.status();
    ASSERT_TRUE(Verify(compiled->graph, Ops()).ok()) << "seed " << seed;
    contracted += compiled->report.notes.size();
    const std::vector<Tensor> want = *Interpret(program, inputs);
    for (int64_t ranges : {1, 2}) {
      InterpretOptions options;
      options.shard_ranges = ranges;
      absl::StatusOr<std::vector<Tensor>> got = Interpret(compiled->graph, inputs, options);
      ASSERT_TRUE(got.ok()) << "seed " << seed << ": " << got.status();
      for (size_t r = 0; r < want.size(); ++r) {
        EXPECT_EQ(Disagreement((*got)[r], want[r]), "") << "seed " << seed << "\n"
                                                        << Print(program) << Print(compiled->graph);
      }
    }
  }
  EXPECT_GT(contracted, kPrograms / 3);
}

}  // namespace
}  // namespace weir
