// Error propagation on top of absl::Status. Stateless; usable from any thread.
//
// Functions that can fail return absl::Status or absl::StatusOr<T>. Context is added on the way up
// with Annotate, so that the final message names the node, the file or the job in which a fault was
// found.
#ifndef WEIR_COMMON_BASE_STATUS_H_
#define WEIR_COMMON_BASE_STATUS_H_

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/str_cat.h"

namespace weir {

// Returns: `status` with "context: " in front of its message (code and payloads kept); OK stays OK.
absl::Status Annotate(const absl::Status& status, std::string_view context);

template <class... Args>
absl::Status InvalidArgument(const Args&... args) {
  return absl::InvalidArgumentError(StrCat(args...));
}

}  // namespace weir

#define WEIR_STATUS_CONCAT_INNER(a, b) a##b
#define WEIR_STATUS_CONCAT(a, b) WEIR_STATUS_CONCAT_INNER(a, b)

#define WEIR_RETURN_IF_ERROR(expr)                                                   \
  do {                                                                               \
    if (absl::Status weir_status_ = (expr); !weir_status_.ok()) return weir_status_; \
  } while (false)

#define WEIR_ASSIGN_OR_RETURN(lhs, expr) \
  WEIR_ASSIGN_OR_RETURN_IMPL(WEIR_STATUS_CONCAT(weir_statusor_, __LINE__), lhs, expr)
#define WEIR_ASSIGN_OR_RETURN_IMPL(var, lhs, expr) \
  auto var = (expr);                               \
  if (!var.ok()) return std::move(var).status();   \
  lhs = *std::move(var)

#endif  // WEIR_COMMON_BASE_STATUS_H_
