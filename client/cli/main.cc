#include <CLI/CLI.hpp>

#include "client/cli/command.h"
#include "client/cli/exit_codes.h"
#include "common/base/log.h"
#include "common/base/str_cat.h"
#include "common/base/version.h"

int main(int argc, char** argv) {
  weir::InitLogging({.program = "weir", .level = weir::LogLevel::kWarning});
  CLI::App app("Weir: runs tensor programs written for one example on many, here or on a cluster.");
  app.require_subcommand(1);
  app.set_version_flag("--version",
                       weir::StrCat("weir ", weir::kVersion, " (", weir::kGitRevision, ")"));
  int exit_code = weir::cli::kOk;
  weir::cli::AddRun(&app, &exit_code);
  weir::cli::AddSubmit(&app, &exit_code);
  weir::cli::AddJobCommands(&app, &exit_code);
  weir::cli::AddFlowCommands(&app, &exit_code);
  weir::cli::AddExplain(&app, &exit_code);
  weir::cli::AddClusterCommands(&app, &exit_code);
  weir::cli::AddVariableCommands(&app, &exit_code);
  weir::cli::AddOps(&app, &exit_code);
  weir::cli::AddDev(&app, &exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? weir::cli::kOk : weir::cli::kUsage;
  }
  return exit_code;
}
