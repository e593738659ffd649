// A variable as the coordinator knows it, and which ones a job uses. Plain values of the core.
#ifndef WEIR_SERVER_VARIABLES_JOB_VARIABLES_H_
#define WEIR_SERVER_VARIABLES_JOB_VARIABLES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/tensor/tensor.h"
#include "weir/v1/variables.pb.h"

namespace weir {

enum class VariableAccess { kRead, kWrite };

struct VariableClaim {
  uint64_t user = 0;  // a job, or a run without one
  VariableAccess access = VariableAccess::kRead;
  std::string job;  // its id; empty for a run without one
};

struct VariableEntry {
  std::string id;
  std::string name;
  std::string submission_id;
  std::string digest;  // of the first value; only with a submission id
  int64_t created_unix_ms = 0;
  // Its element type and extents, as a tensor without memory.
  Tensor type;

  uint64_t value = 0;   // the number of the value that it has
  uint64_t worker = 0;  // that owns it, by its connection
  std::string worker_name;
  uint64_t version = 1;
  absl::Status lost;  // why; OK if it is not
  // While another worker takes it over.
  uint64_t next_worker = 0;
  uint64_t next_value = 0;

  std::vector<VariableClaim> uses;  // of jobs that have not ended, in the order of submission
  int runs = 0;                     // that have started and use it
  int reads = 0;                    // of clients and runs, under way

  bool moves() const { return next_worker != 0; }
};

// What a job reads and writes. Entries stay while a job uses them.
struct JobVariables {
  struct Input {
    std::string name;
    VariableEntry* variable = nullptr;
  };
  struct Output {
    uint32_t result = 0;  // position among the program's results
    VariableEntry* variable = nullptr;
  };
  std::vector<Input> inputs;
  std::vector<Output> outputs;

  bool empty() const { return inputs.empty() && outputs.empty(); }
  // Returns: null for a result that is the job's.
  VariableEntry* OutputOf(uint32_t result) const;
  VariableEntry* InputOf(const std::string& name) const;
  // Each variable once, with kWrite if the job writes it.
  struct Use {
    VariableEntry* variable = nullptr;
    VariableAccess access = VariableAccess::kRead;
  };
  std::vector<Use> Uses() const;
};

// "'NAME' (ID)".
std::string NameOf(const VariableEntry& variable);
v1::Variable ViewOf(const VariableEntry& variable);

}  // namespace weir

#endif  // WEIR_SERVER_VARIABLES_JOB_VARIABLES_H_
