// What the exit status of `weir` tells. Scripts rely on these numbers.
#ifndef WEIR_CLIENT_CLI_EXIT_CODES_H_
#define WEIR_CLIENT_CLI_EXIT_CODES_H_

#include "absl/status/status.h"
#include "weir/v1/service.pb.h"

namespace weir::cli {

inline constexpr int kOk = 0;
inline constexpr int kJobFailed = 1;
inline constexpr int kUsage = 2;  // also a file that cannot be read: nothing was sent
inline constexpr int kJobCancelled = 3;
inline constexpr int kNotFound = 4;
inline constexpr int kUnreachable = 5;
inline constexpr int kRejected = 6;
inline constexpr int kTimeout = 124;  // the job is still running
inline constexpr int kInterrupted = 130;

// For a call that failed. REQUIRES: not OK.
int ExitCodeOf(const absl::Status& status);
// For a job as it stands.
int ExitCodeOf(v1::Job::State state);

}  // namespace weir::cli

#endif  // WEIR_CLIENT_CLI_EXIT_CODES_H_
