// What a client asks for, checked and fingerprinted before it reaches the core. Stateless; usable
// from any thread.
#ifndef WEIR_SERVER_JOBS_JOB_SPEC_H_
#define WEIR_SERVER_JOBS_JOB_SPEC_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/tensor/tensor.h"
#include "server/jobs/limits.h"
#include "weir/v1/service.pb.h"

namespace weir {

// Fingerprints of the parts of a submission, to tell a repetition from another job of the same id.
struct SpecDigest {
  std::string program;
  std::string inputs;
  std::string options;  // workers, repeat, memory budget, profile
  std::string labels;

  // Returns: the field in which they differ, empty if they are equal.
  std::string_view DifferenceFrom(const SpecDigest& other) const;
  // One line without spaces at its ends, and back.
  std::string ToString() const;
  static SpecDigest FromString(std::string_view text);
};

using Labels = google::protobuf::Map<std::string, std::string>;
// Errors: ResourceExhausted, with the limit.
absl::Status CheckLabels(const Labels& labels, const Limits& limits);
// The same whatever the order.
std::string DigestOfLabels(const Labels& labels);

struct Submission {
  v1::JobSpec spec;
  std::vector<Tensor> inputs;
};

// A submission with what takes time to compute.
struct PreparedSubmission {
  Submission submission;
  std::string program_key;
  SpecDigest digest;  // computed only for jobs with a submission id
};

// NOT_FOUND: upon which a client sends its program again.
absl::Status UnknownProgram(std::string_view id);

// Returns: NOT_FOUND for what is no id of a program, INVALID_ARGUMENT or RESOURCE_EXHAUSTED for
// what no coordinator with these limits takes.
absl::StatusOr<PreparedSubmission> Prepare(Submission submission, const Limits& limits);

}  // namespace weir

#endif  // WEIR_SERVER_JOBS_JOB_SPEC_H_
