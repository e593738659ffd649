#include <iostream>
#include <memory>

#include "client/api/remote_session.h"
#include "client/cli/command.h"
#include "client/cli/exit_codes.h"
#include "client/cli/output.h"
#include "common/base/status.h"
#include "common/base/version.h"

namespace weir::cli {
namespace {

int Workers(const Common& common) {
  absl::StatusOr<std::unique_ptr<Session>> session = OpenRemote(common);
  if (!session.ok()) return Fail(common, session.status());
  absl::StatusOr<std::vector<v1::Worker>> workers = (*session)->Workers();
  if (!workers.ok()) return Fail(common, workers.status());
  if (common.format == Format::kJson) {
    v1::ListWorkersResponse response;
    for (const v1::Worker& worker : *workers) *response.add_workers() = worker;
    std::cout << ToJson(response) << "\n";
    return kOk;
  }
  std::vector<std::vector<std::string>> rows = {{"ID", "NAME", "STATE", "ADDRESS", "THREADS",
                                                 "HEARTBEAT", "MEMORY", "VARIABLES", "NUMERICS"}};
  for (const v1::Worker& worker : *workers) {
    rows.push_back({StrCat(worker.id()), worker.name(), v1::Worker::State_Name(worker.state()),
                    worker.data_address(), StrCat(worker.threads()),
                    StrCat(worker.heartbeat_age_ms(), " ms"),
                    StrCat(worker.resident_bytes() >> 20, " MiB"),
                    StrCat(worker.variable_bytes() >> 20, " MiB"), worker.numerics_class()});
  }
  PrintTable(rows);
  return kOk;
}

int Version(const Common& common) {
  std::cout << "weir " << kVersion << " (" << kGitRevision << ")\n";
  if (ServerAddress(common).empty()) return kOk;
  absl::StatusOr<std::unique_ptr<Session>> session = OpenRemote(common);
  if (!session.ok()) return Fail(common, session.status());
  absl::StatusOr<v1::Info> info = (*session)->GetInfo();
  if (!info.ok()) return Fail(common, info.status());
  std::cout << "server " << info->version() << "\n";
  return kOk;
}

int Health(const Common& common, bool ready) {
  RemoteOptions options;
  const std::string address = ServerAddress(common);
  if (!address.empty()) options.address = address;
  absl::StatusOr<bool> serving = CheckHealth(options, ready ? "weir.v1.Jobs" : "");
  if (!serving.ok()) return Fail(common, serving.status());
  std::cout << (*serving ? "SERVING" : "NOT_SERVING") << "\n";
  return *serving ? kOk : kJobFailed;
}

}  // namespace

void AddClusterCommands(CLI::App* app, int* exit_code) {
  auto common = std::make_shared<Common>();
  CLI::App* workers = app->add_subcommand("workers", "the workers of a cluster");
  AddServerOption(workers, common.get());
  AddFormatOption(workers, common.get());
  workers->callback([common, exit_code] { *exit_code = Workers(*common); });

  CLI::App* version = app->add_subcommand("version", "of this program, and of a named server");
  AddServerOption(version, common.get());
  version->callback([common, exit_code] { *exit_code = Version(*common); });

  auto ready = std::make_shared<bool>(false);
  CLI::App* health = app->add_subcommand("health", "exit 0 if the coordinator is serving");
  AddServerOption(health, common.get());
  AddFormatOption(health, common.get());
  health->add_flag("--ready", *ready, "also that it can run jobs now");
  health->callback([common, ready, exit_code] { *exit_code = Health(*common, *ready); });
}

}  // namespace weir::cli
