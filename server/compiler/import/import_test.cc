#include "server/compiler/import/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <fstream>
#include <sstream>

#include "common/base/status.h"
#include "common/interp/interpreter.h"
#include "common/ir/text.h"
#include "common/ops/registry.h"
#include "common/tensor/compare.h"
#include "common/tensor/npy.h"
#include "server/compiler/map.h"
#include "server/compiler/pipeline.h"

namespace weir {
namespace {

std::string DigitsFile(const std::string& name) { return StrCat(WEIR_TEST_DATA, "/digits/", name); }

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

struct Digits {
  const char* model;
  const char* input;
};

class DigitsTest : public testing::TestWithParam<Digits> {};

TEST_P(DigitsTest, GivesTheExpectedLogitsAfterEveryPass) {
  const std::string model = ReadFile(DigitsFile(StrCat(GetParam().model, ".onnx")));
  absl::StatusOr<Graph> graph = ImportOnnx(model, "model.onnx");
  ASSERT_TRUE(graph.ok()) << graph.status();
  absl::StatusOr<Graph> mapped = MapOver(*std::move(graph), {GetParam().input});
  ASSERT_TRUE(mapped.ok()) << mapped.status();
  absl::StatusOr<Tensor> images = ReadNpy(DigitsFile(StrCat(GetParam().input, ".npy")));
  absl::StatusOr<Tensor> logits = ReadNpy(DigitsFile(StrCat(GetParam().model, "_logits.npy")));
  ASSERT_TRUE(images.ok() && logits.ok());
  constexpr int64_t kRows = 5;
  const std::vector<Tensor> inputs = {images->Rows(0, kRows)};
  absl::StatusOr<Compiled> compiled =
      Compile(*mapped, {.strict = true}, [&](const Pass& pass, const Graph& stage) {
        absl::StatusOr<Graph> parsed = Parse(Print(stage), Ops());
        ASSERT_TRUE(parsed.ok()) << pass.name << ": " << parsed.status();
        absl::StatusOr<std::vector<Tensor>> got = Interpret(*parsed, inputs);
        ASSERT_TRUE(got.ok()) << pass.name << ": " << got.status();
        EXPECT_EQ(Difference((*got)[0], logits->Rows(0, kRows), {.absolute = 1e-4}), "")
            << pass.name;
      });
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  EXPECT_TRUE(compiled->report.fallbacks.empty());
}

INSTANTIATE_TEST_SUITE_P(Models, DigitsTest,
                         testing::Values(Digits{"cnn", "image"}, Digits{"lstm", "rows"}),
                         [](const auto& info) { return std::string(info.param.model); });

TEST(DigitsCnnTest, WeightsStayAsTheyAreAndConvolutionsFoldIntoTheBatch) {
  absl::StatusOr<Graph> graph = ImportOnnx(ReadFile(DigitsFile("cnn.onnx")), "cnn.onnx");
  ASSERT_TRUE(graph.ok()) << graph.status();
  absl::StatusOr<Graph> mapped = MapOver(*std::move(graph), {"image"});
  ASSERT_TRUE(mapped.ok());
  absl::StatusOr<Compiled> compiled = Compile(*std::move(mapped), {});
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  int convolutions = 0;
  const Graph& program = compiled->graph;
  for (int i = 0; i < program.num_nodes(); ++i) {
    const Node& node = program.node(NodeId(i));
    if (node.op != "convolution") continue;
    ++convolutions;
    EXPECT_EQ(program.type(node.inputs[0]).rank(), 4);
    EXPECT_TRUE(program.type(node.inputs[1]).shape.is_static());
    EXPECT_EQ(program.type(node.inputs[0]).shape[0], Dim::Symbol("m"));
  }
  EXPECT_EQ(convolutions, 2);
}

std::string ModelText(const std::function<void(onnx::ModelProto*)>& change) {
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(ReadFile(DigitsFile("cnn.onnx"))));
  change(&model);
  return model.SerializeAsString();
}

TEST(ImportTest, WhatIsNoModelIsAnError) {
  EXPECT_EQ(ImportOnnx("", "m.onnx").status().message(), "m.onnx: not an ONNX model");
  EXPECT_EQ(ImportOnnx("hello, this is text", "m.onnx").status().message(),
            "m.onnx: not an ONNX model");
}

TEST(ImportTest, UnknownOperatorsAreNamedWithNodeAndOpset) {
  const std::string bytes = ModelText([](onnx::ModelProto* model) {
    onnx::NodeProto* node = model->mutable_graph()->mutable_node(1);
    node->set_op_type("NonZero");
    node->set_name("where");
  });
  absl::StatusOr<Graph> graph = ImportOnnx(bytes, "m.onnx");
  EXPECT_EQ(graph.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(graph.status().message(),
            "m.onnx: operator NonZero (node \"where\", opset 13): this operator is not supported");
}

TEST(ImportTest, NumbersThatWouldOverflowAreRefused) {
  for (const char* op : {"Conv", "ConvTranspose"}) {
    const std::string bytes = ModelText([op](onnx::ModelProto* model) {
      for (onnx::NodeProto& node : *model->mutable_graph()->mutable_node()) {
        if (node.op_type() != "Conv") continue;
        node.set_op_type(op);
        for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
          if (attribute.name() == "strides") attribute.set_ints(0, int64_t{1} << 62);
        }
      }
    });
    const absl::Status status = ImportOnnx(bytes, "m.onnx").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << op;
    EXPECT_THAT(
        std::string(ToStd(status.message())),
        testing::HasSubstr("a window with 4611686018427387904: at most 1073741824 is allowed"));
  }
}

TEST(ImportTest, NewerOpsetsAreRefused) {
  const std::string bytes =
      ModelText([](onnx::ModelProto* model) { model->mutable_opset_import(0)->set_version(99); });
  EXPECT_EQ(ImportOnnx(bytes, "m.onnx").status().message(),
            "m.onnx: opset 99 is newer than 17; export the model for an older one");
}

}  // namespace
}  // namespace weir
