#include <iostream>
#include <memory>

#include "client/cli/command.h"
#include "client/cli/exit_codes.h"
#include "client/cli/output.h"
#include "client/cli/signals.h"
#include "client/embedded/embedded_cluster.h"
#include "server/api/grpc_server.h"
#include "server/api/http_paths.h"
#include "server/api/http_server.h"
#include "server/api/metrics.h"

namespace weir::cli {
namespace {

struct Options {
  Common common;
  std::string listen = "127.0.0.1:7077";
  std::string http;
  std::string data;
  int threads = 1;
  std::vector<std::string> data_directories;
};

int Dev(const Options& options) {
  EmbeddedOptions embedded;
  embedded.workers = options.common.workers > 0 ? options.common.workers : 2;
  embedded.threads_per_worker = options.threads;
  if (!options.data.empty()) {
    absl::StatusOr<std::unique_ptr<Journal>> journal =
        OpenJournal(options.data, Limits().max_kept_jobs);
    if (!journal.ok()) return FailUsage(options.common, journal.status());
    embedded.journal = *std::move(journal);
  }
  // Others may deploy flows here, so they are not given all that this process may do.
  absl::StatusOr<DataDirectories> files = DataDirectories::Below(options.data_directories);
  if (!files.ok()) return FailUsage(options.common, files.status());
  embedded.data = *std::move(files);
  absl::StatusOr<std::unique_ptr<EmbeddedCluster>> cluster =
      EmbeddedCluster::Start(std::move(embedded));
  if (!cluster.ok()) return Fail(options.common, cluster.status());
  ServerMetrics metrics((*cluster)->coordinator());
  absl::StatusOr<std::unique_ptr<GrpcServer>> server =
      GrpcServer::Start({.address = options.listen}, (*cluster)->coordinator(), &metrics);
  if (!server.ok()) return Fail(options.common, server.status());
  std::unique_ptr<HttpServer> http;
  if (!options.http.empty()) {
    absl::StatusOr<std::unique_ptr<HttpServer>> started =
        HttpServer::Start(options.http, CoordinatorPaths((*cluster)->coordinator(), &metrics));
    if (!started.ok()) return Fail(options.common, started.status());
    http = *std::move(started);
  }
  std::cerr << "a cluster of one process listens on " << (*server)->address() << "; Ctrl-C ends it"
            << std::endl;
  WaitForInterrupt();
  (*server)->SetDraining();
  (*server)->Shutdown(absl::Seconds(1));
  return kOk;
}

}  // namespace

void AddDev(CLI::App* app, int* exit_code) {
  CLI::App* command =
      app->add_subcommand("dev", "coordinator and workers in this process, serving gRPC");
  auto options = std::make_shared<Options>();
  command->add_option("--listen", options->listen, "HOST:PORT")->capture_default_str();
  command->add_option("--http", options->http, "HOST:PORT for metrics and probes");
  command->add_option("--data", options->data, "directory in which jobs outlive a restart");
  command
      ->add_option("--data-directory", options->data_directories,
                   "flows may read and write files below it (default: none)")
      ->allow_extra_args(false);
  command->add_option("--workers", options->common.workers, "default 2")
      ->check(CLI::Range(1, 1024));
  command->add_option("--threads", options->threads, "of each worker")->check(CLI::Range(1, 1024));
  command->callback([options, exit_code] { *exit_code = Dev(*options); });
}

}  // namespace weir::cli
