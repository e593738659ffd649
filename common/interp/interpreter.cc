#include "common/interp/interpreter.h"

#include <new>
#include <string>
#include <utility>

#include "common/base/status.h"
#include "common/interp/interpretation.h"
#include "common/interp/lockstep.h"
#include "common/ops/control/ordered.h"
#include "common/ops/control/state.h"
#include "common/ops/registry.h"

namespace weir {
namespace {

// Deep recursion must not make a message of a thousand frames.
constexpr size_t kEnoughContext = 1000;

// Where a value stands, for messages.
struct Place {
  std::string_view role;  // "result"
  size_t index = 0;
  ValueId value;
  std::string_view function = "";
};

std::string TextOf(const Graph& graph, const Place& place) {
  const std::string& name = graph.value(place.value).name;
  std::string text = StrCat(place.role, " ", place.index);
  if (!name.empty()) StrAppend(&text, " (%", name, ")");
  if (!place.function.empty()) StrAppend(&text, " of @", place.function);
  return text;
}

bool Fits(const TensorType& type, const Tensor& value, const SymbolBindings& symbols) {
  if (value.dtype() != type.dtype) return false;
  const absl::StatusOr<Extents> promised = type.shape.Evaluate(symbols);
  return promised.ok() && *promised == value.extents();
}

// Not inlined: recursion must not pay for the stack that messages take.
[[gnu::noinline]] absl::Status WrongType(const Graph& graph, const Tensor& value,
                                         const Place& place) {
  return InvalidArgument(TextOf(graph, place), " is ", value.type().ToString(), ", expected ",
                         graph.type(place.value).ToString());
}

[[gnu::noinline]] absl::Status BindOrRefuse(const Graph& graph, const Tensor& value,
                                            const Place& place, Scope* scope) {
  const TensorType& type = graph.type(place.value);
  if (value.dtype() != type.dtype) return WrongType(graph, value, place);
  return BindShape(type.shape, value.extents(), TextOf(graph, place), &scope->Own());
}

// Checks a value against its type and binds the symbols that the scope does not know yet.
absl::Status Match(const Graph& graph, const Tensor& value, const Place& place, Scope* scope) {
  if (Fits(graph.type(place.value), value, *scope->symbols)) return absl::OkStatus();
  return BindOrRefuse(graph, value, place, scope);
}

class NodeContext : public EvalContext {
 public:
  NodeContext(Interpretation* run, NodeId id, absl::Span<const Tensor> inputs, Scope* scope,
              Values* slots)
      : EvalContext(run->graph(), run->graph().node(id), inputs, *scope->symbols),
        run_(run),
        id_(id),
        slots_(slots) {}

  absl::StatusOr<Values> RunRegion(int region, Values args, const SymbolBindings& extra) override {
    Scope scope(symbols());
    for (const auto& [name, value] : extra) scope.Own()[name] = value;
    return run_->RunRegion(node().regions[region], std::move(args), &scope, slots_);
  }

  absl::StatusOr<Values> CallFunction(std::string_view name, Values args) override {
    const Function* function = graph().FindFunction(name);
    if (function == nullptr) return InvalidArgument("there is no function @", name);
    return run_->CallFrom(id_, *function, std::move(args));
  }

  Tensor* Variable(std::string_view) override {
    return run_->variables() == nullptr ? nullptr : run_->variables()->For(node());
  }

  PrintedLines* printed_lines() override { return run_->options().lines; }

  int64_t shard_ranges() const override { return run_->options().shard_ranges; }

 private:
  Interpretation* const run_;
  const NodeId id_;
  Values* const slots_;
};

}  // namespace

Interpretation::Interpretation(const Graph& graph, const InterpretOptions& options,
                               Variables* variables)
    : graph_(graph),
      options_(options),
      variables_(variables),
      lifetimes_(graph),
      recursion_(graph),
      waiting_(recursion_.sets().size()),
      ops_(graph.num_nodes()) {}

absl::Status Interpretation::Step() {
  if (++steps_ <= options_.max_steps) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      StrCat("more than ", options_.max_steps, " steps; does a loop not end?"));
}

// Lone symbols first: a parameter may use a symbol that a later one binds.
[[gnu::noinline]] absl::Status Interpretation::BindArguments(const Function& function,
                                                             const Values& args,
                                                             Scope* scope) const {
  const std::vector<ValueId>& params = graph_.region(function.body).args;
  if (args.size() != params.size()) {
    return InvalidArgument("@", function.name, " takes ", params.size(), " arguments, found ",
                           args.size());
  }
  for (size_t i = 0; i < args.size(); ++i) {
    const TensorType& type = graph_.type(params[i]);
    if (args[i].dtype() != type.dtype || args[i].rank() != type.rank()) {
      return WrongType(graph_, args[i], {"argument", i, params[i], function.name});
    }
    for (int axis = 0; axis < type.rank(); ++axis) {
      const Dim& dim = type.shape[axis];
      if (dim.is_symbol()) scope->Own().try_emplace(dim.symbol(), args[i].extent(axis));
    }
  }
  for (size_t i = 0; i < args.size(); ++i) {
    WEIR_RETURN_IF_ERROR(Match(graph_, args[i], {"argument", i, params[i], function.name}, scope));
  }
  return absl::OkStatus();
}

absl::StatusOr<Values> Interpretation::Call(const Function& function, Values args,
                                            const SymbolBindings& symbols) {
  Scope scope(symbols);
  WEIR_RETURN_IF_ERROR(BindArguments(function, args, &scope));
  Values slots(lifetimes_.num_slots(function.body));
  return RunRegion(function.body, std::move(args), &scope, &slots);
}

absl::StatusOr<Values> Interpretation::CallFrom(NodeId node, const Function& function,
                                                Values args) {
  const Recursion::Call* call = recursion_.Find(node);
  if (call == nullptr || call->is_tail) return Call(function, std::move(args), {});
  const Recursion::Set& set = recursion_.sets()[call->set];
  if (waiting_[call->set] >= set.max_depth) {
    return absl::FailedPreconditionError(StrCat("check failed: ", TooDeepText(set)));
  }
  ++waiting_[call->set];
  absl::StatusOr<Values> results = Call(function, std::move(args), {});
  --waiting_[call->set];
  return results;
}

[[gnu::noinline]] absl::Status Interpretation::Enter(const Region& region, Values args,
                                                     Scope* scope, Values* slots) {
  if (args.size() != region.args.size()) {
    return absl::InternalError(
        StrCat("a region of ", region.args.size(), " arguments was given ", args.size()));
  }
  if (depth_ >= options_.max_depth) {
    return absl::ResourceExhaustedError(StrCat("regions and calls are more than ",
                                               options_.max_depth,
                                               " deep; does a recursive call not end?"));
  }
  WEIR_RETURN_IF_ERROR(Step());
  for (size_t i = 0; i < args.size(); ++i) {
    const ValueId arg = region.args[i];
    WEIR_RETURN_IF_ERROR(Match(graph_, args[i], {"region argument", i, arg}, scope));
    (*slots)[lifetimes_.slot(arg)] = std::move(args[i]);
  }
  return absl::OkStatus();
}

absl::StatusOr<Values> Interpretation::RunRegion(RegionId id, Values args, Scope* scope,
                                                 Values* slots) {
  WEIR_RETURN_IF_ERROR(Enter(graph_.region(id), std::move(args), scope, slots));
  ++depth_;
  absl::StatusOr<Values> results = RunNodes(id, scope, slots);
  --depth_;
  return results;
}

[[gnu::noinline]] absl::Status Interpretation::WithNode(const absl::Status& status,
                                                        NodeId node) const {
  if (status.message().size() >= kEnoughContext) return status;
  return Annotate(status, graph_.Describe(node));
}

absl::StatusOr<Values> Interpretation::RunNodes(RegionId id, Scope* scope, Values* slots) {
  const Region& region = graph_.region(id);
  for (NodeId node : region.nodes) {
    if (absl::Status status = RunNode(node, scope, slots); !status.ok()) {
      return WithNode(status, node);
    }
  }
  Values results;
  for (ValueId result : region.results) results.push_back((*slots)[lifetimes_.slot(result)]);
  for (ValueId arg : region.args) (*slots)[lifetimes_.slot(arg)] = Tensor();
  for (ValueId result : region.results) {
    if (graph_.value(result).region == id) (*slots)[lifetimes_.slot(result)] = Tensor();
  }
  return results;
}

absl::Status Interpretation::RunNode(NodeId id, Scope* scope, Values* slots) {
  WEIR_RETURN_IF_ERROR(Step());
  WEIR_ASSIGN_OR_RETURN(Values results, Evaluate(id, scope, slots));
  return Keep(id, std::move(results), scope, slots);
}

[[gnu::noinline]] absl::Status Interpretation::Keep(NodeId id, Values results, Scope* scope,
                                                    Values* slots) {
  const Node& node = graph_.node(id);
  if (results.size() != node.outputs.size()) {
    return absl::InternalError(
        StrCat("has ", node.outputs.size(), " outputs, its evaluation made ", results.size()));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const ValueId output = node.outputs[i];
    WEIR_RETURN_IF_ERROR(Match(graph_, results[i], {"result", i, output}, scope));
    (*slots)[lifetimes_.slot(output)] = std::move(results[i]);
  }
  for (ValueId value : lifetimes_.last_used_by(id)) (*slots)[lifetimes_.slot(value)] = Tensor();
  return absl::OkStatus();
}

bool Interpretation::RunsInLockstep(NodeId id) {
  if (graph_.node(id).op != "pfor") return false;
  const auto [it, added] = lockstep_.try_emplace(id, false);
  if (added) it->second = Lockstep::Needs(graph_, id);
  return it->second;
}

absl::StatusOr<Values> Interpretation::Evaluate(NodeId id, Scope* scope, Values* slots) {
  const Node& node = graph_.node(id);
  WEIR_ASSIGN_OR_RETURN(const OpDef* op, Find(id));
  WEIR_RETURN_IF_ERROR(CheckSize(*op, node, *scope->symbols));
  if (RunsInLockstep(id)) return Lockstep(this, id).RunPfor(scope, slots);
  Values inputs;
  inputs.reserve(node.inputs.size());
  for (ValueId input : node.inputs) inputs.push_back((*slots)[lifetimes_.slot(input)]);
  NodeContext context(this, id, inputs, scope, slots);
  return op->reference(context);
}

// Sizes that are known only from data are left to the op.
[[gnu::noinline]] absl::Status Interpretation::CheckSize(const OpDef& op, const Node& node,
                                                         const SymbolBindings& symbols) const {
  for (ValueId output : node.outputs) {
    const TensorType& type = graph_.type(output);
    const absl::StatusOr<Extents> extents = type.shape.Evaluate(symbols);
    if (!extents.ok()) continue;
    WEIR_ASSIGN_OR_RETURN(const int64_t elements, CheckedNumElements(*extents, type.dtype));
    if (!op.is_view && elements > options_.max_tensor_bytes / SizeOf(type.dtype)) {
      return absl::ResourceExhaustedError(StrCat("the result ", DTypeName(type.dtype),
                                                 ExtentsToString(*extents), " is larger than ",
                                                 options_.max_tensor_bytes, " bytes"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<const OpDef*> Interpretation::Find(NodeId id) {
  const OpDef*& op = ops_[id.value()];
  if (op == nullptr) op = FindOp(graph_.node(id).op);
  if (op == nullptr) return InvalidArgument("there is no op of this name");
  if (op->reference == nullptr) return absl::UnimplementedError("has no reference evaluation");
  return op;
}

namespace {

// What does not fit into memory ends the run and not the process.
absl::StatusOr<Values> RunFunction(const Graph& graph, const Function& function, Values args,
                                   const InterpretOptions& options, Variables* variables) {
  try {
    return Interpretation(graph, options, variables)
        .Call(function, std::move(args), options.symbols);
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("out of memory");
  }
}

// Runs the entry function with its variables in place.
absl::StatusOr<Values> InterpretWithState(const Graph& graph, absl::Span<const Tensor> inputs,
                                          const InterpretOptions& options) {
  Graph threaded = graph;  // for what only it finds out to be wrong
  WEIR_RETURN_IF_ERROR(ThreadState(&threaded));
  if (Lockstep::MeetsInOrder(graph)) {
    Graph split = graph;
    WEIR_RETURN_IF_ERROR(SplitOrdered(&split).status());
    return InterpretWithState(split, inputs, options);
  }
  WEIR_ASSIGN_OR_RETURN(const auto uses, VariablesOf(graph));
  const size_t num_args = graph.region(graph.entry().body).args.size();
  if (inputs.size() != num_args + uses.size()) {
    return InvalidArgument("@", graph.entry().name, " takes ", num_args, " arguments and ",
                           uses.size(), " variables, found ", inputs.size());
  }
  Variables::Values values;
  size_t at = num_args;
  for (const auto& [name, use] : uses) values[name] = inputs[at++];
  Values args(inputs.begin(), inputs.begin() + num_args);
  Variables variables(&values);
  WEIR_ASSIGN_OR_RETURN(Values results,
                        RunFunction(graph, graph.entry(), std::move(args), options, &variables));
  for (const auto& [name, use] : uses) {
    if (use.written) results.push_back(values[name]);
  }
  return results;
}

}  // namespace

absl::StatusOr<Values> InterpretFunction(const Graph& graph, std::string_view name,
                                         absl::Span<const Tensor> inputs,
                                         const InterpretOptions& options) {
  if (HasState(graph) && name == graph.entry().name) {
    return InterpretWithState(graph, inputs, options);
  }
  const Function* function = graph.FindFunction(name);
  if (function == nullptr) return InvalidArgument("there is no function @", name);
  return RunFunction(graph, *function, Values(inputs.begin(), inputs.end()), options, nullptr);
}

absl::StatusOr<Values> Interpret(const Graph& graph, absl::Span<const Tensor> inputs,
                                 const InterpretOptions& options) {
  if (graph.functions().empty()) return InvalidArgument("the program has no function");
  return InterpretFunction(graph, graph.entry().name, inputs, options);
}

}  // namespace weir
