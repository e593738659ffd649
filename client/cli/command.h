// What the commands of `weir` share: the session that they talk to and the form of what they print.
// One command runs per process, on the main thread.
#ifndef WEIR_CLIENT_CLI_COMMAND_H_
#define WEIR_CLIENT_CLI_COMMAND_H_

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/api/session.h"

namespace weir::cli {

enum class Format { kTable, kJson };

// Options that most commands have.
struct Common {
  std::string server;  // HOST:PORT; empty: WEIR_ADDRESS, else what the command does without one
  int workers = 0;     // of an embedded cluster
  Format format = Format::kTable;
  bool quiet = false;
};

void AddServerOption(CLI::App* app, Common* common);
void AddFormatOption(CLI::App* app, Common* common);

// The address from --server or WEIR_ADDRESS, or empty.
std::string ServerAddress(const Common& common);
// A session with the server if one is named, else with an embedded cluster of `common.workers`
// (default 2).
absl::StatusOr<std::unique_ptr<Session>> OpenSession(const Common& common);
// A session with a server; localhost:7077 if none is named.
absl::StatusOr<std::unique_ptr<Session>> OpenRemote(const Common& common);

// Prints `error: CODE: message` to stderr (a JSON object with kJson). Returns: the exit code.
int Fail(const Common& common, const absl::Status& status);
// The same for faults of the command line or its files: exit code 2.
int FailUsage(const Common& common, const absl::Status& status);

// Each adds its command to `app`; the callback sets *exit_code.
void AddRun(CLI::App* app, int* exit_code);
void AddSubmit(CLI::App* app, int* exit_code);
void AddJobCommands(CLI::App* app, int* exit_code);       // status list wait result cancel logs
void AddFlowCommands(CLI::App* app, int* exit_code);      // send receive watch explain-frontier
void AddClusterCommands(CLI::App* app, int* exit_code);   // workers version health
void AddVariableCommands(CLI::App* app, int* exit_code);  // variables
void AddExplain(CLI::App* app, int* exit_code);
void AddOps(CLI::App* app, int* exit_code);
void AddDev(CLI::App* app, int* exit_code);

}  // namespace weir::cli

#endif  // WEIR_CLIENT_CLI_COMMAND_H_
