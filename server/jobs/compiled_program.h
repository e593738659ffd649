// A program after compilation, as the coordinator keeps it. Immutable; shared between threads.
#ifndef WEIR_SERVER_JOBS_COMPILED_PROGRAM_H_
#define WEIR_SERVER_JOBS_COMPILED_PROGRAM_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/compiler/pipeline.h"
#include "server/jobs/bind_inputs.h"
#include "weir/v1/service.pb.h"

namespace weir {

struct CompiledProgram {
  PartitionedPlan plan;
  std::vector<ProgramInput> inputs;
  CompileReport report;
  int64_t compile_ns = 0;
  // Whether some step runs on every worker; otherwise the worker of rank 0 does everything.
  bool sharded = false;
  // Whether that depends on sizes, as loops that take little time are run by one worker.
  bool may_run_whole = false;
};

// Loads, maps and compiles. Takes as long as that takes: call it on a thread that may.
absl::StatusOr<std::shared_ptr<const CompiledProgram>> CompileProgram(
    const v1::Program& program, const StageFn& on_stage = nullptr);

// The name of what a compilation depends on: the content of the program, its file name (which
// stands in messages), and the options.
std::string ProgramKey(const v1::Program& program);

}  // namespace weir

#endif  // WEIR_SERVER_JOBS_COMPILED_PROGRAM_H_
