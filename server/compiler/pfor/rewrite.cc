#include "server/compiler/pfor/rewrite.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "common/base/status.h"
#include "common/ops/lang.h"
#include "common/ops/registry.h"
#include "server/compiler/effects.h"

namespace weir {

// What a rule sees of one node.
class NodeRewrite : public PforRewrite {
 public:
  NodeRewrite(BodyRewrite* body, NodeId id, Builder into)
      : body_(body), node_(body->graph_->node(id)), into_(std::move(into)) {}

  const Graph& source() const override { return *body_->graph_; }
  const Node& node() const override { return node_; }
  bool varies(ValueId value) const override { return body_->varies(value); }
  Dim extent() const override { return body_->extent_; }
  Builder& build() override { return into_; }
  ValueId operand(int i) override { return body_->Image(node_.inputs[i]); }
  ValueId converted(ValueId value) override { return body_->Image(value); }
  ValueId iteration_indices() override { return body_->indices_; }
  bool is_iteration_index(int i) const override { return node_.inputs[i] == body_->loop_variable_; }
  ValueId IterationRows(int i) override {
    const ValueId value = node_.inputs[i];
    if (varies(value)) return ValueId();
    return body_->iteration_rows_(body_->Image(value));
  }
  void Return(std::vector<ValueId> outputs) override { outputs_ = std::move(outputs); }
  void Bind(ValueId source_arg, ValueId converted) override {
    body_->map_.insert_or_assign(source_arg, converted);
  }
  absl::StatusOr<std::vector<ValueId>> ConvertRegion(RegionId region, Builder into) override {
    WEIR_RETURN_IF_ERROR(body_->ConvertNodes(region, into));
    return body_->Images(body_->graph_->region(region).results);
  }
  absl::StatusOr<std::vector<ValueId>> ConvertPart(RegionId region, Builder into, const Dim& part,
                                                   absl::Span<const PartRows> rows) override {
    return body_->ConvertPart(region, into, part, rows);
  }
  std::string FreshSymbol(std::string_view stem) override { return body_->symbols_->Fresh(stem); }

  const std::vector<ValueId>& outputs() const { return outputs_; }

 private:
  BodyRewrite* body_;
  const Node node_;  // a copy: building moves the graph's tables
  Builder into_;
  std::vector<ValueId> outputs_;
};

namespace {

absl::Status CheckReturn(const NodeRewrite& rewrite, const Dim& extent) {
  const Node& node = rewrite.node();
  const Graph& graph = rewrite.source();
  if (rewrite.outputs().size() != node.outputs.size()) {
    return absl::InternalError(StrCat("pfor rule of ", node.op, " returned ",
                                      rewrite.outputs().size(), " values for ", node.outputs.size(),
                                      " outputs"));
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    TensorType wanted = graph.type(node.outputs[i]);
    if (rewrite.varies(node.outputs[i])) {
      wanted.shape.dims().insert(wanted.shape.dims().begin(), extent);
    }
    const TensorType& found = graph.type(rewrite.outputs()[i]);
    if (!(found == wanted)) {
      return absl::InternalError(StrCat("pfor rule of ", node.op, " returned ", found.ToString(),
                                        " for output ", i, " where ", wanted.ToString(),
                                        " belongs"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

BodyRewrite::BodyRewrite(Graph* graph, Dim extent, ValueId indices, Builder invariant,
                         Symbols* symbols, CompileReport* report)
    : graph_(graph),
      extent_(std::move(extent)),
      indices_(indices),
      invariant_(std::move(invariant)),
      symbols_(symbols),
      report_(report),
      variance_(*graph) {}

absl::StatusOr<std::vector<ValueId>> BodyRewrite::Convert(RegionId body, Builder into) {
  body_ = body;
  loop_variable_ = graph_->region(body).args[0];
  variance_.MarkVarying(loop_variable_);
  variance_.AnalyzeRegion(body);
  map_.emplace(loop_variable_, indices_);
  WEIR_RETURN_IF_ERROR(ConvertNodes(body, into));
  return Images(graph_->region(body).results);
}

// Rows of a part are not the rows of what is read by iteration, so those are gathered.
absl::StatusOr<std::vector<ValueId>> BodyRewrite::ConvertPart(
    RegionId region, Builder into, const Dim& part, absl::Span<const PforRewrite::PartRows> rows) {
  ValueMap whole;
  for (const PforRewrite::PartRows& r : rows) {
    whole.emplace(r.source, Image(r.source));
    map_.insert_or_assign(r.source, r.rows);
  }
  const Dim extent = std::exchange(extent_, part);
  const ValueId indices = std::exchange(indices_, Image(loop_variable_));
  const auto iteration_rows = std::exchange(iteration_rows_, [](ValueId) { return ValueId(); });
  const absl::Status status = ConvertNodes(region, into);
  const std::vector<ValueId> results = Images(graph_->region(region).results);
  extent_ = extent;
  indices_ = indices;
  iteration_rows_ = iteration_rows;
  for (const auto& [source, image] : whole) map_.insert_or_assign(source, image);
  WEIR_RETURN_IF_ERROR(status);
  return results;
}

std::vector<ValueId> BodyRewrite::Images(const std::vector<ValueId>& sources) const {
  std::vector<ValueId> images;
  for (ValueId source : sources) images.push_back(Image(source));
  return images;
}

ValueId BodyRewrite::Stack(Builder& builder, ValueId value) const {
  const TensorType type = builder.type(value);
  std::vector<Dim> dims = {extent_};
  dims.insert(dims.end(), type.shape.dims().begin(), type.shape.dims().end());
  Int64s axes(type.rank());
  std::iota(axes.begin(), axes.end(), 1);
  return builder.Apply("broadcast_in_dim", {value},
                       {{"shape", std::move(dims)}, {"axes", std::move(axes)}});
}

ValueId BodyRewrite::Image(ValueId source) const {
  auto it = map_.find(source);
  return it == map_.end() ? source : it->second;
}

absl::Status BodyRewrite::ConvertNodes(RegionId region, Builder into) {
  const std::vector<NodeId> nodes = graph_->region(region).nodes;
  for (NodeId id : nodes) {
    const Node& node = graph_->node(id);
    into.SetLocation(node.location);
    into.SetName(node.name);
    const std::string where = graph_->Describe(id);
    WEIR_RETURN_IF_ERROR(Annotate(ConvertNode(id, into), where));
  }
  return absl::OkStatus();
}

absl::Status BodyRewrite::ConvertNode(NodeId id, Builder into) {
  const std::vector<ValueId> sources = graph_->node(id).outputs;
  bool any_varies = false;
  for (ValueId output : sources) any_varies = any_varies || varies(output);
  if (!any_varies && !variance_.Touched(id)) {
    absl::flat_hash_map<NodeId, NodeId> nodes;
    CloneNode(*graph_, id, graph_, MayHoist(id) ? invariant_.region() : into.region(), &map_,
              &nodes);
    return absl::OkStatus();
  }
  const OpDef& op = *FindOp(graph_->node(id).op);
  if (op.pfor == nullptr) return RunInLoop(id, into, op.no_pfor);
  NodeRewrite rewrite(this, id, into);
  const absl::Status status = op.pfor(rewrite);
  if (status.code() == absl::StatusCode::kUnimplemented) {
    return RunInLoop(id, into, ToStd(status.message()));
  }
  WEIR_RETURN_IF_ERROR(status);
  WEIR_RETURN_IF_ERROR(into.status());
  WEIR_RETURN_IF_ERROR(CheckReturn(rewrite, extent_));
  for (size_t i = 0; i < sources.size(); ++i) {
    map_.insert_or_assign(sources[i], rewrite.outputs()[i]);
  }
  return absl::OkStatus();
}

// A node of the body itself (not of a loop in it) leaves the conversion if all that it uses did.
bool BodyRewrite::MayHoist(NodeId id) const {
  const Node& node = graph_->node(id);
  if (node.parent != body_ || HasEffect(*graph_, id)) return false;
  auto outside = [this](ValueId value) {
    return graph_->Contains(graph_->value(Image(value)).region, invariant_.region());
  };
  if (!std::all_of(node.inputs.begin(), node.inputs.end(), outside)) return false;
  return std::all_of(node.regions.begin(), node.regions.end(), [&](RegionId region) {
    const std::vector<ValueId> captures = graph_->Captures(region);
    return std::all_of(captures.begin(), captures.end(), outside);
  });
}

absl::Status BodyRewrite::RunInLoop(NodeId id, Builder into, std::string_view reason) {
  const Node node = graph_->node(id);
  report_->fallbacks.push_back({node.op, node.name, node.location, std::string(reason)});
  const ValueId trips = into.Apply("dimension_size", {}, {{"size", std::vector<Dim>{extent_}}});
  const RegionId region = into.NewRegion();
  Builder inside = into.In(region);
  const ValueId index = inside.AddArg({DType::kI64, Shape()}, "iteration");

  std::vector<ValueId> used = node.inputs;
  for (RegionId inner : node.regions) {
    const std::vector<ValueId> captures = graph_->Captures(inner);
    used.insert(used.end(), captures.begin(), captures.end());
  }
  ValueMap one_iteration = map_;
  for (ValueId value : used) {
    if (varies(value)) {
      one_iteration.insert_or_assign(value, TakeRow(inside, Image(value), index));
    }
  }
  WEIR_RETURN_IF_ERROR(inside.status());
  absl::flat_hash_map<NodeId, NodeId> nodes;
  const NodeId clone = CloneNode(*graph_, id, graph_, region, &one_iteration, &nodes);
  inside.Yield(graph_->node(clone).outputs);
  const std::vector<ValueId> outputs =
      into.ApplyAll("for", {trips}, {{"extent", std::vector<Dim>{extent_}}}, {region});
  WEIR_RETURN_IF_ERROR(into.status());
  for (size_t i = 0; i < outputs.size(); ++i) map_.insert_or_assign(node.outputs[i], outputs[i]);
  return absl::OkStatus();
}

}  // namespace weir
