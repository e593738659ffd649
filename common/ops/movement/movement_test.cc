#include "common/ops/op_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

using ::testing::HasSubstr;

Dim N() { return Dim::Symbol("n"); }
using Dims = std::vector<Dim>;

TEST(ReshapeTest, TakesSymbols) {
  EXPECT_EQ(InferOp("reshape", {"f32[n,4]"}, {{"shape", Dims{N() * 2, 2}}}), "f32[2*n,2]");
  EXPECT_EQ(InferOp("reshape", {"f32[n,4]"}, {{"shape", Dims{N() * 4}}}), "f32[4*n]");
  EXPECT_EQ(InferOp("reshape", {"f32[2,3]"}, {{"shape", Dims{7}}}),
            "reshape: operand 0 (f32[2,3]) has 6 elements, the result [7] has 7");
  EXPECT_EQ(InferOp("reshape", {"f32[n]"}, {{"shape", Dims{N() + 1}}}),
            "reshape: operand 0 (f32[n]) has n elements, the result [n+1] has n+1");
}

TEST(ReshapeTest, ChecksWhatOnlyTheRunKnows) {
  const absl::StatusOr<Graph> graph = OneNode("reshape", {TensorType::Parse("f32[n]").value()},
                                              {{"shape", Dims{FloorDiv(N(), 2), 2}}});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_TRUE(RunStraight(*graph, {Tensor::Zeros(DType::kF32, {4})}).ok());
  EXPECT_THAT(RunStraight(*graph, {Tensor::Zeros(DType::kF32, {5})}).status().message(),
              HasSubstr("cannot reshape [5] to [2,2]"));
}

TEST(BroadcastInDimTest, ExpandsOnlyTheNumberOne) {
  EXPECT_EQ(InferOp("broadcast_in_dim", {"f32[1,n]"},
                    {{"shape", Dims{5, N(), 3}}, {"axes", Int64s{0, 1}}}),
            "f32[5,n,3]");
  EXPECT_EQ(
      InferOp("broadcast_in_dim", {"f32[n]"}, {{"shape", Dims{5}}, {"axes", Int64s{0}}}),
      "broadcast_in_dim: axis 0 of operand 0 (f32[n]) has extent n, result axis 0 of [5] has 5; "
      "only the number 1 expands");
  EXPECT_THAT(
      InferOp("broadcast_in_dim", {"f32[2,2]"}, {{"shape", Dims{2, 2}}, {"axes", Int64s{0, 0}}}),
      HasSubstr("'axes' names axis 0 twice"));
  EXPECT_EQ(EvalOp("broadcast_in_dim", {Tensor::Of<int32_t>({2, 1}, {1, 2})},
                   {{"shape", Dims{3, 2}}, {"axes", Int64s{1, 0}}}),
            "i32[3,2] {1, 2, 1, 2, 1, 2}");
}

TEST(TransposeTest, ChecksThePermutation) {
  EXPECT_EQ(InferOp("transpose", {"f32[n,3,4]"}, {{"permutation", Int64s{2, 0, 1}}}), "f32[4,n,3]");
  EXPECT_THAT(InferOp("transpose", {"f32[2,3]"}, {{"permutation", Int64s{0, -1}}}),
              HasSubstr("'permutation' names axis -1 of 2 axes"));
  EXPECT_THAT(InferOp("transpose", {"f32[2,3]"}, {{"permutation", Int64s{0}}}),
              HasSubstr("must have 2 entries"));
  EXPECT_EQ(EvalOp("transpose", {Tensor::Of<int8_t>({2, 3}, {1, 2, 3, 4, 5, 6})},
                   {{"permutation", Int64s{1, 0}}}),
            "i8[3,2] {1, 4, 2, 5, 3, 6}");
}

Attrs SliceAttrs(Dims start, Dims limit, Int64s stride) {
  return {{"start", start}, {"limit", limit}, {"stride", stride}};
}

TEST(SliceTest, TakesSymbols) {
  EXPECT_EQ(InferOp("slice", {"f32[n,9]"}, SliceAttrs({1, 0}, {N(), 9}, {1, 2})), "f32[n-1,5]");
  EXPECT_EQ(InferOp("slice", {"f32[n]"}, SliceAttrs({0}, {N()}, {3})), "f32[(n+2)//3]");
  EXPECT_EQ(InferOp("slice", {"f32[n]"}, SliceAttrs({0}, {N() + 1}, {1})),
            "slice: axis 0 of operand 0 (f32[n]) has no range [0, n+1)");
  EXPECT_THAT(InferOp("slice", {"f32[4]"}, SliceAttrs({3}, {2}, {1})),
              HasSubstr("no range [3, 2)"));
  EXPECT_THAT(InferOp("slice", {"f32[4]"}, SliceAttrs({-1}, {2}, {1})),
              HasSubstr("no range [-1, 2)"));
  EXPECT_THAT(InferOp("slice", {"f32[4]"}, SliceAttrs({0}, {2}, {0})),
              HasSubstr("stride 0 of axis 0 must be positive"));
}

TEST(SliceTest, Strides) {
  EXPECT_EQ(
      EvalOp("slice", {Tensor::Of<int32_t>({7}, {0, 1, 2, 3, 4, 5, 6})}, SliceAttrs({1}, {7}, {3})),
      "i32[2] {1, 4}");
}

TEST(ConcatenateTest, AddsSymbols) {
  EXPECT_EQ(InferOp("concatenate", {"f32[n,3]", "f32[4,3]"}, {{"axis", 0}}), "f32[n+4,3]");
  EXPECT_EQ(InferOp("concatenate", {"f32[n,3]", "f32[m,3]"}, {{"axis", 1}}),
            "concatenate: operand 1 (f32[m,3]) must agree with operand 0 (f32[n,3]) in everything "
            "but axis 1");
  EXPECT_THAT(InferOp("concatenate", {"f32[3]", "f64[3]"}, {{"axis", 0}}),
              HasSubstr("operand 1 (f64[3])"));
  EXPECT_EQ(EvalOp("concatenate",
                   {Tensor::Of<int32_t>({2, 1}, {1, 2}), Tensor::Of<int32_t>({2, 2}, {3, 4, 5, 6})},
                   {{"axis", 1}}),
            "i32[2,3] {1, 3, 4, 2, 5, 6}");
}

Attrs PadAttrs(Int64s low, Int64s high, Int64s interior) {
  return {{"low", low}, {"high", high}, {"interior", interior}};
}

TEST(PadTest, TakesSymbols) {
  EXPECT_EQ(InferOp("pad", {"f32[n]", "f32[]"}, PadAttrs({2}, {-1}, {0})), "f32[n+1]");
  EXPECT_THAT(InferOp("pad", {"f32[2]", "f32[]"}, PadAttrs({-2}, {-1}, {0})),
              HasSubstr("leaves -1 elements"));
  EXPECT_THAT(InferOp("pad", {"f32[2]", "f64[]"}, PadAttrs({0}, {0}, {0})),
              HasSubstr("the padding value, operand 1 (f64[]), must be f32[]"));
}

// The example of the StableHLO specification, and edges cut off one by one.
TEST(PadTest, InteriorAndNegative) {
  const Tensor zero = Tensor::Scalar<int32_t>(0);
  EXPECT_EQ(EvalOp("pad", {Tensor::Of<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6}), zero},
                   PadAttrs({0, 1}, {2, 1}, {1, 2})),
            "i32[5,9] {0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 5, 0, 0, "
            "6, 0, 0, 0, 0, 0, 0, ...}");
  const Tensor three = Tensor::Of<int32_t>({3}, {1, 2, 3});
  EXPECT_EQ(EvalOp("pad", {three, zero}, PadAttrs({-1}, {0}, {1})), "i32[4] {0, 2, 0, 3}");
  EXPECT_EQ(EvalOp("pad", {three, zero}, PadAttrs({-2}, {0}, {1})), "i32[3] {2, 0, 3}");
  EXPECT_EQ(EvalOp("pad", {three, zero}, PadAttrs({0}, {-1}, {1})), "i32[4] {1, 0, 2, 0}");
  EXPECT_EQ(EvalOp("pad", {three, zero}, PadAttrs({-4}, {3}, {0})), "i32[2] {0, 0}");
}

TEST(PadTest, RefusesWhatOverflows) {
  EXPECT_THAT(InferOp("pad", {"f32[1]", "f32[]"}, PadAttrs({INT64_MIN}, {INT64_MAX}, {0})),
              HasSubstr("padding -9223372036854775808 of axis 0 is out of range"));
}

TEST(ShapeAttributeTest, RefusesNegativeExtents) {
  EXPECT_THAT(InferOp("iota", {}, {{"shape", Dims{-1}}, {"dtype", DType::kF32}, {"axis", 0}}),
              HasSubstr("'shape' has a negative extent: [-1]"));
  EXPECT_THAT(InferOp("reshape", {"f32[6]"}, {{"shape", Dims{-2, -3}}}),
              HasSubstr("negative extent: [-2,-3]"));
  EXPECT_THAT(InferOp("broadcast_in_dim", {"f32[]"}, {{"shape", Dims(33, 1)}, {"axes", Int64s{}}}),
              HasSubstr("has 33 entries"));
}

TEST(ReverseTest, Axes) {
  const Tensor x = Tensor::Of<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(EvalOp("reverse", {x}, {{"axes", Int64s{1}}}), "i32[2,3] {3, 2, 1, 6, 5, 4}");
  EXPECT_EQ(EvalOp("reverse", {x}, {{"axes", Int64s{0}}}), "i32[2,3] {4, 5, 6, 1, 2, 3}");
  EXPECT_THAT(InferOp("reverse", {"f32[2]"}, {{"axes", Int64s{1}}}), HasSubstr("axis 1 of 1 axis"));
}

TEST(IotaTest, CountsAlongOneAxis) {
  EXPECT_EQ(EvalOp("iota", {}, {{"shape", Dims{2, 3}}, {"dtype", DType::kI32}, {"axis", 0}}),
            "i32[2,3] {0, 0, 0, 1, 1, 1}");
  EXPECT_EQ(InferOp("iota", {}, {{"shape", Dims{N()}}, {"dtype", DType::kF32}, {"axis", 0}}),
            "f32[n]");
  EXPECT_THAT(InferOp("iota", {}, {{"shape", Dims{2}}, {"dtype", DType::kBool}, {"axis", 0}}),
              HasSubstr("not bool"));
}

TEST(GetDimensionSizeTest, ReadsTheExtent) {
  EXPECT_EQ(EvalOp("get_dimension_size", {Tensor::Zeros(DType::kF32, {2, 5})}, {{"axis", 1}}),
            "i64[] {5}");
  EXPECT_THAT(InferOp("get_dimension_size", {"f32[]"}, {{"axis", 0}}),
              HasSubstr("axis 0 of 0 axes"));
}

TEST(DynamicSliceTest, Clamps) {
  const Tensor x = Tensor::Of<int32_t>({5}, {0, 1, 2, 3, 4});
  auto at = [&](int64_t start) {
    return EvalOp("dynamic_slice", {x, Tensor::Scalar<int64_t>(start)}, {{"sizes", Dims{2}}});
  };
  EXPECT_EQ(at(1), "i32[2] {1, 2}");
  EXPECT_EQ(at(-7), "i32[2] {0, 1}");
  EXPECT_EQ(at(4), "i32[2] {3, 4}");
  EXPECT_EQ(InferOp("dynamic_slice", {"f32[n,3]", "i64[]", "i64[]"}, {{"sizes", Dims{1, 3}}}),
            "f32[1,3]");
  EXPECT_THAT(InferOp("dynamic_slice", {"f32[3]", "i64[]"}, {{"sizes", Dims{4}}}),
              HasSubstr("a slice of [4] does not fit into operand 0 (f32[3]): axis 0"));
  EXPECT_THAT(InferOp("dynamic_slice", {"f32[3]", "i32[]"}, {{"sizes", Dims{1}}}),
              HasSubstr("start index 0, operand 1 (i32[]), must be i64[]"));
  EXPECT_THAT(InferOp("dynamic_slice", {"f32[3]"}, {{"sizes", Dims{1}}}),
              HasSubstr("one start index for each axis"));
}

TEST(DynamicUpdateSliceTest, Clamps) {
  const Tensor x = Tensor::Of<int32_t>({4}, {0, 1, 2, 3});
  auto at = [&](int64_t start) {
    return EvalOp("dynamic_update_slice",
                  {x, Tensor::Of<int32_t>({2}, {8, 9}), Tensor::Scalar<int64_t>(start)}, {});
  };
  EXPECT_EQ(at(1), "i32[4] {0, 8, 9, 3}");
  EXPECT_EQ(at(9), "i32[4] {0, 1, 8, 9}");
  EXPECT_EQ(at(-1), "i32[4] {8, 9, 2, 3}");
  EXPECT_EQ(x.ToString(), "i32[4] {0, 1, 2, 3}");
  EXPECT_THAT(InferOp("dynamic_update_slice", {"f32[3]", "f32[4]", "i64[]"}, {}),
              HasSubstr("an update of [4] does not fit into operand 0 (f32[3])"));
}

Attrs GatherAttrs(Int64s offset, Int64s collapsed, Int64s map, int vector, Dims sizes) {
  return {{"offset_dims", offset},
          {"collapsed_slice_dims", collapsed},
          {"operand_batching_dims", Int64s{}},
          {"start_indices_batching_dims", Int64s{}},
          {"start_index_map", map},
          {"index_vector_dim", vector},
          {"slice_sizes", sizes}};
}

TEST(GatherTest, RowsAndBlocks) {
  const Tensor x = Tensor::Of<int32_t>({3, 2}, {0, 1, 10, 11, 20, 21});
  EXPECT_EQ(
      EvalOp("gather", {x, Tensor::Scalar<int64_t>(1)}, GatherAttrs({0}, {0}, {0}, 0, {1, 2})),
      "i32[2] {10, 11}");
  EXPECT_EQ(EvalOp("gather", {x, Tensor::Of<int32_t>({3}, {2, -5, 9})},
                   GatherAttrs({1}, {0}, {0}, 1, {1, 2})),
            "i32[3,2] {20, 21, 0, 1, 20, 21}");
  // Index vectors name (column, row).
  EXPECT_EQ(EvalOp("gather", {x, Tensor::Of<int64_t>({2, 2}, {1, 0, 0, 2})},
                   GatherAttrs({}, {0, 1}, {1, 0}, 1, {1, 1})),
            "i32[2] {1, 20}");
  // A window of two rows, its axes around the batch axis.
  EXPECT_EQ(EvalOp("gather", {x, Tensor::Of<int64_t>({2}, {0, 1})},
                   GatherAttrs({0, 2}, {}, {0}, 1, {2, 2})),
            "i32[2,2,2] {0, 1, 10, 11, 10, 11, 20, 21}");
}

// The example of the StableHLO specification.
TEST(GatherTest, BatchingDims) {
  Tensor operand(DType::kI32, {2, 3, 4, 2});
  for (int i = 0; i < 48; ++i) operand.mutable_data<int32_t>()[i] = i + 1;
  const Tensor indices = Tensor::Of<int64_t>(
      {2, 2, 3, 2}, {0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 0, 9, 0, 0, 2, 1, 2, 2, 1, 2, 0, 1, 1, 0});
  const absl::StatusOr<std::vector<Tensor>> result =
      EvalOpAll("gather", {operand, indices},
                {{"offset_dims", Int64s{3, 4}},
                 {"collapsed_slice_dims", Int64s{1}},
                 {"operand_batching_dims", Int64s{0}},
                 {"start_indices_batching_dims", Int64s{1}},
                 {"start_index_map", Int64s{2, 1}},
                 {"index_vector_dim", 3},
                 {"slice_sizes", Dims{1, 1, 2, 2}}});
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ((*result)[0].extents(), (Extents{2, 2, 3, 2, 2}));
  std::vector<int32_t> values((*result)[0].data<int32_t>(), (*result)[0].data<int32_t>() + 48);
  EXPECT_EQ(values,
            (std::vector<int32_t>{1,  2,  3,  4,  3,  4,  5,  6,  13, 14, 15, 16, 33, 34, 35, 36,
                                  35, 36, 37, 38, 41, 42, 43, 44, 1,  2,  3,  4,  13, 14, 15, 16,
                                  21, 22, 23, 24, 43, 44, 45, 46, 33, 34, 35, 36, 27, 28, 29, 30}));
}

TEST(GatherTest, ShapesAndMessages) {
  EXPECT_EQ(InferOp("gather", {"f32[n,5]", "i64[]"}, GatherAttrs({0}, {0}, {0}, 0, {1, 5})),
            "f32[5]");
  EXPECT_EQ(InferOp("gather", {"f32[7,n]", "i32[m,k]"},
                    GatherAttrs({0}, {0}, {0}, 2, {1, Dim::Symbol("n")})),
            "f32[n,m,k]");
  EXPECT_THAT(InferOp("gather", {"f32[3,5]", "f32[]"}, GatherAttrs({0}, {0}, {0}, 0, {1, 5})),
              HasSubstr("indices must be integers, found operand 1 (f32[])"));
  EXPECT_THAT(InferOp("gather", {"f32[3,5]", "i64[]"}, GatherAttrs({0}, {0}, {0}, 0, {2, 5})),
              HasSubstr("slice size of axis 0, which slices lose, must be 1, found 2"));
  EXPECT_THAT(InferOp("gather", {"f32[3,5]", "i64[]"}, GatherAttrs({0}, {0}, {0}, 0, {1, 6})),
              HasSubstr("slice size 6 does not fit into axis 1 of operand 0 (f32[3,5])"));
  EXPECT_THAT(InferOp("gather", {"f32[3,5]", "i64[4,2]"}, GatherAttrs({1}, {0}, {0}, 1, {1, 5})),
              HasSubstr("'start_index_map' has 1 entries, the index vectors of operand 1 "
                        "(i64[4,2]) have 2"));
  EXPECT_THAT(InferOp("gather", {"f32[3,5]", "i64[]"}, GatherAttrs({0}, {}, {0}, 0, {1, 5})),
              HasSubstr("must together have 2 entries"));
  EXPECT_THAT(InferOp("gather", {"f32[3,5]", "i64[]"}, GatherAttrs({3}, {0}, {0}, 0, {1, 5})),
              HasSubstr("'offset_dims' names axis 3 of 1 axis"));
  EXPECT_THAT(InferOp("gather", {"f32[3,5]", "i64[]"}, GatherAttrs({0}, {0}, {0}, 3, {1, 5})),
              HasSubstr("'index_vector_dim' must be in 0..0"));
}

Attrs ScatterAttrs(Int64s window, Int64s inserted, Int64s map, int vector, std::string combiner) {
  return {{"update_window_dims", window},
          {"inserted_window_dims", inserted},
          {"input_batching_dims", Int64s{}},
          {"scatter_indices_batching_dims", Int64s{}},
          {"scatter_dims_to_operand_dims", map},
          {"index_vector_dim", vector},
          {"combiner", combiner}};
}

TEST(ScatterTest, AppliesUpdatesInOrderAndDropsTheRest) {
  const Tensor x = Tensor::Of<int32_t>({4}, {1, 2, 3, 4});
  const Tensor at = Tensor::Of<int64_t>({4}, {1, 3, 1, 4});
  const Tensor updates = Tensor::Of<int32_t>({4}, {10, 20, 30, 40});
  auto with = [&](std::string combiner) {
    return EvalOp("scatter", {x, at, updates}, ScatterAttrs({}, {0}, {0}, 1, combiner));
  };
  EXPECT_EQ(with("set"), "i32[4] {1, 30, 3, 20}");
  EXPECT_EQ(with("add"), "i32[4] {1, 42, 3, 24}");
  EXPECT_EQ(with("mul"), "i32[4] {1, 600, 3, 80}");
  EXPECT_EQ(with("min"), "i32[4] {1, 2, 3, 4}");
  EXPECT_EQ(with("max"), "i32[4] {1, 30, 3, 20}");
  EXPECT_EQ(with("or"), "i32[4] {1, 30, 3, 20}");
  EXPECT_EQ(with("and"), "i32[4] {1, 2, 3, 4}");
  EXPECT_THAT(with("sub"), HasSubstr("combiner \"sub\" is none of"));
}

TEST(ScatterTest, DropsElementsOfAWindowOneByOne) {
  EXPECT_EQ(EvalOp("scatter",
                   {Tensor::Of<int32_t>({3}, {0, 0, 0}), Tensor::Of<int64_t>({2}, {-1, 2}),
                    Tensor::Of<int32_t>({2, 2}, {1, 2, 3, 4})},
                   ScatterAttrs({1}, {}, {0}, 1, "add")),
            "i32[3] {2, 0, 3}");
}

TEST(ScatterTest, Messages) {
  EXPECT_EQ(
      InferOp("scatter", {"f32[n,3]", "i64[m]", "f32[m,3]"}, ScatterAttrs({1}, {0}, {0}, 1, "add")),
      "f32[n,3]");
  EXPECT_THAT(
      InferOp("scatter", {"f32[n,3]", "i64[m]", "f32[k,3]"}, ScatterAttrs({1}, {0}, {0}, 1, "add")),
      HasSubstr("axis 0 of operand 2 (f32[k,3]) and axis 0 of operand 1 (i64[m]) must "
                "have equal extents"));
  EXPECT_THAT(
      InferOp("scatter", {"f32[n,3]", "i64[m]", "f32[m,4]"}, ScatterAttrs({1}, {0}, {0}, 1, "add")),
      HasSubstr("window axis 1 of operand 2 (f32[m,4]) does not fit"));
  EXPECT_THAT(
      InferOp("scatter", {"f32[3]", "i64[2]", "f32[2]"}, ScatterAttrs({}, {0}, {0}, 1, "or")),
      HasSubstr("combiner \"or\" is not defined for operand 0 (f32[3])"));
  EXPECT_THAT(
      InferOp("scatter", {"f32[3]", "i64[2]", "f32[2,1]"}, ScatterAttrs({}, {0}, {0}, 1, "add")),
      HasSubstr("the updates, operand 2 (f32[2,1]), must have 1 axes"));
}

}  // namespace
}  // namespace weir
