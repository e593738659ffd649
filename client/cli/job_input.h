// What `run`, `submit` and `explain` read from the command line: the program and its inputs. Main
// thread only.
#ifndef WEIR_CLIENT_CLI_JOB_INPUT_H_
#define WEIR_CLIENT_CLI_JOB_INPUT_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/command.h"
#include "common/tensor/tensor.h"
#include "weir/v1/service.pb.h"

namespace weir::cli {

struct ProgramArguments {
  std::string model;
  std::vector<std::string> map;
  bool loop = false;
  bool strict = false;
};

struct JobArguments {
  ProgramArguments program;
  std::vector<std::string> in;   // NAME=FILE.npy, or FILE.npz for all its arrays
  std::vector<std::string> out;  // NAME=FILE.npy
  std::string submission_id;
  std::vector<std::string> labels;  // KEY=VALUE
  uint32_t repeat = 0;
  std::string memory_budget;
  bool profile = false;
};

void AddProgramOptions(CLI::App* app, ProgramArguments* arguments);
void AddJobOptions(CLI::App* app, JobArguments* arguments);

// Reads the model. Returns: NOT_FOUND or INVALID_ARGUMENT naming the file.
absl::StatusOr<v1::Program> ReadProgram(const ProgramArguments& arguments);

struct JobInput {
  v1::JobSpec spec;
  std::vector<Tensor> inputs;
};
absl::StatusOr<JobInput> ReadJob(const JobArguments& arguments);

// `NAME=VALUE` in two. Returns: an error that quotes what was given.
absl::StatusOr<std::pair<std::string, std::string>> SplitPair(const std::string& text,
                                                              std::string_view option);

}  // namespace weir::cli

#endif  // WEIR_CLIENT_CLI_JOB_INPUT_H_
