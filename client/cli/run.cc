#include <iostream>
#include <memory>

#include "client/cli/command.h"
#include "client/cli/exit_codes.h"
#include "client/cli/job_input.h"
#include "client/cli/job_output.h"

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

int Run(const Options& options) {
  absl::StatusOr<JobInput> job = ReadJob(options.job);
  if (!job.ok()) return FailUsage(options.common, job.status());
  absl::StatusOr<std::unique_ptr<Session>> session = OpenSession(options.common);
  if (!session.ok()) return Fail(options.common, session.status());
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
