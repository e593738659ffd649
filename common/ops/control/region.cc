#include "common/ops/control/region.h"

#include <numeric>

#include "common/base/status.h"

namespace weir::control {
namespace {

constexpr size_t kEnoughContext = 1000;

std::vector<bool> Vary(const PforRewrite& rewrite, const std::vector<ValueId>& values) {
  std::vector<bool> vary;
  for (ValueId value : values) vary.push_back(rewrite.varies(value));
  return vary;
}

const Region& RegionOf(const PforRewrite& rewrite, int region) {
  return rewrite.source().region(rewrite.node().regions[region]);
}

}  // namespace

std::vector<TensorType> ArgTypes(const InferContext& context, int region) {
  std::vector<TensorType> types;
  for (ValueId arg : context.region(region).args) types.push_back(context.graph().type(arg));
  return types;
}

std::vector<TensorType> OperandTypes(const InferContext& context, int first) {
  std::vector<TensorType> types;
  for (int i = first; i < context.num_inputs(); ++i) types.push_back(context.input(i));
  return types;
}

absl::Status CheckEqualTypes(std::string_view what, absl::Span<const TensorType> found,
                             std::string_view than, absl::Span<const TensorType> wanted) {
  if (found.size() != wanted.size()) {
    return InvalidArgument("expected as many ", what, "s as ", than, "s, found ", found.size(),
                           " and ", wanted.size());
  }
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i] != wanted[i]) {
      return InvalidArgument(what, " ", i, " is ", found[i].ToString(), ", but ", than, " ", i,
                             " is ", wanted[i].ToString());
    }
  }
  return absl::OkStatus();
}

absl::Status CheckScalar(std::string_view what, const TensorType& type, DType dtype) {
  if (type.dtype == dtype && type.rank() == 0) return absl::OkStatus();
  return InvalidArgument(what, " must be ", DTypeName(dtype), "[], found ", type.ToString());
}

absl::StatusOr<Dim> ExtentAttr(const InferContext& context) {
  const std::vector<Dim>& dims = context.attr("extent").AsDims();
  if (dims.size() != 1) {
    return InvalidArgument("attribute 'extent' must have one dimension, found ", dims.size());
  }
  if (dims[0].is_unknown()) return InvalidArgument("attribute 'extent' must be known");
  if (dims[0].is_number() && dims[0].number() < 0) {
    return InvalidArgument(context.node().op, " extent ", dims[0].number(), " is negative");
  }
  return dims[0];
}

TensorType WithLeading(const Dim& extent, const TensorType& type) {
  std::vector<Dim> dims = {extent};
  dims.insert(dims.end(), type.shape.dims().begin(), type.shape.dims().end());
  return {type.dtype, Shape(std::move(dims))};
}

absl::Status InIteration(const absl::Status& status, int64_t iteration) {
  if (status.message().size() >= kEnoughContext) return status;
  return Annotate(status, StrCat("iteration ", iteration));
}

Collector::Collector(EvalContext& context, int first)
    : context_(context), first_(first), parts_(context.node().outputs.size() - first) {}

absl::Status Collector::Add(absl::Span<const Tensor> results, int skip) {
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Tensor& part = results[skip + i];
    if (!parts_[i].empty() && parts_[i][0].extents() != part.extents()) {
      return InvalidArgument("result ", skip + i, " is ", part.type().ToString(),
                             ", but the first iteration made ", parts_[i][0].type().ToString(),
                             "; iterations must agree in shape");
    }
    parts_[i].push_back(part);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Tensor>> Collector::Take() {
  std::vector<Tensor> out;
  for (size_t i = 0; i < parts_.size(); ++i) {
    const int output = first_ + static_cast<int>(i);
    Extents extents;
    if (parts_[i].empty()) {
      WEIR_ASSIGN_OR_RETURN(extents, context_.OutputExtents(output));
      extents.erase(extents.begin());
    } else {
      extents = parts_[i][0].extents();
    }
    out.push_back(weir::Stack(context_.output_dtype(output), extents, parts_[i]));
    parts_[i].clear();
  }
  return out;
}

ValueId RepeatRows(Builder& into, ValueId value, const Dim& extent) {
  const TensorType type = into.type(value);
  Int64s axes(type.rank());
  std::iota(axes.begin(), axes.end(), 1);
  return into.Apply("broadcast_in_dim", {value},
                    {{"shape", WithLeading(extent, type).shape}, {"axes", axes}});
}

ValueId SwapLeading(Builder& into, ValueId value) {
  Int64s permutation(std::max(2, into.type(value).rank()));
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[0], permutation[1]);
  return into.Apply("transpose", {value}, {{"permutation", permutation}});
}

absl::StatusOr<RegionId> Convert(PforRewrite& rewrite, int region, const std::vector<bool>& stack) {
  const RegionId source = rewrite.node().regions[region];
  const RegionId target = rewrite.build().NewRegion();
  Builder into = rewrite.build().In(target);
  const std::vector<ValueId> args = rewrite.source().region(source).args;
  for (ValueId arg : args) {
    const Value value = rewrite.source().value(arg);
    const TensorType type =
        rewrite.varies(arg) ? WithLeading(rewrite.extent(), value.type) : value.type;
    rewrite.Bind(arg, into.AddArg(type, value.name));
  }
  WEIR_ASSIGN_OR_RETURN(std::vector<ValueId> results, rewrite.ConvertRegion(source, into));
  const std::vector<bool> varies = ResultsVary(rewrite, region);
  for (size_t i = 0; i < results.size(); ++i) {
    if (stack[i] && !varies[i]) results[i] = RepeatRows(into, results[i], rewrite.extent());
  }
  into.Yield(std::move(results));
  return target;
}

std::vector<bool> ArgsVary(const PforRewrite& rewrite, int region) {
  return Vary(rewrite, RegionOf(rewrite, region).args);
}

std::vector<bool> ResultsVary(const PforRewrite& rewrite, int region) {
  return Vary(rewrite, RegionOf(rewrite, region).results);
}

void MarkCarried(VarianceContext& context, const Carried& carried) {
  const Region& body = context.graph().region(carried.body);
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = 0; i < carried.count; ++i) {
      const ValueId arg = body.args[carried.first_arg + i];
      if (context.varies(arg)) continue;
      if (context.input_varies(carried.first_operand + i) || context.varies(body.results[i])) {
        context.MarkVarying(arg);
        changed = true;
      }
    }
    context.AnalyzeRegion(carried.body);
    for (int i = 0; i < carried.count; ++i) {
      const ValueId arg = body.args[carried.first_arg + i];
      changed = changed || (context.varies(body.results[i]) && !context.varies(arg));
    }
  }
}

}  // namespace weir::control
