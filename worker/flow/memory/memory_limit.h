// How much memory this process may take: what the system has, or what its control group allows if
// that is less. Stateless; usable from any thread.
#ifndef WEIR_WORKER_FLOW_MEMORY_MEMORY_LIMIT_H_
#define WEIR_WORKER_FLOW_MEMORY_MEMORY_LIMIT_H_

#include <cstdint>
#include <string>

namespace weir {

// Where the kernel tells; another place in tests.
struct MemoryLimitFiles {
  std::string own_groups = "/proc/self/cgroup";
  std::string groups = "/sys/fs/cgroup";
};

// Returns: bytes: the least of physical memory and the limits of the process's control group and
// of all around it (memory.max, or memory.limit_in_bytes with the first version of groups).
int64_t MemoryLimit(const MemoryLimitFiles& files = {});

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_MEMORY_MEMORY_LIMIT_H_
