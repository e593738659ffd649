// A compiler pass: a function that changes a graph in place. The pipeline (pipeline.cc) is one list
// of them.
#ifndef WEIR_SERVER_COMPILER_PASS_H_
#define WEIR_SERVER_COMPILER_PASS_H_

#include <string_view>

#include "absl/status/status.h"
#include "common/ir/graph.h"
#include "server/compiler/report.h"

namespace weir {

struct CompileOptions {
  enum class Loops {
    kVectorize,
    // The sequential baseline: each pfor becomes a counted loop.
    kSequential,
  };
  Loops loops = Loops::kVectorize;
  enum class Sums {
    // Sums over iterations may be contractions of their summands' operands, in another order.
    kContract,
    // Each float sum in the order of the program, so that results have its bits.
    kAsWritten,
  };
  Sums sums = Sums::kContract;
  enum class Trips {
    // Trips of loops around pfors are split over workers where they have enough to do.
    kSplitByWork,
    // Always, as a test of small programs wants it.
    kSplit,
  };
  Trips trips = Trips::kSplitByWork;
  // A node that would run in a loop over the iterations is an error.
  bool strict = false;
};

struct Pass {
  std::string_view name;
  std::string_view why;  // why it stands where it stands
  // Errors name node, op, shapes and source location.
  absl::Status (*run)(Graph* graph, const CompileOptions& options, CompileReport* report);
};

}  // namespace weir

#endif  // WEIR_SERVER_COMPILER_PASS_H_
