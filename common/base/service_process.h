// What the programs that serve for long set for their whole process, at their start. Thread-safe.
#ifndef WEIR_COMMON_BASE_SERVICE_PROCESS_H_
#define WEIR_COMMON_BASE_SERVICE_PROCESS_H_

namespace weir {

// Memory goes back to the system when it is free (aligned_memory.h), and the mutexes of libraries
// do not look for deadlocks, as those of Debian's Abseil do at each lock.
void BecomeServiceProcess();

}  // namespace weir

#endif  // WEIR_COMMON_BASE_SERVICE_PROCESS_H_
