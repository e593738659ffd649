#include "worker/executor/region_plan.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/status.h"
#include "common/ops/registry.h"
#include "worker/device/cpu/groups.h"
#include "worker/device/cpu/registry.h"
#include "worker/executor/schedule.h"

namespace weir {
namespace {

// Symbols have no value yet when the order is chosen; one common value keeps the proportions
// between buffers that grow with the iterations and those that do not.
constexpr int64_t kNominalExtent = 64;

int64_t NominalBytes(const TensorType& type) {
  std::set<std::string, std::less<>> symbols;
  type.shape.CollectSymbols(&symbols);
  SymbolBindings bindings;
  for (const std::string& symbol : symbols) bindings.emplace(symbol, kNominalExtent);
  int64_t bytes = SizeOf(type.dtype);
  for (const Dim& dim : type.shape.dims()) {
    bytes *= std::max<int64_t>(0, dim.Evaluate(bindings).value_or(kNominalExtent));
  }
  return bytes;
}

bool AllElementwise(const Graph& graph, const std::vector<NodeId>& nodes) {
  return std::all_of(nodes.begin(), nodes.end(), [&](NodeId id) {
    const OpDef* op = FindOp(graph.node(id).op);
    return op->elementwise.has_value();
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<RegionPlan>> RegionPlan::Create(const Graph& graph, RegionId region,
                                                               const std::vector<ValueId>& captures,
                                                               Isa isa) {
  auto plan = std::unique_ptr<RegionPlan>(new RegionPlan(graph));
  std::vector<ValueId> externals = graph.region(region).args;
  plan->num_args_ = static_cast<int>(externals.size());
  externals.insert(externals.end(), captures.begin(), captures.end());
  plan->num_externals_ = static_cast<int>(externals.size());
  for (int i = 0; i < plan->num_externals_; ++i) {
    ValueInfo& info = plan->values_[plan->IndexOf(externals[i])];
    info.origin = Origin::kExternal;
    info.external = i;
    const Node* producer = graph.producer(externals[i]);
    if (producer != nullptr && producer->op == "constant") {
      info.constant = &producer->attr("value").AsTensor();
    }
  }
  WEIR_RETURN_IF_ERROR(plan->AddSteps(region, isa));
  for (ValueId result : graph.region(region).results) {
    plan->results_.push_back(plan->IndexOf(result));
  }
  plan->FindUpdates();
  plan->OrderSteps();
  plan->BindResults();
  return plan;
}

int RegionPlan::IndexOf(ValueId value) {
  auto [it, added] = index_.try_emplace(value, static_cast<int>(values_.size()));
  if (added) values_.push_back({.id = value});
  return it->second;
}

absl::Status RegionPlan::AddSteps(RegionId region, Isa isa) {
  for (const cpu::Launch& launch : cpu::FormLaunches(*graph_, region)) {
    const NodeId id = launch.nodes.front();
    const Node& node = graph_->node(id);
    const OpDef* op = FindOp(node.op);
    if (op == nullptr) return InvalidArgument(graph_->Describe(id), ": unknown op");
    if (node.op == "constant") {
      ValueInfo& info = values_[IndexOf(node.outputs[0])];
      info.origin = Origin::kConstant;
      info.constant = &node.attr("value").AsTensor();
      continue;
    }
    Step step;
    step.node = id;
    step.nodes = launch.nodes;
    step.op = op;
    for (ValueId value : launch.operands) step.operands.push_back(IndexOf(value));
    for (ValueId value : launch.results) step.results.push_back(IndexOf(value));
    if (launch.nodes.size() == 1 && op->is_view) {
      step.kind = Step::Kind::kView;
      step.operands = {IndexOf(node.inputs[0])};
      step.results = {IndexOf(node.outputs[0])};
      values_[step.results[0]].origin = Origin::kView;
    } else if (!node.regions.empty() || node.op == "call") {
      step.kind = Step::Kind::kControl;
      step.operands.clear();
      step.results.clear();
      for (ValueId value : node.inputs) step.operands.push_back(IndexOf(value));
      for (ValueId value : node.outputs) step.results.push_back(IndexOf(value));
      WEIR_RETURN_IF_ERROR(AddControl(&step, isa));
    } else {
      cpu::KernelRequest request;
      request.graph = graph_;
      request.nodes = launch.nodes;
      request.operands = launch.operands;
      request.results = launch.results;
      request.isa = isa;
      std::vector<const Tensor*> constants;
      for (int operand : step.operands) constants.push_back(values_[operand].constant);
      request.constants = constants;
      absl::StatusOr<std::unique_ptr<cpu::Kernel>> kernel = cpu::MakeKernel(request);
      WEIR_RETURN_IF_ERROR(Annotate(kernel.status(), graph_->Describe(id)));
      step.kernel = *std::move(kernel);
      step.in_place = AllElementwise(*graph_, launch.nodes);
    }
    steps_.push_back(std::move(step));
  }
  return absl::OkStatus();
}

absl::Status RegionPlan::AddControl(Step* step, Isa isa) {
  const Node& node = graph_->node(step->node);
  for (RegionId region : node.regions) {
    const std::vector<ValueId> captures = graph_->Captures(region);
    std::vector<int> indices;
    for (ValueId capture : captures) indices.push_back(IndexOf(capture));
    WEIR_ASSIGN_OR_RETURN(std::unique_ptr<RegionPlan> plan, Create(*graph_, region, captures, isa));
    step->regions.push_back(std::move(plan));
    step->captures.push_back(std::move(indices));
  }
  return absl::OkStatus();
}

void RegionPlan::Link(const FunctionPlans& functions) {
  for (Step& step : steps_) {
    if (step.kind != Step::Kind::kControl) continue;
    const Node& node = graph_->node(step.node);
    if (node.op == "call")
      step.callee = functions.find(node.attr("callee").AsString())->second.get();
    for (std::unique_ptr<RegionPlan>& region : step.regions) region->Link(functions);
  }
}

// For each value the one in whose memory it lies.
std::vector<int> RegionPlan::Roots() const {
  std::vector<int> root(values_.size());
  for (size_t v = 0; v < values_.size(); ++v) root[v] = static_cast<int>(v);
  for (const Step& step : steps_) {
    if (step.kind == Step::Kind::kView) root[step.results[0]] = root[step.operands[0]];
  }
  return root;
}

// The value that `value` is an update of and that nothing reads behind the update, or -1. Steps
// that read it there would have to move, so such an update stays a copy.
int RegionPlan::UpdatedValue(int value, const std::vector<int>& root) const {
  const auto update = std::find_if(steps_.begin(), steps_.end(), [&](const Step& step) {
    return step.kind == Step::Kind::kKernel && step.results == std::vector<int>{value};
  });
  if (update == steps_.end() || update->in_place || update->op->may_overwrite.empty()) return -1;
  const Node& node = graph_->node(update->node);
  const int updated = index_.at(node.inputs[update->op->may_overwrite[0]]);
  const auto lies_there = [&](int other) { return root[other] == updated; };
  if (std::any_of(results_.begin(), results_.end(), lies_there)) return -1;
  int reads = 0;
  for (auto step = update; step != steps_.end(); ++step) {
    reads +=
        static_cast<int>(std::count_if(step->operands.begin(), step->operands.end(), lies_there));
    for (const std::vector<int>& captured : step->captures) {
      reads += static_cast<int>(std::count_if(captured.begin(), captured.end(), lies_there));
    }
  }
  return reads == 1 ? updated : -1;
}

void RegionPlan::FindUpdates() {
  const std::vector<int> root = Roots();
  for (int result : results_) {
    updates_.emplace_back();
    if (std::count(results_.begin(), results_.end(), result) > 1) continue;
    std::vector<int> values = {result};
    while (values.back() >= 0 && values_[values.back()].origin == Origin::kMade) {
      values.push_back(UpdatedValue(values.back(), root));
    }
    const int first = values.back();
    const bool is_arg = first >= 0 && values_[first].origin == Origin::kExternal &&
                        values_[first].external < num_args_;
    if (is_arg && values.size() > 1) updates_.back() = std::move(values);
  }
}

int RegionPlan::updated_arg(int result) const {
  return updates_[result].empty() ? -1 : values_[updates_[result].back()].external;
}

// A view keeps its root's memory alive, so the scheduler sees roots only. What reads a value stays
// in front of its update.
void RegionPlan::OrderSteps() {
  const std::vector<int> root = Roots();
  absl::flat_hash_map<int, int> updated;  // what an update makes, to what it updates
  for (const std::vector<int>& values : updates_) {
    for (size_t i = 1; i < values.size(); ++i) updated.emplace(values[i - 1], values[i]);
  }
  std::vector<std::vector<int>> readers(values_.size());
  ScheduleProblem problem;
  problem.kept.assign(values_.size(), false);
  for (size_t v = 0; v < values_.size(); ++v) {
    const bool made = values_[v].origin == Origin::kMade;
    problem.buffer_bytes.push_back(made ? NominalBytes(type(static_cast<int>(v))) : 0);
  }
  for (int result : results_) problem.kept[root[result]] = true;
  std::vector<int> view_maker(values_.size(), -1);
  absl::flat_hash_map<NodeId, int> task_of;
  for (size_t s = 0; s < steps_.size(); ++s) {
    const Step& step = steps_[s];
    ScheduleProblem::Task task;
    std::vector<int> reads = step.operands;
    for (const std::vector<int>& captured : step.captures) {
      reads.insert(reads.end(), captured.begin(), captured.end());
    }
    for (int result : step.results) {
      auto it = updated.find(result);
      if (it != updated.end()) task.after = readers[it->second];
    }
    for (int value : reads) {
      task.reads.push_back(root[value]);
      readers[root[value]].push_back(static_cast<int>(s));
      if (view_maker[value] >= 0) task.after.push_back(view_maker[value]);
    }
    if (step.kind == Step::Kind::kView) {
      view_maker[step.results[0]] = static_cast<int>(s);
    } else {
      task.writes = step.results;
    }
    for (NodeId first : graph_->node(step.node).control_inputs) {
      auto it = task_of.find(first);
      if (it != task_of.end()) task.after.push_back(it->second);
    }
    task_of.emplace(step.node, static_cast<int>(s));
    problem.tasks.push_back(std::move(task));
  }
  std::vector<Step> ordered;
  for (int s : OrderTasks(problem).order) ordered.push_back(std::move(steps_[s]));
  steps_ = std::move(ordered);
}

// A result is made in the caller's memory if it, or what it is a reshape of, is made here and is no
// other result; so is what it is an update of.
void RegionPlan::BindResults() {
  absl::flat_hash_map<int, int> reshaped;
  for (const Step& step : steps_) {
    if (step.kind == Step::Kind::kView && step.op->name == "reshape") {
      reshaped.emplace(step.results[0], step.operands[0]);
    }
  }
  for (size_t r = 0; r < results_.size(); ++r) {
    int value = results_[r];
    for (auto it = reshaped.find(value); it != reshaped.end(); it = reshaped.find(value)) {
      value = it->second;
    }
    ValueInfo& info = values_[value];
    if (info.origin == Origin::kMade && info.result < 0) info.result = static_cast<int>(r);
  }
  for (size_t r = 0; r < results_.size(); ++r) {
    for (size_t i = 1; i + 1 < updates_[r].size(); ++i) {
      values_[updates_[r][i]].result = static_cast<int>(r);
    }
  }
}

}  // namespace weir
