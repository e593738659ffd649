#include "client/cli/job_input.h"

#include <fstream>
#include <map>
#include <sstream>

#include "absl/strings/match.h"
#include "common/base/byte_size.h"
#include "common/base/status.h"
#include "common/tensor/npy.h"

namespace weir::cli {
namespace {

std::string BaseName(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(StrCat("cannot open ", path));
  std::ostringstream bytes;
  bytes << file.rdbuf();
  if (file.bad() || bytes.bad()) return absl::NotFoundError(StrCat("cannot read ", path));
  return bytes.str();
}

absl::Status AddInput(const std::string& name, Tensor tensor, JobInput* job) {
  for (const std::string& other : job->spec.input_names()) {
    if (other == name) return InvalidArgument("input '", name, "' is given twice");
  }
  job->spec.add_input_names(name);
  job->inputs.push_back(std::move(tensor));
  return absl::OkStatus();
}

absl::Status ReadInput(const std::string& argument, JobInput* job) {
  if (absl::EndsWith(argument, ".npz") && !absl::StrContains(argument, "=")) {
    WEIR_ASSIGN_OR_RETURN(auto arrays, ReadNpz(argument));
    for (auto& [name, tensor] : arrays) {
      WEIR_RETURN_IF_ERROR(AddInput(name, std::move(tensor), job));
    }
    return absl::OkStatus();
  }
  WEIR_ASSIGN_OR_RETURN(const auto pair, SplitPair(argument, "--in"));
  WEIR_ASSIGN_OR_RETURN(Tensor tensor, ReadNpy(pair.second));
  return AddInput(pair.first, std::move(tensor), job);
}

}  // namespace

void AddProgramOptions(CLI::App* app, ProgramArguments* arguments) {
  app->add_option("MODEL", arguments->model, "an .onnx file, or a program in text form")
      ->required();
  app->add_option("--map", arguments->map,
                  "NAME: the input has a leading parallel axis that the model does not know")
      ->allow_extra_args(false);
  app->add_flag("--loop", arguments->loop, "one iteration after the other: the baseline");
  app->add_flag("--strict", arguments->strict, "a fallback is an error");
}

void AddJobOptions(CLI::App* app, JobArguments* arguments) {
  AddProgramOptions(app, &arguments->program);
  // One value each, so that MODEL may follow.
  app->add_option("--in", arguments->in, "NAME=FILE.npy, or FILE.npz with all inputs")
      ->allow_extra_args(false);
  app->add_option("--out", arguments->out, "NAME=FILE.npy for a result ('-': stdout)")
      ->allow_extra_args(false);
  app->add_option("--submission-id", arguments->submission_id,
                  "submitting again with this id finds the same job");
  app->add_option("--label", arguments->labels, "KEY=VALUE, kept with the job")
      ->allow_extra_args(false);
  app->add_option("--repeat", arguments->repeat, "run N times more, for timing");
  app->add_option(
      "--memory-budget", arguments->memory_budget,
      "bytes that each worker may take for what it computes on the way, such as 512MiB");
  app->add_flag("--profile", arguments->profile,
                "count launches and elements of each op, and say what each step takes");
}

absl::StatusOr<std::pair<std::string, std::string>> SplitPair(const std::string& text,
                                                              std::string_view option) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    return InvalidArgument(option, " takes NAME=VALUE, found '", text, "'");
  }
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

absl::StatusOr<v1::Program> ReadProgram(const ProgramArguments& arguments) {
  v1::Program program;
  WEIR_ASSIGN_OR_RETURN(*program.mutable_source(), ReadFile(arguments.model));
  program.set_name(BaseName(arguments.model));
  program.set_format(absl::EndsWith(arguments.model, ".onnx") ? v1::Program::FORMAT_ONNX
                                                              : v1::Program::FORMAT_TEXT);
  for (const std::string& name : arguments.map) program.add_map(name);
  program.set_mode(arguments.loop ? v1::Program::MODE_LOOP : v1::Program::MODE_VECTORIZED);
  program.set_strict(arguments.strict);
  return program;
}

absl::StatusOr<JobInput> ReadJob(const JobArguments& arguments) {
  JobInput job;
  WEIR_ASSIGN_OR_RETURN(*job.spec.mutable_program(), ReadProgram(arguments.program));
  for (const std::string& argument : arguments.in) {
    WEIR_RETURN_IF_ERROR(ReadInput(argument, &job));
  }
  for (const std::string& label : arguments.labels) {
    WEIR_ASSIGN_OR_RETURN(const auto pair, SplitPair(label, "--label"));
    (*job.spec.mutable_labels())[pair.first] = pair.second;
  }
  job.spec.set_submission_id(arguments.submission_id);
  job.spec.set_repeat(arguments.repeat);
  job.spec.set_profile(arguments.profile);
  if (!arguments.memory_budget.empty()) {
    WEIR_ASSIGN_OR_RETURN(const int64_t bytes, ParseByteSize(arguments.memory_budget));
    job.spec.set_memory_budget(bytes);
  }
  return job;
}

}  // namespace weir::cli
