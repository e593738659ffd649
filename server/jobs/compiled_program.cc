#include "server/jobs/compiled_program.h"

#include <algorithm>
#include <utility>

#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/base/status.h"
#include "common/tensor/digest.h"
#include "server/compiler/map.h"
#include "server/jobs/program_loader.h"

namespace weir {
namespace {

std::string FirstUser(const Graph& graph, ValueId value) {
  for (int64_t i = 0; i < graph.num_nodes(); ++i) {
    const std::vector<ValueId>& inputs = graph.node(NodeId(i)).inputs;
    if (std::find(inputs.begin(), inputs.end(), value) != inputs.end()) {
      return graph.Describe(NodeId(i));
    }
  }
  return "";
}

// By the program for one example, whose nodes the user knows.
std::vector<ProgramInput> DescribeInputs(const Graph& graph, const v1::Program& program) {
  std::vector<ProgramInput> inputs;
  for (ValueId arg : graph.region(graph.entry().body).args) {
    ProgramInput input;
    input.name = graph.value(arg).name;
    input.mapped =
        std::find(program.map().begin(), program.map().end(), input.name) != program.map().end();
    input.used_by = FirstUser(graph, arg);
    inputs.push_back(std::move(input));
  }
  return inputs;
}

// Variables are inputs behind those that the program declares.
void AddVariables(const Graph& compiled, std::vector<ProgramInput>* inputs) {
  const std::vector<ValueId>& args = compiled.region(compiled.entry().body).args;
  for (size_t i = inputs->size(); i < args.size(); ++i) {
    ProgramInput variable;
    variable.name = compiled.value(args[i]).name;
    variable.used_by = StrCat("variable ", variable.name);
    inputs->push_back(std::move(variable));
  }
}

}  // namespace

absl::StatusOr<std::shared_ptr<const CompiledProgram>> CompileProgram(const v1::Program& program,
                                                                      const StageFn& on_stage) {
  const absl::Time begin = RealClock()->Now();
  WEIR_ASSIGN_OR_RETURN(Graph graph, LoadProgram(program));
  if (graph.functions().empty()) {
    return InvalidArgument("program '", program.name(), "' has no function");
  }
  auto out = std::make_shared<CompiledProgram>();
  out->inputs = DescribeInputs(graph, program);
  WEIR_ASSIGN_OR_RETURN(graph,
                        MapOver(std::move(graph), {program.map().begin(), program.map().end()}));
  CompileOptions options;
  if (program.mode() == v1::Program::MODE_LOOP) options.loops = CompileOptions::Loops::kSequential;
  options.strict = program.strict();
  WEIR_ASSIGN_OR_RETURN(Compiled compiled, Compile(std::move(graph), options, on_stage));
  AddVariables(compiled.graph, &out->inputs);
  out->plan = std::move(compiled.plan);
  out->report = std::move(compiled.report);
  if (out->plan.input_types.size() != out->inputs.size()) {
    return absl::InternalError(StrCat("the plan of '", program.name(), "' has ",
                                      out->plan.input_types.size(), " inputs instead of ",
                                      out->inputs.size()));
  }
  for (size_t i = 0; i < out->inputs.size(); ++i) out->inputs[i].type = out->plan.input_types[i];
  const auto& steps = out->plan.plan.steps();
  out->sharded = std::any_of(steps.begin(), steps.end(),
                             [](const v1::Step& step) { return !step.extent().empty(); });
  out->may_run_whole = std::any_of(steps.begin(), steps.end(), [](const v1::Step& step) {
    return step.control() == v1::Step::CONTROL_WHOLE;
  });
  out->compile_ns = absl::ToInt64Nanoseconds(RealClock()->Now() - begin);
  return out;
}

std::string ProgramKey(const v1::Program& program) {
  std::string options = StrCat(static_cast<int>(program.format()), " ",
                               program.mode() == v1::Program::MODE_LOOP ? "loop" : "vectorized",
                               program.strict() ? " strict" : "");
  for (const std::string& name : program.map()) StrAppend(&options, " ", name.size(), ":", name);
  return ContentDigest(
      StrCat(ContentDigest(program.source()), " ", ContentDigest(program.name()), " ", options));
}

}  // namespace weir
