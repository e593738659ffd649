#include <iostream>
#include <memory>

#include "client/api/session.h"
#include "client/cli/command.h"
#include "client/cli/exit_codes.h"
#include "client/cli/output.h"
#include "common/base/status.h"
#include "common/tensor/shape.h"

namespace weir::cli {
namespace {

struct Options {
  Common common;
  std::vector<std::string> deleted;
};

std::string TypeOf(const v1::TensorHeader& type) {
  const std::optional<DType> dtype = DTypeFromWire(static_cast<int>(type.dtype()));
  const Extents extents(type.extents().begin(), type.extents().end());
  return StrCat(dtype.has_value() ? DTypeName(*dtype) : "?", ExtentsToString(extents));
}

int Print(const Common& common, const std::vector<v1::Variable>& variables) {
  if (common.format == Format::kJson) {
    v1::ListVariablesResponse response;
    for (const v1::Variable& variable : variables) *response.add_variables() = variable;
    std::cout << ToJson(response) << "\n";
    return kOk;
  }
  std::vector<std::vector<std::string>> rows = {
      {"ID", "NAME", "TYPE", "BYTES", "WORKER", "VERSION", "JOBS", "STATE"}};
  for (const v1::Variable& variable : variables) {
    rows.push_back({variable.id(), variable.name(), TypeOf(variable.type()),
                    StrCat(variable.bytes()), variable.worker(), StrCat(variable.version()),
                    StrCat(variable.jobs()), v1::Variable::State_Name(variable.state())});
  }
  PrintTable(rows);
  return kOk;
}

int Variables(const Options& options) {
  absl::StatusOr<std::unique_ptr<Session>> session = OpenRemote(options.common);
  if (!session.ok()) return Fail(options.common, session.status());
  for (const std::string& id : options.deleted) {
    const absl::Status status = (*session)->DeleteVariable(id);
    if (!status.ok()) return Fail(options.common, status);
  }
  if (!options.deleted.empty()) return kOk;
  absl::StatusOr<std::vector<v1::Variable>> variables = (*session)->ListVariables();
  if (!variables.ok()) return Fail(options.common, variables.status());
  return Print(options.common, *variables);
}

}  // namespace

void AddVariableCommands(CLI::App* app, int* exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app->add_subcommand("variables", "the values that workers keep between jobs");
  AddServerOption(command, &options->common);
  AddFormatOption(command, &options->common);
  command->add_option("--delete", options->deleted, "IDs of those that nobody needs any more");
  command->callback([options, exit_code] { *exit_code = Variables(*options); });
}

}  // namespace weir::cli
