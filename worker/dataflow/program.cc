#include "worker/dataflow/program.h"

#include "common/base/status.h"
#include "common/ir/text.h"
#include "common/ops/registry.h"

namespace weir {

namespace {

// Waking a thread takes about as long, and a loop that is held up for so long keeps its promises.
constexpr int64_t kShortNs = 20'000;

// Whether loops or calls decide how long a function takes.
bool TimeVaries(const Graph& graph, RegionId body) {
  for (NodeId id : graph.region(body).nodes) {
    const Node& node = graph.node(id);
    if (!node.regions.empty() || node.op == "call") return true;
  }
  return false;
}

bool CallsFunction(const v1::Step& step) {
  return step.control() == v1::Step::CONTROL_NONE || step.control() == v1::Step::CONTROL_WHOLE;
}

absl::Status PrepareStep(const v1::Step& step, Program* program) {
  std::unique_ptr<Executable> executable;
  bool varies = false;
  if (CallsFunction(step)) {
    const Function* function = program->graph->FindFunction(step.function());
    if (function == nullptr) {
      return InvalidArgument("plan: there is no function ", step.function());
    }
    if (step.extent().empty() != step.local().empty()) {
      return InvalidArgument("plan: ", step.function(),
                             step.local().empty()
                                 ? " is split over iterations, but has no symbol for a part of them"
                                 : " has a symbol for a part of iterations, but is not split");
    }
    const size_t parameters = step.operands_size() + (step.extent().empty() ? 0 : 1);
    if (program->graph->region(function->body).args.size() != parameters ||
        program->graph->region(function->body).results.size() !=
            static_cast<size_t>(step.outputs_size())) {
      return InvalidArgument("plan: operands or outputs of ", step.function(),
                             " do not fit the function");
    }
    WEIR_ASSIGN_OR_RETURN(executable, Executable::Create(program->graph, step.function()));
    varies = TimeVaries(*program->graph, function->body);
  }
  program->steps.push_back(std::move(executable));
  program->workspaces.push_back(std::make_unique<WorkspacePool>());
  program->chunkings.push_back(std::make_unique<ChunkingMemo>());
  program->paces.push_back(std::make_unique<StepPace>(varies));
  return absl::OkStatus();
}

}  // namespace

Workspace WorkspacePool::Take() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (free_.empty()) return Workspace();
  Workspace workspace = std::move(free_.back());
  free_.pop_back();
  return workspace;
}

void WorkspacePool::Return(Workspace workspace) {
  std::lock_guard<std::mutex> lock(mutex_);
  free_.push_back(std::move(workspace));
}

bool StepPace::IsShort(const SymbolBindings& symbols, RowRange range) const {
  if (varies_) return false;
  std::lock_guard<std::mutex> lock(mutex_);
  return run_ns_ >= 0 && run_ns_ <= kShortNs && iterations_ == range.size() && symbols_ == symbols;
}

std::optional<int64_t> StepPace::Predict(int64_t iterations) const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (run_ns_ < 0) return std::nullopt;
  if (iterations_ == 0 || iterations == iterations_) return run_ns_;
  return static_cast<int64_t>(static_cast<double>(run_ns_) * static_cast<double>(iterations) /
                              static_cast<double>(iterations_));
}

void StepPace::Took(const SymbolBindings& symbols, RowRange range, int64_t run_ns) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (symbols_ != symbols) symbols_ = symbols;
  iterations_ = range.size();
  run_ns_ = run_ns;
}

absl::Status PrepareProgram(Program* program) {
  ParseOptions options;
  options.file = "plan";
  options.find_blob = [program](std::string_view name) -> absl::StatusOr<Tensor> {
    auto it = program->blobs.find(std::string(name));
    if (it == program->blobs.end()) {
      return absl::NotFoundError(StrCat("the plan names a constant that was not sent: ", name));
    }
    return it->second;
  };
  WEIR_ASSIGN_OR_RETURN(Graph graph, Parse(program->plan.program(), Ops(), options));
  program->graph = std::make_shared<const Graph>(std::move(graph));
  for (const v1::PlanValue& value : program->plan.values()) {
    WEIR_ASSIGN_OR_RETURN(program->types.emplace_back(), TensorType::Parse(value.type()));
  }
  for (const v1::Step& step : program->plan.steps()) {
    WEIR_RETURN_IF_ERROR(PrepareStep(step, program));
  }
  return absl::OkStatus();
}

}  // namespace weir
