#include "client/cli/command.h"

#include <cstdlib>
#include <iostream>

#include "client/api/remote_session.h"
#include "client/cli/exit_codes.h"
#include "client/cli/output.h"
#include "client/embedded/embedded_cluster.h"
#include "common/base/status.h"

namespace weir::cli {

void AddServerOption(CLI::App* app, Common* common) {
  app->add_option("--server", common->server, "HOST:PORT of a coordinator (default: WEIR_ADDRESS)");
}

void AddFormatOption(CLI::App* app, Common* common) {
  app->add_option("-o,--output", common->format, "table or json")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, Format>{{"table", Format::kTable}, {"json", Format::kJson}}));
  app->add_flag("-q,--quiet", common->quiet, "no progress on stderr");
}

std::string ServerAddress(const Common& common) {
  if (!common.server.empty()) return common.server;
  const char* address = std::getenv("WEIR_ADDRESS");
  return address == nullptr ? "" : address;
}

absl::StatusOr<std::unique_ptr<Session>> OpenSession(const Common& common) {
  if (!ServerAddress(common).empty()) return OpenRemote(common);
  return StartEmbedded({.workers = common.workers > 0 ? common.workers : 2});
}

absl::StatusOr<std::unique_ptr<Session>> OpenRemote(const Common& common) {
  RemoteOptions options;
  const std::string address = ServerAddress(common);
  if (!address.empty()) options.address = address;
  return ConnectRemote(options);
}

int Fail(const Common& common, const absl::Status& status) {
  PrintError(common.format, status);
  return ExitCodeOf(status);
}

int FailUsage(const Common& common, const absl::Status& status) {
  PrintError(common.format, status);
  return kUsage;
}

}  // namespace weir::cli
