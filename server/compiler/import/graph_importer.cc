#include "server/compiler/import/graph_importer.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <utility>

#include "common/base/status.h"
#include "common/interp/interpreter.h"
#include "common/ops/lang.h"
#include "common/ops/registry.h"
#include "server/compiler/import/dim_arithmetic.h"
#include "server/compiler/import/onnx_node.h"
#include "server/compiler/import/tensor_proto.h"

namespace weir::onnx_import {
namespace {

constexpr int kMaxDepth = 32;
constexpr int64_t kMaxFoldedBytes = int64_t{64} << 20;

bool HasSubgraph(const onnx::NodeProto& proto) {
  return std::any_of(
      proto.attribute().begin(), proto.attribute().end(),
      [](const onnx::AttributeProto& a) { return a.has_g() || a.graphs_size() > 0; });
}

bool InDefaultDomain(const onnx::NodeProto& proto) {
  return proto.domain().empty() || proto.domain() == "ai.onnx";
}

}  // namespace

GraphImporter::GraphImporter(std::string file, int opset, Builder root)
    : file_(std::move(file)), opset_(opset), root_(std::move(root)) {}

absl::Status GraphImporter::ImportNodes(const onnx::GraphProto& proto, Scope* scope, Builder into) {
  if (++depth_ > kMaxDepth) {
    return InvalidArgument("graphs are nested deeper than ", kMaxDepth);
  }
  Scope* const outer = std::exchange(scope_, scope);
  for (const onnx::TensorProto& initializer : proto.initializer()) {
    WEIR_ASSIGN_OR_RETURN(Tensor tensor, TensorOf(initializer));
    scope->Define(initializer.name(), {.constant = std::move(tensor)});
  }
  if (proto.sparse_initializer_size() > 0) {
    return absl::UnimplementedError("sparse initializers are not supported");
  }
  for (int i = 0; i < proto.node_size(); ++i) {
    scope_ = scope;
    WEIR_RETURN_IF_ERROR(ImportNode(proto.node(i), i, scope, into));
  }
  scope_ = outer;
  --depth_;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ValueId>> GraphImporter::Outputs(const onnx::GraphProto& proto,
                                                            Scope* scope, Builder& into) {
  std::vector<ValueId> outputs;
  for (const onnx::ValueInfoProto& output : proto.output()) {
    Imported* value = scope->Find(output.name());
    if (value == nullptr) {
      return InvalidArgument("graph output '", output.name(), "' is made by no node");
    }
    outputs.push_back(Materialize(value, into));
  }
  WEIR_RETURN_IF_ERROR(into.status());
  return outputs;
}

ValueId GraphImporter::Materialize(Imported* value, Builder& into) {
  if (value->id.valid()) return value->id;
  if (value->constant.has_value()) {
    // A scratch graph has constants of its own.
    Builder where = &into.graph() == &root_.graph() ? root_ : into;
    const ValueId made = where.Constant(*value->constant);
    if (!where.ok()) into.Fail(where.status());
    if (&into.graph() == &root_.graph()) value->id = made;
    return made;
  }
  if (!value->dims.has_value()) {
    into.Fail(InvalidArgument("a value that no node made is used"));
    return ValueId();
  }
  std::vector<ValueId> parts;
  for (const Dim& dim : *value->dims) {
    const ValueId scalar = DimValue(into, dim);
    if (value->dims_scalar) return scalar;
    parts.push_back(Reshape(into, scalar, {1}));
  }
  return Concatenate(into, std::move(parts), 0);
}

absl::Status GraphImporter::ImportNode(const onnx::NodeProto& proto, int position, Scope* scope,
                                       Builder& into) {
  const std::string name = proto.name().empty() ? StrCat("node_", position) : proto.name();
  into.SetName(name);
  into.SetLocation({file_, position + 1, 0});
  auto annotate = [&](const absl::Status& status) {
    return Annotate(status, StrCat(file_, ": operator ", proto.op_type(), " (node \"", name,
                                   "\", opset ", opset_, ")"));
  };
  if (!InDefaultDomain(proto)) {
    return annotate(
        absl::UnimplementedError(StrCat("domain '", proto.domain(), "' is not supported")));
  }
  std::vector<Imported*> inputs;
  for (const std::string& input : proto.input()) {
    inputs.push_back(input.empty() ? nullptr : scope->Find(input));
    if (!input.empty() && inputs.back() == nullptr) {
      return annotate(InvalidArgument("operand '", input, "' is made by no node before this one"));
    }
  }
  return annotate(Translate(proto, scope, into, inputs));
}

absl::Status GraphImporter::Translate(const onnx::NodeProto& proto, Scope* scope, Builder& into,
                                      const std::vector<Imported*>& inputs) {
  const Translation translation = FindTranslation(proto.op_type());
  if (translation == nullptr) return absl::UnimplementedError("this operator is not supported");
  std::vector<Imported> results;
  OnnxNode node(this, proto, into, inputs, opset_);
  WEIR_ASSIGN_OR_RETURN(bool done, FoldDims(node));
  if (done) {
    results = std::move(node.results());
  } else {
    WEIR_ASSIGN_OR_RETURN(done, Evaluate(proto, inputs, &results));
  }
  if (!done) {
    WEIR_RETURN_IF_ERROR(translation(node));
    WEIR_RETURN_IF_ERROR(node.b().status());
    results = std::move(node.results());
  }
  for (int i = 0; i < proto.output_size(); ++i) {
    if (proto.output(i).empty()) continue;
    if (i >= static_cast<int>(results.size())) {
      return absl::UnimplementedError(StrCat("output ", i, " is not supported"));
    }
    Imported& result = results[i];
    if (result.id.valid() && into.graph().value(result.id).name.empty()) {
      into.graph().value(result.id).name = proto.output(i);
    }
    scope->Define(proto.output(i), std::move(result));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> GraphImporter::Evaluate(const onnx::NodeProto& proto,
                                             const std::vector<Imported*>& inputs,
                                             std::vector<Imported>* results) {
  if (HasSubgraph(proto)) return false;
  std::vector<Imported> copies(inputs.size());
  std::vector<Imported*> operands;
  for (size_t i = 0; i < inputs.size(); ++i) {
    operands.push_back(inputs[i] == nullptr ? nullptr : &copies[i]);
    if (inputs[i] == nullptr) continue;
    if (!inputs[i]->constant.has_value()) return false;
    copies[i].constant = inputs[i]->constant;
    copies[i].dims = inputs[i]->dims;
  }
  Graph scratch;
  Builder builder(&scratch, scratch.AddFunction("main").body, &Ops());
  OnnxNode node(this, proto, builder, operands, opset_);
  WEIR_RETURN_IF_ERROR(FindTranslation(proto.op_type())(node));
  std::vector<ValueId> made;
  int64_t bytes = 0;
  for (const Imported& result : node.results()) {
    if (!result.id.valid()) continue;
    const TensorType& type = scratch.type(result.id);
    if (!type.shape.is_static()) return false;
    WEIR_ASSIGN_OR_RETURN(const int64_t elements,
                          CheckedNumElements(type.shape.extents(), type.dtype));
    bytes += elements * SizeOf(type.dtype);
    made.push_back(result.id);
  }
  WEIR_RETURN_IF_ERROR(node.b().status());
  if (bytes > kMaxFoldedBytes) return false;
  node.b().Yield(made);
  absl::StatusOr<std::vector<Tensor>> values =
      Interpret(scratch, {}, {.max_tensor_bytes = kMaxFoldedBytes});
  if (absl::IsResourceExhausted(values.status())) return false;
  WEIR_RETURN_IF_ERROR(values.status());
  size_t next = 0;
  for (Imported& result : node.results()) {
    if (result.id.valid()) {
      result.id = ValueId();
      result.constant = (*values)[next++].Clone();
    }
    results->push_back(std::move(result));
  }
  return true;
}

}  // namespace weir::onnx_import
