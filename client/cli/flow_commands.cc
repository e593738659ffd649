#include <unistd.h>

#include <iostream>
#include <memory>

#include "client/api/deployed_flow.h"
#include "client/cli/command.h"
#include "client/cli/exit_codes.h"
#include "client/cli/flow_output.h"
#include "client/cli/output.h"
#include "client/cli/signals.h"
#include "common/base/random.h"
#include "common/base/status.h"
#include "common/tensor/npy.h"

namespace weir::cli {
namespace {

struct Options {
  Common common;
  std::string id;
  std::string port;
  std::vector<std::string> files;
  int64_t epoch = -1;    // -1: the one that is open
  int64_t advance = -1;  // -1: not
  bool close = false;
  int64_t until = -1;  // -1: the end
  std::vector<std::string> out;
  double timeout = 0;   // seconds; 0: none
  double interval = 1;  // seconds
  bool once = false;
};

using Action = int (*)(const Options& options, std::shared_ptr<Session> session);

absl::Time DeadlineOf(const Options& options) {
  return options.timeout > 0 ? absl::Now() + absl::Seconds(options.timeout)
                             : absl::InfiniteFuture();
}

// Time that is up is another exit code than a coordinator that does not answer.
int FailOrTimeout(const Common& common, const absl::Status& status) {
  const int code = Fail(common, status);
  return absl::IsDeadlineExceeded(status) ? kTimeout : code;
}

absl::StatusOr<std::unique_ptr<DeployedFlow>> AttachTo(const Options& options,
                                                       std::shared_ptr<Session> session,
                                                       std::vector<std::string> inputs,
                                                       std::vector<std::string> outputs) {
  AttachOptions attach;
  attach.client = UniqueName("weir-");
  attach.inputs = std::move(inputs);
  attach.outputs = std::move(outputs);
  return DeployedFlow::Attach(std::move(session), options.id, std::move(attach),
                              DeadlineOf(options));
}

// Everything that was asked for, in the order in which it makes sense.
absl::Status SendAll(const Options& options, std::vector<Tensor> columns, DeployedFlow* flow) {
  const absl::Time deadline = DeadlineOf(options);
  if (!columns.empty()) {
    WEIR_ASSIGN_OR_RETURN(const int64_t open, flow->EpochOf(options.port));
    WEIR_RETURN_IF_ERROR(flow->Send(options.port, options.epoch < 0 ? open : options.epoch,
                                    std::move(columns), deadline));
  }
  if (options.advance >= 0) {
    WEIR_RETURN_IF_ERROR(flow->Advance(options.port, options.advance));
  }
  if (options.close) WEIR_RETURN_IF_ERROR(flow->CloseInput(options.port));
  return flow->AwaitTaken(options.port, deadline);
}

int Send(const Options& options, std::shared_ptr<Session> session) {
  std::vector<Tensor> columns;
  for (const std::string& file : options.files) {
    absl::StatusOr<Tensor> column = ReadNpy(file);
    if (!column.ok()) return FailUsage(options.common, column.status());
    columns.push_back(*std::move(column));
  }
  auto flow = AttachTo(options, std::move(session), {options.port}, {});
  if (!flow.ok()) return FailOrTimeout(options.common, flow.status());
  const absl::Status sent = SendAll(options, std::move(columns), flow->get());
  return sent.ok() ? kOk : FailOrTimeout(options.common, sent);
}

int Receive(const Options& options, std::shared_ptr<Session> session) {
  CatchInterrupts();
  auto flow = AttachTo(options, std::move(session), {}, {options.port});
  if (!flow.ok()) return FailOrTimeout(options.common, flow.status());
  RecordPrinter printer(options.common, options.out);
  const absl::Time deadline = DeadlineOf(options);
  while (!Interrupted()) {
    const absl::Time slice = std::min(deadline, absl::Now() + absl::Milliseconds(200));
    auto result = (*flow)->Next(options.port, slice);
    if (result.ok() && result->has_value()) {
      printer.Print(**result);
      continue;
    }
    const bool is_idle = absl::IsDeadlineExceeded(result.status());
    if (!result.ok() && !is_idle) return Fail(options.common, result.status());
    const absl::StatusOr<int64_t> complete = (*flow)->CompleteBefore(options.port);
    const bool is_done = result.ok() || (options.until >= 0 && *complete > options.until);
    if (is_done) {
      const absl::Status written = printer.Finish();
      return written.ok() ? kOk : FailUsage(options.common, written);
    }
    if (absl::Now() >= deadline) return FailOrTimeout(options.common, result.status());
  }
  return kInterrupted;
}

int Watch(const Options& options, std::shared_ptr<Session> session) {
  CatchInterrupts();
  const bool is_live =
      !options.once && isatty(STDOUT_FILENO) == 1 && options.common.format == Format::kTable;
  FlowPrinter printer(options.common,
                      is_live ? FlowPrinter::Place::kOver : FlowPrinter::Place::kBelow);
  absl::Time next = absl::Now();
  while (!Interrupted()) {
    absl::StatusOr<v1::FlowStatus> status = session->GetFlow(options.id);
    if (!status.ok()) return Fail(options.common, status.status());
    printer.Print(*status);
    const v1::Job& job = status->job();
    if (IsTerminal(job.state())) return ExitCodeOf(job.state());
    if (options.once) return kOk;
    next += absl::Seconds(options.interval);
    while (absl::Now() < next && !Interrupted()) absl::SleepFor(absl::Milliseconds(20));
  }
  std::cerr << "flow " << options.id << " goes on\n";
  return kInterrupted;
}

int ExplainFrontier(const Options& options, std::shared_ptr<Session> session) {
  v1::ExplainFrontierRequest request;
  request.set_id(options.id);
  request.set_vertex(options.port);
  absl::StatusOr<v1::ExplainFrontierResponse> answer = session->ExplainFrontier(request);
  if (!answer.ok()) return Fail(options.common, answer.status());
  if (options.common.format == Format::kJson) {
    std::cout << ToJson(*answer) << "\n";
  } else {
    std::cout << answer->text();
  }
  return kOk;
}

std::shared_ptr<Options> Add(CLI::App* app, int* exit_code, const char* name, const char* help,
                             Action action, CLI::App** command) {
  *command = app->add_subcommand(name, help);
  auto options = std::make_shared<Options>();
  AddServerOption(*command, &options->common);
  AddFormatOption(*command, &options->common);
  (*command)->add_option("ID", options->id, "the flow")->required();
  (*command)->callback([options, exit_code, action] {
    absl::StatusOr<std::unique_ptr<Session>> session = OpenRemote(options->common);
    *exit_code = session.ok() ? action(*options, *std::move(session))
                              : Fail(options->common, session.status());
  });
  return options;
}

}  // namespace

void AddFlowCommands(CLI::App* app, int* exit_code) {
  CLI::App* command = nullptr;
  std::shared_ptr<Options> send =
      Add(app, exit_code, "send", "feed an input of a flow", &Send, &command);
  command->add_option("INPUT", send->port, "its name")->required();
  command->add_option("FILES", send->files, "the columns, as .npy files");
  command->add_option("--epoch", send->epoch, "of the records (default: the one that is open)")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--advance", send->advance, "nothing before this epoch comes any more")
      ->check(CLI::NonNegativeNumber);
  command->add_flag("--close", send->close, "nothing comes any more");
  command->add_option("--timeout", send->timeout, "seconds")->check(CLI::PositiveNumber);

  std::shared_ptr<Options> receive =
      Add(app, exit_code, "receive", "take what comes out of a flow", &Receive, &command);
  command->add_option("OUTPUT", receive->port, "its name")->required();
  command->add_option("--until", receive->until, "stop when this epoch is complete")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--out", receive->out, "a .npy file for each column, in place of lines")
      ->allow_extra_args(false);
  command->add_option("--timeout", receive->timeout, "seconds")->check(CLI::PositiveNumber);

  std::shared_ptr<Options> watch =
      Add(app, exit_code, "watch", "epochs, rates and queues of a flow, until it ends", &Watch,
          &command);
  command->add_option("--interval", watch->interval, "seconds")->check(CLI::PositiveNumber);
  command->add_flag("--once", watch->once, "as it is now");

  std::shared_ptr<Options> explain =
      Add(app, exit_code, "explain-frontier", "what a flow, or one of its vertices, waits for",
          &ExplainFrontier, &command);
  command->add_option("VERTEX", explain->port, "an output, a probe or any other vertex");
}

}  // namespace weir::cli
