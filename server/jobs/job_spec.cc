#include "server/jobs/job_spec.h"

#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_split.h"
#include "common/base/status.h"
#include "common/tensor/digest.h"
#include "server/jobs/compiled_program.h"

namespace weir {
namespace {

absl::Status TooMuch(std::string_view what, uint64_t got, uint64_t limit) {
  return absl::ResourceExhaustedError(
      StrCat("the job has ", got, " ", what, "; at most ", limit, " are allowed"));
}

// Others are known nowhere, and have no place in the text form of a digest.
bool IsProgramId(const std::string& id) {
  return id.find_first_not_of("0123456789abcdef") == std::string::npos;
}

absl::Status CheckProgram(const Submission& submission, const Limits& limits) {
  const std::string& id = submission.spec.program_id();
  if (!id.empty()) return IsProgramId(id) ? absl::OkStatus() : UnknownProgram(id);
  const v1::Program& program = submission.spec.program();
  if (program.source().empty()) {
    return InvalidArgument("the job has no program: spec.program.source is empty");
  }
  if (program.format() == v1::Program::FORMAT_UNSPECIFIED) {
    return InvalidArgument("spec.program.format says neither text nor ONNX");
  }
  if (program.source().size() > limits.max_program_bytes) {
    return TooMuch("bytes of program", program.source().size(), limits.max_program_bytes);
  }
  return absl::OkStatus();
}

absl::Status CheckVariables(const v1::JobSpec& spec, const Limits& limits) {
  const int count = spec.variable_inputs_size() + spec.variable_outputs_size();
  if (count > limits.max_inputs) return TooMuch("uses of variables", count, limits.max_inputs);
  std::map<std::string, uint32_t> results;
  std::map<uint32_t, std::string> variables;
  for (const v1::VariableOutput& output : spec.variable_outputs()) {
    const auto [result, is_first] = results.emplace(output.variable(), output.result());
    if (!is_first) {
      return InvalidArgument("variable '", output.variable(), "' would become result ",
                             result->second, " and result ", output.result(),
                             "; it can become one of them");
    }
    const auto [variable, is_new] = variables.emplace(output.result(), output.variable());
    if (!is_new) {
      return InvalidArgument("result ", output.result(), " would go to variable '",
                             variable->second, "' and variable '", output.variable(),
                             "'; it can go to one of them");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSpec(const Submission& submission, const Limits& limits) {
  const v1::JobSpec& spec = submission.spec;
  WEIR_RETURN_IF_ERROR(CheckProgram(submission, limits));
  if (spec.input_names_size() > limits.max_inputs) {
    return TooMuch("inputs", spec.input_names_size(), limits.max_inputs);
  }
  if (static_cast<size_t>(spec.input_names_size()) != submission.inputs.size()) {
    return InvalidArgument("the job names ", spec.input_names_size(), " inputs and brings ",
                           submission.inputs.size(), " tensors");
  }
  if (spec.memory_budget() < 0) {
    return InvalidArgument("spec.memory_budget is ", spec.memory_budget(), "; bytes are asked for");
  }
  if (spec.repeat() > limits.max_repeat) return TooMuch("runs", spec.repeat(), limits.max_repeat);
  if (spec.submission_id().size() > limits.max_name_bytes) {
    return TooMuch("bytes of submission id", spec.submission_id().size(), limits.max_name_bytes);
  }
  WEIR_RETURN_IF_ERROR(CheckLabels(spec.labels(), limits));
  WEIR_RETURN_IF_ERROR(CheckVariables(spec, limits));
  uint64_t bytes = 0;
  for (const Tensor& tensor : submission.inputs) bytes += static_cast<uint64_t>(tensor.num_bytes());
  if (bytes > limits.max_input_bytes) {
    return TooMuch("bytes of inputs", bytes, limits.max_input_bytes);
  }
  return absl::OkStatus();
}

std::string TextOf(const v1::JobSpec& spec) {
  std::string text;
  for (const v1::VariableInput& each : spec.variable_inputs()) {
    StrAppend(&text, "<", each.input().size(), ":", each.input(), each.variable());
  }
  for (const v1::VariableOutput& each : spec.variable_outputs()) {
    StrAppend(&text, ">", each.result(), ":", each.variable());
  }
  return text;
}

SpecDigest DigestOf(const Submission& submission, const std::string& program_key) {
  const v1::JobSpec& spec = submission.spec;
  SpecDigest digest;
  digest.program = program_key;
  std::map<std::string, std::string> inputs;
  for (int i = 0; i < spec.input_names_size(); ++i) {
    inputs[spec.input_names(i)] = ContentDigest(submission.inputs[i]);
  }
  std::string text;
  for (const auto& [name, content] : inputs) StrAppend(&text, name.size(), ":", name, content);
  digest.inputs = ContentDigest(text + TextOf(spec));
  digest.options = StrCat(spec.workers(), "/", spec.repeat(), "/", spec.memory_budget(), "/",
                          spec.profile() ? 1 : 0);
  digest.labels = DigestOfLabels(spec.labels());
  return digest;
}

}  // namespace

absl::Status CheckLabels(const Labels& labels, const Limits& limits) {
  if (labels.size() > static_cast<size_t>(limits.max_labels)) {
    return TooMuch("labels", labels.size(), limits.max_labels);
  }
  for (const auto& [key, value] : labels) {
    const size_t bytes = std::max(key.size(), value.size());
    if (bytes > limits.max_name_bytes) {
      return TooMuch("bytes in one label", bytes, limits.max_name_bytes);
    }
  }
  return absl::OkStatus();
}

std::string DigestOfLabels(const Labels& labels) {
  std::string text;
  const std::map<std::string, std::string> sorted(labels.begin(), labels.end());
  for (const auto& [key, value] : sorted) {
    StrAppend(&text, key.size(), ":", key, value.size(), ":", value);
  }
  return ContentDigest(text);
}

absl::Status UnknownProgram(std::string_view id) {
  return absl::NotFoundError(
      StrCat("program ", id, " is not known here (any more): send it again"));
}

std::string_view SpecDigest::DifferenceFrom(const SpecDigest& other) const {
  if (program != other.program) return "program";
  if (inputs != other.inputs) return "inputs";
  if (options != other.options) return "workers, repeat, memory_budget or profile";
  if (labels != other.labels) return "labels";
  return "";
}

std::string SpecDigest::ToString() const {
  return StrCat(program, " ", inputs, " ", options, " ", labels);
}

SpecDigest SpecDigest::FromString(std::string_view text) {
  const std::vector<std::string> parts = absl::StrSplit(ToAbsl(text), ' ');
  if (parts.size() != 4) return {};
  return {parts[0], parts[1], parts[2], parts[3]};
}

absl::StatusOr<PreparedSubmission> Prepare(Submission submission, const Limits& limits) {
  WEIR_RETURN_IF_ERROR(CheckSpec(submission, limits));
  PreparedSubmission out;
  const v1::JobSpec& spec = submission.spec;
  out.program_key = spec.program_id().empty() ? ProgramKey(spec.program()) : spec.program_id();
  if (!submission.spec.submission_id().empty()) out.digest = DigestOf(submission, out.program_key);
  out.submission = std::move(submission);
  return out;
}

}  // namespace weir
