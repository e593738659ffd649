// What a compilation tells its user besides the program: fallbacks and notes. A plain value.
#ifndef WEIR_SERVER_COMPILER_REPORT_H_
#define WEIR_SERVER_COMPILER_REPORT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/ir/graph.h"

namespace weir {

// A node that runs in a loop over the iterations because its op has no rule for its case.
struct Fallback {
  std::string op;
  std::string node;  // the user's name for it; may be empty
  Location location;
  std::string reason;

  std::string ToString() const;  // `sort "rank" (model.onnx:3:1): reason`
};

struct CompileReport {
  std::vector<Fallback> fallbacks;
  std::vector<std::string> notes;
};

// Returns: INVALID_ARGUMENT that lists the fallbacks behind the first `before`, if there are any.
absl::Status CheckNoFallback(const CompileReport& report, size_t before);

}  // namespace weir

#endif  // WEIR_SERVER_COMPILER_REPORT_H_
