// What the programs that serve for long set for their whole process, at their start. Thread-safe.
#ifndef WEIR_COMMON_BASE_SERVICE_PROCESS_H_
#define WEIR_COMMON_BASE_SERVICE_PROCESS_H_

namespace weir {

// Memory goes back to the system when it is free (aligned_memory.h), and the mutexes of libraries
// do not look for deadlocks, as those of Debian's Abseil do at each lock.
void BecomeServiceProcess();

// Gives free memory back at once (ReleaseKeptMemory) in a process that serves: after much was
// received in small pieces. Nothing in another one, where what passes between the parts of the
// process comes in no pieces, and its user wants the blocks of the last call for the next.
void ReleaseReceivedMemory();

}  // namespace weir

#endif  // WEIR_COMMON_BASE_SERVICE_PROCESS_H_
