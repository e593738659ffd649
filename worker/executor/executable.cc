#include "worker/executor/executable.h"

#include <utility>

#include "common/base/status.h"
#include "worker/executor/arena_demand.h"
#include "worker/executor/region_plan.h"
#include "worker/executor/region_run.h"
#include "worker/executor/workspace.h"

namespace weir {
namespace {

// The functions that `function` reaches through calls, itself included.
void CollectFunctions(const Graph& graph, RegionId region, FunctionPlans* plans) {
  for (NodeId id : graph.region(region).nodes) {
    const Node& node = graph.node(id);
    if (node.op == "call") {
      const Function* callee = graph.FindFunction(node.attr("callee").AsString());
      if (plans->try_emplace(callee->name).second) CollectFunctions(graph, callee->body, plans);
    }
    for (RegionId inner : node.regions) CollectFunctions(graph, inner, plans);
  }
}

// Addresses of views and results of one call, without allocation for up to eight of each.
using Views = absl::InlinedVector<cpu::View, 8>;
using Addresses = absl::InlinedVector<std::byte*, 8>;

class CpuExecutable : public Executable {
 public:
  CpuExecutable(std::shared_ptr<const Graph> graph, const Function* function, FunctionPlans plans)
      : graph_(std::move(graph)), function_(function), plans_(std::move(plans)) {}

  absl::Status Run(const SymbolBindings& symbols, absl::Span<const Tensor> inputs,
                   absl::Span<Tensor> outputs, Workspace* workspace, RunStats* stats,
                   const RunOptions& options) const override {
    WEIR_RETURN_IF_ERROR(CheckInputs(symbols, inputs, outputs));
    Views views;
    for (const Tensor& input : inputs) views.push_back(cpu::ViewOf(input));
    Addresses results;
    for (size_t i = 0; i < outputs.size(); ++i) {
      WEIR_RETURN_IF_ERROR(PrepareOutput(symbols, static_cast<int>(i), &outputs[i]));
      results.push_back(outputs[i].num_elements() == 0 ? nullptr : outputs[i].raw_mutable_data());
    }
    RunContext context{.stats = stats, .workspace = workspace->impl(), .options = options};
    return RunFunction(plan(), symbols, views, results, &context);
  }

  int UpdatedInput(int output) const override { return plan().updated_arg(output); }

  absl::StatusOr<int64_t> ArenaBytes(const SymbolBindings& symbols) const override {
    WEIR_ASSIGN_OR_RETURN(std::unique_ptr<Activation> activation, Place(symbols));
    return activation->arena_bytes();
  }

  absl::StatusOr<int64_t> ArenaDemand(const SymbolBindings& symbols) const override {
    WEIR_ASSIGN_OR_RETURN(std::vector<Layout> inputs, InputLayouts(symbols));
    return weir::ArenaDemand(plan(), symbols, std::move(inputs));
  }

  std::string Describe(const SymbolBindings& symbols) const override {
    absl::StatusOr<std::unique_ptr<Activation>> activation = Place(symbols);
    if (!activation.ok()) return StrCat(activation.status().ToString(), "\n");
    return (*activation)->Describe();
  }

 private:
  const RegionPlan& plan() const { return *plans_.find(function_->name)->second; }

  absl::StatusOr<std::vector<Layout>> InputLayouts(const SymbolBindings& symbols) const {
    std::vector<Layout> inputs;
    for (int i = 0; i < plan().num_args(); ++i) {
      WEIR_ASSIGN_OR_RETURN(const Extents extents, plan().type(i).shape.Evaluate(symbols));
      inputs.push_back(Layout::RowMajor(plan().type(i).dtype, extents));
    }
    return inputs;
  }

  absl::StatusOr<std::unique_ptr<Activation>> Place(const SymbolBindings& symbols) const {
    WEIR_ASSIGN_OR_RETURN(std::vector<Layout> inputs, InputLayouts(symbols));
    return Activation::Create(plan(), symbols, std::move(inputs));
  }

  absl::Status CheckInputs(const SymbolBindings& symbols, absl::Span<const Tensor> inputs,
                           absl::Span<Tensor> outputs) const {
    if (inputs.size() != static_cast<size_t>(plan().num_args()) ||
        outputs.size() != plan().results().size()) {
      return InvalidArgument(function_->name, " takes ", plan().num_args(), " inputs and gives ",
                             plan().results().size(), " outputs, found ", inputs.size(), " and ",
                             outputs.size());
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      const TensorType& type = plan().type(static_cast<int>(i));
      WEIR_ASSIGN_OR_RETURN(const Extents extents, type.shape.Evaluate(symbols));
      if (inputs[i].dtype() != type.dtype || inputs[i].extents() != extents) {
        return InvalidArgument(function_->name, ": input ", i, " is ", inputs[i].type().ToString(),
                               ", expected ", type.ToString(), " = ", ExtentsToString(extents));
      }
    }
    return absl::OkStatus();
  }

  absl::Status PrepareOutput(const SymbolBindings& symbols, int index, Tensor* output) const {
    const TensorType& type = graph_->type(graph_->region(function_->body).results[index]);
    WEIR_ASSIGN_OR_RETURN(const Extents extents, type.shape.Evaluate(symbols));
    if (output->buffer() == nullptr) {
      WEIR_ASSIGN_OR_RETURN(*output, Tensor::TryCreate(type.dtype, extents));
      return absl::OkStatus();
    }
    if (output->dtype() != type.dtype || output->extents() != extents || !output->is_contiguous()) {
      return InvalidArgument(function_->name, ": output ", index, " needs dense memory for ",
                             type.ToString(), ", found ", output->type().ToString());
    }
    return absl::OkStatus();
  }

  const std::shared_ptr<const Graph> graph_;
  const Function* const function_;
  const FunctionPlans plans_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Executable>> Executable::Create(std::shared_ptr<const Graph> program,
                                                               std::string_view function) {
  const Function* entry = program->FindFunction(function);
  if (entry == nullptr) return absl::NotFoundError(StrCat("there is no function ", function));
  FunctionPlans plans;
  plans.try_emplace(entry->name);
  CollectFunctions(*program, entry->body, &plans);
  const Isa isa = cpu::DetectIsa();
  for (auto& [name, plan] : plans) {
    WEIR_ASSIGN_OR_RETURN(plan,
                          RegionPlan::Create(*program, program->FindFunction(name)->body, {}, isa));
  }
  for (auto& [name, plan] : plans) plan->Link(plans);
  return std::make_unique<CpuExecutable>(std::move(program), entry, std::move(plans));
}

}  // namespace weir
