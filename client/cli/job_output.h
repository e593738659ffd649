// Results and reports of a finished job. Main thread only.
#ifndef WEIR_CLIENT_CLI_JOB_OUTPUT_H_
#define WEIR_CLIENT_CLI_JOB_OUTPUT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/api/session.h"
#include "client/cli/command.h"

namespace weir::cli {

// Writes results to the files of `out` (NAME=FILE.npy); without any, prints them as text on stdout
// (unless kJson).
absl::Status WriteResults(const Common& common, const std::vector<std::string>& out,
                          const std::vector<NamedTensor>& results);
// Time, fallbacks and counters: a line or two on stderr, or one JSON object on stdout.
void PrintReport(const Common& common, const v1::Job& job);
// Waits for the job with its state on stderr, then writes results. Returns: the exit code.
int Follow(const Common& common, Session* session, const std::string& id, absl::Duration limit,
           const std::vector<std::string>& out);

}  // namespace weir::cli

#endif  // WEIR_CLIENT_CLI_JOB_OUTPUT_H_
