#include <iostream>
#include <memory>

#include "client/cli/command.h"
#include "client/cli/exit_codes.h"
#include "client/cli/job_input.h"
#include "client/cli/job_output.h"
#include "client/cli/output.h"
#include "client/cli/signals.h"
#include "common/base/status.h"
#include "common/flow/flow_text.h"

namespace weir::cli {
namespace {

struct Options {
  Common common;
  JobArguments job;
  double timeout = 0;  // seconds; 0: none
  bool detach = false;
};

absl::Duration Limit(const Options& options) {
  return options.timeout > 0 ? absl::Seconds(options.timeout) : absl::InfiniteDuration();
}

bool IsFlow(const JobInput& job) {
  const v1::Program& program = job.spec.program();
  return program.format() == v1::Program::FORMAT_TEXT && LooksLikeFlow(program.source());
}

enum class Until { kRuns, kEnds };

// Returns: the exit code once the flow runs, or has ended.
int Await(Until until, const Options& options, Session* session, const std::string& id) {
  CatchInterrupts();
  const absl::Time deadline = absl::Now() + Limit(options);
  std::string shown;
  while (!Interrupted()) {
    absl::StatusOr<v1::Job> job = session->Wait(id, absl::Milliseconds(100));
    if (!job.ok()) return Fail(options.common, job.status());
    if (job->state() == v1::Job::FAILED) {
      PrintError(options.common.format,
                 absl::Status(static_cast<absl::StatusCode>(job->failure().code()),
                              job->failure().message()));
    }
    if (IsTerminal(job->state())) return ExitCodeOf(job->state());
    if (until == Until::kRuns && job->state() == v1::Job::RUNNING) return kOk;
    if (!options.common.quiet && job->waits_for() != shown) {
      shown = job->waits_for();
      std::cerr << "flow " << id << " waits for " << shown << "\n";
    }
    if (absl::Now() >= deadline) return kTimeout;
  }
  return kInterrupted;
}

// Deploys, prints the id if the flow outlives this command, and waits.
int Deploy(Until until, const Options& options, const JobInput& job, Session* session) {
  if (job.spec.input_names_size() > 0 || !options.job.out.empty()) {
    return FailUsage(options.common,
                     InvalidArgument("a flow takes neither --in nor --out: `weir send` feeds it, "
                                     "`weir receive` takes what comes out"));
  }
  v1::DeployRequest request;
  request.set_flow(job.spec.program().source());
  request.set_name(job.spec.program().name());
  request.set_submission_id(job.spec.submission_id());
  *request.mutable_labels() = job.spec.labels();
  request.set_workers(static_cast<uint32_t>(options.common.workers));
  absl::StatusOr<v1::DeployResponse> deployed = session->Deploy(request);
  if (!deployed.ok()) return Fail(options.common, deployed.status());
  if (until == Until::kRuns) std::cout << deployed->job().id() << std::endl;
  if (deployed->already_existed() && !options.common.quiet) {
    std::cerr << "the flow existed already\n";
  }
  return options.detach ? kOk : Await(until, options, session, deployed->job().id());
}

// Errors: InvalidArgument, the flow waits for clients.
absl::Status CheckEndsByItself(const JobInput& job) {
  const std::string& name = job.spec.program().name();
  WEIR_ASSIGN_OR_RETURN(const Flow flow,
                        ParseFlow(job.spec.program().source(), {.functions = {.file = name}}));
  for (const FlowVertex& vertex : flow.vertices) {
    if (vertex.kind != "input" && vertex.kind != "output") continue;
    return InvalidArgument(name, ": '", vertex.name, "' (", vertex.kind,
                           ") is for a client, so the flow stays deployed: use `weir submit`");
  }
  return absl::OkStatus();
}

int Run(const Options& options) {
  absl::StatusOr<JobInput> job = ReadJob(options.job);
  if (!job.ok()) return FailUsage(options.common, job.status());
  if (IsFlow(*job)) {
    const absl::Status ends = CheckEndsByItself(*job);
    if (!ends.ok()) return FailUsage(options.common, ends);
  }
  absl::StatusOr<std::unique_ptr<Session>> session = OpenSession(options.common);
  if (!session.ok()) return Fail(options.common, session.status());
  if (IsFlow(*job)) return Deploy(Until::kEnds, options, *job, session->get());
  job->spec.set_workers(static_cast<uint32_t>(options.common.workers));
  absl::StatusOr<v1::SubmitResponse> submitted = (*session)->Submit(job->spec, job->inputs);
  if (!submitted.ok()) return Fail(options.common, submitted.status());
  return Follow(options.common, session->get(), submitted->job().id(), Limit(options),
                options.job.out);
}

int Submit(const Options& options) {
  absl::StatusOr<JobInput> job = ReadJob(options.job);
  if (!job.ok()) return FailUsage(options.common, job.status());
  absl::StatusOr<std::unique_ptr<Session>> session = OpenRemote(options.common);
  if (!session.ok()) return Fail(options.common, session.status());
  if (IsFlow(*job)) return Deploy(Until::kRuns, options, *job, session->get());
  job->spec.set_workers(static_cast<uint32_t>(options.common.workers));
  absl::StatusOr<v1::SubmitResponse> submitted = (*session)->Submit(job->spec, job->inputs);
  if (!submitted.ok()) return Fail(options.common, submitted.status());
  // Scripts read the id while the job runs.
  std::cout << submitted->job().id() << std::endl;
  if (submitted->already_existed() && !options.common.quiet) {
    std::cerr << "the job existed already\n";
  }
  if (options.detach) return kOk;
  return Follow(options.common, session->get(), submitted->job().id(), Limit(options),
                options.job.out);
}

std::shared_ptr<Options> AddOptions(CLI::App* app) {
  auto options = std::make_shared<Options>();
  AddServerOption(app, &options->common);
  AddFormatOption(app, &options->common);
  AddJobOptions(app, &options->job);
  app->add_option("--workers", options->common.workers,
                  "how many workers to use (embedded: to start, default 2)")
      ->check(CLI::Range(1, 1024));
  app->add_option("--timeout", options->timeout, "seconds to wait")->check(CLI::PositiveNumber);
  return options;
}

}  // namespace

void AddRun(CLI::App* app, int* exit_code) {
  CLI::App* command =
      app->add_subcommand("run", "run a program; on an embedded cluster unless a server is named");
  std::shared_ptr<Options> options = AddOptions(command);
  command->callback([options, exit_code] { *exit_code = Run(*options); });
}

void AddSubmit(CLI::App* app, int* exit_code) {
  CLI::App* command = app->add_subcommand("submit", "submit a job; prints its id first");
  std::shared_ptr<Options> options = AddOptions(command);
  command->add_flag("--detach", options->detach, "do not wait for the job");
  command->callback([options, exit_code] { *exit_code = Submit(*options); });
}

}  // namespace weir::cli
