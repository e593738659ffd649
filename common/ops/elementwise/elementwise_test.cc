// What holds for every element-wise op whatever it computes; and the type rules of the ops that
// have attributes. What they compute is tested in common/ops/scalar.
#include "common/ops/elementwise/elementwise.h"

#include <cstring>
#include <random>

#include "common/ops/op_testing.h"
#include "common/ops/registry.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

constexpr int64_t kCount = 1021;  // tails for every vector width

bool Has(Isa isa) {
  if (isa == Isa::kAvx2) return __builtin_cpu_supports("avx2");
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

// Any bits for numbers, half of the elements of moderate size.
Tensor AnyBits(DType dtype, uint64_t seed) {
  const SampleOperand moderate = Rand(dtype, {kCount}, -20, 20);
  Tensor out = moderate.Make(seed);
  if (dtype == DType::kBool) return out;
  std::mt19937_64 random(seed);
  auto* bytes = reinterpret_cast<uint8_t*>(out.raw_mutable_data());
  const int size = SizeOf(dtype);
  for (int64_t i = 0; i < kCount; ++i) {
    if (random() % 2 == 0) continue;
    for (int byte = 0; byte < size; ++byte) bytes[i * size + byte] = static_cast<uint8_t>(random());
  }
  return out;
}

// Sign and payload of a NaN are not defined.
template <class T>
bool Same(T x, T y) {
  if constexpr (elementwise::Contains<T>(elementwise::Complexes{})) {
    return Same(x.real(), y.real()) && Same(x.imag(), y.imag());
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return x == y || Same(static_cast<float>(x), static_cast<float>(y));
  } else {
    return (x != x && y != y) || std::memcmp(&x, &y, sizeof(T)) == 0;
  }
}

int64_t FirstDifference(const Tensor& a, const Tensor& b) {
  int64_t found = -1;
  VisitDType(a.dtype(), [&]<class T>(TypeTag<T>) {
    for (int64_t i = 0; i < kCount && found < 0; ++i) {
      if (!Same(a.data<T>()[i], b.data<T>()[i])) found = i;
    }
  });
  return found;
}

struct Signature {
  std::vector<DType> operands;
  Attrs attrs;
  friend bool operator==(const Signature&, const Signature&) = default;
};

// What the samples of an op apply it to.
std::vector<Signature> SignaturesOf(const OpDef& op) {
  std::vector<Signature> out;
  for (const Sample& sample : op.samples()) {
    Signature signature;
    for (const SampleOperand& operand : sample.operands) {
      signature.operands.push_back(operand.dtype);
    }
    signature.attrs = sample.attrs;
    if (std::find(out.begin(), out.end(), signature) == out.end()) out.push_back(signature);
  }
  return out;
}

void ExpectSameOnEveryTarget(const OpDef& op, const Signature& signature) {
  std::vector<TensorType> types;
  std::vector<Tensor> operands;
  std::vector<const void*> data;
  for (DType dtype : signature.operands) {
    types.push_back({dtype, Shape({kCount})});
    operands.push_back(AnyBits(dtype, 11 + operands.size()));
  }
  for (const Tensor& operand : operands) data.push_back(operand.raw_data());
  const absl::StatusOr<Graph> graph = OneNode(std::string(op.name), types, signature.attrs);
  ASSERT_TRUE(graph.ok()) << op.name << ": " << graph.status();
  const Node& node = graph->node(graph->region(graph->entry().body).nodes[0]);
  const DType result = graph->type(node.outputs[0]).dtype;
  Tensor wanted(result, {kCount}), found(result, {kCount});
  const auto find = op.elementwise->find;
  find(node, signature.operands, result, Isa::kBaseline)(data.data(), wanted.raw_mutable_data(),
                                                         kCount);
  for (Isa isa : {Isa::kAvx2, Isa::kAvx512}) {
    if (!Has(isa)) continue;
    find(node, signature.operands, result, isa)(data.data(), found.raw_mutable_data(), kCount);
    const int64_t at = FirstDifference(wanted, found);
    EXPECT_EQ(at, -1) << op.name << " of " << DTypeName(signature.operands[0]) << " differs with "
                      << (isa == Isa::kAvx2 ? "AVX2" : "AVX-512");
  }
}

TEST(ElementwiseTest, EveryTargetGivesTheSameBits) {
  int ops = 0;
  for (const OpDef& op : AllOps()) {
    if (!op.elementwise.has_value()) continue;
    ++ops;
    for (const Signature& signature : SignaturesOf(op)) ExpectSameOnEveryTarget(op, signature);
  }
  EXPECT_GE(ops, 70);
}

// A row's bits do not depend on how many rows are computed with it.
TEST(ElementwiseTest, TailsEqualWholeVectors) {
  for (const OpDef& op : AllOps()) {
    if (!op.elementwise.has_value() || op.inputs.max != 1 || !op.attrs.empty()) continue;
    const absl::StatusOr<Graph> graph =
        OneNode(std::string(op.name), {{DType::kF32, Shape({kCount})}}, {});
    if (!graph.ok()) continue;
    const Node& node = graph->node(graph->region(graph->entry().body).nodes[0]);
    const DType result = graph->type(node.outputs[0]).dtype, operand = DType::kF32;
    const Tensor x = AnyBits(DType::kF32, 5);
    Tensor whole(result, {kCount}), single(result, {kCount});
    for (Isa isa : {Isa::kBaseline, Isa::kAvx2, Isa::kAvx512}) {
      if (isa != Isa::kBaseline && !Has(isa)) continue;
      const TileFn tile = op.elementwise->find(node, {&operand, 1}, result, isa);
      const void* all[] = {x.raw_data()};
      tile(all, whole.raw_mutable_data(), kCount);
      for (int64_t i = 0; i < kCount; ++i) {
        const void* one[] = {x.data<float>() + i};
        tile(one, single.raw_mutable_data() + i * SizeOf(result), 1);
      }
      EXPECT_EQ(std::memcmp(whole.raw_data(), single.raw_data(), whole.num_bytes()), 0) << op.name;
    }
  }
}

TEST(ElementwiseTest, TypeRules) {
  EXPECT_EQ(InferOp("add", {"f32[n,3]", "f32[n,3]"}, {}), "f32[n,3]");
  EXPECT_EQ(InferOp("less", {"i8[2]", "i8[2]"}, {}), "bool[2]");
  EXPECT_EQ(InferOp("select", {"bool[2]", "bf16[2]", "bf16[2]"}, {}), "bf16[2]");
  EXPECT_EQ(InferOp("abs", {"c64[2]"}, {}), "f32[2]");
  EXPECT_EQ(InferOp("complex", {"f64[2]", "f64[2]"}, {}), "c128[2]");
  EXPECT_EQ(InferOp("add", {"f32[2]", "f32[3]"}, {}),
            "add: operands must have equal shapes, found f32[2] and f32[3]");
  EXPECT_EQ(InferOp("add", {"f32[2]", "i32[2]"}, {}),
            "add: not defined for operand types (f32, i32); insert convert ops");
  EXPECT_EQ(InferOp("exp", {"i32[2]"}, {}),
            "exp: not defined for operand types (i32); insert convert ops");
}

TEST(ElementwiseTest, ConversionTypeRules) {
  EXPECT_EQ(InferOp("convert", {"f32[n]"}, {{"dtype", DType::kI8}}), "i8[n]");
  EXPECT_EQ(InferOp("convert", {"c64[n]"}, {{"dtype", DType::kF32}}),
            "convert: not defined for operand types (c64); insert convert ops");
  EXPECT_EQ(InferOp("bitcast_convert", {"f32[n]"}, {{"dtype", DType::kU32}}), "u32[n]");
  EXPECT_EQ(InferOp("bitcast_convert", {"f32[n]"}, {{"dtype", DType::kU64}}),
            "bitcast_convert: bits of f32 are no u64; both must be integers or floats of one size");
}

TEST(ElementwiseTest, Values) {
  const Tensor x = Tensor::Of<float>({3}, {0, 1, 4});
  const Tensor y = Tensor::Of<float>({3}, {0, -1, 2});
  EXPECT_EQ(EvalOp("squared_difference", {x, y}, {}), "f32[3] {0, 4, 4}");
  EXPECT_EQ(EvalOp("xlogy", {x, x}, {}), "f32[3] {0, 0, 5.54518}");
  EXPECT_EQ(EvalOp("xlog1py", {x, y}, {}), "f32[3] {0, -inf, 4.39445}");
  EXPECT_EQ(EvalOp("relu", {y}, {}), "f32[3] {0, 0, 2}");
  EXPECT_EQ(EvalOp("convert", {x}, {{"dtype", DType::kC64}}), "c64[3] {(0,0), (1,0), (4,0)}");
  EXPECT_EQ(EvalOp("bitcast_convert", {y}, {{"dtype", DType::kI32}}),
            "i32[3] {0, -1082130432, 1073741824}");
}

}  // namespace
}  // namespace weir
