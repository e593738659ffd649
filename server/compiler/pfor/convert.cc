#include "server/compiler/pfor/convert.h"

#include "common/base/status.h"
#include "common/ops/lang.h"
#include "common/ops/registry.h"
#include "server/compiler/pfor/rewrite.h"

namespace weir {
namespace {

ValueId Iota(Builder& builder, const Dim& extent) {
  return builder.Apply("iota", {},
                       {{"shape", std::vector<Dim>{extent}}, {"dtype", DType::kI64}, {"axis", 0}});
}

ValueId Repeated(Builder& builder, ValueId value, const Dim& extent) {
  const TensorType type = builder.type(value);
  std::vector<Dim> dims = {extent};
  Int64s axes;
  for (const Dim& dim : type.shape.dims()) {
    axes.push_back(static_cast<int64_t>(dims.size()));
    dims.push_back(dim);
  }
  return builder.Apply("broadcast_in_dim", {value},
                       {{"shape", std::move(dims)}, {"axes", std::move(axes)}});
}

// Stacks what did not vary, so that every result has the iteration axis.
std::vector<ValueId> StackedResults(const BodyRewrite& body, Builder& builder,
                                    const std::vector<ValueId>& source,
                                    const std::vector<ValueId>& converted) {
  std::vector<ValueId> out;
  for (size_t i = 0; i < source.size(); ++i) {
    out.push_back(body.varies(source[i]) ? converted[i] : body.Stack(builder, converted[i]));
  }
  return out;
}

}  // namespace

absl::StatusOr<std::vector<ValueId>> ConvertToShard(Graph* graph, NodeId pfor, Builder parent,
                                                    Symbols* symbols, CompileReport* report) {
  const Node node = graph->node(pfor);
  const RegionId source = node.regions[0];
  const Dim extent = node.attr("extent").AsDims()[0];
  const std::string local = symbols->Fresh("m");
  const Dim range = Dim::Symbol(local);

  const RegionId region = parent.NewRegion();
  Builder inside = parent.In(region);
  const ValueId first = inside.AddArg({DType::kI64, Shape()}, "first");
  const ValueId start = inside.Apply("broadcast_in_dim", {first},
                                     {{"shape", std::vector<Dim>{range}}, {"axes", Int64s{}}});
  const ValueId indices = inside.Apply("add", {Iota(inside, range), start});

  std::vector<ValueId> sliced;
  absl::flat_hash_map<ValueId, ValueId> parts;
  BodyRewrite body(graph, range, indices, parent, symbols, report);
  body.set_iteration_rows([&](ValueId value) -> ValueId {
    const TensorType type = graph->type(value);
    if (type.rank() == 0 || !(type.shape[0] == extent)) return ValueId();
    // What a loop inside of the body makes is no operand of the shard.
    if (!graph->Contains(graph->value(value).region, parent.region())) return ValueId();
    auto [it, added] = parts.try_emplace(value);
    if (added) {
      TensorType part = type;
      part.shape[0] = range;
      it->second = inside.AddArg(std::move(part), graph->value(value).name);
      sliced.push_back(value);
    }
    return it->second;
  });
  WEIR_ASSIGN_OR_RETURN(const std::vector<ValueId> converted, body.Convert(source, inside));
  // What is the same for all iterations and made outside is no result of the shard: each worker
  // would repeat it for all of its rows.
  const std::vector<ValueId> results = graph->region(source).results;
  std::vector<ValueId> varying, made;
  std::vector<bool> repeated;
  for (size_t i = 0; i < results.size(); ++i) {
    repeated.push_back(!graph->Contains(region, graph->value(converted[i]).region));
    if (repeated[i]) continue;
    varying.push_back(results[i]);
    made.push_back(converted[i]);
  }
  inside.Yield(StackedResults(body, inside, varying, made));
  const std::vector<ValueId> stacked = parent.ApplyAll(
      "shard", sliced, {{"extent", std::vector<Dim>{extent}}, {"local", local}}, {region});
  std::vector<ValueId> outputs;
  size_t next = 0;
  for (size_t i = 0; i < converted.size() && parent.ok(); ++i) {
    outputs.push_back(repeated[i] ? Repeated(parent, converted[i], extent) : stacked[next++]);
  }
  WEIR_RETURN_IF_ERROR(parent.status());
  return outputs;
}

absl::StatusOr<std::vector<ValueId>> ConvertInline(Graph* graph, NodeId pfor, Builder parent,
                                                   Symbols* symbols, CompileReport* report) {
  const Node node = graph->node(pfor);
  const RegionId source = node.regions[0];
  const Dim extent = node.attr("extent").AsDims()[0];
  BodyRewrite body(graph, extent, Iota(parent, extent), parent, symbols, report);
  body.set_iteration_rows([&](ValueId value) -> ValueId {
    const TensorType& type = graph->type(value);
    return type.rank() > 0 && type.shape[0] == extent ? value : ValueId();
  });
  WEIR_ASSIGN_OR_RETURN(const std::vector<ValueId> converted, body.Convert(source, parent));
  std::vector<ValueId> outputs =
      StackedResults(body, parent, graph->region(source).results, converted);
  WEIR_RETURN_IF_ERROR(parent.status());
  return outputs;
}

absl::StatusOr<std::vector<ValueId>> ConvertToRaggedRows(Graph* graph, NodeId pfor, Builder parent,
                                                         Symbols* symbols, CompileReport* report) {
  const Node node = graph->node(pfor);
  const RegionId source = node.regions[0];
  const std::string local = symbols->Fresh("k");
  const Dim lanes = Dim::Symbol(local);
  const RegionId region = parent.NewRegion();
  Builder inside = parent.In(region);
  inside.AddArg({DType::kI64, Shape({lanes})}, "owner");
  const ValueId indices = inside.AddArg({DType::kI64, Shape({lanes})}, "i");
  BodyRewrite body(graph, lanes, indices, parent, symbols, report);
  // With one owner, the lanes' rows are the first ones of what is read by iteration.
  absl::flat_hash_map<ValueId, ValueId> parts;
  body.set_iteration_rows([&](ValueId value) -> ValueId {
    const TensorType type = graph->type(value);
    if (type.rank() == 0 || !(type.shape[0] == node.attr("extent").AsDims()[0])) return ValueId();
    if (!graph->Contains(graph->value(value).region, parent.region())) return ValueId();
    auto [it, added] = parts.try_emplace(value);
    if (added) it->second = Slice(inside, value, 0, 0, lanes);
    return it->second;
  });
  WEIR_ASSIGN_OR_RETURN(const std::vector<ValueId> converted, body.Convert(source, inside));
  inside.Yield(StackedResults(body, inside, graph->region(source).results, converted));
  const ValueId counts =
      parent.Apply("reshape", {node.inputs[0]}, {{"shape", std::vector<Dim>{1}}});
  std::vector<ValueId> outputs = parent.ApplyAll(
      "ragged_rows", {counts}, {{"extent", node.attr("extent")}, {"local", local}}, {region});
  for (size_t i = 0; i < outputs.size(); ++i) {
    outputs[i] = parent.Apply("reshape", {outputs[i]},
                              {{"shape", graph->type(node.outputs[i]).shape.dims()}});
  }
  WEIR_RETURN_IF_ERROR(parent.status());
  return outputs;
}

}  // namespace weir
