#include "client/embedded/direct_calls.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "client/embedded/direct_pace.h"
#include "server/jobs/job_spec.h"

namespace weir {
namespace {

using std::chrono::nanoseconds;

// Who waits for a job may look after other things and cancel it; who runs it himself may not.
constexpr nanoseconds kLongest{1'000'000};
// A run is given up after so many times what would have been worth it.
constexpr int kPatience = 4;
// Of which the cluster remembers what is known.
constexpr size_t kMostPrograms = 10'000;

using InputTypes = std::vector<std::pair<DType, Extents>>;

bool HasType(const Tensor& tensor, DType dtype, const Extents& extents) {
  return tensor.dtype() == dtype && tensor.extents() == extents;
}

// Those of the client, followed by those of variables.
size_t NumInputs(const v1::JobSpec& spec) {
  return static_cast<size_t>(spec.input_names_size() + spec.variable_inputs_size());
}

const std::string& InputName(const v1::JobSpec& spec, size_t index) {
  const int i = static_cast<int>(index);
  return i < spec.input_names_size() ? spec.input_names(i)
                                     : spec.variable_inputs(i - spec.input_names_size()).input();
}

// Whether it lies in memory of one of them.
bool IsIn(const Tensor& tensor, const std::vector<Tensor>& others) {
  return tensor.buffer() != nullptr &&
         std::any_of(others.begin(), others.end(),
                     [&](const Tensor& other) { return other.buffer() == tensor.buffer(); });
}

// Whether it asks for a run and its results, and for nothing else that a job gives.
bool IsPlain(const v1::JobSpec& spec) {
  return !spec.program_id().empty() && spec.submission_id().empty() && spec.labels().empty() &&
         spec.repeat() == 0 && !spec.profile() && spec.memory_budget() == 0;
}

}  // namespace

// A program for inputs of certain types.
struct DirectCalls::Form {
  Form(uint32_t workers, std::vector<ComputePool*> others, std::vector<std::string> input_names,
       InputTypes input_types, std::vector<uint32_t> stored_results, DirectRun direct)
      : workers_asked(workers),
        helpers(std::move(others)),
        names(std::move(input_names)),
        types(std::move(input_types)),
        stored(std::move(stored_results)),
        run(std::move(direct)),
        pace(kLongest) {}

  bool Fits(const v1::JobSpec& spec, const std::vector<Tensor>& inputs) const {
    if (spec.workers() != workers_asked || inputs.size() != types.size()) return false;
    if (NumInputs(spec) != names.size()) return false;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (InputName(spec, i) != names[i]) return false;
      if (!HasType(inputs[i], types[i].first, types[i].second)) return false;
    }
    return std::equal(spec.variable_outputs().begin(), spec.variable_outputs().end(),
                      stored.begin(), stored.end(),
                      [](const v1::VariableOutput& output, uint32_t result) {
                        return output.result() == result;
                      });
  }

  // Kernels cannot be interrupted: no first run without a guess.
  bool IsWorthIt(const Program& program) {
    if (pace.IsGood()) return true;
    const std::optional<nanoseconds> guess = run.Predict(program);
    return guess.has_value() && *guess <= kLongest && pace.IsDue();
  }

  const uint32_t workers_asked;
  // Of all workers that a job would have but one, in whose place the caller is: so none has more
  // threads.
  const std::vector<ComputePool*> helpers;
  const std::vector<std::string> names;
  const InputTypes types;
  const std::vector<uint32_t> stored;  // results that variables take
  const DirectRun run;
  DirectPace pace;
};

struct DirectCalls::Known {
  bool suits = false;  // fixed, as are the next two
  std::vector<ProgramInput> inputs;
  // The worker's. Gone once the coordinator has dropped the program.
  std::weak_ptr<Program> program;

  std::mutex mutex;
  std::shared_ptr<Form> last_form;  // guarded by mutex
};

std::optional<std::vector<Tensor>> DirectCalls::Run(const v1::JobSpec& spec,
                                                    const std::vector<Tensor>& inputs) {
  if (!IsPlain(spec)) return std::nullopt;
  const std::shared_ptr<Known> known = Find(spec.program_id());
  if (known == nullptr || !known->suits) return std::nullopt;
  const std::shared_ptr<Program> program = known->program.lock();
  if (program == nullptr) return std::nullopt;
  if (spec.variable_inputs().empty() && spec.variable_outputs().empty()) {
    return RunForm(spec, inputs, program, known.get());
  }
  return RunWithVariables(spec, inputs, program, known.get());
}

std::optional<Tensor> DirectCalls::ReadVariable(const std::string& id) {
  const auto variable = DirectVariables::Begin(VariableGateway(coordinator_), &stores_, {id}, {});
  if (!variable.has_value()) return std::nullopt;
  return variable->values()[0].Clone();
}

std::optional<std::vector<Tensor>> DirectCalls::RunWithVariables(
    const v1::JobSpec& spec, const std::vector<Tensor>& inputs,
    const std::shared_ptr<Program>& program, Known* known) {
  std::vector<std::string> read, written;
  for (const v1::VariableInput& each : spec.variable_inputs()) read.push_back(each.variable());
  for (const v1::VariableOutput& each : spec.variable_outputs()) written.push_back(each.variable());
  std::optional<DirectVariables> variables =
      DirectVariables::Begin(VariableGateway(coordinator_), &stores_, read, written);
  if (!variables.has_value()) return std::nullopt;
  std::vector<Tensor> all = inputs;
  all.insert(all.end(), variables->values().begin(), variables->values().end());
  std::optional<std::vector<Tensor>> made = RunForm(spec, all, program, known);
  if (!made.has_value()) return std::nullopt;
  // Clients may write into what they gave and are given: variables share none of it.
  std::vector<Tensor> new_values;
  std::vector<bool> is_result(made->size(), true);
  for (const v1::VariableOutput& output : spec.variable_outputs()) {
    if (output.result() >= made->size()) return std::nullopt;
    is_result[output.result()] = false;
    Tensor& value = (*made)[output.result()];
    if (IsIn(value, inputs)) value = value.Clone();
    new_values.push_back(value);
  }
  std::vector<Tensor> results;
  for (size_t i = 0; i < made->size(); ++i) {
    if (!is_result[i]) continue;
    const Tensor& result = (*made)[i];
    const bool is_shared = variables->HasMemoryOf(result) || IsIn(result, new_values);
    results.push_back(is_shared ? result.Clone() : result);
  }
  if (!variables->Commit(new_values)) return std::nullopt;
  return results;
}

std::optional<std::vector<Tensor>> DirectCalls::RunForm(const v1::JobSpec& spec,
                                                        const std::vector<Tensor>& inputs,
                                                        const std::shared_ptr<Program>& program,
                                                        Known* known) const {
  const std::shared_ptr<Form> form = FormFor(spec, inputs, *program, known);
  if (form == nullptr || !form->IsWorthIt(*program)) return std::nullopt;
  const auto begin = std::chrono::steady_clock::now();
  auto results = form->run.Run(program, inputs, begin + kPatience * form->pace.longest(), nullptr,
                               form->helpers);
  form->pace.Took(std::chrono::steady_clock::now() - begin);
  if (!results.ok()) return std::nullopt;
  return *std::move(results);
}

std::shared_ptr<DirectCalls::Known> DirectCalls::Find(const std::string& program_id) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto known = known_.find(program_id);
    if (known != known_.end()) {
      if (!known->second->suits || !known->second->program.expired()) return known->second;
      known_.erase(known);
    }
  }
  std::shared_ptr<Known> known = Ask(program_id);
  if (known == nullptr) return nullptr;
  std::lock_guard<std::mutex> lock(mutex_);
  if (known_.size() >= kMostPrograms) known_.clear();
  known_.insert_or_assign(program_id, known);
  return known;
}

std::shared_ptr<DirectCalls::Known> DirectCalls::Ask(const std::string& program_id) const {
  std::optional<KnownProgram> compiled = coordinator_->FindProgram(program_id);
  if (!compiled.has_value()) return nullptr;
  auto known = std::make_shared<Known>();
  // Such a program never comes to a worker.
  if (compiled->compiled->plan.plan.steps_size() == 0) return known;
  for (const std::unique_ptr<WorkerService>& worker : *workers_) {
    const std::shared_ptr<Program> program = worker->FindProgram(compiled->number);
    if (program == nullptr) continue;
    known->suits = !Prints(*program);
    known->program = program;
    known->inputs = compiled->compiled->inputs;
    return known;
  }
  return nullptr;
}

std::shared_ptr<DirectCalls::Form> DirectCalls::FormFor(const v1::JobSpec& spec,
                                                        const std::vector<Tensor>& inputs,
                                                        const Program& program,
                                                        Known* known) const {
  {
    std::lock_guard<std::mutex> lock(known->mutex);
    if (known->last_form != nullptr && known->last_form->Fits(spec, inputs)) {
      return known->last_form;
    }
  }
  std::shared_ptr<Form> form = MakeForm(spec, inputs, program, *known);
  if (form == nullptr) return nullptr;
  std::lock_guard<std::mutex> lock(known->mutex);
  known->last_form = form;
  return form;
}

// Returns: null for a job that will be refused or fail, or waits for workers that are not there.
std::shared_ptr<DirectCalls::Form> DirectCalls::MakeForm(const v1::JobSpec& spec,
                                                         const std::vector<Tensor>& inputs,
                                                         const Program& program,
                                                         const Known& known) const {
  if (spec.workers() > workers_->size()) return nullptr;
  if (inputs.size() != NumInputs(spec)) return nullptr;
  const auto values = inputs.begin() + spec.input_names_size();
  if (!Prepare({spec, {inputs.begin(), values}}, coordinator_->limits()).ok()) return nullptr;
  std::vector<std::string> names;
  for (size_t i = 0; i < NumInputs(spec); ++i) names.push_back(InputName(spec, i));
  const bool in_order = std::equal(
      names.begin(), names.end(), known.inputs.begin(), known.inputs.end(),
      [](const std::string& name, const ProgramInput& input) { return name == input.name; });
  if (!in_order) return nullptr;
  auto bound = BindInputs(known.inputs, names, inputs);
  if (!bound.ok()) return nullptr;
  auto run = DirectRun::Make(program, std::move(bound->symbols));
  if (!run.ok()) return nullptr;
  const int asked = static_cast<int>(spec.workers() == 0 ? workers_->size() : spec.workers());
  InputTypes types;
  for (const Tensor& input : inputs) types.emplace_back(input.dtype(), input.extents());
  std::vector<ComputePool*> helpers;
  for (int i = 1; i < asked; ++i) helpers.push_back((*workers_)[i]->compute_threads());
  std::vector<uint32_t> stored;
  for (const v1::VariableOutput& output : spec.variable_outputs()) {
    stored.push_back(output.result());
  }
  return std::make_shared<Form>(spec.workers(), std::move(helpers), std::move(names),
                                std::move(types), std::move(stored), *std::move(run));
}

}  // namespace weir
