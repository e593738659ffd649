#include <map>
#include <set>

#include "common/base/status.h"
#include "common/ops/op_def.h"

namespace weir {
namespace {

constexpr int64_t kLargestMaxDepth = int64_t{1} << 31;

// What the symbols of a callee stand for at one call.
using SymbolMap = std::map<std::string, Dim, std::less<>>;

absl::StatusOr<const Function*> Callee(const InferContext& context) {
  const std::string& name = context.attr("callee").AsString();
  const Function* callee = context.graph().FindFunction(name);
  if (callee == nullptr) return InvalidArgument("there is no function @", name);
  return callee;
}

absl::Status Mismatch(const InferContext& context, const Function& callee, int i) {
  const TensorType& type = context.graph().type(context.graph().region(callee.body).args[i]);
  return InvalidArgument("operand ", i, " is ", context.input(i).ToString(), ", but @", callee.name,
                         " takes ", type.ToString());
}

absl::Status CheckBound(const Function& callee, const Shape& shape, const SymbolMap& symbols,
                        std::string_view what) {
  std::set<std::string, std::less<>> used;
  shape.CollectSymbols(&used);
  for (const std::string& symbol : used) {
    if (symbols.contains(symbol)) continue;
    return InvalidArgument(what, " of @", callee.name, ", ", shape.ToString(), ", depends on ",
                           symbol, ", which no parameter shape gives");
  }
  return absl::OkStatus();
}

absl::StatusOr<SymbolMap> BindCallee(const InferContext& context, const Function& callee) {
  const Graph& graph = context.graph();
  const std::vector<ValueId>& params = graph.region(callee.body).args;
  if (context.num_inputs() != static_cast<int>(params.size())) {
    return InvalidArgument("@", callee.name, " takes ", params.size(), " arguments, found ",
                           context.num_inputs());
  }
  SymbolMap symbols;
  for (int i = 0; i < context.num_inputs(); ++i) {
    const TensorType& type = graph.type(params[i]);
    if (context.input(i).dtype != type.dtype || context.input(i).rank() != type.rank()) {
      return Mismatch(context, callee, i);
    }
    for (int axis = 0; axis < type.rank(); ++axis) {
      if (!type.shape[axis].is_symbol()) continue;
      symbols.try_emplace(type.shape[axis].symbol(), context.input(i).shape[axis]);
    }
  }
  for (int i = 0; i < context.num_inputs(); ++i) {
    const Shape& shape = graph.type(params[i]).shape;
    WEIR_RETURN_IF_ERROR(CheckBound(callee, shape, symbols, StrCat("parameter ", i)));
    const Shape expected = shape.Substitute(symbols);
    for (int axis = 0; axis < shape.rank(); ++axis) {
      if (!shape[axis].is_unknown() && expected[axis] != context.input(i).shape[axis]) {
        return Mismatch(context, callee, i);
      }
    }
  }
  return symbols;
}

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  WEIR_ASSIGN_OR_RETURN(const Function* callee, Callee(context));
  const Attr* depth = context.node().FindAttr("max_depth");
  if (depth != nullptr && (depth->AsInt() < 1 || depth->AsInt() > kLargestMaxDepth)) {
    return InvalidArgument("attribute 'max_depth' must be 1 to ", kLargestMaxDepth, ", found ",
                           depth->AsInt());
  }
  WEIR_ASSIGN_OR_RETURN(const SymbolMap symbols, BindCallee(context, *callee));
  std::vector<TensorType> types;
  for (ValueId result : context.graph().region(callee->body).results) {
    TensorType type = context.graph().type(result);
    WEIR_RETURN_IF_ERROR(CheckBound(*callee, type.shape, symbols, StrCat("result ", types.size())));
    type.shape = type.shape.Substitute(symbols);
    types.push_back(std::move(type));
  }
  return types;
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  return context.CallFunction(context.attr("callee").AsString(),
                              {context.inputs().begin(), context.inputs().end()});
}

std::vector<Sample> Samples() {
  Sample twice{.label = "two sizes",
               .operands = {Rand(DType::kF32, {2, 3}), Rand(DType::kF32, {4, 3})}};
  twice.program = R"(
    func @main(%x: f32[2,3], %y: f32[n,3]) -> (f32[2,3] "a", f32[n,3] "b") {
      %a = call(%x) {callee = "twice"} : f32[2,3]
      %b = call(%y) {callee = "twice"} : f32[n,3]
      return %a, %b
    }
    func @twice(%v: f32[k,l]) -> (f32[k,l]) {
      %sum = add(%v, %v) : f32[k,l]
      return %sum
    })";
  return {twice};
}

}  // namespace

OpDef CallOp() {
  OpDef op;
  op.name = "call";
  op.summary = "runs a function of the program; may be recursive (func.call of MLIR)";
  op.inputs = {0, kAny};
  op.outputs = {0, kAny};
  // In a recursive function: how many of its calls may wait for one another.
  op.attrs = {{"callee", Attr::Kind::kString}, {"max_depth", Attr::Kind::kInt, /*required=*/false}};
  op.infer = Infer;
  op.reference = Evaluate;
  op.no_pfor = "calls are inlined before the vectorizer runs";
  op.samples = Samples;
  return op;
}

}  // namespace weir
