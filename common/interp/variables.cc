#include "common/interp/variables.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "common/base/status.h"
#include "common/interp/interpreter.h"
#include "common/ir/builder.h"
#include "common/ops/lang.h"
#include "common/ops/registry.h"

namespace weir {
namespace {

// What ops make of some tensors.
absl::StatusOr<Tensor> Compute(
    const std::vector<Tensor>& inputs,
    const std::function<ValueId(Builder&, const std::vector<ValueId>&)>& build) {
  Graph graph;
  Builder b(&graph, graph.AddFunction("main").body, &Ops());
  std::vector<ValueId> args;
  for (const Tensor& input : inputs) args.push_back(b.AddArg(input.type()));
  b.Yield({build(b, args)});
  WEIR_RETURN_IF_ERROR(b.status());
  graph.functions().front().result_names.resize(1);
  WEIR_ASSIGN_OR_RETURN(std::vector<Tensor> results, Interpret(graph, inputs));
  return results[0];
}

std::string_view CombinerOf(std::string_view kind) {
  return kind == "sum" ? "add" : kind == "max" ? "maximum" : "minimum";
}

// What a reduction of nothing gives.
absl::StatusOr<Tensor> Nothing(const std::string& kind, const TensorType& type) {
  std::vector<Dim> dims = {0};
  dims.insert(dims.end(), type.shape.dims().begin(), type.shape.dims().end());
  return Compute({}, [&](Builder& b, const auto&) {
    return Reduce(b, StrCat("reduce_", kind), Full(b, type.dtype, dims, 0), {0});
  });
}

absl::StatusOr<Tensor> MeanOf(const std::vector<const Tensor*>& rows) {
  const int64_t count =
      std::count_if(rows.begin(), rows.end(), [](const Tensor* row) { return row != nullptr; });
  const Tensor& some = **std::find_if(rows.begin(), rows.end(), [](auto* row) { return row; });
  const DType dtype = some.dtype();
  const DType wide = dtype == DType::kF16 || dtype == DType::kBF16 ? DType::kF32 : dtype;
  std::vector<Tensor> cast(rows.size());
  std::vector<const Tensor*> summands(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] == nullptr) continue;
    WEIR_ASSIGN_OR_RETURN(cast[i], Compute({*rows[i]}, [&](Builder& b, const auto& args) {
                            return Cast(b, args[0], wide);
                          }));
    summands[i] = &cast[i];
  }
  WEIR_ASSIGN_OR_RETURN(const Tensor sum, ReduceRowsOf("sum", summands));
  return Compute({sum}, [&](Builder& b, const auto& args) {
    const ValueId number = FullLike(b, args[0], static_cast<double>(count));
    return Cast(b, b.Apply("divide", {args[0], number}), dtype);
  });
}

}  // namespace

absl::StatusOr<Tensor> ReduceRowsOf(const std::string& kind,
                                    const std::vector<const Tensor*>& rows) {
  if (kind == "mean") return MeanOf(rows);
  const Tensor& some = **std::find_if(rows.begin(), rows.end(), [](auto* row) { return row; });
  Tensor none = Tensor::Zeros(some.dtype(), some.extents());
  if (kind != "gather") {
    WEIR_ASSIGN_OR_RETURN(none, Nothing(kind, some.type()));
  }
  std::vector<Tensor> parts;
  for (const Tensor* row : rows) parts.push_back(row == nullptr ? none : *row);
  const Tensor stacked = Stack(some.dtype(), some.extents(), parts);
  if (kind == "gather") return stacked;
  return Compute({stacked}, [&](Builder& b, const auto& args) {
    return Reduce(b, StrCat("reduce_", kind), args[0], {0});
  });
}

Variables* Variables::Home(std::string_view name) {
  Variables* home = this;
  while (home->around_ != nullptr && home->in_order_->contains(name)) home = home->around_;
  return home;
}

const Tensor& Variables::Outermost(std::string_view name) const {
  return around_ == nullptr ? values_->find(name)->second : around_->Outermost(name);
}

Tensor* Variables::For(const Node& node) {
  const std::string& name = node.attr("name").AsString();
  Variables* home = Home(name);
  if (home->around_ != nullptr && node.op == "read_variable") return home->around_->For(node);
  if (home->around_ == nullptr) {
    if (home->values_ == nullptr) return nullptr;
    auto it = home->values_->find(name);
    return it == home->values_->end() ? nullptr : &it->second;
  }
  const bool updates = node.op == "update_variable";
  const auto [it, added] = home->written_.try_emplace(name);
  if (added) {
    it->second.op = node.op;
    it->second.kind = node.attr(updates ? "kind" : "mode").AsString();
    if (updates) it->second.value = *Nothing(it->second.kind, home->Outermost(name).type());
  }
  return &it->second.value;
}

absl::StatusOr<Variables::Written> Variables::Meet(const std::vector<const Written*>& written) {
  const Written& some = **std::find_if(written.begin(), written.end(), [](auto* w) { return w; });
  Written met{.op = some.op, .kind = some.kind};
  std::vector<const Tensor*> rows;
  for (const Written* w : written) rows.push_back(w == nullptr ? nullptr : &w->value);
  if (met.kind == "last") {
    met.value = **std::find_if(rows.rbegin(), rows.rend(), [](auto* row) { return row; });
  } else {
    WEIR_ASSIGN_OR_RETURN(met.value, ReduceRowsOf(met.kind, rows));
  }
  return met;
}

absl::StatusOr<Tensor> Variables::Then(const Tensor& before, const Written& next) {
  if (next.op == "assign_variable") return next.value;
  return Compute({before, next.value}, [&](Builder& b, const auto& args) {
    return b.Apply(std::string(CombinerOf(next.kind)), args);
  });
}

absl::Status Variables::Write(const std::string& name, const Written& met) {
  Variables* home = Home(name);
  Tensor* value = nullptr;
  if (home->around_ == nullptr) {
    value = &home->values_->at(name);
  } else {
    const auto [it, added] = home->written_.try_emplace(name, met);
    if (added) return absl::OkStatus();
    value = &it->second.value;
  }
  WEIR_ASSIGN_OR_RETURN(*value, Then(*value, met));
  return absl::OkStatus();
}

}  // namespace weir
