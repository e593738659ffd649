#include "client/cli/exit_codes.h"

namespace weir::cli {

int ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
      return kNotFound;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kPermissionDenied:
      return kUnreachable;
    default:
      return kRejected;
  }
}

int ExitCodeOf(v1::Job::State state) {
  switch (state) {
    case v1::Job::SUCCEEDED:
      return kOk;
    case v1::Job::FAILED:
      return kJobFailed;
    case v1::Job::CANCELLED:
      return kJobCancelled;
    default:
      return kTimeout;
  }
}

}  // namespace weir::cli
