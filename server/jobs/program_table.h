// The programs that the coordinator has compiled or is compiling, by content. Owned by the core;
// thread-compatible.
#ifndef WEIR_SERVER_JOBS_PROGRAM_TABLE_H_
#define WEIR_SERVER_JOBS_PROGRAM_TABLE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "common/plan/routing.h"
#include "server/jobs/compiled_program.h"

namespace weir {

struct ProgramEntry {
  uint64_t id = 0;
  std::string key;
  std::shared_ptr<const CompiledProgram> compiled;  // null while it is being compiled
  int64_t compilations = 0;
  int jobs = 0;  // that have not ended
  uint64_t last_used = 0;
  LastRunShape last_shape;
  LastRunShape shared_shape;  // as last_shape, if several workers shared every run
  int64_t epochs = 0;         // jobs that have begun to run, of which each is one
};

class ProgramTable {
 public:
  ProgramEntry* Add(std::string key);
  // Returns: null if there is none. Counts as a use.
  ProgramEntry* FindByKey(std::string_view key);
  ProgramEntry* Find(uint64_t id);
  void Remove(uint64_t id);
  // Removes the least recently used programs without jobs beyond `limit`. Returns: their ids.
  std::vector<uint64_t> Prune(int limit);

 private:
  uint64_t next_id_ = 1;
  uint64_t uses_ = 0;
  std::map<uint64_t, ProgramEntry> entries_;
  absl::flat_hash_map<std::string, uint64_t> by_key_;
};

}  // namespace weir

#endif  // WEIR_SERVER_JOBS_PROGRAM_TABLE_H_
