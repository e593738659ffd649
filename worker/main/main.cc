#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/byte_size.h"
#include "common/base/log.h"
#include "common/base/service_process.h"
#include "common/base/status.h"
#include "common/base/version.h"
#include "common/net/address.h"
#include "common/net/direct_dialer.h"
#include "common/net/grpc_link.h"
#include "common/net/tcp_link.h"
#include "worker/flow/memory/flow_memory.h"
#include "worker/service/worker_service.h"

namespace weir {
namespace {

struct Options {
  std::string server = "localhost:7077";
  std::string name;
  int threads = 0;
  std::string data_listen = "0.0.0.0:0";
  std::string data_host;
  std::string log_level;
  double drain_seconds = 20;
  std::string memory_budget;
  std::vector<std::string> data_directories;
  std::string flow_memory;
  std::string spill_directory;
  std::string spill_limit;
};

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "localhost";
}

// Where other workers find this one: on the same machine through loopback, else by host name.
std::string DataHost(const Options& options) {
  if (!options.data_host.empty()) return options.data_host;
  absl::StatusOr<HostPort> server = ParseHostPort(options.server);
  const bool local = server.ok() && (server->host == "localhost" || server->host == "127.0.0.1" ||
                                     server->host == "::1");
  return local ? "127.0.0.1" : HostName();
}

int Fail(const absl::Status& status) {
  std::cerr << "error: " << absl::StatusCodeToString(status.code()) << ": " << status.message()
            << "\n";
  return 1;
}

int Serve(const Options& options, WorkerOptions worker_options, const sigset_t& signals) {
  GrpcDialer grpc;
  TcpTransport tcp;
  DirectDialer coordinator(&grpc, &tcp);
  TcpTransport peers;
  WorkerTransports transports;
  transports.coordinator = &coordinator;
  transports.peers = &peers;
  transports.listen = [&](LinkOptions link, OnAccept on_accept) {
    return peers.Listen(options.data_listen, std::move(link), std::move(on_accept));
  };
  transports.advertise = [&](const std::string& bound) {
    absl::StatusOr<HostPort> address = ParseHostPort(bound);
    if (!address.ok()) return bound;
    address->host = DataHost(options);
    return address->ToString();
  };
  WorkerService worker(std::move(worker_options), transports);
  if (absl::Status status = worker.Start(); !status.ok()) return Fail(status);
  int signal = 0;
  sigwait(&signals, &signal);
  Log(LogLevel::kInfo, "draining", {{"signal", signal}});
  const absl::Status drained = worker.Drain(absl::Seconds(options.drain_seconds));
  if (!drained.ok()) return Fail(drained);
  return 0;
}

// Sizes, which are texts until here. Errors: InvalidArgument.
absl::StatusOr<WorkerOptions> WorkerOptionsFrom(const Options& options) {
  const auto bytes = [](const std::string& name,
                        const std::string& text) -> absl::StatusOr<int64_t> {
    if (text.empty()) return 0;
    absl::StatusOr<int64_t> size = ParseByteSize(text);
    if (!size.ok()) return Annotate(size.status(), name);
    return size;
  };
  WorkerOptions made = {
      .name = options.name, .threads = options.threads, .coordinator_address = options.server};
  WEIR_ASSIGN_OR_RETURN(made.memory_budget, bytes("--memory-budget", options.memory_budget));
  WEIR_ASSIGN_OR_RETURN(made.data, DataDirectories::Below(options.data_directories));
  FlowMemory::Options flows = {.spill_directory = options.spill_directory};
  WEIR_ASSIGN_OR_RETURN(flows.budget, bytes("--flow-memory", options.flow_memory));
  WEIR_ASSIGN_OR_RETURN(flows.spill_limit, bytes("--spill-limit", options.spill_limit));
  WEIR_ASSIGN_OR_RETURN(made.flow_memory, FlowMemory::Make(flows));
  return made;
}

}  // namespace
}  // namespace weir

int main(int argc, char** argv) {
  weir::BecomeServiceProcess();
  weir::Options options;
  CLI::App app("A Weir worker: dials a coordinator and runs its share of every job.");
  app.set_version_flag("--version",
                       weir::StrCat("weir-worker ", weir::kVersion, " (", weir::kGitRevision, ")"));
  app.add_option("--server", options.server, "HOST:PORT of the coordinator")
      ->envname("WEIR_ADDRESS");
  app.add_option("--name", options.name, "shown to users (default: host name and process id)");
  app.add_option("--threads", options.threads, "compute threads (default: one a core)")
      ->check(CLI::Range(1, 1024));
  app.add_option("--data-listen", options.data_listen, "HOST:PORT for other workers");
  app.add_option("--data-host", options.data_host, "the host that other workers dial");
  app.add_option("--drain", options.drain_seconds, "seconds for runs to end after SIGTERM");
  app.add_option("--memory-budget", options.memory_budget,
                 "bytes for what a run computes on the way, such as 512MiB (default: any)");
  app.add_option("--data-directory", options.data_directories,
                 "flows may read and write files below it (more than once: below each; default: "
                 "none)")
      ->allow_extra_args(false);
  app.add_option("--flow-memory", options.flow_memory,
                 "bytes of records and state that flows keep in memory (default: a quarter of what "
                 "the process may take)");
  app.add_option("--spill-directory", options.spill_directory,
                 "folder on a disk for what flows keep beyond that (default: TMPDIR or /var/tmp)");
  app.add_option("--spill-limit", options.spill_limit, "bytes there at most (default: any)");
  app.add_option("--log-level", options.log_level, "trace, debug, info, warning, error");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  absl::StatusOr<weir::LogLevel> level = weir::LogLevelFrom(options.log_level);
  if (!level.ok()) {
    weir::Fail(level.status());
    return 2;
  }
  weir::InitLogging({.program = "weir-worker", .level = *level});
  if (options.name.empty()) options.name = weir::StrCat(weir::HostName(), "-", getpid());
  if (options.threads == 0) {
    options.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  }
  if (absl::StatusOr<weir::HostPort> address = weir::ParseHostPort(options.server); !address.ok()) {
    weir::Fail(address.status());
    return 2;
  }
  absl::StatusOr<weir::WorkerOptions> worker_options = weir::WorkerOptionsFrom(options);
  if (!worker_options.ok()) {
    weir::Fail(worker_options.status());
    return 2;
  }
  // Blocked in every thread, so that sigwait gets them.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return weir::Serve(options, *std::move(worker_options), signals);
}
