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

// Whether it asks for a run and its results, and for nothing else that a job gives.
bool IsPlain(const v1::JobSpec& spec) {
  return !spec.program_id().empty() && spec.submission_id().empty() && spec.labels().empty() &&
         spec.repeat() == 0 && !spec.profile() && spec.memory_budget() == 0;
}

}  // namespace

// A program for inputs of certain types.
struct DirectCalls::Form {
  Form(uint32_t workers, std::vector<ComputePool*> others, std::vector<std::string> input_names,
       InputTypes input_types, DirectRun direct)
      : workers_asked(workers),
        helpers(std::move(others)),
        names(std::move(input_names)),
        types(std::move(input_types)),
        run(std::move(direct)),
        pace(kLongest) {}

  bool Fits(const v1::JobSpec& spec, const std::vector<Tensor>& inputs) const {
    if (spec.workers() != workers_asked || inputs.size() != types.size()) return false;
    if (static_cast<size_t>(spec.input_names_size()) != names.size()) return false;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (spec.input_names(static_cast<int>(i)) != names[i]) return false;
      if (!HasType(inputs[i], types[i].first, types[i].second)) return false;
    }
    return true;
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
  const std::shared_ptr<Form> form = FormFor(spec, inputs, *program, known.get());
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
  if (!Prepare({spec, inputs}, coordinator_->limits()).ok()) return nullptr;
  std::vector<std::string> names(spec.input_names().begin(), spec.input_names().end());
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
  return std::make_shared<Form>(spec.workers(), std::move(helpers), std::move(names),
                                std::move(types), *std::move(run));
}

}  // namespace weir
