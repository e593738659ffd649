// weir-server: the coordinator as a process.
#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <thread>

#include "common/base/byte_size.h"
#include "common/base/log.h"
#include "common/base/service_process.h"
#include "common/base/status.h"
#include "common/base/version.h"
#include "server/api/grpc_server.h"
#include "server/api/http_paths.h"
#include "server/jobs/coordinator.h"

namespace weir {
namespace {

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;
constexpr int kExitStuck = 3;

struct Flags {
  std::string listen = "0.0.0.0:7077";
  std::string http;
  std::string data;
  std::string flow_channel;
  std::string log_level;
  int drain_seconds = 20;
  int lost_after_seconds = 3;
};

// Ends the process if the shutdown does not come to an end.
class Watchdog {
 public:
  explicit Watchdog(absl::Duration limit) {
    std::thread([done = done_, limit] {
      absl::SleepFor(limit);
      if (done->load()) return;
      Log(LogLevel::kError, "the shutdown hangs");
      _exit(kExitStuck);
    }).detach();
  }
  ~Watchdog() { done_->store(true); }

 private:
  const std::shared_ptr<std::atomic<bool>> done_ = std::make_shared<std::atomic<bool>>(false);
};

sigset_t StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

absl::StatusOr<std::unique_ptr<Journal>> MakeJournal(const Flags& flags, const Limits& limits) {
  if (flags.data.empty()) return MakeMemoryJournal();
  return OpenJournal(flags.data, limits.max_kept_jobs);
}

absl::Status Serve(const Flags& flags) {
  const sigset_t signals = StopSignals();
  CoordinatorOptions options;
  options.limits.lost_after = absl::Seconds(flags.lost_after_seconds);
  options.limits.fence = options.limits.lost_after * 2 / 3;
  options.limits.cause_within = options.limits.lost_after / 3;
  if (!flags.flow_channel.empty()) {
    absl::StatusOr<int64_t> bytes = ParseByteSize(flags.flow_channel);
    if (!bytes.ok()) return Annotate(bytes.status(), "--flow-channel");
    options.limits.flow_channel_bytes = *bytes;
  }
  WEIR_ASSIGN_OR_RETURN(std::unique_ptr<Journal> journal, MakeJournal(flags, options.limits));
  Coordinator coordinator(options, std::move(journal));
  ServerMetrics metrics(&coordinator);
  WEIR_ASSIGN_OR_RETURN(std::unique_ptr<GrpcServer> server,
                        GrpcServer::Start({.address = flags.listen}, &coordinator, &metrics));
  std::unique_ptr<HttpServer> http;
  if (!flags.http.empty()) {
    WEIR_ASSIGN_OR_RETURN(http,
                          HttpServer::Start(flags.http, CoordinatorPaths(&coordinator, &metrics)));
    std::cerr << "serving HTTP on " << http->address() << std::endl;
  }
  std::cerr << "listening on " << server->address() << std::endl;

  int signal = 0;
  sigwait(&signals, &signal);
  Log(LogLevel::kInfo, "shutting down", {{"signal", signal}});
  const absl::Duration limit = absl::Seconds(flags.drain_seconds);
  const Watchdog watchdog(limit + absl::Seconds(5));
  // From here on a second signal ends the process at once.
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  server->SetDraining();
  const absl::Status drained = coordinator.Drain(limit);
  if (!drained.ok()) Log(LogLevel::kWarning, "jobs were cut off", {{"why", drained}});
  server->Shutdown(absl::Seconds(1));
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  CLI::App app("The coordinator of a Weir cluster.", "weir-server");
  Flags flags;
  app.add_option("--listen", flags.listen, "HOST:PORT for clients and workers (gRPC)")
      ->capture_default_str();
  app.add_option("--http", flags.http, "HOST:PORT for /metrics, /healthz, /readyz, /version");
  app.add_option("--data", flags.data, "directory in which jobs outlive a restart");
  app.add_option("--drain-seconds", flags.drain_seconds, "how long jobs may go on after SIGTERM")
      ->capture_default_str()
      ->check(CLI::Range(0, 86400));
  app.add_option("--flow-channel", flags.flow_channel,
                 "bytes under way on one channel of a flow, such as 1MiB, before who sends has to "
                 "wait; 1B: one frame");
  app.add_option("--lost-after", flags.lost_after_seconds,
                 "seconds of silence after which a worker is given up; it stops what it does by "
                 "itself after two thirds of them")
      ->capture_default_str()
      ->check(CLI::Range(1, 3600));
  app.add_option("--log-level", flags.log_level, "trace, debug, info, warning, error or off");
  app.set_version_flag("--version", StrCat("weir-server ", kVersion, " (", kGitRevision, ")"));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kExitUsage;
  }
  const absl::StatusOr<LogLevel> level = LogLevelFrom(flags.log_level);
  if (!level.ok()) {
    std::cerr << "error: " << level.status().message() << std::endl;
    return kExitUsage;
  }
  InitLogging({.program = "weir-server", .level = *level});
  // Every thread that is made inherits this; only Serve waits for the signals.
  const sigset_t signals = StopSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const absl::Status status = Serve(flags);
  if (status.ok()) return 0;
  std::cerr << "error: " << status.message() << std::endl;
  return status.code() == absl::StatusCode::kInvalidArgument ? kExitUsage : kExitFailed;
}

}  // namespace
}  // namespace weir

int main(int argc, char** argv) {
  weir::BecomeServiceProcess();
  return weir::Main(argc, argv);
}
