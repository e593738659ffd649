// If, Loop and Scan.
#include <onnx/onnx_pb.h>

#include <numeric>
#include <utility>

#include "common/base/status.h"
#include "server/compiler/import/graph_importer.h"
#include "server/compiler/import/onnx_node.h"

namespace weir::onnx_import {
namespace {

absl::StatusOr<const onnx::GraphProto*> Body(OnnxNode& node, std::string_view name) {
  const onnx::GraphProto* body = node.GraphAttr(name);
  if (body == nullptr) return InvalidArgument("attribute '", name, "' holds no graph");
  return body;
}

// The outputs of a branch, built with `into`.
absl::StatusOr<std::vector<ValueId>> ImportBranch(OnnxNode& node, const onnx::GraphProto& body,
                                                  Builder& into) {
  Scope scope(node.importer().scope());
  WEIR_RETURN_IF_ERROR(node.importer().ImportNodes(body, &scope, into));
  return node.importer().Outputs(body, &scope, into);
}

bool IsTrue(const Tensor& tensor) { return tensor.num_elements() == 1 && *tensor.data<bool>(); }

// Row `index` along `axis`.
ValueId TakeAlong(Builder& b, ValueId x, ValueId index, int axis) {
  return axis == 0 ? TakeRow(b, x, index) : Take(b, x, index, axis);
}

// Moves axis 0 to `axis`.
ValueId MoveFirstTo(Builder& b, ValueId x, int axis) {
  const int rank = b.type(x).rank();
  Int64s order(rank);
  for (int i = 0; i < rank; ++i) order[i] = i < axis ? i + 1 : i == axis ? 0 : i;
  return Transpose(b, x, order);
}

}  // namespace

absl::Status TranslateIf(OnnxNode& node) {
  WEIR_ASSIGN_OR_RETURN(const onnx::GraphProto* then_body, Body(node, "then_branch"));
  WEIR_ASSIGN_OR_RETURN(const onnx::GraphProto* else_body, Body(node, "else_branch"));
  if (const Tensor* known = node.constant(0)) {
    WEIR_ASSIGN_OR_RETURN(const std::vector<ValueId> values,
                          ImportBranch(node, IsTrue(*known) ? *then_body : *else_body, node.b()));
    for (ValueId value : values) node.Return(value);
    return absl::OkStatus();
  }
  const ValueId predicate = Reshape(node.b(), node.input(0), {});
  std::vector<RegionId> regions;
  for (const onnx::GraphProto* body : {then_body, else_body}) {
    Builder into = node.b().In(node.b().NewRegion());
    WEIR_ASSIGN_OR_RETURN(const std::vector<ValueId> values, ImportBranch(node, *body, into));
    into.Yield(values);
    regions.push_back(into.region());
  }
  for (ValueId value : node.b().ApplyAll("if", {predicate}, {}, regions)) node.Return(value);
  return absl::OkStatus();
}

namespace {

// Whether the body's condition is known to stay true: a constant, or the condition that came in.
absl::StatusOr<bool> StaysTrue(const onnx::GraphProto& body, Scope* scope, bool starts_true) {
  if (!starts_true) return false;
  const std::string& out = body.output(0).name();
  const Imported* condition = scope->Find(out);
  if (condition == nullptr) return InvalidArgument("the body makes no condition '", out, "'");
  if (condition->constant.has_value()) return IsTrue(*condition->constant);
  const Imported* in = scope->Find(body.input(1).name());
  return in != nullptr && in->id.valid() && in->id == condition->id;
}

struct LoopParts {
  const onnx::GraphProto* body = nullptr;
  std::vector<ValueId> carried;
  int num_scanned = 0;
};

void DefineCarried(const LoopParts& parts, const std::vector<ValueId>& args, Scope* scope) {
  for (size_t k = 0; k < parts.carried.size(); ++k) {
    scope->Define(parts.body->input(static_cast<int>(k) + 2).name(), {.id = args[k]});
  }
}

// A loop whose condition never ends it: a counted one.
absl::StatusOr<bool> CountedLoop(OnnxNode& node, const LoopParts& parts, ValueId trips,
                                 bool starts_true) {
  Builder& b = node.b();
  Builder into = b.In(b.NewRegion());
  Scope scope(node.importer().scope());
  const ValueId index = into.AddArg({DType::kI64, Shape()}, "iteration");
  scope.Define(parts.body->input(0).name(), {.id = index});
  // True is what it is in every iteration that runs; the node is only made if the body uses it.
  scope.Define(parts.body->input(1).name(), {.constant = Tensor::Scalar<bool>(true)});
  std::vector<ValueId> args;
  for (ValueId value : parts.carried) args.push_back(into.AddArg(b.type(value)));
  DefineCarried(parts, args, &scope);
  WEIR_RETURN_IF_ERROR(node.importer().ImportNodes(*parts.body, &scope, into));
  WEIR_ASSIGN_OR_RETURN(const bool counted, StaysTrue(*parts.body, &scope, starts_true));
  if (!counted) return false;
  WEIR_ASSIGN_OR_RETURN(std::vector<ValueId> results,
                        node.importer().Outputs(*parts.body, &scope, into));
  results.erase(results.begin());
  into.Yield(results);
  Attrs attrs;
  if (parts.num_scanned > 0) {
    absl::StatusOr<std::vector<Dim>> extent = node.Dims(0);
    if (!extent.ok())
      return node.Unsupported("scan outputs of a loop whose length is only known at run time");
    const Dim trip = (*extent)[0];
    attrs = {{"extent", std::vector<Dim>{trip.is_number() ? Max(Dim(0), trip) : trip}}};
  }
  std::vector<ValueId> operands = {trips};
  operands.insert(operands.end(), parts.carried.begin(), parts.carried.end());
  for (ValueId value : b.ApplyAll("for", operands, std::move(attrs), {into.region()})) {
    node.Return(value);
  }
  return true;
}

absl::Status ConditionalLoop(OnnxNode& node, const LoopParts& parts, ValueId trips,
                             ValueId condition) {
  if (parts.num_scanned > 0) {
    return node.Unsupported("scan outputs of a loop that its condition may end");
  }
  Builder& b = node.b();
  std::vector<ValueId> operands = {b.Scalar<int64_t>(0), condition};
  operands.insert(operands.end(), parts.carried.begin(), parts.carried.end());
  Builder test = b.In(b.NewRegion());
  std::vector<ValueId> seen;
  for (ValueId value : operands) seen.push_back(test.AddArg(b.type(value)));
  ValueId go_on = seen[1];
  if (trips.valid()) {
    go_on = Binary(test, "and", go_on, Binary(test, "less", seen[0], trips));
  }
  test.Yield({go_on});

  Builder into = b.In(b.NewRegion());
  Scope scope(node.importer().scope());
  std::vector<ValueId> args;
  for (ValueId value : operands) args.push_back(into.AddArg(b.type(value)));
  scope.Define(parts.body->input(0).name(), {.id = args[0]});
  scope.Define(parts.body->input(1).name(), {.id = args[1]});
  DefineCarried(parts, {args.begin() + 2, args.end()}, &scope);
  WEIR_RETURN_IF_ERROR(node.importer().ImportNodes(*parts.body, &scope, into));
  WEIR_ASSIGN_OR_RETURN(std::vector<ValueId> results,
                        node.importer().Outputs(*parts.body, &scope, into));
  results[0] = Reshape(into, results[0], {});
  results.insert(results.begin(), Binary(into, "add", args[0], into.Scalar<int64_t>(1)));
  into.Yield(results);
  const std::vector<ValueId> finals =
      b.ApplyAll("while", operands, {}, {test.region(), into.region()});
  for (size_t i = 2; i < finals.size(); ++i) node.Return(finals[i]);
  return absl::OkStatus();
}

}  // namespace

absl::Status TranslateLoop(OnnxNode& node) {
  Builder& b = node.b();
  LoopParts parts;
  WEIR_ASSIGN_OR_RETURN(parts.body, Body(node, "body"));
  for (int i = 2; i < node.num_inputs(); ++i) parts.carried.push_back(node.input(i));
  const int carried = static_cast<int>(parts.carried.size());
  if (parts.body->input_size() != carried + 2 || parts.body->output_size() < carried + 1) {
    return InvalidArgument("the body's inputs or outputs do not fit the loop");
  }
  parts.num_scanned = parts.body->output_size() - carried - 1;
  ValueId trips;
  if (node.has_input(0)) trips = Reshape(b, Cast(b, node.input(0), DType::kI64), {});
  const bool starts_true =
      !node.has_input(1) || (node.constant(1) != nullptr && IsTrue(*node.constant(1)));
  if (trips.valid() && starts_true) {
    WEIR_ASSIGN_OR_RETURN(const bool done, CountedLoop(node, parts, trips, starts_true));
    if (done) return absl::OkStatus();
  }
  const ValueId condition =
      node.has_input(1) ? Reshape(b, node.input(1), {}) : b.Scalar<bool>(true);
  return ConditionalLoop(node, parts, trips, condition);
}

absl::Status TranslateScan(OnnxNode& node) {
  if (node.opset() < 9) return node.Unsupported("the form of Scan before opset 9");
  Builder& b = node.b();
  WEIR_ASSIGN_OR_RETURN(const onnx::GraphProto* body, Body(node, "body"));
  const int scanned = static_cast<int>(node.Int("num_scan_inputs", 0));
  const int states = node.num_inputs() - scanned;
  const int outputs = node.num_outputs() - states;
  if (scanned < 1 || states < 0 || outputs < 0 || body->input_size() != states + scanned ||
      body->output_size() != states + outputs) {
    return InvalidArgument("the body's inputs or outputs do not fit the scan");
  }
  const Int64s in_axes = node.Ints("scan_input_axes", Int64s(scanned, 0));
  const Int64s in_directions = node.Ints("scan_input_directions", Int64s(scanned, 0));
  const Int64s out_axes = node.Ints("scan_output_axes", Int64s(outputs, 0));
  const Int64s out_directions = node.Ints("scan_output_directions", Int64s(outputs, 0));
  if (static_cast<int>(in_axes.size()) != scanned ||
      static_cast<int>(in_directions.size()) != scanned ||
      static_cast<int>(out_axes.size()) != outputs ||
      static_cast<int>(out_directions.size()) != outputs) {
    return InvalidArgument("axes or directions do not fit the scan's inputs or outputs");
  }
  WEIR_ASSIGN_OR_RETURN(const int first_axis, node.Axis(in_axes[0], node.rank(states)));
  const Dim extent = node.type(states).shape[first_axis];

  Builder into = b.In(b.NewRegion());
  Scope scope(node.importer().scope());
  const ValueId index = into.AddArg({DType::kI64, Shape()}, "iteration");
  std::vector<ValueId> operands = {DimValue(b, extent)};
  for (int i = 0; i < states; ++i) {
    operands.push_back(node.input(i));
    scope.Define(body->input(i).name(), {.id = into.AddArg(node.type(i))});
  }
  for (int i = 0; i < scanned; ++i) {
    WEIR_ASSIGN_OR_RETURN(const int axis, node.Axis(in_axes[i], node.rank(states + i)));
    ValueId x = node.input(states + i);
    if (in_directions[i] != 0) x = b.Apply("reverse", {x}, {{"axes", Int64s{axis}}});
    scope.Define(body->input(states + i).name(), {.id = TakeAlong(into, x, index, axis)});
  }
  WEIR_RETURN_IF_ERROR(node.importer().ImportNodes(*body, &scope, into));
  WEIR_ASSIGN_OR_RETURN(const std::vector<ValueId> results,
                        node.importer().Outputs(*body, &scope, into));
  into.Yield(results);
  Attrs attrs;
  if (outputs > 0) attrs = {{"extent", std::vector<Dim>{extent}}};
  const std::vector<ValueId> made = b.ApplyAll("for", operands, std::move(attrs), {into.region()});
  WEIR_RETURN_IF_ERROR(b.status());
  for (int i = 0; i < states; ++i) node.Return(made[i]);
  for (int i = 0; i < outputs; ++i) {
    ValueId value = made[states + i];
    if (out_directions[i] != 0) value = b.Apply("reverse", {value}, {{"axes", Int64s{0}}});
    WEIR_ASSIGN_OR_RETURN(const int axis, node.Axis(out_axes[i], b.type(value).rank()));
    node.Return(axis == 0 ? value : MoveFirstTo(b, value, axis));
  }
  return absl::OkStatus();
}

}  // namespace weir::onnx_import
