#include <iostream>
#include <memory>

#include "client/cli/command.h"
#include "client/cli/exit_codes.h"
#include "client/cli/job_output.h"
#include "client/cli/output.h"

namespace weir::cli {
namespace {

struct Options {
  Common common;
  std::string id;
  double timeout = 0;  // seconds; 0: none
  std::vector<std::string> out;
  bool follow = false;
  uint64_t offset = 0;
};

using Action = int (*)(const Options& options, Session* session);

int PrintOne(const Options& options, const absl::StatusOr<v1::Job>& job) {
  if (!job.ok()) return Fail(options.common, job.status());
  PrintJob(options.common.format, *job);
  return kOk;
}

int Status(const Options& options, Session* session) {
  return PrintOne(options, session->Get(options.id));
}

int Cancel(const Options& options, Session* session) {
  return PrintOne(options, session->Cancel(options.id));
}

int List(const Options& options, Session* session) {
  absl::StatusOr<std::vector<v1::Job>> jobs = session->List();
  if (!jobs.ok()) return Fail(options.common, jobs.status());
  PrintJobs(options.common.format, *jobs);
  return kOk;
}

int Wait(const Options& options, Session* session) {
  const absl::Duration limit =
      options.timeout > 0 ? absl::Seconds(options.timeout) : absl::InfiniteDuration();
  absl::StatusOr<v1::Job> job = session->Wait(options.id, limit);
  const int printed = PrintOne(options, job);
  return printed != kOk ? printed : ExitCodeOf(job->state());
}

int Result(const Options& options, Session* session) {
  absl::StatusOr<std::vector<NamedTensor>> results = session->Result(options.id);
  if (!results.ok()) return Fail(options.common, results.status());
  const absl::Status written = WriteResults(options.common, options.out, *results);
  return written.ok() ? kOk : FailUsage(options.common, written);
}

std::string SpeakerOf(const v1::LogEntry& entry) {
  if (entry.is_printed()) return "program";
  return entry.worker().empty() ? "coordinator" : entry.worker();
}

int Logs(const Options& options, Session* session) {
  const absl::Status status = session->Logs(
      options.id, options.offset,
      options.follow ? Session::LogMode::kFollow : Session::LogMode::kSoFar,
      [&](const v1::LogEntry& entry) {
        if (options.common.format == Format::kJson) {
          std::cout << ToJson(entry) << "\n";
        } else {
          std::cout << absl::FormatTime("%H:%M:%E3S", absl::FromUnixMillis(entry.unix_ms()),
                                        absl::LocalTimeZone())
                    << " " << SpeakerOf(entry) << " " << entry.text() << "\n";
        }
        std::cout.flush();
      });
  if (!status.ok()) return Fail(options.common, status);
  if (!options.follow) return kOk;
  // The exit code is the job's, whatever became of the stream.
  absl::StatusOr<v1::Job> job = session->Get(options.id);
  return job.ok() ? ExitCodeOf(job->state()) : Fail(options.common, job.status());
}

std::shared_ptr<Options> Add(CLI::App* app, int* exit_code, const char* name, const char* help,
                             Action action, CLI::App** command) {
  *command = app->add_subcommand(name, help);
  auto options = std::make_shared<Options>();
  AddServerOption(*command, &options->common);
  AddFormatOption(*command, &options->common);
  (*command)->callback([options, exit_code, action] {
    absl::StatusOr<std::unique_ptr<Session>> session = OpenRemote(options->common);
    *exit_code =
        session.ok() ? action(*options, session->get()) : Fail(options->common, session.status());
  });
  return options;
}

}  // namespace

void AddJobCommands(CLI::App* app, int* exit_code) {
  CLI::App* command = nullptr;
  Add(app, exit_code, "list", "all jobs", &List, &command);
  auto with_id = [&](const char* name, const char* help, Action action) {
    std::shared_ptr<Options> options = Add(app, exit_code, name, help, action, &command);
    command->add_option("ID", options->id, "the job")->required();
    return options;
  };
  with_id("status", "one job", &Status);
  with_id("cancel", "end a job now", &Cancel);
  std::shared_ptr<Options> wait =
      with_id("wait", "wait until a job has ended; the exit code tells how", &Wait);
  command->add_option("--timeout", wait->timeout, "seconds")->check(CLI::PositiveNumber);
  std::shared_ptr<Options> result = with_id("result", "the results of a job", &Result);
  command->add_option("--out", result->out, "NAME=FILE.npy ('-': stdout)")->allow_extra_args(false);
  std::shared_ptr<Options> logs = with_id("logs", "what a job's workers say", &Logs);
  command->add_flag("-f,--follow", logs->follow, "until the job has ended");
  command->add_option("--offset", logs->offset, "first line");
}

}  // namespace weir::cli
