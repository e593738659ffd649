#include <iostream>
#include <memory>

#include "client/cli/command.h"
#include "client/cli/exit_codes.h"
#include "client/cli/job_input.h"
#include "client/cli/output.h"

namespace weir::cli {
namespace {

struct Options {
  Common common;
  ProgramArguments program;
  std::string stage;
};

void PrintTable(const ExplainResult& explanation, const std::string& stage) {
  for (const v1::ExplainStage& s : explanation.stages) {
    if (!stage.empty() && s.name() != stage) continue;
    std::cout << "// stage " << s.name() << ": " << s.why() << "\n" << s.text() << "\n";
  }
  for (const std::string& note : explanation.notes) std::cout << "// note: " << note << "\n";
  std::cout << "// fallbacks: " << explanation.fallbacks.size() << "\n";
  for (const v1::Fallback& fallback : explanation.fallbacks) {
    std::cout << "//   " << fallback.op() << " \"" << fallback.node() << "\" ("
              << fallback.location() << "): " << fallback.reason() << "\n";
  }
  std::cout << "// compilations of this program: " << explanation.compilations << "\n";
}

void PrintJson(const ExplainResult& explanation, const std::string& stage) {
  std::cout << "{\"stages\": [";
  bool first = true;
  for (const v1::ExplainStage& s : explanation.stages) {
    if (!stage.empty() && s.name() != stage) continue;
    std::cout << (first ? "" : ", ") << ToJson(s);
    first = false;
  }
  std::cout << "], \"fallbacks\": [";
  for (size_t i = 0; i < explanation.fallbacks.size(); ++i) {
    std::cout << (i > 0 ? ", " : "") << ToJson(explanation.fallbacks[i]);
  }
  std::cout << "], \"compilations\": " << explanation.compilations << "}\n";
}

int Explain(const Options& options) {
  absl::StatusOr<v1::Program> program = ReadProgram(options.program);
  if (!program.ok()) return FailUsage(options.common, program.status());
  absl::StatusOr<std::unique_ptr<Session>> session = OpenSession(options.common);
  if (!session.ok()) return Fail(options.common, session.status());
  absl::StatusOr<ExplainResult> explanation = (*session)->Explain(*program);
  if (!explanation.ok()) return Fail(options.common, explanation.status());
  if (options.common.format == Format::kJson) {
    PrintJson(*explanation, options.stage);
  } else {
    PrintTable(*explanation, options.stage);
  }
  return kOk;
}

}  // namespace

void AddExplain(CLI::App* app, int* exit_code) {
  CLI::App* command =
      app->add_subcommand("explain", "the program after each stage, and every fallback");
  auto options = std::make_shared<Options>();
  AddServerOption(command, &options->common);
  AddFormatOption(command, &options->common);
  AddProgramOptions(command, &options->program);
  command->add_option("--stage", options->stage, "only this stage");
  command->callback([options, exit_code] { *exit_code = Explain(*options); });
}

}  // namespace weir::cli
