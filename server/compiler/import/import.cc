#include "server/compiler/import/import.h"

#include <onnx/checker.h>
#include <onnx/onnx_pb.h>
#include <onnx/version_converter/convert.h>

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "common/base/status.h"
#include "common/ir/builder.h"
#include "common/ir/verify.h"
#include "common/ops/registry.h"
#include "server/compiler/import/graph_importer.h"
#include "server/compiler/import/scope.h"
#include "server/compiler/import/tensor_proto.h"

namespace weir {
namespace {

using onnx_import::GraphImporter;
using onnx_import::Scope;

constexpr int kOldestOpset = 7;
constexpr int kNewestOpset = 17;
constexpr int kMaxIrVersion = 8;

int OpsetOf(const onnx::ModelProto& model) {
  for (const onnx::OperatorSetIdProto& opset : model.opset_import()) {
    if (opset.domain().empty() || opset.domain() == "ai.onnx") {
      return static_cast<int>(opset.version());
    }
  }
  return 1;
}

// libonnx reports by exceptions; they end here.
absl::Status Check(const onnx::ModelProto& model, std::string_view name) {
  try {
    onnx::checker::check_model(model);
    return absl::OkStatus();
  } catch (const std::exception& error) {
    return InvalidArgument(name, ": not a valid ONNX model: ", error.what());
  }
}

// The converter of libonnx trusts that every name is defined; the checker does not look at all of
// them.
absl::Status CheckNames(const onnx::GraphProto& graph, std::set<std::string> known) {
  for (const onnx::ValueInfoProto& input : graph.input()) known.insert(input.name());
  for (const onnx::TensorProto& tensor : graph.initializer()) known.insert(tensor.name());
  for (const onnx::NodeProto& node : graph.node()) {
    for (const std::string& input : node.input()) {
      if (!input.empty() && !known.contains(input)) {
        return InvalidArgument("operand '", input, "' of ", node.op_type(),
                               " is made by no node before it");
      }
    }
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) WEIR_RETURN_IF_ERROR(CheckNames(attribute.g(), known));
    }
    known.insert(node.output().begin(), node.output().end());
  }
  for (const onnx::ValueInfoProto& output : graph.output()) {
    if (output.name().empty() || !known.contains(output.name())) {
      return InvalidArgument("graph output '", output.name(), "' is made by no node");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<onnx::ModelProto> ConvertVersion(const onnx::ModelProto& model, int opset,
                                                std::string_view name) {
  WEIR_RETURN_IF_ERROR(Annotate(CheckNames(model.graph(), {}), name));
  try {
    return onnx::version_conversion::ConvertVersion(model, opset);
  } catch (const std::exception& error) {
    return absl::UnimplementedError(StrCat(name, ": opset ", OpsetOf(model),
                                           " cannot be converted to ", opset, ": ", error.what()));
  }
}

absl::StatusOr<onnx::ModelProto> ParseModel(std::string_view bytes, std::string_view name) {
  onnx::ModelProto model;
  if (bytes.empty() || !model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
      !model.has_graph() || model.ir_version() == 0) {
    return InvalidArgument(name, ": not an ONNX model");
  }
  const int opset = OpsetOf(model);
  if (opset > kNewestOpset) {
    return absl::UnimplementedError(StrCat(name, ": opset ", opset, " is newer than ", kNewestOpset,
                                           "; export the model for an older one"));
  }
  if (model.ir_version() > kMaxIrVersion) model.set_ir_version(kMaxIrVersion);
  WEIR_RETURN_IF_ERROR(Check(model, name));
  if (opset < kOldestOpset) return ConvertVersion(model, kOldestOpset, name);
  return model;
}

std::set<std::string> InitializerNames(const onnx::GraphProto& graph) {
  std::set<std::string> names;
  for (const onnx::TensorProto& tensor : graph.initializer()) names.insert(tensor.name());
  return names;
}

absl::StatusOr<Graph> ImportModel(const onnx::ModelProto& model, const std::string& name) {
  Graph graph;
  const RegionId body = graph.AddFunction("main").body;
  Builder builder(&graph, body, &Ops());
  GraphImporter importer(name, OpsetOf(model), builder);
  Scope scope;
  const std::set<std::string> initializers = InitializerNames(model.graph());
  for (const onnx::ValueInfoProto& input : model.graph().input()) {
    if (initializers.contains(input.name())) continue;
    absl::StatusOr<TensorType> type = onnx_import::TypeOf(input.type(), input.name());
    WEIR_RETURN_IF_ERROR(Annotate(type.status(), StrCat(name, ": input '", input.name(), "'")));
    scope.Define(input.name(), {.id = builder.AddArg(*std::move(type), input.name())});
  }
  WEIR_RETURN_IF_ERROR(importer.ImportNodes(model.graph(), &scope, builder));
  absl::StatusOr<std::vector<ValueId>> outputs = importer.Outputs(model.graph(), &scope, builder);
  WEIR_RETURN_IF_ERROR(Annotate(outputs.status(), name));
  builder.Yield(*outputs);
  WEIR_RETURN_IF_ERROR(builder.status());
  std::vector<std::string>& names = graph.functions().front().result_names;
  for (int i = 0; i < model.graph().output_size(); ++i) names[i] = model.graph().output(i).name();
  return graph;
}

}  // namespace

absl::StatusOr<Graph> ImportOnnx(std::string_view bytes, std::string_view name) {
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max())) {
    return InvalidArgument(name, ": models of 2 GiB and more are not supported");
  }
  WEIR_ASSIGN_OR_RETURN(const onnx::ModelProto model, ParseModel(bytes, name));
  WEIR_ASSIGN_OR_RETURN(Graph graph, ImportModel(model, std::string(name)));
  WEIR_RETURN_IF_ERROR(Annotate(Verify(graph, Ops()), name));
  return graph;
}

}  // namespace weir
