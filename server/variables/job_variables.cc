#include "server/variables/job_variables.h"

#include <algorithm>

#include "common/base/status.h"
#include "common/plan/frames.h"

namespace weir {

VariableEntry* JobVariables::OutputOf(uint32_t result) const {
  const auto found = std::find_if(outputs.begin(), outputs.end(),
                                  [&](const Output& each) { return each.result == result; });
  return found == outputs.end() ? nullptr : found->variable;
}

VariableEntry* JobVariables::InputOf(const std::string& name) const {
  const auto found = std::find_if(inputs.begin(), inputs.end(),
                                  [&](const Input& each) { return each.name == name; });
  return found == inputs.end() ? nullptr : found->variable;
}

std::vector<JobVariables::Use> JobVariables::Uses() const {
  std::vector<Use> uses;
  for (const Output& output : outputs) uses.push_back({output.variable, VariableAccess::kWrite});
  for (const Input& input : inputs) {
    const bool is_known = std::any_of(
        uses.begin(), uses.end(), [&](const Use& use) { return use.variable == input.variable; });
    if (!is_known) uses.push_back({input.variable, VariableAccess::kRead});
  }
  return uses;
}

std::string NameOf(const VariableEntry& variable) {
  return StrCat("'", variable.name, "' (", variable.id, ")");
}

v1::Variable ViewOf(const VariableEntry& variable) {
  v1::Variable view;
  view.set_id(variable.id);
  view.set_name(variable.name);
  *view.mutable_type() = HeaderOf(variable.type);
  view.set_bytes(static_cast<uint64_t>(variable.type.num_bytes()));
  view.set_worker(variable.worker_name);
  view.set_version(variable.version);
  view.set_state(variable.moves() ? v1::Variable::MOVING : v1::Variable::READY);
  if (!variable.lost.ok()) {
    view.set_state(v1::Variable::LOST);
    view.set_lost_because(std::string(ToStd(variable.lost.message())));
  }
  view.set_created_unix_ms(variable.created_unix_ms);
  const auto is_job = [](const VariableClaim& use) { return !use.job.empty(); };
  view.set_jobs(
      static_cast<uint32_t>(std::count_if(variable.uses.begin(), variable.uses.end(), is_job)));
  return view;
}

}  // namespace weir
