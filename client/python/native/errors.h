// From absl::Status to the exception classes of weir/errors.py. REQUIRES of all functions: the
// caller holds the interpreter lock.
#ifndef WEIR_CLIENT_PYTHON_NATIVE_ERRORS_H_
#define WEIR_CLIENT_PYTHON_NATIVE_ERRORS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace weir::python {

// Raises the exception class of the status's code, with its message. REQUIRES: !status.ok().
[[noreturn]] void Raise(const absl::Status& status);

inline void RaiseIfError(const absl::Status& status) {
  if (!status.ok()) Raise(status);
}

// Returns: the value; raises if there is none.
template <class T>
T ValueOrRaise(absl::StatusOr<T> result) {
  if (!result.ok()) Raise(result.status());
  return *std::move(result);
}

}  // namespace weir::python

#endif  // WEIR_CLIENT_PYTHON_NATIVE_ERRORS_H_
