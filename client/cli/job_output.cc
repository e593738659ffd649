#include "client/cli/job_output.h"

#include <algorithm>
#include <iomanip>
#include <iostream>

#include "absl/strings/str_join.h"
#include "client/cli/exit_codes.h"
#include "client/cli/job_input.h"
#include "client/cli/output.h"
#include "client/cli/signals.h"
#include "common/base/status.h"
#include "common/tensor/npy.h"

namespace weir::cli {
namespace {

double Seconds(int64_t ns) { return static_cast<double>(ns) * 1e-9; }

int64_t WarmNs(const v1::JobReport& report) {
  return report.run_ns() > 0 ? report.run_ns() : report.first_run_ns();
}

std::string FallbackText(const v1::Fallback& fallback) {
  std::string out = fallback.op();
  if (!fallback.node().empty()) StrAppend(&out, " \"", fallback.node(), "\"");
  if (!fallback.location().empty()) StrAppend(&out, " (", fallback.location(), ")");
  return StrCat(out, ": ", fallback.reason());
}

absl::Status WriteResult(const std::string& argument, const std::vector<NamedTensor>& results) {
  WEIR_ASSIGN_OR_RETURN(const auto pair, SplitPair(argument, "--out"));
  auto named = [&](const NamedTensor& result) { return result.name == pair.first; };
  const auto found = std::find_if(results.begin(), results.end(), named);
  if (found == results.end()) {
    const std::string names = absl::StrJoin(
        results, ", ",
        [](std::string* out, const NamedTensor& result) { StrAppend(out, result.name); });
    return absl::NotFoundError(
        StrCat("there is no result '", pair.first, "'; the results are ", names));
  }
  if (pair.second != "-") return WriteNpy(pair.second, found->tensor);
  WEIR_ASSIGN_OR_RETURN(const std::string bytes, FormatNpy(found->tensor));
  std::cout.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return absl::OkStatus();
}

// Ctrl-C lets go of the job; a second one ends the program at once.
absl::StatusOr<v1::Job> WaitWithProgress(const Common& common, Session* session,
                                         const std::string& id, absl::Duration limit) {
  const absl::Time deadline = absl::Now() + limit;
  v1::Job::State shown = v1::Job::STATE_UNSPECIFIED;
  while (true) {
    const absl::Duration slice =
        std::clamp(deadline - absl::Now(), absl::ZeroDuration(), absl::Milliseconds(200));
    WEIR_ASSIGN_OR_RETURN(v1::Job job, session->Wait(id, slice));
    if (!common.quiet && job.state() != shown && !IsTerminal(job.state())) {
      std::cerr << "job " << id << ": " << StateName(job.state());
      if (job.has_failure()) std::cerr << " (" << job.failure().message() << ")";
      std::cerr << "\n";
      shown = job.state();
    }
    if (IsTerminal(job.state()) || absl::Now() >= deadline || Interrupted()) return job;
  }
}

void PrintProfile(const v1::RunCounters& counters) {
  if (counters.steps().empty()) return;
  for (const v1::StepCount& step : counters.steps()) {
    std::cerr << "step " << step.function() << ": ";
    if (step.iterations() > 0) {
      std::cerr << step.iterations() << " iterations, " << step.chunk() << " at once on "
                << step.threads() << " threads a worker, " << step.bytes_per_iteration()
                << " bytes an iteration, ";
    }
    std::cerr << step.predicted_bytes() << " bytes predicted, " << step.arena_bytes()
              << " measured\n";
  }
  for (const v1::OpCount& op : counters.ops()) {
    std::cerr << op.op() << ": " << op.launches() << " launches, " << op.elements() << " elements, "
              << op.ns() / 1000 << " us\n";
  }
  std::cerr << counters.bytes_gathered() << " bytes gathered\n";
}

// What the program has printed stands on stderr where results go to stdout.
void PrintLines(const Common& common, const std::vector<std::string>& out, Session* session,
                const std::string& id) {
  const bool data_on_stdout = common.format == Format::kJson || !out.empty();
  std::ostream& stream = data_on_stdout ? std::cerr : std::cout;
  session
      ->Logs(id, 0, Session::LogMode::kSoFar,
             [&](const v1::LogEntry& entry) {
               if (entry.is_printed()) stream << entry.text() << "\n";
             })
      .IgnoreError();
}

}  // namespace

absl::Status WriteResults(const Common& common, const std::vector<std::string>& out,
                          const std::vector<NamedTensor>& results) {
  for (const std::string& argument : out) WEIR_RETURN_IF_ERROR(WriteResult(argument, results));
  if (!out.empty() || common.format == Format::kJson) return absl::OkStatus();
  for (const NamedTensor& result : results) {
    std::cout << result.name << " = " << result.tensor.ToString() << "\n";
  }
  return absl::OkStatus();
}

void PrintReport(const Common& common, const v1::Job& job) {
  const v1::JobReport& report = job.report();
  if (common.format == Format::kJson) {
    std::cout << "{\"id\": " << JsonString(job.id())
              << ", \"state\": " << JsonString(StateName(job.state()))
              << ", \"run_seconds\": " << Seconds(WarmNs(report))
              << ", \"best_run_seconds\": " << Seconds(report.best_run_ns())
              << ", \"first_run_seconds\": " << Seconds(report.first_run_ns())
              << ", \"compile_seconds\": " << Seconds(report.compile_ns()) << ", \"fallbacks\": [";
    for (int i = 0; i < report.fallbacks_size(); ++i) {
      std::cout << (i > 0 ? ", " : "") << JsonString(FallbackText(report.fallbacks(i)));
    }
    std::cout << "], \"report\": " << ToJson(report) << "}\n";
    return;
  }
  for (const v1::Fallback& fallback : report.fallbacks()) {
    std::cerr << "fallback: " << FallbackText(fallback) << "\n";
  }
  if (common.quiet) return;
  std::cerr << std::fixed << std::setprecision(3) << "compiled in "
            << Seconds(report.compile_ns()) * 1e3 << " ms, ran in " << Seconds(WarmNs(report)) * 1e3
            << " ms on " << job.workers_size() << " workers, "
            << report.counters().kernel_launches() << " kernel launches\n";
  PrintProfile(report.counters());
}

int Follow(const Common& common, Session* session, const std::string& id, absl::Duration limit,
           const std::vector<std::string>& out) {
  CatchInterrupts();
  absl::StatusOr<v1::Job> job = WaitWithProgress(common, session, id, limit);
  if (!job.ok()) return Fail(common, job.status());
  if (Interrupted() && !IsTerminal(job->state())) {
    std::cerr << "job " << id << " goes on; `weir wait " << id << "` follows it again\n";
    return kInterrupted;
  }
  if (!IsTerminal(job->state())) {
    std::cerr << "job " << id << " is still " << StateName(job->state()) << "\n";
    return kTimeout;
  }
  PrintLines(common, out, session, id);
  if (job->state() != v1::Job::SUCCEEDED) {
    PrintError(common.format, absl::Status(static_cast<absl::StatusCode>(job->failure().code()),
                                           job->failure().message()));
    return ExitCodeOf(job->state());
  }
  absl::StatusOr<std::vector<NamedTensor>> results = session->Result(id);
  if (!results.ok()) return Fail(common, results.status());
  const absl::Status written = WriteResults(common, out, *results);
  if (!written.ok()) return FailUsage(common, written);
  PrintReport(common, *job);
  return kOk;
}

}  // namespace weir::cli
